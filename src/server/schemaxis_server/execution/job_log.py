"""What a working job says, batched into events: lines of its processes, and progress."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from schemaxis_server.execution import transitions
from schemaxis_server.execution.events import LogWritten
from schemaxis_server.execution.records import NativeState, Progress
from schemaxis_server.store.database import Database, Transaction

log = logging.getLogger(__name__)

_EVENT_CHARACTERS = 32 * 1024
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
        self._backlog: deque[_Block] = deque()
        self._progress: Progress | None = None
        self._written = Progress()
        self._wake = asyncio.Event()
        self._closing = asyncio.Event()
        self._truncated: set[str] = set()
        self._task = asyncio.create_task(self._write(), name=f"log of {job_id}")
        self.engine_started = False
        self.native_state = NativeState.NOT_STARTED

    def started(self, pid: int) -> None:
        self.engine_started = True
        self.native_state = NativeState.RUNNING
        self._progress = self._progress or Progress(fraction=0.0, operation="")
        self._wake.set()

    def lines(self, stream: str, lines: list[str]) -> None:
        self._backlog.extend(_blocks(stream, lines))
        self._wake.set()

    def truncated(self, stream: str) -> None:
        """Say that later lines were dropped since the output's limit was reached."""
        self._truncated.add(stream)
        self._wake.set()

    def progress(self, fraction: float, operation: str) -> None:
        self._progress = Progress(fraction=max(fraction, self._written.fraction), operation=operation)
        self._wake.set()

    async def close(self) -> None:
        """Write what is left; nothing is appended afterwards."""
        self._closing.set()
        self._wake.set()
        await self._task

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._backlog or self._truncated or self._progress is not None:
                try:
                    await self._database.write(self._unit())
                except Exception as error:
                    # The job goes on: its end is written with the same store and will say so.
                    log.warning("job log not written", exc_info=error, extra={"job": self._job_id})
            if self._closing.is_set():
                return
            # What comes meanwhile is written together, but the end of the job does not wait for it.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), _PROGRESS_SECONDS)

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
        if not self._backlog:
            return LogWritten(self._truncated.pop(), (), truncated=True) if self._truncated else None
        first = self._backlog.popleft()
        texts, count, size = [first.text], first.count, len(first.text)
        while self._backlog and self._backlog[0].stream == first.stream:
            count += self._backlog[0].count
            size += len(self._backlog[0].text)
            if count > _EVENT_LINES or size > _EVENT_CHARACTERS:
                break
            texts.append(self._backlog.popleft().text)
        return LogWritten(first.stream, tuple("\n".join(texts).split("\n")))


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines that wait to be written, as one text: a flood of short lines must not become a
    flood of objects."""

    stream: str
    count: int
    text: str


def _blocks(stream: str, lines: list[str]) -> Iterator[_Block]:
    """Lines in blocks that fit into one event; a line is at most 8 KiB."""
    group: list[str] = []
    size = 0
    for line in lines:
        if group and (len(group) == _EVENT_LINES or size + len(line) > _EVENT_CHARACTERS):
            yield _Block(stream, len(group), "\n".join(group))
            group, size = [], 0
        group.append(line)
        size += len(line)
    if group:
        yield _Block(stream, len(group), "\n".join(group))


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
