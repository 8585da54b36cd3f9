"""The log of a server that the bridge started, passed on without ever making the server wait."""

from __future__ import annotations

import os
import select
import threading

# A pipe that says it can be written takes this much without blocking.
_PIECE_BYTES = select.PIPE_BUF
_END_SECONDS = 1.0


class LogForwarder:
    """Passes on what comes into ``descriptor`` to another one, and drops what that does not take.

    Many a parent never reads the standard error of its child. Its pipe is then full before long,
    and whoever writes to it directly stands still.
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
        can_write = select.poll()
        can_write.register(self._target, select.POLLOUT)
        while piece := os.read(self._source, _PIECE_BYTES):
            if not any(events & select.POLLOUT for _, events in can_write.poll(0)):
                self._dropped += len(piece)
                continue
            try:
                self._write(piece)
            except OSError:
                # Nobody reads any more; the server is still to be drained.
                self._dropped += len(piece)
        os.close(self._source)

    def _write(self, piece: bytes) -> None:
        if self._dropped:
            told, self._dropped = self._dropped, 0
            piece = f"\n[{told} bytes of log were dropped, since nobody read them]\n".encode() + piece
            piece = piece[:_PIECE_BYTES]
        os.write(self._target, piece)
