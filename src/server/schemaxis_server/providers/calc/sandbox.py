"""The process that becomes the office: bounded, bound to its starter's life, and apart from the rest.

Standard library only. It runs between fork and exec, in a child of a process with one thread.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from schemaxis_server.native import linux

NO_NAMESPACE = 75
"""Exit status of a child that the kernel refused a mount namespace."""
NO_PROGRAM = 76
"""Exit status of a child that could not become the office."""

_SCRATCH = Path("/tmp")
_SCRATCH_BYTES = 2 * 1024**3
_MEMORY_BYTES = 8 * 1024**3
_FILE_BYTES = 2 * 1024**3
_OPEN_FILES = 1024

_CLONE_NEWNS = 0x0002_0000
_CLONE_NEWUSER = 0x1000_0000
_CLONE_NEWNET = 0x4000_0000
_MS_NOSUID, _MS_NODEV = 2, 4
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x4_0000

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to become of a child. ``prepare`` is called where the program's files are to be, once that is there.

    With ``private`` the program sees an empty /tmp of its own in memory, which vanishes with it, and no network.
    With ``twice`` it is run once before, to its end, as a program wants that has to fill its files first.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    prepare: Callable[[], None]
    private: bool
    twice: bool = False


def become(plan: Plan, starter: int) -> NoReturn:
    """Become the program. ``starter`` is the pid of the process that forked this one."""
    try:
        os.setsid()
        if plan.private:
            try:
                _go_apart()
            except OSError:
                os._exit(NO_NAMESPACE)
        plan.prepare()
        _limit()
        linux.forbid_new_privileges()
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(2, 1)
        os.closerange(3, _OPEN_FILES)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        if plan.twice:
            _run_once(plan)
        _execute(plan, starter)
    except BaseException as problem:
        os.write(2, f"{plan.command[0]}: {problem}\n".encode("utf-8", "replace"))
    os._exit(NO_PROGRAM)


def _run_once(plan: Plan) -> None:
    own = os.getpid()
    pid = os.fork()
    if pid == 0:
        _execute(plan, own)
    # Ended with the starter, like the program itself.
    linux.set_parent_death_signal(signal.SIGKILL)
    os.waitpid(pid, 0)


def _execute(plan: Plan, starter: int) -> NoReturn:
    # A change of credentials, as by a user namespace, clears it, so that it comes late.
    linux.set_parent_death_signal(signal.SIGKILL)
    if os.getppid() != starter:
        os._exit(NO_PROGRAM)
    os.execve(plan.command[0], list(plan.command), dict(plan.environment))


def _go_apart() -> None:
    """Enter a mount and a network namespace, with a /tmp in memory. Raises ``OSError``."""
    try:
        _check(_libc.unshare(_CLONE_NEWNS | _CLONE_NEWNET))
    except PermissionError:
        user, group = os.getuid(), os.getgid()
        _check(_libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNS | _CLONE_NEWNET))
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)
    options = f"mode=0700,size={_SCRATCH_BYTES},nr_inodes=100000"
    _mount("tmpfs", str(_SCRATCH), "tmpfs", _MS_NOSUID | _MS_NODEV, options)
    _mount(str(_SCRATCH), "/var/tmp", None, _MS_BIND)


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    arguments = [None if text is None else text.encode() for text in (source, target, kind, options)]
    _check(_libc.mount(arguments[0], arguments[1], arguments[2], ctypes.c_ulong(flags), arguments[3]))


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _limit() -> None:
    for kind, bound in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, _MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
    ):
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            bound = min(bound, hard)
        resource.setrlimit(kind, (bound, bound))
