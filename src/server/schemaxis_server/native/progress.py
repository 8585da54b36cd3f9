"""Reading the progress that a host reports through its kit."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable

from schemaxis_server.native.output import LineDecoder, PipeReader

_REPORT_SECONDS = 0.05


class ProgressFeed:
    """The progress pipe of a run. ``report`` gets the newest state, at most every 50 ms.

    What is no progress line is ignored: the descriptor is within reach of the engine.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, report: Callable[[float, str], None]) -> None:
        self._loop = loop
        self._report = report
        self._lines = LineDecoder()
        self._newest: tuple[float, str] | None = None
        self._report_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.pipe = PipeReader(loop, self._take)

    def close(self) -> None:
        """Report the last state and close the pipe."""
        self.pipe.close()
        self._flush()

    def _take(self, chunk: bytes) -> bool:
        for line in reversed(self._lines.feed(chunk)):
            state = _parse(line)
            if state is not None:
                self._newest = state
                break
        if self._newest is not None:
            if self._loop.time() >= self._report_at:
                self._flush()
            elif self._timer is None:
                self._timer = self._loop.call_at(self._report_at, self._flush)
        return True

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        newest, self._newest = self._newest, None
        if newest is not None:
            self._report_at = self._loop.time() + _REPORT_SECONDS
            self._report(*newest)


def _parse(line: str) -> tuple[float, str] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    fraction, operation = value.get("fraction"), value.get("operation")
    if isinstance(fraction, bool) or not isinstance(fraction, int | float) or not isinstance(operation, str):
        return None
    if isinstance(fraction, float) and not math.isfinite(fraction):
        return None
    # Clamped before it becomes a float, which an integer may be too large for.
    return float(min(1, max(0, fraction))), operation
