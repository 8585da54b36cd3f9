"""Runs numerics documents through the real host functions, in the test's own process."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from schemaxis_server.native.contract import HostProgram
from schemaxis_server.native.hostkit import Kit, UnsupportedInput
from schemaxis_server.native.worker import plain
from schemaxis_server.providers.contract import JsonObject
from schemaxis_server.providers.numpy_.provider import PROVIDER, VERSION
from schemaxis_server.providers.tables import writer

from providers.hosts import Bench, Produced, Refused


class _Direct:
    """A host's function called directly; its answer makes the way through JSON all the same."""

    def __init__(self, program: HostProgram) -> None:
        module, function = program.entry.split(":")
        self._function = getattr(importlib.import_module(module), function)

    def call(self, request: JsonObject, directory: Path) -> dict[str, Any]:
        try:
            answer = self._function(json.loads(json.dumps(request)), Kit(directory))
        except UnsupportedInput as reason:
            raise Refused(reason.message, reason.pointer) from None
        result: dict[str, Any] = json.loads(json.dumps(plain(answer), allow_nan=False))
        return result

    def close(self) -> None:
        pass


class NumericsBench(Bench):
    """The numpy provider's hosts without processes; files to bind are written on the way."""

    def __init__(self, root: Path) -> None:
        self.provider = PROVIDER
        self._root = root
        self._count = 0
        self._producer = _Direct(PROVIDER.producer(PROVIDER.engine(None)))  # type: ignore[assignment]
        self._verifier = _Direct(PROVIDER.verifier({}))  # type: ignore[assignment]

    def file(self, data: bytes | str | Mapping[str, Sequence[Any]]) -> str:
        """A file with these bytes, this text, or these columns."""
        path = self._directory() / "bound.csv"
        content = writer.write(data) if isinstance(data, Mapping) else data
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    def table(
        self, data: bytes | str | Mapping[str, Sequence[Any]], *nodes: JsonObject, **options: Any
    ) -> Produced:
        """A document whose first node, ``data``, reads a file with these contents."""
        first = node("data", "readCSV", **({"file": None, "xColumn": "x", "yColumn": "y"} | options))
        return self.produce(document(first, *nodes), {"/nodes/0/options/file": self.file(data)})


def node(name: str, operation: str, *inputs: str, **options: Any) -> dict[str, Any]:
    return {"id": name, "filter": operation, "options": options, "inputs": list(inputs)}


def document(*nodes: JsonObject, outputs: Iterable[str] = ()) -> dict[str, Any]:
    """The nodes, publishing the last one or ``outputs``."""
    wanted = list(outputs) or [nodes[-1]["id"]]
    return {"version": VERSION, "nodes": list(nodes), "outputs": wanted}


def grid(start: float, stop: float, count: int, formula: str = "") -> tuple[dict[str, Any], ...]:
    """A grid named ``grid`` and, with a formula, a series named ``data`` over it."""
    first = node("grid", "linspace", start=start, stop=stop, count=count)
    return (first, node("data", "expression", "grid", expression=formula)) if formula else (first,)


def series(produced: Produced, output: str | None = None) -> tuple[list[float], list[float]]:
    """The published samples, as any reader of CSV gets them."""
    lines = produced.path("series/csv", output).read_text("utf-8").split("\n")[1:-1]
    rows = [[float(cell) for cell in line.split(",")] for line in lines]
    return [row[0] for row in rows], [row[1] for row in rows]
