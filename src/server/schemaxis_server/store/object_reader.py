"""Verified ranges of one object: every byte handed out belongs to a piece that matched just now."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from threading import Lock
from types import TracebackType

from schemaxis_server.faults import Fault
from schemaxis_server.store.damage import ObjectCorrupt
from schemaxis_server.store.files import open_regular
from schemaxis_server.store.pieces import DIGEST_BYTES, PIECE_BYTES, digest_pieces
from schemaxis_server.store.readers import shutting_down

WINDOW_BYTES = 4 * PIECE_BYTES
_AHEAD = 2


class ObjectReader:
    """Reads ranges of an object. Close it, or use it as an asynchronous context manager.

    A range reads and checks the pieces that it touches. A reader that goes on where it stopped
    is taken for a sequential one: it gets windows of 1 MiB, the next ones read and checked while
    the last one is being sent. What is kept are bytes that matched, never a verdict on the file.
    """

    def __init__(
        self,
        path: Path,
        sha256: str,
        size_bytes: int,
        digests: Callable[[], bytes],
        pool: Executor,
    ) -> None:
        self._file = _ObjectFile(path, sha256, size_bytes, digests)
        self._pool = pool
        self._expected = -1
        self._windows: dict[int, Future[bytes]] = {}

    async def __aenter__(self) -> ObjectReader:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def size_bytes(self) -> int:
        """The size that the receipt states."""
        return self._file.size_bytes

    async def read(self, offset: int, length: int) -> bytes:
        """The bytes from ``offset``, at most ``length``, fewer only at the end; empty at the end itself.

        Raises ``Fault("OUT_OF_RANGE")`` for an offset beyond the size, :class:`ObjectCorrupt` when
        the file is gone, is no regular file, has another size, or a touched piece does not match.
        """
        if length < 0 or not 0 <= offset <= self.size_bytes:
            raise Fault(
                "OUT_OF_RANGE",
                f"The range of {length} bytes at {offset} does not begin within 0 to {self.size_bytes}.",
                offset=offset,
                sizeBytes=self.size_bytes,
            )
        end = min(offset + length, self.size_bytes)
        sequential = offset == self._expected and length > 0
        self._expected = end
        if sequential:
            try:
                return await self._from_windows(offset, end)
            except ObjectCorrupt:
                # The damage may lie in a piece of the window that this range does not touch.
                self._expected = -1
        return await self._result(self._submit(lambda: self._file.read(offset, end)))

    def close(self) -> None:
        """Let the file go, once a reading that is under way has ended."""
        # Windows that still wait in the pool find the file closed; none is cancelled, since a
        # reading that shares it would be cancelled with it.
        self._windows.clear()
        self._file.close()

    async def _from_windows(self, offset: int, end: int) -> bytes:
        parts: list[bytes] = []
        while offset < end:
            index, start = divmod(offset, WINDOW_BYTES)
            window = await self._window(index)
            part = window[start : start + end - offset] if start or end - offset < len(window) else window
            parts.append(part)
            offset += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _window(self, index: int) -> bytes:
        last = (self.size_bytes - 1) // WINDOW_BYTES
        wanted = range(index, min(index + _AHEAD, last) + 1)
        for stale in [known for known in self._windows if known not in wanted]:
            del self._windows[stale]
        for number in wanted:
            if number not in self._windows:
                self._windows[number] = self._submit_window(number)
        window = self._windows[index]
        try:
            return await self._result(window)
        except BaseException:
            # A later read of the same range judges the file afresh.
            self._windows.pop(index, None)
            raise

    def _submit_window(self, index: int) -> Future[bytes]:
        start = index * WINDOW_BYTES
        return self._submit(lambda: self._file.read(start, min(start + WINDOW_BYTES, self.size_bytes)))

    def _submit(self, work: Callable[[], bytes]) -> Future[bytes]:
        try:
            return self._pool.submit(work)
        except RuntimeError as error:
            raise shutting_down() from error

    async def _result(self, running: Future[bytes]) -> bytes:
        if running.done():
            return running.result()
        return await asyncio.shield(asyncio.wrap_future(running))


class _ObjectFile:
    """The open file of an object, used in pool threads and closed when the last of them is through."""

    def __init__(self, path: Path, sha256: str, size_bytes: int, digests: Callable[[], bytes]) -> None:
        self.size_bytes = size_bytes
        self._path = path
        self._sha256 = sha256
        self._load_digests = digests
        self._digests = b""
        self._descriptor = -1
        self._users = 0
        self._closed = False
        self._lock = Lock()

    def read(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` to ``end``, each in a piece that was read and matched just now."""
        descriptor = self._enter()
        try:
            size = os.fstat(descriptor).st_size
            if size != self.size_bytes:
                raise ObjectCorrupt(self._sha256, f"it has {size} bytes instead of {self.size_bytes}")
            if start == end:
                return b""
            first = start // PIECE_BYTES
            base = first * PIECE_BYTES
            count = min(-(-end // PIECE_BYTES) * PIECE_BYTES, self.size_bytes) - base
            data = os.pread(descriptor, count, base)
            digests = digest_pieces(data)
            place = first * DIGEST_BYTES
            if len(data) != count or digests != self._digests[place : place + len(digests)]:
                raise ObjectCorrupt(self._sha256, self._difference(first, digests))
            return data if (base, count) == (start, end - start) else data[start - base : end - base]
        except OSError as error:
            raise ObjectCorrupt(self._sha256, error.strerror or str(error)) from error
        finally:
            self._leave()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._release()

    def _enter(self) -> int:
        with self._lock:
            if self._closed:
                raise ValueError("the object's reader is closed")
            if self._descriptor < 0:
                # Once a reader, in a pool thread: whoever waits for the lock needs the outcome.
                self._digests = self._load_digests()
                self._descriptor = self._open()
            self._users += 1
            return self._descriptor

    def _open(self) -> int:
        try:
            return open_regular(self._path)[0]
        except OSError as error:
            raise ObjectCorrupt(self._sha256, error.strerror or str(error)) from error

    def _leave(self) -> None:
        with self._lock:
            self._users -= 1
            self._release()

    def _release(self) -> None:
        if self._closed and not self._users and self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _difference(self, first: int, digests: bytes) -> str:
        for number in range(len(digests) // DIGEST_BYTES):
            place = (first + number) * DIGEST_BYTES
            if digests[number * DIGEST_BYTES :][:DIGEST_BYTES] != self._digests[place : place + DIGEST_BYTES]:
                return f"its bytes from {(first + number) * PIECE_BYTES} on were changed"
        return "it was cut short while being read"
