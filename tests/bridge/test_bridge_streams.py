"""How long a stream bears breaks, with a clock that stands under the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

import grpc
import pytest
from grpc.aio import AioRpcError, Metadata
from schemaxis.bridge import streams
from schemaxis.bridge.faults import BridgeFault
from schemaxis.bridge.link import Link
from schemaxis.bridge.methods import load_methods
from schemaxis.bridge.streams import EventStream
from schemaxis.v1 import job_pb2

from bridge.scripted_service import end, events, heartbeat

GARBAGE = Metadata(("grpc-status-details-bin", b"\xff\xff"))


class Call:
    def __init__(self, frames: Sequence[Any], status: grpc.StatusCode) -> None:
        self._frames = frames
        self._status = status

    async def __aiter__(self) -> AsyncIterator[Any]:
        for frame in self._frames:
            yield frame
        if self._status is not grpc.StatusCode.OK:
            raise AioRpcError(self._status, Metadata(), GARBAGE, "gone")

    def cancel(self) -> None:
        return


class ScriptedLink:
    """Each stream in turn sends its frames and breaks; the last one for ever."""

    def __init__(self, *scripts: Sequence[Any], status: grpc.StatusCode) -> None:
        self._scripts = list(scripts)
        self._status = status
        self.opened = 0

    def stream(self, method: Any, request: Any) -> Call:
        self.opened += 1
        return Call(self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0], self._status)

    async def ready(self) -> None:
        return


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were made; they take no time but the clock's."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", pause)
    monkeypatch.setattr("time.monotonic", lambda: 100.0 + sum(pauses))
    return pauses


def watch(link: ScriptedLink) -> EventStream:
    return EventStream(cast("Link", link), load_methods()["watch_job"], job_pb2.WatchJobRequest(job_id="j"))


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN"),
        (grpc.StatusCode.CANCELLED, "CANCELLED"),
        (grpc.StatusCode.OK, "INTERNAL"),
    ],
)
async def test_a_stream_that_breaks_for_ever_is_given_up(
    paused: list[float], status: grpc.StatusCode, code: str
) -> None:
    link = ScriptedLink([], status=status)
    with pytest.raises(BridgeFault) as given_up:
        await anext(watch(link).events())
    assert given_up.value.code == code
    assert sum(paused) == pytest.approx(streams._PATIENCE_SECONDS)
    assert link.opened == len(paused) + 1
    assert link.opened < 40, "a server in trouble is not stormed"


async def test_a_refused_stream_is_told_at_once(paused: list[float]) -> None:
    link = ScriptedLink([], status=grpc.StatusCode.PERMISSION_DENIED)
    with pytest.raises(BridgeFault):
        await anext(watch(link).events())
    assert not paused


async def test_a_quiet_job_is_watched_over_any_number_of_breaks(paused: list[float]) -> None:
    quiet = [[heartbeat()]] * 1000
    link = ScriptedLink(*quiet, [events(1), end(1)], status=grpc.StatusCode.UNAVAILABLE)
    stream = watch(link)
    assert len([event async for event in stream.events()]) == 1
    assert stream.result
    assert link.opened == 1001
    assert sum(paused) > streams._PATIENCE_SECONDS
