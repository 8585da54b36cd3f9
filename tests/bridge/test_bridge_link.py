"""The link to a server that is killed, started again, and stopped, whoever waits for it meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from schemaxis.bridge import link as link_module
from schemaxis.bridge.faults import BridgeFault
from schemaxis.bridge.link import Link
from schemaxis.bridge.methods import load_methods
from schemaxis.errors import ServerStartFailed
from schemaxis.process import Served, is_listening, serve_or_attach
from schemaxis.v1 import job_pb2

PROGRAM = Path(__file__).parents[1] / "client" / "server_program.py"


class Starts:
    """Starts the server of a workspace, and can hold a start up."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self.begun = threading.Event()
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def __call__(self) -> Served:
        self.begun.set()
        self.may_go_on.wait()
        return serve_or_attach(self._workspace, command=[sys.executable, str(PROGRAM), "serve"])

    def pids(self) -> list[int]:
        return [int(line) for line in (self._workspace / "starts").read_text().split()]


@pytest.fixture
def starts(workspace: Path) -> Starts:
    return Starts(workspace)


@pytest.fixture
async def link(starts: Starts) -> AsyncIterator[Link]:
    link = Link(starts)
    await link.open()
    yield link
    starts.may_go_on.set()
    await link.close()


async def kill(link: Link, pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    await asyncio.to_thread(os.waitid, os.P_PID, pid, os.WEXITED | os.WNOWAIT)


async def works(link: Link) -> bool:
    method = load_methods()["list_jobs"]
    return isinstance(await link.call(method, job_pb2.ListJobsRequest()), job_pb2.ListJobsResponse)


async def test_a_server_that_was_killed_is_started_once_for_all_who_wait(
    link: Link, starts: Starts, workspace: Path
) -> None:
    channel = link.channel
    await kill(link, starts.pids()[0])
    await asyncio.gather(*(link.ready() for _ in range(5)))
    assert len(starts.pids()) == 2
    assert link.owned
    assert link.channel is channel, "others may have calls on it"
    assert await works(link)
    await link.close()
    assert not is_listening(workspace / "schemaxis.sock"), "the server that the bridge started is stopped"


async def test_who_leaves_a_start_takes_it_from_nobody(link: Link, starts: Starts, workspace: Path) -> None:
    await kill(link, starts.pids()[0])
    starts.begun.clear()
    starts.may_go_on.clear()
    waiting = [asyncio.create_task(link.ready()) for _ in range(2)]
    assert await asyncio.to_thread(starts.begun.wait, 10)
    waiting[0].cancel()
    await asyncio.wait([waiting[0]], timeout=5)
    assert waiting[0].cancelled()
    starts.may_go_on.set()
    await waiting[1]
    assert link.owned
    assert await works(link)


async def test_a_start_that_everybody_left_is_stopped_with_the_link(
    link: Link, starts: Starts, workspace: Path
) -> None:
    await kill(link, starts.pids()[0])
    starts.begun.clear()
    starts.may_go_on.clear()
    waiting = asyncio.create_task(link.ready())
    assert await asyncio.to_thread(starts.begun.wait, 10)
    waiting.cancel()
    await asyncio.wait([waiting])
    threading.Timer(0.1, starts.may_go_on.set).start()
    await link.close()
    assert len(starts.pids()) == 2
    assert not is_listening(workspace / "schemaxis.sock")


async def test_a_server_of_ours_that_stands_still_is_not_left_for_another(
    link: Link, starts: Starts, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_RECONNECT_SECONDS", "_ACCEPT_SECONDS"):
        monkeypatch.setattr(link_module, name, 0.1)

    async def never(self: Link, seconds: float) -> bool:
        await asyncio.sleep(seconds)
        return False

    monkeypatch.setattr(Link, "_is_ready", lambda self: False)
    monkeypatch.setattr(Link, "_connected", never)
    with pytest.raises(BridgeFault, match="not reachable") as refused:
        await link.ready()
    assert (refused.value.code, refused.value.retryable) == ("SHUTTING_DOWN", True)
    assert link.owned
    assert len(starts.pids()) == 1


async def test_a_server_that_cannot_be_started_is_told_and_tried_again(
    link: Link, starts: Starts, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kill(link, starts.pids()[0])
    start = link._start

    def fails() -> Any:
        raise ServerStartFailed("The disk is full: make room.")

    link._start = fails
    with pytest.raises(BridgeFault, match="make room"):
        await link.ready()
    link._start = start
    await link.ready()
    assert link.owned
