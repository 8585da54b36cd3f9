"""What a working job says, batched into events: lines of its processes, and progress."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from schemaxis_server.execution import transitions
from schemaxis_server.execution.events import LogWritten
from schemaxis_server.execution.records import NativeState, Progress
from schemaxis_server.faults import Fault
from schemaxis_server.store.database import Database, Transaction

log = logging.getLogger(__name__)

_EVENT_BYTES = 32 * 1024
_EVENT_LINES = 256
_PROGRESS_SECONDS = 0.1


class JobLog:
    """The listener of a job's runs. Appends while the job works; :meth:`close` writes the rest.

    One write is under way at a time and takes what has gathered by then, so a flood becomes
    few large events. The supervisor caps what a process may write, which bounds the backlog.
    """

    def __init__(self, database: Database, job_id: str) -> None:
        self._database = database
        self._job_id = job_id
        self._lines: deque[tuple[str, str]] = deque()
        self._progress: Progress | None = None
        self._written = Progress()
        self._wake = asyncio.Event()
        self._closing = False
        self._truncated = ""
        self._task = asyncio.create_task(self._write(), name=f"log of {job_id}")
        self.engine_started = False
        self.native_state = NativeState.NOT_STARTED

    def started(self, pid: int) -> None:
        self.engine_started = True
        self.native_state = NativeState.RUNNING
        self._progress = self._progress or Progress(fraction=0.0, operation="")
        self._wake.set()

    def lines(self, stream: str, lines: list[str]) -> None:
        self._lines.extend((stream, line) for line in lines)
        self._wake.set()

    def truncated(self, stream: str) -> None:
        """Say that later lines were dropped since the output's limit was reached."""
        self._truncated = stream
        self._wake.set()

    def progress(self, fraction: float, operation: str) -> None:
        self._progress = Progress(fraction=max(fraction, self._written.fraction), operation=operation)
        self._wake.set()

    async def close(self) -> None:
        """Write what is left; nothing is appended afterwards."""
        self._closing = True
        self._wake.set()
        await self._task

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._lines or self._truncated or self._progress is not None:
                try:
                    await self._database.write(self._unit())
                except Fault as fault:
                    # The job goes on: its end is written with the same store and will say so.
                    log.warning("job log not written", extra={"job": self._job_id, "code": fault.code})
            if self._closing:
                return
            await asyncio.sleep(_PROGRESS_SECONDS if self._progress is None else 0)

    def _unit(self) -> Callable[[Transaction], None]:
        written = self._take_lines()
        made, self._progress = self._progress, None
        if made == self._written and not written and self.native_state is not NativeState.RUNNING:
            made = None
        if made is not None:
            self._written = made
        job_id, native = self._job_id, self.native_state

        def unit(tx: Transaction) -> None:
            if written is not None:
                tx.append(job_id, written)
            if made is not None:
                transitions.progress(tx, job_id, made, native)

        return unit

    def _take_lines(self) -> LogWritten | None:
        if not self._lines:
            stream, self._truncated = self._truncated, ""
            return LogWritten(stream, (), truncated=True) if stream else None
        stream = self._lines[0][0]
        taken: list[str] = []
        size = 0
        while (
            self._lines and self._lines[0][0] == stream and len(taken) < _EVENT_LINES and size < _EVENT_BYTES
        ):
            line = self._lines.popleft()[1]
            taken.append(line)
            size += len(line)
        return LogWritten(stream, tuple(taken))


class VerifierLog:
    """The listener of a verifier's run: its lines go into the job's log, its progress does not."""

    def __init__(self, job_log: JobLog | None) -> None:
        self._job_log = job_log

    def started(self, pid: int) -> None:
        """The job's native state speaks of its engine."""

    def lines(self, stream: str, lines: list[str]) -> None:
        if self._job_log is not None:
            self._job_log.lines(stream, lines)

    def progress(self, fraction: float, operation: str) -> None:
        """Verifying is a state of its own."""
