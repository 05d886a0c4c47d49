"""
Compiled code of a suite's modules, kept by the host for its forks. Compiling runs nothing: the code is executed in
a fork alone.
"""

from __future__ import annotations

import gc
import importlib.machinery
import importlib.util
import os
import sys
from types import CodeType
from typing import Any, Iterator, Optional

# A file that cannot be compiled is remembered too: its fork meets the error and reports it.
_codes: dict[str, Optional[CodeType]] = {}
# Names of modules to files, for each import path (a bundle and the folder of the checker).
_modules: dict[tuple[str, ...], dict[str, str]] = {}


class CachedLoader(importlib.machinery.SourceFileLoader):
    """Takes compiled code from the host where it has any."""

    def get_code(self, fullname: str) -> Optional[CodeType]:
        return _codes.get(self.path) or super().get_code(fullname)


class BundleFinder:
    """Finds the modules of a bundle that the host knows without looking at the disk."""

    def __init__(self, files: dict[str, str]) -> None:
        self._files = files

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        file = self._files.get(fullname)
        if file is None:
            return None
        return importlib.util.spec_from_file_location(fullname, file, loader=CachedLoader(fullname, file))


def roots_of(bundle: str, entry: str) -> tuple[str, ...]:
    """Where a checker's imports are looked for first: its bundle, then its own folder."""
    folder = os.path.dirname(path_of(bundle, entry))
    return (bundle,) if folder == bundle else (bundle, folder)


def path_of(bundle: str, entry: str) -> str:
    return os.path.join(bundle, *entry.split("/"))


def prepare(bundle: str, entry: str) -> None:
    """Compiles a checker and whatever it imports from its bundle, once for the life of the host."""
    path = path_of(bundle, entry)
    if path in _codes:
        return
    roots = roots_of(bundle, entry)
    modules = _modules.setdefault(roots, {})
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file in _codes:
            continue
        _codes[file] = None
        try:
            with open(file, "rb") as source:
                code = _codes[file] = compile(source.read(), file, "exec", dont_inherit=True)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for name in _names(code, {name.removesuffix(".py") for root in roots for name in os.listdir(root)}):
            for module, below in _files_of_module(name.split("."), roots):
                modules.setdefault(module, below)
                waiting.append(below)
    # What forks share must not be written to by their garbage collectors.
    gc.freeze()


def serve(bundle: str, entry: str) -> None:
    """Called in the fork: sets its import path, and lets imports from the bundle use the cache."""
    roots = roots_of(bundle, entry)
    sys.path[:0] = roots
    sys.meta_path.insert(0, BundleFinder(_modules.get(roots, {})))


def _names(code: CodeType, wanted: set[str]) -> Iterator[str]:
    """
    Names in compiled code that may be modules of the bundle: `import a.b` leaves `a.b` among them. A syntax tree
    would say it better and take three times as long; what is missed here is found on the disk by the fork.
    """
    for name in code.co_names:
        if name.partition(".")[0] in wanted:
            yield name
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant, wanted)


def _files_of_module(parts: list[str], roots: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The module and the packages it lies in, as far as they are files of the first root that has any of them."""
    for root in roots:
        found = False
        for depth in range(1, len(parts) + 1):
            stem = os.path.join(root, *parts[:depth])
            for file in (os.path.join(stem, "__init__.py"), stem + ".py"):
                if os.path.isfile(file):
                    found = True
                    yield ".".join(parts[:depth]), file
                    break
        if found:
            return
