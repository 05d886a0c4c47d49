"""
Fork server for Python checkers: warm once, then one process of its own for each grading.

Requests come on standard input, one at a time: a line of JSON, then `payloadBytes` bytes (the trace as JSON).
Each is answered by one line of JSON on standard output. While a grading runs, the line `cancel` ends it, and the
end of standard input ends grading and host. This process never runs code of a suite: its forks do.
"""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn, Optional

_HERE = os.path.dirname(os.path.abspath(__file__))

# Modules that want to be told of a fork (threading, random) cost each fork more than all the rest of it. They are
# told in the fork instead, for forks of its own.
_fork_hooks: list[dict[str, Any]] = []
_register_at_fork = os.register_at_fork
os.register_at_fork = lambda **hooks: _fork_hooks.append(hooks)  # type: ignore[assignment]

# Warm: what checkers import most, so that a fork finds it loaded.
import ast  # noqa: F401
import collections  # noqa: F401
import csv  # noqa: F401
import dataclasses  # noqa: F401
import datetime  # noqa: F401
import fcntl
import gc
import hashlib  # noqa: F401
import itertools  # noqa: F401
import json
import math  # noqa: F401
import pathlib  # noqa: F401
import random
import re  # noqa: F401
import select
import shutil  # noqa: F401
import signal
import subprocess  # noqa: F401
import tempfile
import time
import traceback  # noqa: F401

try:
    import yaml  # noqa: F401
except ImportError:
    pass

import clawbench_code_cache as code_cache
import clawbench_confinement as confinement
import clawbench_grading as grading

os.register_at_fork = _register_at_fork
# Grades must not depend on when the host was started.
random.seed(0)

# Neither this folder nor the current one may serve an import of a checker.
sys.path[:] = [path for path in sys.path if path and os.path.abspath(path) != _HERE]
sys.dont_write_bytecode = True

_RESULT_FD = 3
_PIPE_CHUNK = 1 << 16
_MEMORY_CHECK_SECONDS = 0.1
_TAIL_BYTES = 4096


class Closed(Exception):
    """The peer closed our standard input."""


class Requests:
    """Reads requests from a file descriptor that is also watched while a grading runs."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._buffer = bytearray()

    def _fill(self) -> None:
        chunk = os.read(self.fd, _PIPE_CHUNK)
        if not chunk:
            raise Closed
        self._buffer += chunk

    def _line(self) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            self._fill()
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def next(self) -> tuple[dict[str, Any], bytes]:
        while (line := self._line()) == b"cancel":
            pass  # came too late: its grading had ended
        request = json.loads(line)
        size = request["payloadBytes"]
        while len(self._buffer) < size:
            self._fill()
        payload = bytes(self._buffer[:size])
        del self._buffer[:size]
        return request, payload

    def cancelled(self) -> bool:
        """Called when the descriptor is readable during a grading."""
        self._fill()
        if self._buffer != b"cancel\n":
            return False
        self._buffer.clear()
        return True


class Grading:
    """One forked grading, watched until it and all its descendants are gone."""

    def __init__(self, request: dict[str, Any], payload: bytes, abi: int) -> None:
        self.request = request
        self.uid: Optional[int] = request["uid"]
        self.output = bytearray()
        self.output_bytes = 0
        self.frame = bytearray()
        self.verdict: Optional[tuple[str, str]] = None
        result_read, result_write = os.pipe()
        output_read, output_write = os.pipe()
        own_size = confinement.memory_of_this_process()
        others = 0 if self.uid is not None else confinement.processes_of_user()
        self.deadline = time.monotonic() + request["seconds"]
        host = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            _grade_in_child(request, payload, result_write, output_write, own_size, others, host, abi)
        os.close(result_write)
        os.close(output_write)
        self.result_read, self.output_read = result_read, output_read
        os.set_blocking(result_read, False)
        os.set_blocking(output_read, False)

    def watch(self, requests: Requests) -> dict[str, Any]:
        """Returns the answer; raises Closed, after killing everything, when the peer has gone."""
        pidfd = os.pidfd_open(self.pid)
        poll = select.poll()
        for fd in (pidfd, self.result_read, self.output_read, requests.fd):
            poll.register(fd, select.POLLIN)
        closed = False
        next_check = time.monotonic() + _MEMORY_CHECK_SECONDS
        while self.verdict is None and not closed:
            now = time.monotonic()
            if now >= self.deadline:
                self._end("timeout", f"the checker ran longer than {self.request['seconds']:g} s")
                break
            if now >= next_check:
                self._check_memory()
                next_check = time.monotonic() + _MEMORY_CHECK_SECONDS
            ready = {fd for fd, _ in poll.poll(max(1.0, (min(self.deadline, next_check) - now) * 1000))}
            if self.result_read in ready and not self._read_result():
                poll.unregister(self.result_read)
            if self.output_read in ready and not self._read_output():
                poll.unregister(self.output_read)
            if requests.fd in ready:
                try:
                    if requests.cancelled():
                        self._end("cancelled", "cancelled")
                except Closed:
                    closed = True
            if pidfd in ready:
                break
        os.close(pidfd)
        answer = self._finish()
        if closed:
            raise Closed
        return answer

    def _end(self, status: str, message: str) -> None:
        if self.verdict is None:
            self.verdict = (status, message)

    def _check_memory(self) -> None:
        limit = self.request["memoryBytes"]
        pids = confinement.descendants()
        # Forks share the host's pages, which count for each of them.
        if confinement.resident_bytes(pids) > limit + len(pids) * confinement.resident_bytes([os.getpid()]):
            self._end("memory", f"the checker's processes used more than {limit} bytes of memory")

    def _read_result(self) -> bool:
        """False at the end of the pipe."""
        while (chunk := _read(self.result_read)) is not None:
            if not chunk:
                return False
            self.frame += chunk
            if len(self.frame) > self.request["resultBytes"]:
                self._end("output", f"the grade is larger than {self.request['resultBytes']} bytes")
                return False
        return True

    def _read_output(self) -> bool:
        while (chunk := _read(self.output_read)) is not None:
            if not chunk:
                return False
            self.output_bytes += len(chunk)
            self.output += chunk
            if len(self.output) > 2 * _TAIL_BYTES:
                del self.output[:-_TAIL_BYTES]
            if self.output_bytes > self.request["outputBytes"]:
                self._end("output", f"the checker printed more than {self.request['outputBytes']} bytes")
                return False
        return True

    def _finish(self) -> dict[str, Any]:
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        _, status, usage = os.wait4(self.pid, 0)
        leftovers = confinement.sweep(self.uid)
        if self.verdict is None:
            self._read_result()
            self._read_output()
        os.close(self.result_read)
        os.close(self.output_read)
        answer = self._answer(status)
        answer["leftovers"] = leftovers
        answer["cpuMs"] = (usage.ru_utime + usage.ru_stime) * 1000
        answer["outputBytes"] = self.output_bytes
        answer["output"] = self.output[-_TAIL_BYTES:].decode("utf-8", "replace")
        return answer

    def _answer(self, status: int) -> dict[str, Any]:
        if self.verdict is not None:
            return {"status": self.verdict[0], "message": self.verdict[1]}
        body = self._body()
        if body is not None:
            return {"status": "answered", "answer": body}
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            if number == signal.SIGXCPU:
                return {"status": "timeout", "message": "the checker used up its CPU time"}
            return {"status": "crash", "message": f"the checker was killed by {_signal_name(number)}"}
        code = os.WEXITSTATUS(status)
        if code == 0:
            return {"status": "no_result", "message": "the checker exited with code 0 without a grade"}
        return {"status": "crash", "message": f"the checker exited with code {code} without a grade"}

    def _body(self) -> Optional[str]:
        """The text of a whole result that begins with this grading's nonce."""
        head = self.request["nonce"].encode()
        if not self.frame.startswith(head) or not self.frame.endswith(b"\n"):
            return None
        return self.frame[len(head) : -1].decode("utf-8", "replace")


