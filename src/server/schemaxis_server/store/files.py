"""Files that survive a power cut: whole under their final name, or absent."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path

from schemaxis_server.faults import Fault

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

TEMPORARY_SUFFIX = ".tmp"


def storage_error(error: OSError, path: Path) -> Exception:
    """``Fault("STORAGE_FULL")`` when the file system has no room for ``path``, else the error itself."""
    if error.errno in _NO_ROOM:
        return Fault(
            "STORAGE_FULL",
            f"The file system of {path.parent.name}/ has no room ({os.strerror(error.errno or 0)}); nothing was "
            "changed. Free space or inodes and send the request again.",
        )
    return error


def sync_directory(directory: Path) -> None:
    """Make the names in ``directory`` durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_directory(directory: Path, mode: int = 0o700) -> None:
    """Create ``directory`` durably. One that is there already is left as it is."""
    try:
        directory.mkdir(mode=mode)
    except FileExistsError:
        if not directory.is_dir():
            raise
    except OSError as error:
        raise storage_error(error, directory) from error
    sync_directory(directory.parent)


def temporary_name(directory: Path) -> Path:
    """A fresh hidden name in ``directory``. It does not grow with the name that it stands in for,
    which may use all 255 bytes."""
    return directory / f".{secrets.token_hex(8)}{TEMPORARY_SUFFIX}"


def write_durably(path: Path, data: bytes, mode: int = 0o600, *, scratch: Path | None = None) -> None:
    """Put ``data`` at ``path``, replacing a file that is there. When it returns, a power cut loses nothing.

    The unfinished file lies in the same directory, or in ``scratch`` on the same file system.

    Raises ``Fault("STORAGE_FULL")`` when there is no room; then what was at ``path`` is unchanged.
    """
    temporary = temporary_name(scratch or path.parent)
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            os.fchmod(descriptor, mode)
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise storage_error(error, path) from error
    sync_directory(path.parent)


def write_immutable(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` for good, read-only. Writing the same bytes again is no change.

    Raises FileExistsError when other bytes are there, ``Fault("STORAGE_FULL")`` when there is no room.
    """
    try:
        present = read_regular(path)
    except FileNotFoundError:
        write_durably(path, data, 0o400)
        return
    if present != data:
        raise FileExistsError(errno.EEXIST, "another content is stored under this immutable name", str(path))
    sync_directory(path.parent)


def open_regular(path: Path) -> tuple[int, int]:
    """Open a regular file for reading; returns its descriptor and size in bytes.

    Never follows a symbolic link at ``path`` and never waits, whatever lies there. Raises OSError.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return descriptor, status.st_size


def read_regular(path: Path) -> bytes:
    """The whole of a regular file, under the rules of :func:`open_regular`."""
    descriptor, _ = open_regular(path)
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """Write the whole of ``data``; a short write, as near the end of a full disk, goes on to its error."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
