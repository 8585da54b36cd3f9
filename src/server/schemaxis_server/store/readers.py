"""Read connections: one for each thread that reads, and a small pool for what must not stall a loop."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from schemaxis_server.faults import Fault
from schemaxis_server.store.connection import Connection, DamageReport, as_fault, connect

T = TypeVar("T")

_POOL_THREADS = 2


class Readers:
    """Read-only connections to one database file."""

    def __init__(self, path: Path, report: DamageReport) -> None:
        self._path = path
        self._report = report
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._opened: list[Connection] = []
        self._closed = False
        self._pool = ThreadPoolExecutor(_POOL_THREADS, thread_name_prefix="store-read")

    @property
    def here(self) -> Connection:
        """The calling thread's own connection. Raises ``Fault("SHUTTING_DOWN")`` after close."""
        if self._closed:
            raise shutting_down()
        connection: Connection | None = getattr(self._mine, "connection", None)
        if connection is None:
            connection = connect(self._path, self._report)
            with self._lock:
                self._opened.append(connection)
            self._mine.connection = connection
        return connection

    def submit(self, query: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Run ``query`` in the pool, all its statements on one snapshot of the database."""
        try:
            return self._pool.submit(self._run, query)
        except RuntimeError as error:
            raise shutting_down() from error

    def close(self) -> None:
        """Wait for running queries and close every connection."""
        self._pool.shutdown(wait=True)
        self._closed = True
        with self._lock:
            for connection in self._opened:
                connection.close()
            self._opened.clear()

    def _run(self, query: Callable[[sqlite3.Connection], T]) -> T:
        connection = self.here
        try:
            connection.execute("BEGIN")
            try:
                answer = query(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise as_fault(error) from error
        if isinstance(answer, sqlite3.Cursor):
            # An open cursor would hold its snapshot and keep the write-ahead log growing.
            raise TypeError("a query returns rows, not a cursor")
        return answer


def shutting_down() -> Fault:
    return Fault(
        "SHUTTING_DOWN", "The service is stopping and takes no new work. Connect again when it is back."
    )
