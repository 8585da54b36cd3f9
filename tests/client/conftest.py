"""A model service on a real socket, with a short path, and both clients of it."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import schemaxis
import schemaxis.aio

from client.model_service import Model, ModelService


@pytest.fixture
def workspace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sx-") as directory:
        yield Path(directory)


@pytest.fixture
def service(workspace: Path) -> Iterator[ModelService]:
    service = ModelService(workspace / "schemaxis.sock")
    service.start()
    yield service
    service.stop()


@pytest.fixture
def model(service: ModelService) -> Model:
    return service.model


@pytest.fixture
def client(workspace: Path, service: ModelService) -> Iterator[schemaxis.Client]:
    with schemaxis.connect(workspace, patience_seconds=5) as client:
        yield client


@pytest.fixture
async def aclient(workspace: Path, service: ModelService) -> AsyncIterator[schemaxis.aio.Client]:
    async with schemaxis.aio.connect(workspace, patience_seconds=5) as client:
        yield client
