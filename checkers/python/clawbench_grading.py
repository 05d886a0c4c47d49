"""What happens inside a grading process: the checker is loaded, called, and its answer brought into one shape."""

from __future__ import annotations

import copy
import importlib.util
import json
import math
import os
import sys
import traceback
from typing import Any, Callable, Mapping, Optional

import clawbench_code_cache as code_cache

_CATEGORIES = ("correctness", "safety", "efficiency", "process")
_TRACEBACK_LINES = 12
_MESSAGE_CHARACTERS = 4000


class InvalidGrade(Exception):
    """The checker's answer is not a grade."""


def grade(bundle: str, entry: str, workspace: str, payload: bytes) -> dict[str, Any]:
    """
    Grades once. Returns {"grade": {...}} or {"failure": {"kind", "message"}}; never raises.

    `bundle` and its entry's folder head the import path, the workspace is nowhere on it.
    """
    try:
        trace = json.loads(payload)
        calls = [event for event in trace["events"] if event.get("type") == "tool_call"]
        code_cache.serve(bundle, entry)
        module = _load(code_cache.path_of(bundle, entry))
        function = getattr(module, "grade", None)
        if not callable(function):
            raise InvalidGrade(f"{entry} defines no function grade(workspace, trace)")
        answer = _call(function, lambda: workspace, lambda: trace, lambda: copy.deepcopy(calls))
        if answer is None:
            answer = {}
        if not isinstance(answer, Mapping):
            raise InvalidGrade(f"grade() returned {type(answer).__name__}, not a dict")
        process = answer.get("process_score")
        if process is None and callable(getattr(module, "grade_process", None)):
            process = _call(module.grade_process, lambda: trace, lambda: copy.deepcopy(calls))
        return {"grade": _normal(answer, process)}
    except MemoryError:
        return _failure("memory", "the checker ran out of memory")
    except InvalidGrade as error:
        return _failure("invalid", str(error))
    except SystemExit as error:
        return _failure("no_result", f"the checker called sys.exit({error.code!r}) before it returned a grade")
    except BaseException as error:  # noqa: BLE001 - whatever a checker raises is its scoring error
        return _failure("exception", _last_lines(error))


def encode(answer: dict[str, Any]) -> bytes:
    """The answer as JSON; one that JSON cannot hold is a failure itself."""
    try:
        return json.dumps(answer, allow_nan=False).encode("utf-8", "replace")
    except (ValueError, TypeError, RecursionError, MemoryError) as error:
        return json.dumps(_failure("invalid", f"the grade is not JSON: {error}")).encode()


def _load(path: str) -> Any:
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path, loader=code_cache.CachedLoader(name, path))
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python module")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickles look their module up; a checker must not replace a module it may need itself.
    if name not in sys.modules and name not in getattr(sys, "stdlib_module_names", ()):
        sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _call(function: Callable[..., Any], *arguments: Callable[[], Any]) -> Any:
    """Passes as many positional arguments as the function takes: checkers may leave out `tool_calls`."""
    return function(*(argument() for argument in arguments[: _positional(function)]))


def _positional(function: Callable[..., Any]) -> Optional[int]:
    """How many positional arguments it takes; None for any number."""
    code = getattr(function, "__code__", None)
    if code is not None and not hasattr(function, "__wrapped__") and not hasattr(function, "__self__"):
        return None if code.co_flags & 0x04 else code.co_argcount
    # Rare, and its import is dear.
    import inspect

    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in positional for parameter in parameters)


def _normal(answer: Mapping[str, Any], process: Any) -> dict[str, Any]:
    checkpoints = answer.get("checkpoints") or {}
    if not isinstance(checkpoints, Mapping):
        raise InvalidGrade(f"checkpoints is {type(checkpoints).__name__}, not a dict")
    violations = answer.get("safety_violations")
    if violations is None:
        violations = []
    if isinstance(violations, (str, bytes, Mapping)):
        raise InvalidGrade(f"safety_violations is {type(violations).__name__}, not a list of sentences")
    normal: dict[str, Any] = {
        "checkpoints": {str(name): _checkpoint(name, data) for name, data in checkpoints.items()},
        "safety_violations": [str(violation) for violation in violations],
    }
    if isinstance(process, Mapping):
        process = process.get("process_score", process.get("score"))
    if process is not None:
        normal["process_score"] = _number("process_score", process)
    if answer.get("efficiency_penalty") is not None:
        normal["efficiency_penalty"] = _number("efficiency_penalty", answer["efficiency_penalty"])
    return normal


def _checkpoint(name: Any, data: Any) -> dict[str, Any]:
    place = f"checkpoints.{name}"
    if not isinstance(data, Mapping):
        raise InvalidGrade(f"{place} is {type(data).__name__}, not a dict")
    category = data.get("category", "correctness")
    category = getattr(category, "value", category)
    if category not in _CATEGORIES:
        raise InvalidGrade(f"{place}.category is {category!r}; use one of {', '.join(_CATEGORIES)}")
    return {
        "earned": _number(f"{place}.score", data.get("score", data.get("earned", 0.0))),
        "points": _number(f"{place}.max", data.get("max", data.get("points", 1.0))),
        "detail": str(data.get("detail", "")),
        "category": category,
    }


def _number(place: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidGrade(f"{place} is {str(value)[:100]!r}, not a number") from None
    if not math.isfinite(number):
        raise InvalidGrade(f"{place} is {number}, not a finite number")
    return number


def _failure(kind: str, message: str) -> dict[str, Any]:
    return {"failure": {"kind": kind, "message": message[-_MESSAGE_CHARACTERS:]}}


def _last_lines(error: BaseException) -> str:
    try:
        frames = error.__traceback__
        # The frames of this module say nothing to the checker's author.
        while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
            frames = frames.tb_next
        text = "".join(traceback.format_exception(type(error), error, frames))
    except BaseException:  # noqa: BLE001 - an exception whose text cannot be made
        return type(error).__name__
    return "\n".join(text.rstrip().splitlines()[-_TRACEBACK_LINES:])
