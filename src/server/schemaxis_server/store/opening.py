"""Opening the database file: a new one only where none has been, and a clear refusal of a damaged one."""

from __future__ import annotations

import errno
import json
import os
import secrets
import sqlite3
import stat
import struct
from pathlib import Path

from schemaxis_server.faults import Fault
from schemaxis_server.store.connection import Connection, DamageReport, as_fault, connect
from schemaxis_server.store.files import (
    make_directory,
    read_regular,
    storage_error,
    sync_directory,
    write_durably,
)
from schemaxis_server.store.schema import APPLICATION_ID, Migration, migrate, migrations, version_of

DATABASE = "schemaxis.db"
MARKER = "schemaxis.format"

_NEW = "schemaxis.db.new"
_CONTENT = ("plans", "jobs", "objects", "threads")
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_LOG_BYTES = 64 * 1024 * 1024


def open_database(directory: Path, report: DamageReport) -> tuple[Connection, str]:
    """Open the workspace's database for writing, creating it in a fresh directory.

    Returns the connection, migrated and in WAL mode, and the workspace's id. Raises
    ``Fault("WORKSPACE_CORRUPT")`` for a file that is not a sound database of this product or
    an older one of it, or that is missing though the workspace has been in use;
    ``Fault("INVALID_REQUEST")`` for a directory that cannot be used; ``Fault("STORAGE_FULL")``.
    """
    _prepare(directory)
    path = directory / DATABASE
    steps = migrations()
    try:
        if os.path.lexists(path):
            inspect_database(path)
        else:
            _refuse_loss(directory)
            _create(directory, steps)
        connection = connect(path, report, writes=True)
        try:
            workspace_id = _enter(connection, path, steps)
            _check_marker(directory, workspace_id)
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise _opening_fault(error, path) from error
    except OSError as error:
        raise _unusable(directory, error) from error
    return connection, workspace_id


def _prepare(directory: Path) -> None:
    try:
        if not directory.is_dir():
            make_directory(directory)
    except OSError as error:
        raise _unusable(directory, error) from error
    if not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        raise _unusable(directory, OSError(errno.EACCES, "the directory is read-only for this user"))


def inspect_database(path: Path) -> None:
    """Tell from the bytes what SQLite would say vaguely, or silently replace by an empty database.

    Raises ``Fault("WORKSPACE_CORRUPT")``; FileNotFoundError if there is no file.
    """
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise _corrupt(path, "is not a regular file")
    if status.st_size == 0:
        raise _corrupt(path, "is empty; every record in it is lost")
    if _pending(path, "-journal"):
        return
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if not header.strip(b"\0"):
        raise _corrupt(path, "begins with NUL bytes only")
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise _corrupt(path, "is not a database")
    # Offsets of the SQLite file format: page size at 16 (1 means 65,536), pages at 28.
    page_size = struct.unpack_from(">H", header, 16)[0]
    expected = struct.unpack_from(">I", header, 28)[0] * (65_536 if page_size == 1 else page_size)
    # With a write-ahead log, what the file lacks may be there, and SQLite puts the two together.
    if status.st_size < expected and not _pending(path, "-wal"):
        raise _corrupt(path, f"is cut short: {status.st_size} of {expected} bytes are there")


def _pending(path: Path, suffix: str) -> bool:
    try:
        return path.with_name(path.name + suffix).stat().st_size > 0
    except FileNotFoundError:
        return False


def _refuse_loss(directory: Path) -> None:
    """A workspace that has been in use but has no database must not become an empty one."""
    signs = [name for name in (MARKER, DATABASE + "-wal") if os.path.lexists(directory / name)]
    signs += [f"{name}/" for name in _CONTENT if _has_content(directory / name)]
    if signs:
        raise _corrupt(
            directory / DATABASE, f"is missing, though {' and '.join(signs)} show that it was there"
        )


def _has_content(directory: Path) -> bool:
    try:
        return any(not entry.name.startswith(".") for entry in directory.iterdir())
    except FileNotFoundError:
        return False


def _create(directory: Path, steps: tuple[Migration, ...]) -> None:
    """Build the database under another name, so that an interrupted creation leaves nothing half made."""
    new = directory / _NEW
    for leftover in (new, *(new.with_name(_NEW + suffix) for suffix in ("-journal", "-wal", "-shm"))):
        leftover.unlink(missing_ok=True)
    os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    connection = connect(new, writes=True)
    try:
        migrate(connection, steps)
        connection.execute(
            "INSERT INTO meta (name, value) VALUES ('workspace_id', ?)", (secrets.token_hex(16),)
        )
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()
    descriptor = os.open(new, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    new.rename(directory / DATABASE)
    sync_directory(directory)


def _enter(connection: Connection, path: Path, steps: tuple[Migration, ...]) -> str:
    application_id = connection.execute("PRAGMA application_id").fetchone()[0]
    if application_id != APPLICATION_ID:
        raise _corrupt(path, "is a database of another program")
    version = version_of(connection)
    if version > len(steps):
        raise _corrupt(
            path,
            f"was written by a newer schemaxis (schema {version}; this one knows {len(steps)}); use that one",
        )
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise _unusable(path.parent, OSError(errno.ENOTSUP, "its file system has no write-ahead log"))
    connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
    migrate(connection, steps)
    row = connection.execute("SELECT value FROM meta WHERE name = 'workspace_id'").fetchone()
    if row is None:
        raise _corrupt(path, "has no workspace id")
    workspace_id: str = row[0]
    return workspace_id


def _check_marker(directory: Path, workspace_id: str) -> None:
    """The marker says that this workspace has a database, and which; it outlives the loss of the file."""
    marker = directory / MARKER
    content = json.dumps({"format": 1, "workspaceId": workspace_id}).encode()
    try:
        stored = read_regular(marker)
    except FileNotFoundError:
        write_durably(marker, content)
        return
    try:
        known = json.loads(stored)["workspaceId"]
    except (ValueError, KeyError, TypeError):
        # The database is sound and the marker says nothing that it does not: write it anew.
        write_durably(marker, content)
        return
    if known != workspace_id:
        raise _corrupt(directory / DATABASE, f"belongs to another workspace ({workspace_id}, not {known})")


def _corrupt(path: Path, what: str) -> Fault:
    return Fault(
        "WORKSPACE_CORRUPT",
        f"{path} {what}. Nothing was changed; restore the file from a copy, or use another directory.",
        path=str(path),
    )


def _unusable(directory: Path, error: OSError) -> Exception:
    fault = storage_error(error, directory / DATABASE)
    if fault is not error:
        return fault
    return Fault(
        "INVALID_REQUEST",
        f"The workspace {directory} cannot be used: {error.strerror or error}. "
        "Name a directory that this user may read and write.",
        "/workspace",
    )


def _opening_fault(error: sqlite3.Error, path: Path) -> BaseException:
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        # SQLite does not say why it cannot create its files; a full file system is told apart here.
        reason = errno.ENOSPC if _is_full(path.parent) else errno.EACCES
        return _unusable(path.parent, OSError(reason, str(error)))
    if code & 0xFF == sqlite3.SQLITE_BUSY:
        return Fault("WORKSPACE_LOCKED", f"Another process has locked {path}. Wait until it ends.")
    if code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT):
        return _corrupt(path, f"is damaged: {error}")
    return as_fault(error)


def _is_full(directory: Path) -> bool:
    """Whether no block or no inode is left. A file system without a fixed number of inodes says 0 of 0."""
    space = os.statvfs(directory)
    return space.f_bavail == 0 or (space.f_files > 0 and space.f_favail == 0)
