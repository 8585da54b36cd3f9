"""Servers to measure: the product, and bare gRPC with the same messages and nothing behind it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import grpc

CHANNEL = (("grpc.default_authority", "localhost"), ("grpc.enable_http_proxy", 0))


@contextmanager
def place() -> Iterator[Path]:
    """A short temporary directory, since a socket's path is bounded."""
    with tempfile.TemporaryDirectory(prefix="sx-") as name:
        yield Path(name)


class Served:
    """A running server program and a channel to it. Times are in seconds."""

    def __init__(
        self, command: list[str], ready_seconds: float, process: subprocess.Popen[str], socket: str
    ) -> None:
        self.command = command
        self.ready_seconds = ready_seconds
        self.process = process
        self.socket = socket
        self.channel = grpc.insecure_channel(f"unix:{socket}", options=CHANNEL)

    def rss_bytes(self) -> int:
        """Resident memory of the server process alone, without its hosts."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024


@contextmanager
def _serving(command: list[str]) -> Iterator[Served]:
    began = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ}
    )
    try:
        assert process.stdout
        ready = json.loads(process.stdout.readline())
        served = Served(command, time.perf_counter() - began, process, ready["socket"])
        yield served
        served.channel.close()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def product(workspace: Path) -> AbstractContextManager[Served]:
    """The service on a workspace."""
    return _serving([sys.executable, "-m", "schemaxis_server", "--workspace", str(workspace)])


def bare(directory: Path) -> AbstractContextManager[Served]:
    """``bench.bare_server``: grpc.aio without interceptor, store or checks."""
    return _serving([sys.executable, "-m", "bench.bare_server", str(directory / "bare.sock")])
