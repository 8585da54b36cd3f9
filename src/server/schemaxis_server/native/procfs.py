"""Processes as /proc tells of them, and ending them without hitting a stranger.

A process is known by its id and its start time together, so that a reused id is never taken
for the process that had it before. Standard library only, since host processes import it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Process:
    """``started`` is in clock ticks since the machine started; ``state`` is the kernel's letter."""

    pid: int
    started: int
    parent: int
    state: str

    @property
    def alive(self) -> bool:
        """False for a zombie, which holds nothing any more."""
        return self.state not in "ZX"

    def same(self, other: Process | None) -> bool:
        return other is not None and (self.pid, self.started) == (other.pid, other.started)


def look(pid: int) -> Process | None:
    """The process that has this id now, or None."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command's name is in parentheses and may hold spaces and parentheses itself.
    fields = text[text.rindex(b")") + 2 :].split()
    return Process(pid, int(fields[19]), int(fields[1]), fields[0].decode("ascii"))


def processes() -> list[Process]:
    """All processes that /proc shows."""
    seen = (look(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return [process for process in seen if process is not None]


def descendants(roots: Iterable[int], of: Iterable[Process] | None = None) -> list[Process]:
    """All living processes below ``roots``, parents before children, the roots left out."""
    children: dict[int, list[Process]] = {}
    for process in processes() if of is None else of:
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    waiting = list(roots)
    while waiting:
        below = children.pop(waiting.pop(), [])
        found.extend(process for process in below if process.alive)
        waiting.extend(process.pid for process in below)
    return found


def environment(pid: int) -> frozenset[bytes]:
    """The ``NAME=value`` entries that the process was started with, empty when not to be had."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return frozenset(file.read().split(b"\0"))
    except OSError:
        return frozenset()


def holds(pid: int, files: frozenset[str]) -> bool:
    """Whether the process has one of ``files`` open, named as /proc does (``pipe:[123]``)."""
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return False
    for name in names:
        try:
            if os.readlink(f"/proc/{pid}/fd/{name}") in files:
                return True
        except OSError:
            continue
    return False


def send_signal(process: Process, number: signal.Signals) -> bool:
    """Signal exactly this process; False when it is gone, or is not ours to signal."""
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return False
    try:
        # The handle pins whoever has the id now; the start time tells whether it is still ours.
        if not process.same(look(process.pid)):
            return False
        signal.pidfd_send_signal(handle, number)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(handle)
    return True


def resident_bytes(pid: int) -> int:
    """Resident memory, shared pages included; 0 when the process is gone."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0
