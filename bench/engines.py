"""The same verified job with its engine cold and warm, the verifier warm in both."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schemaxis.v1 import job_pb2, plan_pb2, task_pb2, workspace_pb2, workspace_pb2_grpc

from bench.parts import Client, Line
from bench.serving import Served, place, product

_COLD_ROUNDS = 5
_WARM_ROUNDS = 15

_BOX: list[dict[str, Any]] = [
    {"id": "body", "filter": "box", "options": {"length": 20, "width": 10, "height": 5}}
]
_SERIES: list[dict[str, Any]] = [
    {"id": "time", "filter": "linspace", "options": {"start": 0, "stop": 2047 / 2048, "count": 2048}},
    {
        "id": "signal",
        "filter": "expression",
        "options": {"expression": "2*sin(2*pi*50*x) + x"},
        "inputs": ["time"],
    },
    {"id": "spectrum", "filter": "spectrum", "inputs": ["signal"]},
    {"id": "line", "filter": "polyfit", "options": {"degree": 1}, "inputs": ["signal"]},
]
_ROWS = [[row + 1, (row + 1) * 1.25] for row in range(20)]
_TABLE: list[dict[str, Any]] = [
    {"id": "data", "filter": "cells", "options": {"columns": ["n", "price"], "rows": _ROWS}},
    {
        "id": "sums",
        "filter": "formulaColumn",
        "options": {"column": "sum", "formula": "=[@n]*[@price]"},
        "inputs": ["data"],
    },
]
STUDIES: dict[str, tuple[list[dict[str, Any]], list[str], str]] = {
    "freecad": (_BOX, ["body"], "≥ 3"),
    "octave": (_SERIES, ["spectrum", "line"], "≥ 2"),
    "calc": (_TABLE, ["sums"], "≥ 2"),
    "occt": (_BOX, ["body"], ""),
    "numpy": (_SERIES, ["spectrum", "line"], ""),
    "sheet": (_TABLE, ["sums"], ""),
}


def engines() -> Iterator[Line]:
    """For each provider that is here: cold and warm medians, and how much quicker warm is."""
    for provider, (nodes, outputs, wanted) in STUDIES.items():
        with place() as directory:
            yield from _provider(directory / "w", provider, nodes, outputs, wanted)


def _provider(
    workspace: Path, provider: str, nodes: list[dict[str, Any]], outputs: list[str], wanted: str
) -> Iterator[Line]:
    document = {"version": f"schemaxis.{provider}/1", "nodes": nodes, "outputs": outputs}
    with product(workspace) as ours:
        client = Client(ours)
        if not _installed(ours, provider):
            yield Line(f"{provider}: warm / cold", "its engine is not here")
            return
        first = client.execute(_plan(client, provider, document)).job_id
        for _ in client.jobs.WatchJob(job_pb2.WatchJobRequest(job_id=first)):
            pass
        plans = [_plan(client, provider, document) for _ in range(_COLD_ROUNDS)]
        warm = statistics.median(
            client.run(_plan(client, provider, document))[0] for _ in range(_WARM_ROUNDS)
        )
    cold = []
    for plan in plans:
        with product(workspace) as ours:
            client = Client(ours)
            # A fresh check of an earlier job loads the verifier and nothing else.
            client.jobs.VerifyJob(job_pb2.VerifyJobRequest(job_id=first))
            cold.append(client.run(plan)[0])
    share = statistics.median(cold) / warm
    yield Line(
        f"{provider}: cold / warm engine, verified",
        f"{share:.1f} ({statistics.median(cold) * 1e3:.0f} ms / {warm * 1e3:.0f} ms)",
        wanted,
    )


def _installed(ours: Served, provider: str) -> bool:
    stub = workspace_pb2_grpc.WorkspaceServiceStub(ours.channel)
    engines = stub.GetWorkspace(workspace_pb2.GetWorkspaceRequest()).workspace.engines
    return any(engine.provider == provider and engine.available for engine in engines)


def _plan(client: Client, provider: str, document: Any) -> plan_pb2.Plan:
    task = client.tasks.CreateTask(
        task_pb2.CreateTaskRequest(
            objective="bench", allowed_providers=[provider], budget=task_pb2.Budget(max_attempts=100)
        )
    ).task
    return client.plans.CreatePlan(
        plan_pb2.CreatePlanRequest(
            task_id=task.task_id, document_json=json.dumps(document), expected_revision=0
        )
    ).plan
