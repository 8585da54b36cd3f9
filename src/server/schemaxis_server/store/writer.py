"""The one writer thread: what is waiting becomes one commit, and is answered after it."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from schemaxis_server.faults import Fault
from schemaxis_server.store.connection import Connection, as_fault, shutting_down
from schemaxis_server.store.damage import seal
from schemaxis_server.store.files import RETRY_AFTER_SECONDS
from schemaxis_server.store.place import Place

T = TypeVar("T")

EncodeEvent = Callable[[int, float, object], bytes]

QUEUE_LIMIT = 10_000
_GROUP_LIMIT = 1_024

_APPEND = """
INSERT INTO streams (stream, tail, time) VALUES (?, 1, ?)
ON CONFLICT (stream) DO UPDATE SET tail = tail + 1, time = excluded.time RETURNING tail
"""


@dataclass(frozen=True, slots=True)
class Appended:
    """An event of a committed group: the bytes that lie in its row."""

    stream: str
    sequence: int
    data: bytes


class Transaction:
    """What a unit of work writes with: the connection, inside a savepoint of the unit's own.

    ``now`` is the unit's time in seconds since 1970; its events carry it, and its records may.
    ``told`` is what those get who listen for commits: by custom, the records that were put, by id.
    """

    def __init__(self, connection: Connection, encode_event: EncodeEvent) -> None:
        self.connection = connection
        self.now = time.time()
        self.appended: list[Appended] = []
        self.told: dict[str, object] = {}
        self._encode_event = encode_event

    def append(self, stream: str, event: object) -> int:
        """Append ``event`` to ``stream``; returns its sequence, dense from 1."""
        sequence: int = self.connection.execute(_APPEND, (stream, self.now)).fetchall()[0][0]
        data = self._encode_event(sequence, self.now, event)
        self.connection.execute(
            "INSERT INTO events (stream, sequence, data, checksum) VALUES (?, ?, ?, ?)",
            (stream, sequence, data, seal("events", f"{stream}/{sequence}", data)),
        )
        self.appended.append(Appended(stream, sequence, data))
        return sequence

    def count(self, name: str, change: int) -> None:
        """Change the kept total ``name`` by ``change``."""
        self.connection.execute(
            "INSERT INTO counts (name, value) VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
            (name, change),
        )


@dataclass(frozen=True, slots=True)
class Wake:
    """A future that is to get ``value`` on its own loop."""

    future: asyncio.Future[Any]
    value: Any


Committed = Callable[[list[Appended], dict[str, object]], Iterable[Wake]]
"""Given a group's events, and what its units told, after the commit, in the writer thread; answers whom to wake."""


class _Pending(Generic[T]):
    """A unit that waits for its commit, and where its outcome goes."""

    __slots__ = ("error", "future", "result", "unit")

    def __init__(self, unit: Callable[[Transaction], T], future: asyncio.Future[T] | Future[T]) -> None:
        self.unit = unit
        self.future = future
        self.result: T | None = None
        self.error: BaseException | None = None


