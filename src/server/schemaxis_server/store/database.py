"""The workspace's database: one writer, many readers, one event log."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from schemaxis_server.store.connection import Connection
from schemaxis_server.store.event_log import EventLog
from schemaxis_server.store.opening import DATABASE, open_database
from schemaxis_server.store.place import Place
from schemaxis_server.store.readers import Readers
from schemaxis_server.store.writer import Appended, EncodeEvent, Transaction, Wake, Writer

__all__ = ["Database", "Transaction"]

T = TypeVar("T")

_REMEMBERED_DAMAGE = 10_000

OnCommit = Callable[[dict[str, int], dict[str, object]], None]
"""Given the last sequence of each stream that got events, and what the units told."""


class Database:
    """Open with :meth:`open`, end with :meth:`close`. Usable from any thread and any loop.

    The caller holds the workspace's lock: two of these on one directory are not kept apart here.
    """

    def __init__(self, directory: Path, encode_event: EncodeEvent) -> None:
        self._lock = threading.Lock()
        self._reported: set[tuple[str, str]] = set()
        connection, self.workspace_id = open_database(directory, self._report_damage)
        self._place = Place(directory / DATABASE)
        self._readers = Readers(directory / DATABASE, self._place, self._report_damage)
        self.events = EventLog(self._readers)
        self._on_commit: list[OnCommit] = []
        self._writer = Writer(connection, self._place, encode_event, self._committed)

    @classmethod
    def open(cls, directory: Path, *, encode_event: EncodeEvent) -> Database:
        """Open the database in ``directory``, or create both.

        ``encode_event(sequence, time, event)`` runs in the writer thread at each append and gives
        the bytes that are stored; ``time`` is in seconds since 1970.

        Raises ``Fault``: WORKSPACE_CORRUPT for a file that is damaged, foreign, of a newer schema,
        or missing from a workspace that has been in use; INVALID_REQUEST for a directory that
        cannot be read and written; STORAGE_FULL; WORKSPACE_LOCKED.
        """
        return cls(directory, encode_event)

    async def write(self, unit: Callable[[Transaction], T]) -> T:
        """Commit ``unit`` and return its result, which is durable by then.

        Units run one after another in the writer thread; those that wait together share a commit,
        each in its own savepoint. An exception of the unit undoes that unit alone and is raised
        here. A failed commit fails all that shared it. Cancelling the caller neither undoes nor
        loses the unit. A unit must not wait for anything.

        Raises ``Fault``: STORAGE_FULL (nothing changed; later writes work again once there is
        room), OVERLOADED, SHUTTING_DOWN, WORKSPACE_CORRUPT.
        """
        return await self._writer.write(unit)

    def write_blocking(self, unit: Callable[[Transaction], T]) -> T:
        """The same where no loop runs, as in recovery."""
        return self._writer.write_blocking(unit)

    @property
    def reader(self) -> Connection:
        """The calling thread's read-only connection, for primary-key reads on a loop by its ``rows``."""
        return self._readers.here

    @property
    def problem(self) -> str:
        """What keeps the database from being written, in words for a user; empty when all is well."""
        return self._place.problem

    def on_commit(self, tell: OnCommit) -> None:
        """Have ``tell`` called after each commit and before anybody is answered. It runs in the writer
        thread and must not block."""
        self._on_commit.append(tell)

    async def scan(self, query: Callable[[Connection], T]) -> T:
        """Run ``query`` off the loop, on one snapshot. It fetches its rows whole and returns no cursor."""
        return await asyncio.shield(asyncio.wrap_future(self._readers.submit(query)))

    def close(self) -> None:
        """Commit what waits, end every wait, and close. Closing again does nothing."""
        self._writer.close()
        self.events.close()
        self._readers.close()

    def _committed(self, appended: list[Appended], told: dict[str, object]) -> Iterable[Wake]:
        tails = {event.stream: event.sequence for event in appended}
        for tell in self._on_commit:
            tell(tails, told)
        return self.events.committed(appended, tails)

    def _report_damage(self, table: str, id: str, reason: str) -> None:
        """Have the writer set a damaged row aside, once however often it is read."""
        with self._lock:
            if (table, id) in self._reported:
                return
            if len(self._reported) >= _REMEMBERED_DAMAGE:
                self._reported.clear()
            self._reported.add((table, id))

        def quarantine(tx: Transaction) -> None:
            added = tx.connection.execute(
                "INSERT OR IGNORE INTO quarantine (table_name, id, reason, time) VALUES (?, ?, ?, ?)",
                (table, id, reason, tx.now),
            )
            tx.count("quarantined", added.rowcount)

        self._writer.post(quarantine)
