"""Verified ranges of one object: every byte handed out belongs to a piece that matched just now."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from threading import BoundedSemaphore
from types import TracebackType

from schemaxis_server.faults import Fault
from schemaxis_server.store.connection import shutting_down
from schemaxis_server.store.damage import ObjectCorrupt, object_fault
from schemaxis_server.store.files import open_regular
from schemaxis_server.store.pieces import DIGEST_BYTES, PIECE_BYTES, digest_pieces

WINDOW_BYTES = 4 * PIECE_BYTES
AHEAD_READERS = 32
"""How many readers may hold windows at a time, 3 MiB each, however slowly they are read."""

_AHEAD = 2


class ObjectReader:
    """Reads ranges of an object. Close it, or use it as an asynchronous context manager.

    A range reads and checks the pieces that it touches. A reader that goes on where it stopped
    is taken for a sequential one: it gets windows of 1 MiB, the next ones read and checked while
    the last one is being sent. What is kept are bytes that matched, never a verdict on the file.
    ``ahead`` says how many readers may do so at once; the others read range by range.
    """

    def __init__(
        self,
        path: Path,
        sha256: str,
        size_bytes: int,
        digests: Callable[[], bytes],
        pool: Executor,
        ahead: BoundedSemaphore,
    ) -> None:
        self._file = _ObjectFile(path, sha256, size_bytes, digests)
        self._pool = pool
        self._ahead = ahead
        self._may_read_ahead = False
        self._closed = False
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
        the file is gone, is no regular file, has another size, or a touched piece does not match;
        ``Fault("OVERLOADED")`` and ``Fault("WORKSPACE_CORRUPT")`` when it cannot be read just now, or at
        all, which says nothing of its bytes.
        """
        if self._closed:
            raise ValueError("the object's reader is closed")
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
        if sequential and self._has_room_ahead():
            try:
                return await self._from_windows(offset, end)
            except ObjectCorrupt:
                # The damage may lie in a piece of the window that this range does not touch.
                self._expected = -1
        return await self._result(self._submit(lambda: self._file.read(offset, end)))

    def close(self) -> None:
        """Drop what was read ahead. A reading that is under way ends by itself."""
        self._closed = True
        # None that still waits in the pool is cancelled, since a reading that shares it would be too.
        self._windows.clear()
        if self._may_read_ahead:
            self._may_read_ahead = False
            self._ahead.release()

    def _has_room_ahead(self) -> bool:
        if not self._may_read_ahead:
            self._may_read_ahead = self._ahead.acquire(blocking=False)
        return self._may_read_ahead

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
    """The file of an object, opened for each reading, so that a reader that waits holds no descriptor."""

    def __init__(self, path: Path, sha256: str, size_bytes: int, digests: Callable[[], bytes]) -> None:
        self.size_bytes = size_bytes
        self._path = path
        self._sha256 = sha256
        self._load_digests = digests

    def read(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` to ``end``, each in a piece that was read and matched just now."""
        known = self._load_digests()
        first = start // PIECE_BYTES
        base = first * PIECE_BYTES
        count = min(-(-end // PIECE_BYTES) * PIECE_BYTES, self.size_bytes) - base if start < end else 0
        data = self._piece_bytes(base, count)
        digests = digest_pieces(data)
        place = first * DIGEST_BYTES
        if len(data) != count or digests != known[place : place + len(digests)]:
            raise ObjectCorrupt(self._sha256, _difference(known, first, digests))
        return data if (base, count) == (start, end - start) else data[start - base : end - base]

    def _piece_bytes(self, base: int, count: int) -> bytes:
        try:
            descriptor, size = open_regular(self._path)
            try:
                if size != self.size_bytes:
                    raise ObjectCorrupt(self._sha256, f"it has {size} bytes instead of {self.size_bytes}")
                return os.pread(descriptor, count, base)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise object_fault(self._sha256, error, self._path) from error


def _difference(known: bytes, first: int, digests: bytes) -> str:
    for number in range(first, first + len(digests) // DIGEST_BYTES):
        place = (number - first) * DIGEST_BYTES
        if digests[place:][:DIGEST_BYTES] != known[number * DIGEST_BYTES :][:DIGEST_BYTES]:
            return f"its bytes from {number * PIECE_BYTES} on were changed"
    return "it was cut short while being read"
