"""Finding and ending processes that an earlier life of the daemon, or a lost run, left behind.

The last net: containment should leave nothing to find. A process is ended only on certain
evidence: a record with its start time, the workspace's marker in the environment it was started
with, a pipe of ours in its hands, or descent from one of those.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from schemaxis_server.native import procfs, records
from schemaxis_server.native.procfs import Process

_ROUND_MILLISECONDS = 20


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that was ended. ``evidence`` is ``record``, ``marker``, ``run`` or ``descent``."""

    pid: int
    evidence: str


@dataclass(frozen=True, slots=True)
class Swept:
    """``surviving`` are pids that still lived when the time was up; empty in all normal cases."""

    ended: tuple[Ended, ...]
    surviving: tuple[int, ...]


def sweep(runtime_directory: Path, marker: str, seconds: float = 5.0) -> Swept:
    """End what an earlier daemon of this workspace left behind. Blocks, at most ``seconds``.

    The caller holds the workspace's lock, so that no living daemon's hosts are hit. ``marker`` is
    this workspace's in this place: a copy has another one.
    """
    boot = records.current_boot()
    notes = records.read_all(runtime_directory)
    # A copied workspace has the records of the original, whose hosts may be at work.
    known = {(note.pid, note.started) for note in notes if (note.boot, note.marker) == (boot, marker)}
    entry = f"SCHEMAXIS_WORKSPACE={marker}".encode()

    def evidence(process: Process) -> str:
        if (process.pid, process.started) in known:
            return "record"
        return "marker" if entry in procfs.environment(process.pid) else ""

    swept = _end_all(evidence, seconds)
    if not swept.surviving:
        for note in notes:
            note.path.unlink(missing_ok=True)
    return swept


def end_run(run_id: str, pipes: frozenset[str], seconds: float = 2.0) -> Swept:
    """End what is left of one run: whatever was told its id or holds one of its pipes open."""
    entry = f"SCHEMAXIS_RUN={run_id}".encode()

    def evidence(process: Process) -> str:
        if entry in procfs.environment(process.pid) or procfs.holds(process.pid, pipes):
            return "run"
        return ""

    return _end_all(evidence, seconds)


def _end_all(evidence: Callable[[Process], str], seconds: float) -> Swept:
    """Kill in rounds until a round finds nothing, or the time is up."""
    deadline = time.monotonic() + seconds
    found: dict[tuple[int, int], Ended] = {}
    idle = select.poll()
    while True:
        living = _condemned(evidence, found)
        if not living or time.monotonic() >= deadline:
            return Swept(tuple(found.values()), tuple(process.pid for process in living))
        # Children first: a reaper that is killed before them sets its orphans free.
        for process in reversed(living):
            procfs.send_signal(process, signal.SIGKILL)
        idle.poll(_ROUND_MILLISECONDS)


def _condemned(evidence: Callable[[Process], str], found: dict[tuple[int, int], Ended]) -> list[Process]:
    """The living processes to be ended, parents before children; notes new ones in ``found``."""
    present = procfs.processes()
    spared = _ourselves(present)
    roots: list[Process] = []
    for process in present:
        key = (process.pid, process.started)
        if process.pid in spared:
            continue
        if key not in found and (reason := evidence(process)):
            found[key] = Ended(process.pid, reason)
        if key in found:
            roots.append(process)
    below = procfs.descendants((process.pid for process in roots), present)
    chosen = {process.pid: process for process in (*roots, *below) if process.pid not in spared}
    for process in chosen.values():
        found.setdefault((process.pid, process.started), Ended(process.pid, "descent"))
    return [process for process in chosen.values() if process.alive]


def _ourselves(present: Iterable[Process]) -> set[int]:
    """This process and its ancestors, which are never ended whatever their environment says."""
    parents = {process.pid: process.parent for process in present}
    spared: set[int] = set()
    pid = os.getpid()
    while pid and pid not in spared:
        spared.add(pid)
        pid = parents.get(pid, 0)
    return spared
