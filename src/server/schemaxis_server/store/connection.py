"""SQLite connections as the store uses them, and SQLite's errors as faults."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from schemaxis_server.faults import Fault

BUSY_TIMEOUT_SECONDS = 5.0

_NO_ROOM = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_TRUNCATE,
    }
)
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})

DamageReport = Callable[[str, str, str], None]


class Connection(sqlite3.Connection):
    """A connection that knows whom to tell of a damaged row: ``report(table, id, reason)``."""

    report: DamageReport | None = None


def connect(path: Path, report: DamageReport | None = None, *, writes: bool = False) -> Connection:
    """Open ``path`` in autocommit mode; read-only unless ``writes``.

    The store decides which thread uses a connection; SQLite itself is built serialised, so
    that closing from another thread is safe.
    """
    connection = sqlite3.connect(
        path,
        timeout=BUSY_TIMEOUT_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
        factory=Connection,
    )
    connection.report = report
    # A damaged name must not hide the sound rows that were asked for with it.
    connection.text_factory = _lenient_text
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        if not writes:
            connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _lenient_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def as_fault(error: BaseException) -> BaseException:
    """The fault that an SQLite error means to a caller; any other error as it is.

    A refused write is taken for a full file system: quotas and size limits arrive as a write
    error, and the advice is the same.
    """
    if not isinstance(error, sqlite3.Error):
        return error
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code in _NO_ROOM:
        return Fault(
            "STORAGE_FULL",
            f"The workspace's file system has no room ({error}); nothing was changed. "
            "Free space or inodes and send the request again.",
        )
    if code & 0xFF in _DAMAGED:
        return Fault(
            "WORKSPACE_CORRUPT",
            f"The workspace's database is damaged ({error}). Run `schemaxis doctor --deep` on the workspace.",
        )
    return error
