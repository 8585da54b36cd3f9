from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from schemaxis_server.native import procfs
from schemaxis_server.native.contract import HostProgram
from schemaxis_server.native.pool import HostPool

from native.watching import Job

MakeJob = Callable[..., Job]


@pytest.fixture(params=[True, False], ids=["namespace", "subreaper"])
def namespaces(request: pytest.FixtureRequest) -> bool:
    """Both forms of containment: as the machine allows, and the fallback."""
    return bool(request.param)


@pytest.fixture
async def pool(tmp_path: Path, namespaces: bool) -> AsyncIterator[HostPool]:
    marker = f"test-{tmp_path.name}"
    pool = HostPool(tmp_path / "run", marker, namespaces=namespaces)
    yield pool
    pids = [host.pid for host in pool.stats().values()]
    await pool.close()
    assert not list((tmp_path / "run").glob("process-*"))
    assert not [pid for pid in pids if pid and procfs.look(pid) is not None]


@pytest.fixture
def job(tmp_path: Path) -> MakeJob:
    count = 0

    def make(host: HostProgram, request: dict[str, Any] | None = None, **limits: Any) -> Job:
        nonlocal count
        count += 1
        return Job(tmp_path / f"job-{count}", host, request, **limits)

    return make
