"""Reading a resource's bytes over streams that may break, and keeping them in a file.

Nothing here talks to a server: :class:`ReadMachine` says what to ask for and checks what comes,
:class:`PartFile` keeps the bytes until they are whole.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from schemaxis._retry import Patience, is_passing
from schemaxis.errors import ConnectionLost, DownloadBusy, DownloadCorrupt, SchemaxisError, UnexpectedAnswer
from schemaxis.v1 import resource_pb2

CHUNK_BYTES = 1_048_576
_HASH_BYTES = 1_048_576


class ReadMachine:
    """The state of one read: from ``offset``, ``length`` bytes or (``None``) to the end.

    Whatever breaks, the next stream begins with the first byte that has not come yet.
    """

    def __init__(self, resource_id: str, offset: int, length: int | None, *, patience: Patience) -> None:
        self.offset = offset
        self.finished = False
        self.must_reopen = False
        """Whether the present stream is of no more use, so that the owner drops it and begins anew."""
        self._resource_id = resource_id
        self._left = length
        self._patience = patience
        self._trouble: SchemaxisError | None = None

    def begin(self) -> resource_pb2.ReadResourceRequest:
        """The request of the next stream."""
        self.must_reopen = False
        wanted = CHUNK_BYTES if self._left is None else min(self._left, CHUNK_BYTES)
        return resource_pb2.ReadResourceRequest(
            resource_id=self._resource_id, offset=self.offset, length=self._left, chunk_bytes=wanted
        )

    def receive(self, frame: resource_pb2.ReadResourceResponse) -> bytes:
        """The bytes of a frame, which must be the next ones."""
        if frame.data:
            if frame.offset != self.offset or (self._left is not None and len(frame.data) > self._left):
                raise UnexpectedAnswer(
                    f"Bytes from {frame.offset} came where those from {self.offset} were asked for: "
                    "use a client of the server's version."
                )
            self.offset += len(frame.data)
            if self._left is not None:
                self._left -= len(frame.data)
            self._patience.progress()
        self.finished = frame.last
        return frame.data

    def broke(self, error: SchemaxisError | None) -> None:
        """The stream broke with ``error``, or closed without its last frame (``None``).

        Raises the error when it does not pass by itself.
        """
        if error is not None and not is_passing(error):
            raise error
        self.must_reopen = True
        self._trouble = error or ConnectionLost(
            "The server closed the download before its last bytes: see that it runs."
        )

    def remaining(self) -> float | None:
        """A download may take as long as it moves."""
        return None

    def pause(self) -> float:
        """Seconds to wait before the next stream is opened; raises when patience is at its end."""
        trouble, self._trouble = self._trouble, None
        return 0.0 if trouble is None else self._patience.pause(trouble)


def sha256_of(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def check_digest(found: str, size: int, expected_sha256: str, expected_size: int) -> None:
    """Raise ``DownloadCorrupt`` unless size and SHA-256 are those of the resource."""
    if size != expected_size or found != expected_sha256:
        raise DownloadCorrupt(
            f"{size} bytes with SHA-256 {found} came instead of {expected_size} with {expected_sha256}: "
            "nothing was kept; download again, and verify the job if it happens again.",
            details={
                "expected": {"sha256": expected_sha256, "sizeBytes": expected_size},
                "observed": {"sha256": found, "sizeBytes": size},
            },
        )


class PartFile:
    """``<path>.part``: the bytes that have come so far, kept over breaks and restarts of the client.

    A context manager that holds the file alone: a second download to the same path is refused with
    ``DownloadBusy``. Bytes left by an earlier attempt are hashed and gone on from; whether they
    belong to this resource shows at the end.
    """

    def __init__(self, path: str | os.PathLike[str], sha256: str, size_bytes: int) -> None:
        self.path = Path(path).absolute()
        self._part = self.path.with_name(self.path.name + ".part")
        self._sha256 = sha256
        self._size = size_bytes
        self._hash = hashlib.sha256()
        self._descriptor = -1
        self.offset = 0
        self.resumed = False
        """Whether bytes of an earlier attempt are part of the file."""

    def __enter__(self) -> Self:
        if self.path.is_dir():
            raise IsADirectoryError(f"{self.path} is a directory: name the file to write")
        try:
            while not self._hold():
                self.close()
            self._take_over()
        except BaseException:
            # Nobody leaves what was not entered.
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file, which stays. Calling it again does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def write(self, data: bytes) -> None:
        """Append the next bytes."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]
        self._hash.update(data)
        self.offset += len(data)

    def restart(self) -> None:
        """Forget every byte."""
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        self._hash = hashlib.sha256()
        self.offset = 0
        self.resumed = False

    def finish(self) -> Path:
        """Check the digest and give the file its name, in one step; the path that it has now.

        Raises ``DownloadCorrupt`` and keeps nothing when the bytes are not the resource's.
        """
        try:
            check_digest(self._hash.hexdigest(), self.offset, self._sha256, self._size)
        except DownloadCorrupt:
            with contextlib.suppress(FileNotFoundError):
                self._part.unlink()
            raise
        os.fsync(self._descriptor)
        self._part.replace(self.path)
        return self.path

    def matches(self) -> bool:
        """Whether the bytes so far are the whole resource."""
        return self.offset == self._size and self._hash.hexdigest() == self._sha256

    def _hold(self) -> bool:
        """Open and lock the file. ``False`` when another download gave it its name in between."""
        self._descriptor = os.open(self._part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self._part))
        except BlockingIOError:
            raise DownloadBusy(f"Another download writes {self._part}: wait for it.") from None
        except FileNotFoundError:
            return False

    def _take_over(self) -> None:
        while chunk := os.read(self._descriptor, _HASH_BYTES):
            self._hash.update(chunk)
            self.offset += len(chunk)
        self.resumed = self.offset > 0
        if self.offset > self._size:
            self.restart()
