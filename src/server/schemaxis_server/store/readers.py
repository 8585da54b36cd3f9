"""Read connections: one for each thread that reads, and a small pool for what must not stall a loop."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from schemaxis_server.store.connection import (
    Connection,
    DamageReport,
    connect,
    raise_as_fault,
    shutting_down,
)
from schemaxis_server.store.place import Place

T = TypeVar("T")

_POOL_THREADS = 2


class Readers:
    """Read-only connections to one database file."""

    def __init__(self, path: Path, place: Place, report: DamageReport) -> None:
        self._path = path
        self._place = place
        self._report = report
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._opened: list[Connection] = []
        self._closed = False
        self._pool = ThreadPoolExecutor(_POOL_THREADS, thread_name_prefix="store-read")

    @property
    def here(self) -> Connection:
        """The calling thread's own connection, to be used by :meth:`Connection.rows` only outside the pool.

        Raises ``Fault("SHUTTING_DOWN")`` after close, and the faults of a file that cannot be opened.
        """
        if self._closed:
            raise shutting_down()
        connection: Connection | None = getattr(self._mine, "connection", None)
        if connection is None:
            connection = self._mine.connection = self._open()
        return connection

    def submit(self, query: Callable[[Connection], T]) -> Future[T]:
        """Run ``query`` in the pool, all its statements on one snapshot of the database."""
        try:
            return self._pool.submit(self._run, query)
        except RuntimeError as error:
            raise shutting_down() from error

    def close(self) -> None:
        """Wait for running queries and close every connection; later ones are refused."""
        self._pool.shutdown(wait=True)
        with self._lock:
            self._closed = True
            opened = self._opened.copy()
            self._opened.clear()
        for connection in opened:
            connection.end()

    def _open(self) -> Connection:
        # Another file of that name would answer for another workspace, and for a lost one SQLite makes a new one.
        self._place.check()
        try:
            connection = connect(self._path, self._report)
        except sqlite3.Error as error:
            raise_as_fault(error)
        try:
            self._place.check()
            with self._lock:
                if self._closed:
                    raise shutting_down()
                self._opened.append(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _run(self, query: Callable[[Connection], T]) -> T:
        connection = self.here
        try:
            connection.execute("BEGIN")
            try:
                answer = query(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise_as_fault(error)
        if isinstance(answer, sqlite3.Cursor):
            # An open cursor would hold its snapshot and keep the write-ahead log growing.
            raise TypeError("a query returns rows, not a cursor")
        return answer
