"""Runs a provider's hosts in processes of their own, as tests need them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from schemaxis_server.native.contract import HostProgram
from schemaxis_server.providers.contract import JsonObject, Provider

_PROGRAM = Path(__file__).with_name("host_server.py")


class Refused(Exception):
    """A host raised ``UnsupportedInput``."""

    def __init__(self, message: str, pointer: str) -> None:
        super().__init__(message)
        self.message = message
        self.pointer = pointer


class HostServer:
    """One warm process for a host program; each call runs in a fork of it."""

    def __init__(self, program: HostProgram) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        environment |= {"OPENBLAS_NUM_THREADS": "1", **program.environment}
        self._entry = program.entry
        self._process = subprocess.Popen(
            [program.python or sys.executable, str(_PROGRAM), *program.preload],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def call(self, request: JsonObject, directory: Path) -> dict[str, Any]:
        """The host's result. Raises ``Refused``, or ``AssertionError`` with the host's traceback."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps({"entry": self._entry, "request": request, "directory": str(directory)})
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "unsupported" in answer:
            raise Refused(**answer["unsupported"])
        assert "result" in answer, answer["error"]
        result: dict[str, Any] = answer["result"]
        return result

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process.wait(60)


@dataclass(frozen=True)
class Produced:
    """What a producer host made of a document."""

    document: JsonObject
    directory: Path
    result: dict[str, Any]
    bindings: Mapping[str, str] = field(default_factory=dict)

    def path(self, kind: str, output: str | None = None) -> Path:
        """Where the publication of a kind is."""
        files = [
            str(one["file"])
            for one in self.result["publications"]
            if one["kind"] == kind and output in (None, one["operation"])
        ]
        return self.directory / files[0]

    def quantity(self, name: str, output: str | None = None) -> Any:
        outputs = self.result["outputs"]
        return outputs[output or next(iter(outputs))][name]["value"]


class Bench:
    """A provider with both of its hosts running."""

    def __init__(self, provider: Provider, root: Path) -> None:
        self.provider = provider
        self._root = root
        self._count = 0
        self._producer = HostServer(provider.producer(provider.engine(None)))
        self._verifier = HostServer(provider.verifier({}))

    def __enter__(self) -> Bench:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, reason: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._producer.close()
        self._verifier.close()

    def _directory(self) -> Path:
        self._count += 1
        directory = self._root / f"run{self._count}"
        directory.mkdir()
        return directory

    def produce(self, document: JsonObject, bindings: Mapping[str, str] | None = None) -> Produced:
        """Plan a document and run it."""
        return self.run_resolved(self.provider.plan(document).document, bindings)

    def run_resolved(self, resolved: JsonObject, bindings: Mapping[str, str] | None = None) -> Produced:
        """Run what planning has resolved, or what it would never let through."""
        directory = self._directory()
        request = {"document": resolved, "bindings": dict(bindings or {})}
        return Produced(resolved, directory, self._producer.call(request, directory), bindings or {})

    def verify(
        self,
        produced: Produced,
        *,
        outputs: JsonObject | None = None,
        files: Mapping[str, Path] | None = None,
        document: JsonObject | None = None,
        pictures: bool = False,
    ) -> dict[str, Any]:
        """Verify; ``outputs``, ``files`` (by publication name; absent path: not published) and ``document``
        take the place of what was produced."""
        publications = [
            {**one, "path": str((files or {}).get(one["name"], produced.directory / one["file"]))}
            for one in produced.result["publications"]
            if (files or {}).get(one["name"]) != Path()
        ]
        request = {
            "document": document or produced.document,
            "outputs": produced.result["outputs"] if outputs is None else outputs,
            "publications": publications,
            "bindings": dict(produced.bindings),
            "pictures": pictures,
        }
        directory = self._directory()
        report = self._verifier.call(request, directory)
        return {**report, "directory": str(directory)}


def is_verified(report: JsonObject) -> bool:
    """Whether there were checks and all passed."""
    return bool(report["checks"]) and all(check["passed"] for check in report["checks"])


def failures(report: JsonObject) -> list[str]:
    return [f"{one['name']}: {one['scope']}" for one in report["checks"] if not one["passed"]]
