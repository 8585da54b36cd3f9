"""Files that survive a power cut: whole under their final name, or absent."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

from schemaxis_server.faults import Fault

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_SHORT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})

TEMPORARY_SUFFIX = ".tmp"
RETRY_AFTER_SECONDS = 1.0


def storage_error(error: OSError, path: Path) -> Exception:
    """``Fault("STORAGE_FULL")`` when the file system has no room for ``path``, ``Fault("OVERLOADED")`` when
    the service has no descriptor or no memory left for it, else the error itself."""
    if error.errno in _NO_ROOM:
        return Fault(
            "STORAGE_FULL",
            f"The file system of {path.parent.name}/ has no room ({os.strerror(error.errno or 0)}); nothing was "
            "changed. Free space or inodes and send the request again.",
        )
    return short_of(error.strerror or str(error)) if error.errno in _SHORT else error


def storage_fault(error: OSError, path: Path) -> Exception:
    """The fault that a failed use of the workspace's own file ``path`` means, whatever the error."""
    fault = storage_error(error, path)
    return unusable(f"{path.parent.name}/", error.strerror or str(error)) if fault is error else fault


def short_of(why: str) -> Fault:
    """The fault for what the system refuses now and may grant soon: descriptors, memory, a lock."""
    return Fault(
        "OVERLOADED",
        f"The service cannot work on this now ({why}); nothing was changed. Send the request again after "
        f"{RETRY_AFTER_SECONDS:g} s.",
        retryAfterSeconds=RETRY_AFTER_SECONDS,
    )


def unusable(what: str, why: str) -> Fault:
    """The fault for files of the workspace that cannot be read or written, which says nothing of what
    they hold."""
    return Fault(
        "WORKSPACE_CORRUPT",
        f"The workspace's {what} cannot be used ({why}); nothing was changed. Check the file system and "
        "who may read and write there, then send the request again.",
    )


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


def discard(temporary: Path) -> None:
    """Remove an unfinished file, if it can be; what it stood for has its own outcome, which matters more."""
    with contextlib.suppress(OSError):
        temporary.unlink()


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
        discard(temporary)
        raise storage_error(error, path) from error
    sync_directory(path.parent)


def write_immutable(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` for good, read-only. Writing the same bytes again is no change.

    Raises FileExistsError when other bytes are there, ``Fault("STORAGE_FULL")`` when there is no room,
    ``Fault("OVERLOADED")`` and ``Fault("WORKSPACE_CORRUPT")`` when it cannot be written just now or at all.
    """
    try:
        try:
            present = read_regular(path)
        except FileNotFoundError:
            write_durably(path, data, 0o400)
            return
        sync_directory(path.parent)
    except OSError as error:
        raise storage_fault(error, path) from error
    if present != data:
        raise FileExistsError(errno.EEXIST, "another content is stored under this immutable name", str(path))


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


def read_regular(path: Path, limit: int | None = None) -> bytes:
    """The whole of a regular file, under the rules of :func:`open_regular`.

    With ``limit``, no more than that many bytes are read, and a larger file is OSError ``EFBIG``,
    also where it grows meanwhile.
    """
    descriptor, _ = open_regular(path)
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(-1 if limit is None else limit + 1)
    if limit is not None and len(data) > limit:
        raise OSError(errno.EFBIG, f"larger than {limit} bytes", str(path))
    return data


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """Write the whole of ``data``; a short write, as near the end of a full disk, goes on to its error."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
