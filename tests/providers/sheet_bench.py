"""Short ways to run spreadsheet documents in tests."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from schemaxis_server.faults import Fault
from schemaxis_server.providers.sheet.provider import PROVIDER, VERSION

from providers.hosts import Bench, Produced, failures, is_verified


def node(name: str, operation: str, *inputs: str, **options: Any) -> dict[str, Any]:
    return {"id": name, "filter": operation, "options": options, "inputs": list(inputs)}


def cells(columns: list[str], rows: Sequence[Sequence[Any]], name: str = "t", **names: str) -> dict[str, Any]:
    listed = [{"name": key, "cell": place} for key, place in names.items()]
    return node(name, "cells", columns=columns, rows=[[*row] for row in rows], names=listed)


def document(*nodes: dict[str, Any], outputs: list[str] | None = None) -> dict[str, Any]:
    return {"version": VERSION, "nodes": list(nodes), "outputs": outputs or [nodes[-1]["id"]]}


def run(bench: Bench, *nodes: dict[str, Any], files: Mapping[str, Path] | None = None) -> Produced:
    """Produce and verify; ``files`` are the bindings by pointer."""
    bindings = {pointer: str(path) for pointer, path in (files or {}).items()}
    produced = bench.produce(document(*nodes), bindings)
    report = bench.verify(produced, pictures=True)
    assert is_verified(report), failures(report)
    return produced


def table(produced: Produced, output: str | None = None) -> list[list[str]]:
    """The rows of the published CSV, the names first."""
    with produced.path("table/csv", output).open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def problems(*nodes: dict[str, Any]) -> list[dict[str, str]]:
    """What planning finds wrong."""
    with pytest.raises(Fault) as refused:
        PROVIDER.plan(document(*nodes))
    assert refused.value.code == "INVALID_DOCUMENT"
    listed: list[dict[str, str]] = refused.value.record.details["problems"]
    return listed