class Writer:
    """Owns the write connection and the thread that uses it."""

    def __init__(
        self, connection: Connection, place: Place, encode_event: EncodeEvent, committed: Committed
    ) -> None:
        self._connection = connection
        self._place = place
        self._encode_event = encode_event
        self._committed = committed
        self._waiting: deque[_Pending[Any]] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="store-write", daemon=True)
        self._thread.start()

    async def write(self, unit: Callable[[Transaction], T]) -> T:
        """Commit ``unit`` with whatever else waits, and return its result.

        Cancelling the caller neither undoes nor loses the unit.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._enqueue(_Pending(unit, future))
        return await future

    def write_blocking(self, unit: Callable[[Transaction], T]) -> T:
        """The same from a thread that may wait, never from a running loop."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("a unit of work cannot wait for another one")
        future: Future[T] = Future()
        self._enqueue(_Pending(unit, future))
        return future.result()

    def post(self, unit: Callable[[Transaction], None]) -> None:
        """Commit ``unit`` some time soon and tell nobody; dropped while the service stops."""
        with self._changed:
            if not self._closed:
                self._waiting.append(_Pending(unit, Future()))
                self._changed.notify()

    def close(self) -> None:
        """Commit what waits, end the thread and close the connection."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()
        self._connection.close()

    def _enqueue(self, pending: _Pending[Any]) -> None:
        with self._changed:
            if self._closed:
                raise shutting_down()
            if len(self._waiting) >= QUEUE_LIMIT:
                raise Fault(
                    "OVERLOADED",
                    f"{QUEUE_LIMIT} writes are waiting already; nothing was changed. Send the request again "
                    f"after {RETRY_AFTER_SECONDS:g} s.",
                    retryAfterSeconds=RETRY_AFTER_SECONDS,
                )
            self._waiting.append(pending)
            self._changed.notify()

    def _run(self) -> None:
        group: list[_Pending[Any]] = []
        try:
            while group := self._take():
                _deliver(group, self._commit(group))
        finally:
            # Reached with something waiting only if the thread itself fails; nobody may hang on it.
            with self._changed:
                self._closed = True
                stranded = [*group, *self._waiting]
                self._waiting.clear()
            for pending in stranded:
                pending.error = Fault(
                    "INTERNAL", "The store's writer ended unexpectedly; restart the service."
                )
            _deliver(stranded, [])

    def _take(self) -> list[_Pending[Any]]:
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            count = min(len(self._waiting), _GROUP_LIMIT)
            return [self._waiting.popleft() for _ in range(count)]

    def _commit(self, group: list[_Pending[Any]]) -> list[Wake]:
        appended: list[Appended] = []
        told: dict[str, object] = {}
        try:
            self._place.check()
            self._connection.execute("BEGIN IMMEDIATE")
            for pending in group:
                done = self._attempt(pending)
                if done is not None:
                    appended += done.appended
                    told.update(done.told)
            self._connection.execute("COMMIT")
            # Nobody is answered for a commit that went to a file without a name.
            self._place.check()
        except BaseException as error:
            self._abandon()
            for pending in group:
                pending.error = pending.error or as_fault(error)
            return []
        return list(self._committed(appended, told))

    def _attempt(self, pending: _Pending[Any]) -> Transaction | None:
        """Run one unit in its savepoint, None if it failed.

        Its failure is its own unless SQLite gave up the whole group.
        """
        transaction = Transaction(self._connection, self._encode_event)
        self._connection.execute("SAVEPOINT unit")
        try:
            pending.result = pending.unit(transaction)
        except BaseException as error:
            # Whatever it is goes to the unit's caller; the thread must live.
            if not self._connection.in_transaction:
                raise
            self._connection.execute("ROLLBACK TO unit")
            self._connection.execute("RELEASE unit")
            pending.error = as_fault(error)
            return None
        self._connection.execute("RELEASE unit")
        return transaction

    def _abandon(self) -> None:
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error:
                # SQLite may have rolled back by itself in the meantime; the next BEGIN tells if not.
                return


def _deliver(group: list[_Pending[Any]], wakes: list[Wake]) -> None:
    """Hand the outcomes over, with one call into each loop however many wait there."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Pending[Any] | Wake]] = {}
    items: list[_Pending[Any] | Wake] = [*group, *wakes]
    for item in items:
        if isinstance(item.future, Future):
            _settle([item])
        else:
            by_loop.setdefault(item.future.get_loop(), []).append(item)
    for loop, mine in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, mine)
        except RuntimeError:
            # The loop was closed: whoever asked is gone, what was committed stays.
            continue


def _settle(items: Iterable[_Pending[Any] | Wake]) -> None:
    for item in items:
        if item.future.done():
            continue
        if isinstance(item, Wake):
            item.future.set_result(item.value)
        elif item.error is None:
            item.future.set_result(item.result)
        elif isinstance(item.error, Exception) and not isinstance(item.error, StopIteration):
            item.future.set_exception(item.error)
        else:
            # A future refuses a StopIteration, and an exit or a cancellation is not the caller's own.
            wrong = RuntimeError(f"a unit of work raised {type(item.error).__name__}")
            wrong.__cause__ = item.error
            item.future.set_exception(wrong)
