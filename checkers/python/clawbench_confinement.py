"""Limits, identity and clean-up of one grading process. Linux; each measure that the machine lacks is skipped.

Everything here runs in the host's own code, before any code of a suite does, or after it has ended.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
from typing import Iterable, Optional

_libc = ctypes.CDLL(None, use_errno=True)

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38

# Landlock system calls have the same numbers on every architecture.
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_ADD_RULE = 445
_LANDLOCK_RESTRICT_SELF = 446
_LANDLOCK_RULE_PATH_BENEATH = 1
_WRITE_FILE = 1 << 1
# Remove, make (seven kinds of entries); refer and truncate came later.
_CHANGES = sum(1 << bit for bit in range(4, 13))
_REFER = 1 << 13
_TRUNCATE = 1 << 14
_BIND_AND_CONNECT_TCP = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

# Processes and threads of one grading: enough for a test runner, far too few for a fork bomb to hurt.
_PROCESSES = 64
_OPEN_FILES = 256
_FILE_BYTES = 64 * 1024 * 1024
_PAGE = resource.getpagesize()


class _RulesetAttr(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def _prctl(option: int, value: int) -> None:
    _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def become_subreaper() -> None:
    """Orphaned descendants become children of this process, so that none can escape the sweep."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def memory_of_this_process() -> int:
    """Virtual size in bytes: what a forked grading starts with."""
    with open("/proc/self/statm", "rb") as statm:
        return int(statm.read().split()[0]) * _PAGE


def processes_of_user() -> int:
    """Threads of this process's user: RLIMIT_NPROC counts all of them, not only our children."""
    count = 0
    user = os.getuid()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            if os.stat("/proc/" + name).st_uid == user:
                count += len(os.listdir("/proc/" + name + "/task"))
        except OSError:
            continue
    return count


def limit_resources(cpu_seconds: int, address_space: int, user_processes: int) -> None:
    """Hard limits of the calling process and all it will start. `user_processes`: already there for its user."""
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_AS, address_space),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_NPROC, user_processes + _PROCESSES),
    ):
        try:
            resource.setrlimit(kind, (value, value))
        except ValueError:
            # Above the limit that we were given ourselves, which holds then.
            continue


def become(uid: int, gid: int) -> None:
    """Gives up every identity and privilege of the host for a spare user that owns nothing else."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def die_with(parent: int) -> None:
    """Ends this process when the host does. Called after `become`, which clears the setting."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def landlock_abi() -> int:
    """Version of the kernel's Landlock, 0 where there is none."""
    version = _libc.syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    return max(0, version)


def forbid_changes_outside(folders: Iterable[str], abi: int) -> None:
    """
    From here on the process and its children change files only beneath `folders`, open no TCP connection and
    signal no process but their own. Does nothing where the kernel has no Landlock.
    """
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    if abi < 1:
        return
    rights = _WRITE_FILE | _CHANGES | (_REFER if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0)
    attr = _RulesetAttr(
        rights,
        _BIND_AND_CONNECT_TCP if abi >= 4 else 0,
        _ABSTRACT_SOCKETS_AND_SIGNALS if abi >= 6 else 0,
    )
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = _libc.syscall(
        _LANDLOCK_CREATE_RULESET, ctypes.byref(attr), ctypes.c_size_t(size), ctypes.c_uint32(0)
    )
    if ruleset < 0:
        return
    for folder in folders:
        _allow(ruleset, folder, rights)
    _allow(ruleset, os.devnull, rights & (_WRITE_FILE | _TRUNCATE))
    _libc.syscall(_LANDLOCK_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _PathBeneath(rights, parent)
        _libc.syscall(
            _LANDLOCK_ADD_RULE,
            ctypes.c_int(ruleset),
            ctypes.c_int(_LANDLOCK_RULE_PATH_BENEATH),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
    finally:
        os.close(parent)


def descendants() -> list[int]:
    """Every process below this one."""
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        pid = waiting.pop()
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children", "rb") as children:
                    below = [int(child) for child in children.read().split()]
                found.extend(below)
                waiting.extend(below)
        except OSError:
            continue
    return found


def resident_bytes(pids: Iterable[int]) -> int:
    """Anonymous memory in use by the processes: resident pages without those shared with files."""
    pages = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm", "rb") as statm:
                _, resident, shared = statm.read().split()[:3]
            pages += int(resident) - int(shared)
        except OSError:
            continue
    return pages * _PAGE


def sweep(uid: Optional[int]) -> int:
    """
    Kills every process that a grading left behind and reaps it; returns how many there were. A spare user's
    processes die in one stroke, which no fork bomb can outrun; others are frozen first, until none is new.
    """
    if not _reap_finished():
        return 0
    if uid is not None:
        _kill_all_of(uid)
    else:
        frozen: set[int] = set()
        while True:
            fresh = [pid for pid in descendants() if pid not in frozen]
            if not fresh:
                break
            for pid in fresh:
                _signal(pid, signal.SIGSTOP)
            frozen.update(fresh)
        for pid in frozen:
            _signal(pid, signal.SIGKILL)
    count = 0
    while True:
        try:
            os.waitpid(-1, 0)
            count += 1
        except ChildProcessError:
            return count


def kill_strays_of(uid: int) -> None:
    """Ends what an earlier host may have left behind under a spare user."""
    _kill_all_of(uid)


def _reap_finished() -> bool:
    """Whether any child is left after the finished ones were reaped."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True


def _kill_all_of(uid: int) -> None:
    killer = os.fork()
    if killer == 0:
        try:
            os.setgroups([])
            os.setresuid(uid, uid, uid)
            # -1 is everything that this user may signal, apart from the caller itself.
            os.kill(-1, signal.SIGKILL)
        except OSError:
            pass
        finally:
            os._exit(0)
    os.waitpid(killer, 0)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError as error:
        if error.errno not in (errno.ESRCH, errno.EPERM):
            raise
