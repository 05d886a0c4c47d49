"""
The public benchmark's own scorer behind a pipe: one request a line on standard input, one answer a line on standard
output, all in one process, as its runner would have it. Everything that is computed here is computed by the code
of the checkout; this file only carries values in and out.

    python3 public_scorer.py CHECKOUT
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

CHECKOUT = Path(sys.argv[1]).resolve()
# Answers go to the real standard output; whatever a checker prints must not mix with them.
ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
sys.dont_write_bytecode = True
sys.path.insert(0, str(CHECKOUT))
os.chdir(CHECKOUT)

from harness import runner as public_runner  # noqa: E402
from harness.loader import load_scenario, load_scenarios  # noqa: E402
from harness.models import TrialExecution, TrialResult  # noqa: E402
from harness.scoring import grade_scenario  # noqa: E402

SCENARIOS = {scenario.scenario_id: scenario for scenario in load_scenarios(benchmark_status=None)}
LAUNCHED: list[str] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "subprocess.Popen":
        LAUNCHED.append(str(arguments[0]))


sys.addaudithook(_watch)


def facts(scenario: Any) -> dict[str, Any]:
    return {
        "id": scenario.scenario_id,
        "dimension": scenario.dimension.value,
        "difficulty": scenario.difficulty.value,
        "status": scenario.benchmark_status.value,
        "weight": scenario.weight,
        "prompt": scenario.prompt,
        "tools": scenario.tools,
        "expected_tools": scenario.expected_tools,
        "ideal_tool_sequence": scenario.ideal_tool_sequence,
        "optimal_steps": scenario.optimal_steps,
        "pass_threshold": scenario.pass_threshold,
        "custom_check": scenario.custom_check,
        "source": str(scenario.source_path),
    }


def prepare(scenario: str, workspace: str) -> dict[str, Any]:
    """Makes the initial workspace as the public runner does."""
    spec = SCENARIOS[scenario]
    public_runner._copy_workspace_files(spec, Path(workspace))
    public_runner._run_workspace_script(spec, spec.setup_script, Path(workspace))
    return {}


def material(scenario: str) -> dict[str, Any]:
    """
    What the checker of a scenario expects, as far as it can be found without understanding it: the words in its
    source, and what its constants and its functions of expected values hold.
    """
    path = CHECKOUT / "custom_checks" / SCENARIOS[scenario].custom_check
    tree = ast.parse(path.read_text(encoding="utf-8"))
    words = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and 0 < len(node.value) <= 200
    ]
    spec = importlib.util.spec_from_file_location(f"material_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    expectations = []
    for name, value in vars(module).items():
        if getattr(value, "__module__", module.__name__) != module.__name__:
            continue
        lowered = name.lower()
        if callable(value) and any(word in lowered for word in ("expected", "best", "truth", "reference", "optimal")):
            try:
                value = value()
            except Exception:  # noqa: BLE001 - a function that wants arguments is no source
                continue
        elif callable(value) or name.startswith("__"):
            continue
        plain = _plain(value)
        if isinstance(plain, (dict, list)) and plain:
            expectations.append({"name": name, "value": plain})
    return {"words": list(dict.fromkeys(words)), "expectations": expectations}


def _plain(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(item) for item in value), key=str)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def score(scenario: str, workspace: str, trace: dict[str, Any], execution: str) -> dict[str, Any]:
    return _score(SCENARIOS[scenario], workspace, trace, execution)


def score_file(file: str, workspace: str, trace: dict[str, Any], execution: str) -> dict[str, Any]:
    """As `score`, for a scenario file outside the checkout."""
    return _score(load_scenario(file), workspace, trace, execution)


def _score(spec: Any, workspace: str, trace: dict[str, Any], execution: str) -> dict[str, Any]:
    LAUNCHED.clear()
    try:
        breakdown = grade_scenario(spec, Path(workspace), trace)
    except Exception as error:  # noqa: BLE001 - the public harness would end here
        return {"error": f"{type(error).__name__}: {error}", "launched": list(LAUNCHED)}
    passed = (
        execution == "success"
        and breakdown.final_score >= spec.pass_threshold
        and breakdown.safety_passed
    )
    return {
        "launched": list(LAUNCHED),
        "correctness": breakdown.correctness_score,
        "process": breakdown.process_score,
        "safety_gate": breakdown.safety_gate,
        "efficiency_penalty": breakdown.efficiency_penalty,
        "capability_score": breakdown.capability_score,
        "score": breakdown.final_score,
        "passed": passed,
        "safety_failures": breakdown.safety_failures,
        "checks": [check.to_dict() for check in breakdown.check_results],
    }


def aggregate(trials: int, scenarios: list[dict[str, Any]]) -> dict[str, Any]:
    """Scenarios with the trials that `score` gave, through the runner's own aggregation."""
    bench = public_runner.BenchmarkRunner.__new__(public_runner.BenchmarkRunner)
    bench.execution_mode = "replay"
    results = []
    for entry in scenarios:
        rows = [
            TrialResult(
                trial_id=number,
                score=trial["score"],
                capability_score=trial["capability_score"],
                passed=trial["passed"],
                safety_passed=not trial["safety_failures"],
                checks=[],
                process_score=trial["process"],
                efficiency_score=1.0,
                efficiency_penalty=trial["efficiency_penalty"],
                latency_ms=0.0,
                token_usage={},
                transcript=[],
                tool_calls=[],
                audit_state={},
                execution=TrialExecution(status=trial["execution"]),
                safety_failures=trial["safety_failures"],
            )
            for number, trial in enumerate(entry["trials"], 1)
        ]
        results.append(bench._build_scenario_result(SCENARIOS[entry["scenario"]], rows))
    report = bench._build_benchmark_result("compared", results, trials).to_dict()
    return {
        "overall": report["overall_score"],
        "overall_covered": report["coverage"]["normalized_score_on_covered"],
        "capability": report["capability_score"],
        "strict_pass_rate": report["strict_pass_rate"],
        "dimensions": report["dimensions"],
        "reliability": report["summary"]["reliability"],
        "scenarios": {
            item["scenario_id"]: {
                key: item[key]
                for key in ("avg_score", "max_score", "capability_score", "pass_rate", "consistency", "strict_pass_k")
            }
            for item in report["scenarios"]
        },
    }


def listing() -> dict[str, Any]:
    return {"scenarios": [facts(scenario) for scenario in SCENARIOS.values()], "python": sys.version.split()[0]}


COMMANDS = {
    "list": listing,
    "prepare": prepare,
    "material": material,
    "score": score,
    "score_file": score_file,
    "aggregate": aggregate,
}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        answer = COMMANDS[request.pop("command")](**request)
        ANSWERS.write(json.dumps(answer) + "\n")
        ANSWERS.flush()


main()
