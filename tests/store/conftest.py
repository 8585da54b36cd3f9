from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from schemaxis_server.store.database import Database
from schemaxis_server.store.objects import ObjectStore


def encode(sequence: int, time: float, event: object) -> bytes:
    return f"{sequence}:{event}".encode()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


@pytest.fixture
def reopen(directory: Path) -> Iterator[Callable[[], Database]]:
    """Opens the workspace anew, closing the one that was open."""
    opened: list[Database] = []

    def open_again() -> Database:
        for database in opened:
            database.close()
        opened[:] = [Database.open(directory, encode_event=encode)]
        return opened[0]

    yield open_again
    for database in opened:
        database.close()


@pytest.fixture
def database(reopen: Callable[[], Database]) -> Database:
    return reopen()


@pytest.fixture
def objects(tmp_path: Path) -> Iterator[ObjectStore]:
    store = ObjectStore(tmp_path / "objects")
    yield store
    store.close()
