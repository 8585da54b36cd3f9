"""Lines on standard input and output: bounded, whole, and never held up by the event loop.

Reading and writing block, on whatever the descriptors are (pipes, files, terminals), so each has
a thread of its own. Neither holds more than a stated amount.
"""

from __future__ import annotations

import asyncio
import os
import select
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator

MAX_LINE_BYTES = 1024 * 1024
_READ_BYTES = 64 * 1024
# Lines that were read but not yet taken up.
_MAX_WAITING_LINES = 64
# Answers that a slow reader has not taken yet. A client that writes all its requests before it
# reads any answer is served up to here.
_MAX_WAITING_BYTES = 16 * 1024 * 1024
# A reader that takes nothing for so long at the end is not waited for any more.
_STUCK_SECONDS = 30.0


class Oversized:
    """Stands for a line over the limit; its rest is discarded."""


class LineSplitter:
    """Cuts a stream of bytes into lines, without their ends, of at most ``limit`` bytes.

    A line ends with a line feed, and a carriage return before it belongs to the end. The last
    line needs no end. A longer line gives :class:`Oversized` once, as soon as it is known.
    """

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._limit = limit
        self._pending = bytearray()
        self._discarding = False

    def feed(self, data: bytes) -> Iterator[bytes | Oversized]:
        """The lines that ``data`` completes."""
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            yield from self._finish(data[start:end])
            start = end + 1
        if self._discarding:
            return
        self._pending += data[start:]
        # One byte more may be the carriage return of the line's end.
        if len(self._pending) > self._limit + 1:
            self._pending.clear()
            self._discarding = True
            yield Oversized()

    def close(self) -> Iterator[bytes | Oversized]:
        """The last line, when the stream ended without a line feed."""
        if self._pending and not self._discarding:
            yield from self._finish(b"")

    def _finish(self, rest: bytes) -> Iterator[bytes | Oversized]:
        if self._discarding:
            self._discarding = False
            return
        line = bytes(self._pending + rest).removesuffix(b"\r")
        self._pending.clear()
        yield line if len(line) <= self._limit else Oversized()


def _read_some(descriptor: int) -> bytes:
    """What can be read next; empty at the end, or when reading fails for good."""
    while True:
        try:
            return os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            # Whoever made the pipe may have made it non-blocking.
            select.select([descriptor], [], [])
        except OSError:
            return b""


def _write_some(descriptor: int, data: memoryview) -> int:
    while True:
        try:
            return os.write(descriptor, data)
        except BlockingIOError:
            select.select([], [descriptor], [])


class LineReader:
    """Reads lines from a descriptor in a thread and hands them to the event loop."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes | Oversized | None] = asyncio.Queue()
        self._room = threading.Semaphore(_MAX_WAITING_LINES)
        # A daemon thread, since nothing can end a blocking read of a terminal.
        threading.Thread(target=self._read, name="lines-in", daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[bytes | Oversized]:
        while (line := await self._queue.get()) is not None:
            self._room.release()
            yield line

    def end(self) -> None:
        """End the iteration as if the input had ended."""
        self._queue.put_nowait(None)

    def _read(self) -> None:
        splitter = LineSplitter()
        while True:
            data = _read_some(self._descriptor)
            for line in splitter.feed(data) if data else splitter.close():
                self._room.acquire()
                self._hand_over(line)
            if not data:
                self._hand_over(None)
                return

    def _hand_over(self, line: bytes | Oversized | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, line)
        except RuntimeError:
            # The loop has closed: nobody listens any more.
            return


class LineWriter:
    """Writes whole lines to a descriptor in a thread, in the order in which they were sent."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._changed = threading.Condition()
        self._closing = False
        self._broken = False
        self._room = asyncio.Event()
        self._room.set()
        self.broken = asyncio.Event()
        self._thread = threading.Thread(target=self._write, name="lines-out", daemon=True)
        self._thread.start()

    def send(self, line: str) -> None:
        """Queue one line; who sends many waits for :meth:`room` in between. Dropped once broken."""
        data = line.encode() + b"\n"
        with self._changed:
            if self._broken:
                return
            self._lines.append(data)
            self._waiting_bytes += len(data)
            if self._waiting_bytes > _MAX_WAITING_BYTES:
                self._room.clear()
            self._changed.notify()

    async def room(self) -> None:
        """Return when less than the bound is queued, or the output is broken."""
        await self._room.wait()

    async def close(self) -> None:
        """Write what is queued, however slow the reader, as long as it takes any of it at all."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        left = -1
        while self._thread.is_alive() and left != self._waiting_bytes:
            left = self._waiting_bytes
            await asyncio.to_thread(self._thread.join, _STUCK_SECONDS)

    def _write(self) -> None:
        try:
            while (data := self._next()) is not None:
                view = memoryview(data)
                while view:
                    view = view[_write_some(self._descriptor, view) :]
                self._written(len(data))
        except OSError:
            self._fail()

    def _next(self) -> bytes | None:
        with self._changed:
            while not self._lines and not self._closing:
                self._changed.wait()
            return self._lines.popleft() if self._lines else None

    def _written(self, size: int) -> None:
        with self._changed:
            was_full = self._waiting_bytes > _MAX_WAITING_BYTES
            self._waiting_bytes -= size
            if was_full and self._waiting_bytes <= _MAX_WAITING_BYTES:
                self._on_loop(self._room.set)

    def _fail(self) -> None:
        with self._changed:
            self._broken = True
            self._lines.clear()
        self._on_loop(self._room.set)
        self._on_loop(self.broken.set)

    def _on_loop(self, call: object) -> None:
        assert callable(call)
        try:
            self._loop.call_soon_threadsafe(call)
        except RuntimeError:
            # The loop has closed: nobody waits any more.
            return
