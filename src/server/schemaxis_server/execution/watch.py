"""Watching a job: a cursor over its event log, the same for replay and for what is to come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from enum import StrEnum

from schemaxis_server.execution.jobs import Jobs
from schemaxis_server.faults import Fault
from schemaxis_server.store.database import Database

HEARTBEAT_SECONDS = 10.0


class EndReason(StrEnum):
    TERMINAL = "terminal"
    TAIL = "tail"
    DRAINING = "draining"


@dataclass(frozen=True, slots=True)
class Events:
    """Encoded events in order, and the log's tail."""

    tail: int
    encoded: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Quiet:
    """Nothing happened for ten seconds."""

    tail: int


@dataclass(frozen=True, slots=True)
class End:
    last_sequence: int
    reason: EndReason


class Watches:
    """Serves watches until the service drains."""

    def __init__(self, database: Database, jobs: Jobs) -> None:
        self._database = database
        self._jobs = jobs
        self._draining = asyncio.Event()

    def drain(self) -> None:
        """End every watch; a watcher resumes from its cursor later."""
        self._draining.set()

    async def watch(self, job_id: str, after: int, follow: bool) -> AsyncGenerator[Events | Quiet | End]:
        """The events behind ``after``, then those to come; the last thing yielded is an End.

        Raises ``NOT_FOUND``, and ``OUT_OF_RANGE`` with ``firstSequence`` and
        ``tailSequence`` for a cursor that the log does not have.
        """
        tail = self._jobs.get(job_id).last_sequence
        if not 0 <= after <= tail:
            raise Fault(
                "OUT_OF_RANGE",
                f"The cursor {after} is outside 0 to {tail}; watch again from a sequence that exists.",
                "/after_sequence",
                firstSequence=1,
                tailSequence=tail,
            )
        cursor, log = after, self._database.events
        while True:
            if self._draining.is_set():
                yield End(cursor, EndReason.DRAINING)
                return
            if cursor < tail:
                found = await log.read(job_id, cursor)
                cursor += len(found.events)
                tail = max(tail, found.tail) if follow else tail
                yield Events(found.tail, tuple(found.events))
                continue
            # The state is read before the tail: once it is terminal, the tail holds its event.
            terminal = self._jobs.get(job_id).state.terminal
            if follow and log.tail(job_id) > cursor:
                tail = log.tail(job_id)
                continue
            if terminal or not follow:
                yield End(cursor, EndReason.TERMINAL if terminal else EndReason.TAIL)
                return
            tail = await self._next(job_id, cursor)
            if tail == cursor and not self._draining.is_set():
                yield Quiet(tail)

    async def _next(self, job_id: str, cursor: int) -> int:
        """Sleep until there is an event behind the cursor, the service drains, or it was quiet for long."""
        arrival = asyncio.ensure_future(self._database.events.wait(job_id, cursor, HEARTBEAT_SECONDS))
        draining = asyncio.ensure_future(self._draining.wait())
        try:
            await asyncio.wait((arrival, draining), return_when=asyncio.FIRST_COMPLETED)
            return arrival.result() if arrival.done() else cursor
        finally:
            for task in (arrival, draining):
                task.cancel()
            await asyncio.gather(arrival, draining, return_exceptions=True)
