"""A scripted service on a socket in a workspace with a short path, and an agent attached to it."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bridge.agent_process import AgentProcess
from bridge.scripted_service import ScriptedService, start_service


@pytest.fixture
def workspace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sx-") as directory:
        yield Path(directory)


@pytest.fixture
async def service(workspace: Path) -> AsyncIterator[ScriptedService]:
    scripted = ScriptedService()
    server = await start_service(scripted, workspace / "schemaxis.sock")
    yield scripted
    scripted.verify_may_end.set()
    await server.stop(None)


@pytest.fixture
async def agent(workspace: Path, service: ScriptedService) -> AsyncIterator[AgentProcess]:
    process = await AgentProcess.start(workspace)
    yield process
    await process.close()
