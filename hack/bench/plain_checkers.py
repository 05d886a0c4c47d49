"""Calls checkers one after the other in this very process: what isolation is compared with."""

import importlib.util
import inspect
import json
import os
import sys
import time


def call(function, *arguments):
    taken = len(inspect.signature(function).parameters)
    return function(*arguments[:taken])


def main() -> None:
    plan = json.load(open(sys.argv[1], encoding="utf-8"))
    sys.path.insert(0, plan["bundle"])
    os.environ["OPENCLAW_BINARY"] = "/nonexistent/no-agent-while-scoring"
    failed = 0
    started = time.perf_counter()
    for _ in range(plan["rounds"]):
        for item in plan["gradings"]:
            trace = {"events": [], "metrics": {}, "audit_state": {}}
            try:
                path = os.path.join(plan["bundle"], item["entry"])
                spec = importlib.util.spec_from_file_location("checker", path)
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                result = call(module.grade, item["workspace"], trace, [])
                if hasattr(module, "grade_process") and result.get("process_score") is None:
                    call(module.grade_process, trace, [])
            except Exception:
                failed += 1
    seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "failed": failed}), file=sys.stderr)


main()
