"""What the execution core asks of native supervision: one supervised run of a host program.

A *host* is a process that works for the daemon: an engine, or a verifier. The daemon never
imports an engine; it describes a run with the frozen types below and awaits its outcome.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class HostProgram:
    """A Python host that a zygote can keep warm.

    ``entry`` is ``package.module:function``; the function is called in the worker as
    ``function(request, kit) -> result`` with plain JSON values. ``preload`` are the modules
    that a warm process has already imported before a job arrives. ``python`` is the
    interpreter (empty for the daemon's own); ``environment`` is added to the allow-list.

    Two ways to keep an engine warm that is a program of its own. ``ahead`` is
    ``package.module:function``: it is called, as ``function()``, in each worker while that waits
    for its job, and what it returns is the entry's ``kit.ahead``; so an engine is started before
    it is needed, used by one job, and ends with it. Or a preloaded module starts the engine as a
    child of the warm process, for many jobs one after another: ``jobs_per_host`` is then how many
    it serves before all of it is replaced, which also happens at once after a run that did not
    end well, and when the engine dies. 0 means that nothing of the engine outlives a job.
    """

    name: str
    entry: str
    preload: tuple[str, ...] = ()
    python: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    ahead: str = ""
    jobs_per_host: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run. Sizes in bytes, times in seconds of the monotonic clock."""

    deadline_seconds: float
    grace_seconds: float = 2.0
    output_bytes: int = 8 * 1024 * 1024
    memory_bytes: int = 8 * 1024**3
    file_bytes: int = 2 * 1024**3
    open_files: int = 1024
    processes: int = 512


@dataclass(frozen=True, slots=True)
class Run:
    """One use of a host.

    ``directory`` is a fresh directory that holds ``request.json`` and becomes the worker's
    working directory; ``tmp/`` and ``home/`` below it are its TMPDIR and HOME. The worker
    writes ``result.json`` there last, by rename. ``stdout.log`` and ``stderr.log`` there are
    capped at ``limits.output_bytes`` each.
    """

    program: HostProgram
    directory: Path
    limits: Limits


class End(StrEnum):
    """Why a run ended. ``LOST``: the host vanished without a report."""

    EXITED = "exited"
    DEADLINE = "deadline"
    CANCELLED = "cancelled"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of a run once its process tree is empty.

    ``exit_code`` is None when a signal ended the leader (``signal`` says which) or nothing is
    known. An exit code of 0 proves nothing; the caller validates ``result.json``.
    """

    end: End
    exit_code: int | None
    signal: int | None
    warm: bool
    tree_empty: bool
    containment: str
    wall_seconds: float
    cpu_seconds: float
    max_rss_bytes: int
    truncated: tuple[str, ...]
    error: str = ""


class Listener(Protocol):
    """Receives what a run reports while it runs. Called on the event loop, must not block."""

    def started(self, pid: int) -> None:
        """The worker exists; from here the engine has started."""

    def lines(self, stream: str, lines: list[str]) -> None:
        """Complete lines of ``stdout`` or ``stderr``, decoded with replacement, each at most
        8 KiB (longer ones are cut and end with a mark), in batches."""

    def progress(self, fraction: float, operation: str) -> None:
        """``fraction`` is in 0..1."""


class Supervisor(Protocol):
    """Runs hosts. The pool of ``native.pool`` implements it."""

    async def run(self, run: Run, listener: Listener, cancel: asyncio.Event) -> Outcome:
        """Run a host to its end and return when no process of it is left.

        Setting ``cancel`` stops it: TERM, ``grace_seconds``, KILL. Raises
        ``Fault("MISSING_RUNTIME")`` when the host cannot be started at all.
        """
