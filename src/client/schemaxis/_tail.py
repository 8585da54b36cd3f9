"""The last lines that a child wrote, kept in bounded memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

KEPT_BYTES = 16_384


class Tail:
    """Drains a pipe in a thread of its own, so that the writer never blocks, and keeps the end."""

    def __init__(self) -> None:
        self._kept = b""
        self._lock = threading.Lock()
        self._reader: int | None = None
        self._thread: threading.Thread | None = None

    @contextmanager
    def writer(self) -> Iterator[int]:
        """The descriptor to give to the child; it is closed here on leaving."""
        self._reader, write_end = os.pipe()
        self._thread = threading.Thread(
            target=self._drain, args=(self._reader,), name="schemaxis-server-log", daemon=True
        )
        self._thread.start()
        try:
            yield write_end
        finally:
            os.close(write_end)

    def text(self) -> str:
        """What is kept, at most the last 16 KiB."""
        with self._lock:
            return self._kept.decode("utf-8", "replace")

    def settle(self, timeout_seconds: float = 1.0) -> None:
        """Wait until everything that an ended child wrote has arrived."""
        if self._thread:
            self._thread.join(timeout_seconds)

    def close(self) -> None:
        """Wait for the end of the pipe. A grandchild that holds it open is not waited for: the thread
        closes the pipe itself whenever that ends."""
        self.settle()

    def _drain(self, descriptor: int) -> None:
        try:
            while chunk := os.read(descriptor, 65_536):
                with self._lock:
                    self._kept = (self._kept + chunk)[-KEPT_BYTES:]
        finally:
            os.close(descriptor)
