"""A real ``schemaxis agent`` process, driven line by line."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, Self

ANSWER_SECONDS = 20.0


class AgentProcess:
    """The process; ``ask`` and ``line`` give parsed answers, ``raw`` the bytes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._stderr = asyncio.create_task(self._drain())
        self.stderr = b""

    @staticmethod
    def command(workspace: Path) -> list[str]:
        """The command line of an agent on ``workspace``."""
        return [sys.executable, "-m", "schemaxis", "agent", "--workspace", str(workspace)]

    @classmethod
    async def start(cls, workspace: Path) -> Self:
        """Start ``schemaxis agent`` on ``workspace``."""
        process = await asyncio.create_subprocess_exec(
            *cls.command(workspace),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=64 * 1024 * 1024,
        )
        return cls(process)

    async def _drain(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(65536):
            self.stderr += chunk

    @property
    def pid(self) -> int:
        return self._process.pid

    def write(self, data: bytes) -> None:
        """Send bytes as they are."""
        assert self._process.stdin is not None
        self._process.stdin.write(data)

    def send(self, identity: Any, method: str, **params: Any) -> None:
        """Send one request."""
        request = {"id": identity, "method": method, "params": params}
        self.write(json.dumps(request).encode() + b"\n")

    async def raw(self) -> bytes:
        """The next line, with its end; empty at the end of output."""
        assert self._process.stdout is not None
        async with asyncio.timeout(ANSWER_SECONDS):
            return await self._process.stdout.readline()

    async def line(self) -> Any:
        """The next line as JSON."""
        raw = await self.raw()
        assert raw.endswith(b"\n"), (raw, self.stderr)
        return json.loads(raw)

    async def ask(self, identity: Any, method: str, **params: Any) -> Any:
        """Send one request and read one line."""
        self.send(identity, method, **params)
        return await self.line()

    def end_input(self) -> None:
        """Close its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def terminate(self) -> None:
        """Send SIGTERM."""
        self._process.terminate()

    async def rest(self) -> list[Any]:
        """Every line until the end of output."""
        lines = []
        while raw := await self.raw():
            lines.append(json.loads(raw))
        return lines

    async def exit_code(self) -> int:
        """Wait for the process."""
        async with asyncio.timeout(ANSWER_SECONDS):
            await self._stderr
            return await self._process.wait()

    async def close(self) -> None:
        """End the process, by force when it does not end by itself."""
        self.end_input()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self.rest()
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
            raise
        finally:
            await self._stderr
