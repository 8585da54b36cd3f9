"""SQLite connections as the store uses them, and SQLite's errors as faults."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from schemaxis_server.faults import Fault
from schemaxis_server.store.files import short_of, unusable

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
_PASSING = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOMEM}
)
_UNUSABLE = frozenset(
    {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
)

DamageReport = Callable[[str, str, str], None]


class Connection(sqlite3.Connection):
    """A connection that knows whom to tell of a damaged row: ``report(table, id, reason)``."""

    report: DamageReport | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._using = threading.Lock()
        self._ended = False

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of one statement. :meth:`end` waits for it, from whatever thread that is called.

        Raises the faults of :func:`as_fault`, and ``Fault("SHUTTING_DOWN")`` after the end.
        """
        with self._using:
            if self._ended:
                raise shutting_down()
            try:
                return self.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise_as_fault(error)

    def end(self) -> None:
        """Close, once the statement that another thread may be at is through.

        Closing under a running statement would end the process.
        """
        with self._using:
            self._ended = True
            self.close()


def connect(path: Path, report: DamageReport | None = None, *, writes: bool = False) -> Connection:
    """Open the file ``path``, which must be there, in autocommit mode; read-only unless ``writes``.

    The store decides which thread uses a connection.
    """
    connection = sqlite3.connect(
        # SQLite would put an empty database where the file was lost.
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
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
    if is_damage(error):
        return Fault(
            "WORKSPACE_CORRUPT",
            f"The workspace's database is damaged ({error}). Run `schemaxis doctor --deep` on the workspace.",
        )
    kind = code & 0xFF
    if kind in _PASSING or code == sqlite3.SQLITE_IOERR_NOMEM:
        return short_of(str(error))
    if kind in _UNUSABLE:
        # SQLite does not say why it cannot open a file.
        why = _shortage() if kind == sqlite3.SQLITE_CANTOPEN else ""
        return short_of(why) if why else unusable("database", str(error))
    return error


def raise_as_fault(error: BaseException) -> NoReturn:
    """Raise the fault of :func:`as_fault`, or the error itself if it has none."""
    fault = as_fault(error)
    raise fault from (None if fault is error else error)


def is_damage(error: BaseException | None) -> bool:
    """Whether SQLite found that what it reads is not what it wrote."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED


def _shortage() -> str:
    try:
        os.close(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as error:
        return error.strerror or errno.errorcode.get(error.errno or 0, "")
    return ""


def shutting_down() -> Fault:
    return Fault(
        "SHUTTING_DOWN", "The service is stopping and takes no new work. Connect again when it is back."
    )
