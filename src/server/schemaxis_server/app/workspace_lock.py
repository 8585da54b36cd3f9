"""The exclusive lock on a workspace: whoever holds it owns the database, the socket and the hosts."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from types import TracebackType

from schemaxis_server.faults import Fault


class WorkspaceLock:
    """A flock on ``<workspace>/lock``, released by the kernel when its holder dies.

    The file stays: removing it would let two owners lock two files of one name.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / "lock"
        self._descriptor = -1

    def acquire(self) -> None:
        """Take the lock at once. Raises ``WORKSPACE_LOCKED`` with the holder's pid."""
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise Fault(
                "INVALID_REQUEST",
                f"The workspace's lock file cannot be opened ({error.strerror}); use a directory that you may write.",
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
            raise Fault(
                "WORKSPACE_LOCKED",
                f"Process {holder or 'unknown'} serves this workspace; attach to its socket, or wait until it ends.",
                pid=holder,
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> WorkspaceLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
