"""Reading what a host prints: always drained, at a bounded rate, kept up to a limit."""

from __future__ import annotations

import asyncio
import codecs
import os
import time
from collections.abc import Callable
from pathlib import Path

LINE_BYTES = 8 * 1024
CUT_MARK = " …[cut]"

_CHUNK_BYTES = 64 * 1024
_WINDOW_SECONDS = 0.01
_READ_WINDOW_BYTES = 128 * 1024
_DISCARD_WINDOW_BYTES = 4 * 1024 * 1024
_BATCH_BYTES = 64 * 1024
_BATCH_SECONDS = 0.05
_LEFT_BYTES = 4 * 1024 * 1024


class LineDecoder:
    """Turns chunks of bytes into lines of text, in bounded memory.

    Lines end at ``\\n``; a ``\\r`` before it is dropped. Text is UTF-8, wrong bytes are
    replaced. A line of more than 8 KiB is cut there and ends with ``CUT_MARK``.
    """

    def __init__(self) -> None:
        self._held = b""
        self._skipping = False

    def feed(self, chunk: bytes) -> list[str]:
        """The lines that ``chunk`` completes."""
        end = chunk.rfind(b"\n")
        if end < 0:
            self._hold(chunk)
            return []
        head = chunk[:end]
        if self._skipping:
            # The rest of a line that was cut already lies before the first line end.
            first = head.find(b"\n")
            head = head[first + 1 :] if first >= 0 else b""
            lines = [self._cut_line(), *(_split(head) if first >= 0 else [])]
        else:
            lines = _split(self._held + head)
        self._held, self._skipping = b"", False
        self._hold(chunk[end + 1 :])
        return lines

    def finish(self) -> list[str]:
        """The last line, if it had no end."""
        if self._skipping:
            return [self._cut_line()]
        return _split(self._held) if self._held else []

    def _hold(self, part: bytes) -> None:
        if self._skipping:
            return
        self._held += part
        if len(self._held) > LINE_BYTES:
            self._held = self._held[: LINE_BYTES + 1]
            self._skipping = True

    def _cut_line(self) -> str:
        return _cut(self._held)


def _split(block: bytes) -> list[str]:
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n").removesuffix(b"\r")
    # An invalid sequence never swallows the line end behind it, so that all is decoded at once.
    text = block.decode("utf-8", "replace")
    # Only a replaced byte makes text longer than its bytes: three for one.
    limit = LINE_BYTES // 3
    return [_cut(line.encode("utf-8")) if len(line) > limit else line for line in text.split("\n")]


def _cut(line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    if len(line) <= LINE_BYTES and len(text.encode("utf-8")) <= LINE_BYTES:
        return text
    kept = text.encode("utf-8")[: LINE_BYTES - len(CUT_MARK.encode("utf-8"))]
    # Incremental decoding leaves a character that the cut went through out.
    return codecs.getincrementaldecoder("utf-8")("ignore").decode(kept) + CUT_MARK


class PipeReader:
    """Reads a pipe on the event loop, in turns with everything else that waits there.

    ``consume`` gets every chunk until it returns False; from then on what comes is thrown away, in
    the kernel where it can be. A flood is slowed down: its writer waits, the loop does not.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, consume: Callable[[bytes], bool]) -> None:
        self._loop = loop
        self._consume = consume
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        self._nowhere = -1
        self._window_ends = 0.0
        self._window_bytes = 0
        self._resume: asyncio.TimerHandle | None = None
        self._open = True
        loop.add_reader(self._read, self._ready)

    @property
    def write_end(self) -> int:
        """The descriptor for the writer; ``give_away`` closes ours."""
        return self._write

    def give_away(self) -> None:
        """Close our copy of the writer's end, once it was sent."""
        if self._write >= 0:
            os.close(self._write)
            self._write = -1

    def name(self) -> str:
        """The pipe as /proc names it."""
        return os.readlink(f"/proc/self/fd/{self._read}")

    def close(self) -> None:
        """Take what is in the pipe and close it. Does not wait for an end of file."""
        if not self._open:
            return
        self._loop.remove_reader(self._read)
        if self._resume is not None:
            self._resume.cancel()
        self.give_away()
        left = _LEFT_BYTES
        while left > 0 and (taken := self._take()) > 0:
            left -= taken
        self._open = False
        os.close(self._read)
        if self._nowhere >= 0:
            os.close(self._nowhere)

    def _ready(self) -> None:
        taken = self._take()
        if taken <= 0:
            if not taken:
                self._loop.remove_reader(self._read)
            return
        now = time.monotonic()
        if now >= self._window_ends:
            self._window_ends = now + _WINDOW_SECONDS
            self._window_bytes = 0
        self._window_bytes += taken
        limit = _READ_WINDOW_BYTES if self._nowhere < 0 else _DISCARD_WINDOW_BYTES
        if self._window_bytes >= limit:
            self._loop.remove_reader(self._read)
            self._resume = self._loop.call_later(max(0.0, self._window_ends - now), self._go_on)

    def _go_on(self) -> None:
        self._resume = None
        self._loop.add_reader(self._read, self._ready)

    def _take(self) -> int:
        """Take one chunk. Returns its size, 0 at the end, -1 when there is none at present."""
        try:
            if self._nowhere >= 0:
                return os.splice(self._read, self._nowhere, _LEFT_BYTES, flags=os.SPLICE_F_NONBLOCK)
            chunk = os.read(self._read, _CHUNK_BYTES)
        except BlockingIOError:
            return -1
        if chunk and not self._consume(chunk):
            self._nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        return len(chunk)


class OutputLog:
    """One output stream of a run: a pipe, its capped log file, and its lines in batches.

    ``path`` never grows above ``limit`` bytes. ``deliver`` gets at most one batch every 50 ms
    or 64 KiB. ``truncated`` says that something was thrown away.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, path: Path, limit: int, deliver: Callable[[list[str]], None]
    ) -> None:
        self.truncated = False
        self._loop = loop
        self._deliver = deliver
        self._left = limit
        self._lines = LineDecoder()
        self._batch: list[str] = []
        self._batch_bytes = 0
        self._flush_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._file = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        self.pipe = PipeReader(loop, self._keep)

    def close(self) -> None:
        """Take what is left, deliver it and close the log."""
        self.pipe.close()
        self._batch.extend(self._lines.finish())
        self._lines = LineDecoder()
        self._flush()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _keep(self, chunk: bytes) -> bool:
        kept = chunk[: self._left]
        try:
            written = os.write(self._file, kept) if kept else 0
        except OSError:
            # A full disk costs the rest of the log, and must not cost the run.
            written = 0
        self._left -= written
        self._batch.extend(self._lines.feed(kept[:written]))
        self._batch_bytes += written
        if written < len(chunk):
            self.truncated = True
        if self._batch_bytes >= _BATCH_BYTES or self._loop.time() >= self._flush_at:
            self._flush()
        elif self._timer is None:
            self._timer = self._loop.call_at(self._flush_at, self._flush)
        return not self.truncated

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        batch, self._batch, self._batch_bytes = self._batch, [], 0
        if batch:
            self._flush_at = self._loop.time() + _BATCH_SECONDS
            self._deliver(batch)
