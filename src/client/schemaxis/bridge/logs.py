"""The log of a server that the bridge started, passed on without ever making the server wait."""

from __future__ import annotations

import os
import select
import threading

# A pipe that says it can be written takes so much without blocking: a piece with the note before it.
_WRITTEN_BYTES = select.PIPE_BUF
_NOTE_BYTES = 128
_PIECE_BYTES = _WRITTEN_BYTES - _NOTE_BYTES
_END_SECONDS = 1.0


class LogForwarder:
    """Passes on what comes into ``descriptor`` to another one, and drops what that does not take.

    Many a parent never reads the standard error of its child. Its pipe is then full before long,
    and whoever writes to it directly stands still. How many bytes were dropped is told where they
    are missing, as soon as there is room.
    """

    def __init__(self, target: int = 2) -> None:
        self._target = target
        self._source, self.descriptor = os.pipe()
        self._dropped = 0
        self._thread = threading.Thread(target=self._forward, name="server-log", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take no more, and wait a moment until the rest is passed on."""
        os.close(self.descriptor)
        self._thread.join(_END_SECONDS)

    def _forward(self) -> None:
        while piece := os.read(self._source, _PIECE_BYTES):
            self._pass_on(piece)
        if self._dropped:
            self._pass_on(b"")
        os.close(self._source)

    def _pass_on(self, piece: bytes) -> None:
        note = b""
        if self._dropped:
            note = f"\n[{self._dropped} bytes of log were dropped, since nobody read them]\n".encode()
        written = self._write(note + piece)
        if written >= len(note):
            self._dropped = 0
        self._dropped += len(piece) - max(written - len(note), 0)

    def _write(self, data: bytes) -> int:
        """How many bytes the target took without waiting."""
        can_write = select.poll()
        can_write.register(self._target, select.POLLOUT)
        if not any(events & select.POLLOUT for _, events in can_write.poll(0)):
            return 0
        try:
            return os.write(self._target, data)
        except OSError:
            # Nobody reads any more; the server is still to be drained.
            return 0
