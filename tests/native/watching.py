"""What the tests of native supervision use to see what a run did and what it left."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import select
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from schemaxis_server.native import procfs
from schemaxis_server.native.contract import HostProgram, Limits, Outcome, Run
from schemaxis_server.native.pool import HostPool

_numbers = itertools.count(random.randrange(10**9) * 1000)


def fresh_token() -> str:
    """An argument for ``sleep`` that no other process has."""
    return f"86400.{next(_numbers):014d}"


def living(token: str) -> list[int]:
    """The living processes that have ``token`` among their arguments."""
    found: list[int] = []
    for process in procfs.processes():
        try:
            arguments = Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if process.alive and token.encode() in arguments:
            found.append(process.pid)
    return found


def eventually(condition: Callable[[], bool], seconds: float = 3.0) -> bool:
    """Whether the condition comes true within the time."""
    deadline = time.monotonic() + seconds
    idle = select.poll()
    while not condition():
        if time.monotonic() > deadline:
            return False
        idle.poll(10)
    return True


async def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Let the loop run until the condition comes true."""
    for _ in range(int(seconds / 0.005)):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise TimeoutError


class Pace:
    """Measures the longest time for which the loop stood still."""

    def __init__(self) -> None:
        self.slowest = 0.0
        self._task = asyncio.ensure_future(self._measure())

    async def _measure(self) -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(0)
            self.slowest = max(self.slowest, time.monotonic() - began)
            await asyncio.sleep(0.002)

    def stop(self) -> float:
        self._task.cancel()
        return self.slowest


def program(entry: str, *preload: str, module: str = "host_entries") -> HostProgram:
    return HostProgram(name="test", entry=f"native.{module}:{entry}", preload=preload)


class Recorder:
    """A listener that keeps everything and lets a test wait for a line."""

    def __init__(self) -> None:
        self.pids: list[int] = []
        self.batches: list[tuple[str, list[str]]] = []
        self.states: list[tuple[float, str]] = []
        self._heard = asyncio.Event()

    def started(self, pid: int) -> None:
        self.pids.append(pid)
        self._heard.set()

    def lines(self, stream: str, lines: list[str]) -> None:
        self.batches.append((stream, lines))
        self._heard.set()

    def progress(self, fraction: float, operation: str) -> None:
        self.states.append((fraction, operation))

    def text(self, stream: str) -> list[str]:
        return [line for name, batch in self.batches if name == stream for line in batch]

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition():
                self._heard.clear()
                await self._heard.wait()

    async def line(self, text: str) -> None:
        await self.until(lambda: text in self.text("stdout"))


class Job:
    """One run, prepared: its fresh directory, its listener and its cancel event."""

    def __init__(
        self, directory: Path, host: HostProgram, request: dict[str, Any] | None = None, **limits: Any
    ) -> None:
        self.directory = directory
        self.listener = Recorder()
        self.cancel = asyncio.Event()
        directory.mkdir()
        (directory / "request.json").write_text(json.dumps(request or {}))
        self.run = Run(host, directory, Limits(**{"deadline_seconds": 30.0, "grace_seconds": 0.2, **limits}))

    async def on(self, pool: HostPool) -> Outcome:
        return await pool.run(self.run, self.listener, self.cancel)

    def begin(self, pool: HostPool) -> asyncio.Task[Outcome]:
        return asyncio.create_task(self.on(pool))

    def json(self, name: str = "result.json") -> Any:
        return json.loads((self.directory / name).read_text())

    def has(self, name: str) -> bool:
        return os.path.lexists(self.directory / name)
