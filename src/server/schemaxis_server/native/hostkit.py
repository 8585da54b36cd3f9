"""What a host program may use while it works. Standard library only.

A host is a function ``entry(request, kit) -> result`` on plain JSON values. It runs in a
process of its own, used once, whose working directory is ``kit.directory``.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

_OPERATION_CHARACTERS = 256


class UnsupportedInput(Exception):
    """The engine cannot work on this input; raised by a host, reported as UNSUPPORTED_INPUT.

    ``message`` says what to change. ``pointer`` is an RFC 6901 pointer into the request's
    document, empty when no single place is to blame.
    """

    def __init__(self, message: str, pointer: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.pointer = pointer


class Kit:
    """The host's side of one run.

    ``directory`` is the run's directory. ``report`` is the descriptor that progress is
    written to; without one (a host called in a plain process) progress is dropped. ``ahead`` is
    what the program's ``ahead`` returned in this worker, None if it has none.
    """

    def __init__(self, directory: Path, report: int | None = None, ahead: Any = None) -> None:
        self.ahead = ahead
        self._directory = directory
        self._report = report

    @property
    def directory(self) -> Path:
        """The run's directory, absolute, which is the working directory too."""
        return self._directory

    @property
    def publications(self) -> Path:
        """``publications/`` of the run's directory, made on first use."""
        path = self._directory / "publications"
        path.mkdir(mode=0o700, exist_ok=True)
        return path

    def progress(self, fraction: float, operation: str) -> None:
        """Report how far the work is.

        ``fraction`` is clamped to 0..1; NaN is dropped. ``operation`` names the part at work
        and is cut at 256 characters. Cheap, and never fails once the reader is gone.
        """
        if self._report is None or math.isnan(fraction):
            return
        line = {
            "fraction": min(1.0, max(0.0, float(fraction))),
            "operation": operation[:_OPERATION_CHARACTERS],
        }
        try:
            # At most 256 escaped characters stay below PIPE_BUF, so that a line is never torn.
            os.write(self._report, json.dumps(line).encode("ascii") + b"\n")
        except BrokenPipeError:
            self._report = None
