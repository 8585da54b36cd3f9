"""The folder that a job shares with the office: files by name, gone after use. Standard library only."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from schemaxis_server.providers.calc.office import Office


@dataclass(frozen=True, slots=True)
class File:
    """A file in the shared folder; ``url`` is what the office calls it."""

    path: Path
    url: str

    def write(self, parts: Iterable[str]) -> None:
        with open(self.path, "w", encoding="utf-8", newline="") as file:
            file.writelines(parts)

    def read(self) -> bytes:
        return self.path.read_bytes()


class Exchange:
    """Files of one job."""

    def __init__(self, office: Office) -> None:
        # By the descriptor: the folder lies in the office's own mount namespace.
        self._folder = Path(f"/proc/self/fd/{office.folder}")
        self._place = Path(office.place)
        self._prefix = secrets.token_hex(8)

    @contextlib.contextmanager
    def file(self, name: str) -> Iterator[File]:
        """A name to write to; what was written there is removed at the end."""
        own = f"{self._prefix}-{name}"
        path = self._folder / own
        try:
            yield File(path, (self._place / own).as_uri())
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
