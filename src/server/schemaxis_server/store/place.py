"""Whether the database's files are still where they were opened.

An open file goes on taking writes after it was removed or replaced, and nobody would find them again.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from schemaxis_server.faults import Fault

log = logging.getLogger(__name__)


class Place:
    """Remembers which files were opened. For any thread."""

    def __init__(self, database: Path) -> None:
        self._name = database.name
        self._database = str(database)
        self._log = str(database) + "-wal"
        self._known = {self._database: _identity(self._database), self._log: _identity(self._log)}
        self._missed = False

    def check(self) -> None:
        """Raise ``Fault("WORKSPACE_CORRUPT")`` unless the files have their names. It costs two look-ups."""
        problem = self.problem
        if bool(problem) != self._missed:
            self._missed = bool(problem)
            log.error(problem or f"{self._name} is back in its place")
        if problem:
            raise Fault("WORKSPACE_CORRUPT", problem)

    @property
    def problem(self) -> str:
        """What is wrong, in words for a user; empty when all is well."""
        for path, known in self._known.items():
            found = _identity(path)
            if known is None:
                # The log is made by the first use of it, and kept for as long as the database is open.
                self._known[path] = found
            elif found != known:
                how = "is no longer there" if found is None else "was replaced by another file"
                return (
                    f"{os.path.basename(path)} {how}, though the service has it open, so nothing is written any more. "
                    "Put it back in its place, or stop the service and restore the workspace from a copy."
                )
        return ""


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