def _grade_in_child(
    request: dict[str, Any],
    payload: bytes,
    result_fd: int,
    output_fd: int,
    own_size: int,
    others: int,
    host: int,
    abi: int,
) -> NoReturn:
    """Runs in the fork and never returns."""
    try:
        os.setsid()
        for hooks in _fork_hooks:
            os.register_at_fork(**hooks)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        # The pipes may lie at 0 to 3 already, so they are moved out of the way before those are filled.
        result_copy, output_copy = _copy_above(result_fd), _copy_above(output_fd)
        null = _copy_above(os.open(os.devnull, os.O_RDONLY))
        os.dup2(null, 0)
        os.dup2(output_copy, 1)
        os.dup2(output_copy, 2)
        os.dup2(result_copy, _RESULT_FD, inheritable=False)
        os.closerange(_RESULT_FD + 1, 256)
        os.umask(0o022)
        os.chdir(request["tmp"])
        tempfile.tempdir = None
        os.environ.update(HOME=request["tmp"], TMPDIR=request["tmp"])
        seconds = math.ceil(request["seconds"]) + 1
        confinement.limit_resources(seconds, own_size + request["memoryBytes"], others)
        if request["uid"] is not None:
            confinement.become(request["uid"], request["gid"])
        confinement.die_with(host)
        confinement.forbid_changes_outside([request["workspace"], request["tmp"]], abi)
        answer = grading.grade(request["bundle"], request["entry"], request["workspace"], payload)
        _write_all(_RESULT_FD, request["nonce"].encode() + grading.encode(answer) + b"\n")
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass
        os._exit(0)
    except BaseException:  # noqa: BLE001 - nothing may unwind into the host's loop
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(70)


def _copy_above(fd: int) -> int:
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 16)


def _read(fd: int) -> Optional[bytes]:
    """Bytes, empty at the end of the pipe, None when nothing waits."""
    try:
        return os.read(fd, _PIPE_CHUNK)
    except BlockingIOError:
        return None


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def main() -> None:
    # Standard output carries answers alone: anything printed by accident goes to standard error.
    answers = os.dup(1)
    os.dup2(2, 1)
    os.set_inheritable(answers, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    confinement.become_subreaper()
    abi = confinement.landlock_abi()
    if len(sys.argv) > 1:
        confinement.kill_strays_of(int(sys.argv[1]))
    gc.collect()
    gc.freeze()
    _write_all(answers, json.dumps({"ready": True, "python": sys.version.split()[0], "landlock": abi}).encode() + b"\n")
    requests = Requests(0)
    while True:
        try:
            request, payload = requests.next()
            code_cache.prepare(request["bundle"], request["entry"])
            answer = Grading(request, payload, abi).watch(requests)
        except Closed:
            return
        _write_all(answers, json.dumps(answer).encode() + b"\n")


main()
