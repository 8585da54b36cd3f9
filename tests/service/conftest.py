"""Fixtures: a fresh workspace in a short path, and a server program on it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.program import Program


@pytest.fixture
def workspace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sx-") as directory:
        yield Path(directory) / "w"


@pytest.fixture
def program(workspace: Path) -> Iterator[Program]:
    """A running server, ended at last however the test left it."""
    served = Program(workspace)
    assert served.start()["event"] == "ready", served.ready
    yield served
    for barrier in served.barriers.iterdir():
        barrier.unlink()
    if served.process.poll() is None:
        served.stop()


@pytest.fixture(scope="module")
def shared() -> Iterator[Program]:
    """One server for tests that leave it as it was."""
    with tempfile.TemporaryDirectory(prefix="sx-") as directory:
        served = Program(Path(directory) / "w")
        assert served.start()["event"] == "ready", served.ready
        yield served
        served.stop()
