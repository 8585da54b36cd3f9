"""A session of ``schemaxis agent`` as a program of its own, with a count of what goes over it."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_ENDING_SECONDS = 60.0


class Refused(Exception):
    """The bridge answered with a fault."""

    def __init__(self, fault: dict[str, Any]) -> None:
        super().__init__(f"{fault['code']}: {fault['message']}")
        self.code: str = fault["code"]
        self.message: str = fault["message"]
        self.pointer: str = fault.get("pointer", "")


class BridgeBroken(Exception):
    """The bridge ended, fell silent, or said what is none of its protocol."""


@dataclass
class Traffic:
    """What went over the session for one method. Bytes are those of the answers' lines."""

    seconds: list[float] = field(default_factory=list)
    response_bytes: int = 0
    rejections: int = 0


class Bridge:
    """The session: one request after the other, each answered before the next.

    Its standard error goes to a file, so that nothing is lost and nothing waits for a reader.
    """

    def __init__(self, workspace: Path, log: Path, *, answer_seconds: float = 600.0) -> None:
        self._workspace = workspace
        self._log = log
        self._answer_seconds = answer_seconds
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._last_id = 0
        self.traffic: dict[str, Traffic] = {}
        self.exit_code: int | None = None

    def __enter__(self) -> Self:
        command = [
            sys.executable,
            "-P",
            "-m",
            "schemaxis",
            "agent",
            "--workspace",
            os.fspath(self._workspace),
        ]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self.exit_code = self._process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(_ENDING_SECONDS)

    def call(self, method: str, **params: Any) -> Any:
        """The method's result. Raises :class:`Refused` and :class:`BridgeBroken`."""
        return self._answer(method, params)[1]

    def stream(self, method: str, **params: Any) -> list[Any]:
        """The events of a streaming method until its end. Raises as :meth:`call` does."""
        return self._answer(method, params)[0]

    def send_raw(self, name: str, line: bytes) -> Any:
        """Send a line as it is, which is counted under ``name`` and answered without an id."""
        return self._exchange(name, line, None)[1]

    def _answer(self, method: str, params: dict[str, Any]) -> tuple[list[Any], Any]:
        self._last_id += 1
        request = {"id": self._last_id, "method": method, "params": params}
        line = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
        return self._exchange(method, line, self._last_id)

    def _exchange(self, name: str, line: bytes, request_id: int | None) -> tuple[list[Any], Any]:
        traffic = self.traffic.setdefault(name, Traffic())
        assert self._process.stdin is not None
        begin = time.monotonic()
        try:
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise BridgeBroken(f"the bridge takes no requests any more: {error}") from None
        events = []
        for size, said in self._said():
            traffic.response_bytes += size
            if "id" not in said or said["id"] != request_id:
                raise BridgeBroken(f"the bridge answered {said.get('id')!r} and was asked {request_id!r}")
            if "event" in said:
                events.append(said["event"])
                continue
            traffic.seconds.append(time.monotonic() - begin)
            if said.get("ok") is True:
                return events, said["result"]
            traffic.rejections += 1
            raise Refused(said["fault"])
        raise AssertionError("what is said ends only with an exception")

    def _said(self) -> Iterator[tuple[int, Any]]:
        while True:
            try:
                line = self._lines.get(timeout=self._answer_seconds)
            except queue.Empty:
                raise BridgeBroken(f"the bridge said nothing for {self._answer_seconds:g} s") from None
            if not line:
                raise BridgeBroken(f"the bridge ended; what it said is in {self._log}")
            try:
                said = json.loads(line)
            except ValueError:
                raise BridgeBroken(f"the bridge wrote a line that is not JSON: {line[:100]!r}") from None
            if not isinstance(said, dict):
                raise BridgeBroken(f"the bridge wrote a line that is no object: {line[:100]!r}")
            yield len(line), said

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put(b"")
