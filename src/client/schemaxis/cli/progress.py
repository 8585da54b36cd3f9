"""The progress of a job as it runs: one line rewritten on a terminal, plain lines elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TextIO

from schemaxis.cli.output import clean, columns, counted, is_terminal

_CLEAR_LINE = "\r\x1b[K"
_REDRAW_SECONDS = 0.1
# Between two plain lines of one state: a log should tell of progress, not consist of it.
_PLAIN_SECONDS = 1.0
_BAR = 20
_WITH_BAR = 72


class Progress:
    """What a job's events tell about how far it is, written to ``stream`` unless ``quiet``."""

    def __init__(
        self, stream: TextIO, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._quiet = quiet
        self._clock = clock
        self._began = clock()
        self._live = is_terminal(stream)
        self._shown = False
        self._state = "queued"
        self._fraction = 0.0
        self._operation = ""
        self._checks = 0
        self._next_plain = 0.0

    def see(self, event: Any) -> None:
        """Take in an event of the job."""
        match event:
            case {"stateChanged": {"state": state}}:
                self._state, self._operation, self._checks = state, "", 0
                self._next_plain = 0.0
                self._show()
            case {"progress": {"fraction": fraction, "operation": operation}} if self._state == "running":
                told = (self._fraction, self._operation)
                self._fraction, self._operation = fraction, clean(operation)
                if told != (self._fraction, self._operation):
                    self._show(passing=True)
            case {"check": _}:
                self._checks += 1
                self._show(passing=True)

    def line(self) -> str:
        """How far the job is, in a line that fits the terminal."""
        width = columns(self._stream)
        parts = [f"{self._clock() - self._began:6.1f} s", f"{self._state:<9}"]
        if self._state == "running":
            if width is not None and width >= _WITH_BAR:
                done = int(self._fraction * _BAR)
                parts.append(f"[{'#' * done}{'.' * (_BAR - done)}]")
            parts += [f"{self._fraction:4.0%}", self._operation]
        elif self._checks:
            parts.append(f"{counted(self._checks, 'check')} made")
        line = "  ".join(parts).rstrip()
        # The last column stays free: some terminals wrap as soon as it is written.
        return line if width is None else line[: width - 1]

    @asynccontextmanager
    async def moving(self) -> AsyncIterator[None]:
        """Keep the elapsed time going on a terminal; the line is gone afterwards."""
        clockwork = asyncio.create_task(self._redrawn()) if self._live and not self._quiet else None
        try:
            yield
        finally:
            if clockwork is not None:
                clockwork.cancel()
            self._clear()

    async def _redrawn(self) -> None:
        while True:
            self._show()
            await asyncio.sleep(_REDRAW_SECONDS)

    def _show(self, *, passing: bool = False) -> None:
        if self._quiet:
            return
        if self._live:
            self._write(_CLEAR_LINE + self.line())
            self._shown = True
            return
        now = self._clock()
        if not passing:
            self._write(self.line() + "\n")
        elif now >= self._next_plain:
            self._next_plain = now + _PLAIN_SECONDS
            self._write(self.line() + "\n")

    def _clear(self) -> None:
        if self._shown:
            self._write(_CLEAR_LINE)
            self._shown = False

    def _write(self, text: str) -> None:
        # Nobody need read it: a closed stream must not end the job.
        with contextlib.suppress(BrokenPipeError):
            self._stream.write(text)
            self._stream.flush()
