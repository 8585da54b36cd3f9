"""What the streams of both clients share: the machine that drives them, and a position in a resource."""

from __future__ import annotations

import io
from typing import Protocol, TypeVar

from schemaxis.errors import SchemaxisError

Q_co = TypeVar("Q_co", covariant=True)


class Machine(Protocol[Q_co]):
    """The state of a stream that survives breaks: what to ask for next, and whether to go on."""

    must_reopen: bool

    def begin(self) -> Q_co: ...

    def broke(self, error: SchemaxisError | None) -> None: ...

    def pause(self) -> float: ...

    def remaining(self) -> float | None: ...


class Seekable:
    """A position in a resource that can be read from anywhere."""

    def __init__(self, size_bytes: int, name: str) -> None:
        self._size = size_bytes
        self._position = 0
        self.name = name

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError(f"{base + offset} lies before the beginning of {self.name}")
        self._position = base + offset
        return self._position
