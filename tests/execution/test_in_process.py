"""The core in-process: the same work without a socket, from any thread."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from schemaxis_server import ExecutionService
from schemaxis_server.execution.observation import Mode, Window
from schemaxis_server.execution.records import (
    Budget,
    Criterion,
    CriterionOperator,
    Goal,
    JobState,
    PlanOperation,
)
from schemaxis_server.execution.scheduler import run_graph
from schemaxis_server.faults import Fault


def box(height: float) -> dict[str, Any]:
    options = {"length": 20, "width": 10, "height": height}
    nodes = [{"id": "body", "filter": "box", "options": options}]
    return {"version": "schemaxis.occt/1", "nodes": nodes, "output": "body"}


def test_the_study_and_what_a_later_service_finds(tmp_path: Path) -> None:
    volume = Criterion(pointer="/outputs/body/volume", operator=CriterionOperator.EQUALS, value=1500)
    with ExecutionService(tmp_path / "w") as service:
        found = [match.capability.name for match in service.search_capabilities("extrusoin")]
        assert "occt.extrude" in found[:2]
        task = service.create_task("A box", ["occt"], Budget(max_attempts=2), [volume])
        first = service.execute(service.plan(task.task_id, box(5), 0).plan_id, 1)
        assert service.wait(first.job_id).goal is Goal.NOT_MET
        second = service.execute(service.plan(task.task_id, box(7.5), 1).plan_id, 2)
        ended = service.wait(second.job_id)
        assert (ended.state, ended.goal) == (JobState.SUCCEEDED, Goal.MET)
        assert service.verify(second.job_id).verified
        with pytest.raises(Fault, match="BUDGET_EXHAUSTED"):
            service.execute(ended.plan_id, 2)
        png = next(
            one for one in service.list_resources(second.job_id).records if one.kind == "picture/preview"
        )
        assert service.read(png.resource_id).startswith(b"\x89PNG")
        assert png.derived_from in ended.resource_ids
        seen = service.observe(job_id=second.job_id, section="summary", window=Window("/state"))
        assert (seen.mode, seen.value) == (Mode.VALUE, b'"succeeded"')
        assert service.workspace().counts["jobs"] == 2
    with ExecutionService(tmp_path / "w") as service:
        assert service.job(second.job_id) == ended
        assert [event.sequence for event in service.watch_job(second.job_id)][-1] == ended.last_sequence
        assert service.task(task.task_id).usage.attempts == 2
        assert [one.task_id for one in service.list_tasks().records] == [task.task_id]


def test_a_workspace_has_one_owner(tmp_path: Path) -> None:
    with ExecutionService(tmp_path / "w"), pytest.raises(Fault, match="WORKSPACE_LOCKED"):
        ExecutionService(tmp_path / "w")
    with ExecutionService(tmp_path / "w") as service:
        assert service.list_jobs().records == ()


def test_a_closed_service_says_so(tmp_path: Path) -> None:
    service = ExecutionService(tmp_path / "w")
    service.close()
    service.close()
    with pytest.raises(Fault, match="SHUTTING_DOWN"):
        service.list_tasks()


def test_threads_share_a_service(tmp_path: Path) -> None:
    with ExecutionService(tmp_path / "w") as service, ThreadPoolExecutor(8) as pool:
        made = list(
            pool.map(lambda number: service.create_task(f"task {number}", ["occt"]).task_id, range(40))
        )
        assert len(set(made)) == 40
        assert {one.task_id for one in service.list_tasks(page_size=500).records} == set(made)


def test_the_configuration_is_checked(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    for text, said in (("engines = 1", "engines"), ("[engine]", "unknown"), ("=", "TOML")):
        (tmp_path / "w" / "schemaxis.toml").write_text(text)
        with pytest.raises(Fault, match=said):
            ExecutionService(tmp_path / "w")


def test_closing_beside_calls_of_other_threads_ends_them_all(tmp_path: Path) -> None:
    service = ExecutionService(tmp_path / "w")
    task = service.create_task("closing", ["occt"])

    def call(number: int) -> str:
        try:
            while True:
                service.list_tasks() if number % 2 else service.task(task.task_id)
        except Fault as fault:
            return fault.code

    with ThreadPoolExecutor(20) as threads:
        calls = [threads.submit(call, number) for number in range(20)]
        threading.Event().wait(0.2)
        service.close()
        assert {one.result(30) for one in calls} == {"SHUTTING_DOWN"}


async def test_an_operation_that_is_cancelled_from_inside_is_no_success() -> None:
    async def run(operation: PlanOperation) -> None:
        raise asyncio.CancelledError

    operation = PlanOperation(operation_id="a", provider="p", nodes=(), outputs=())
    with pytest.raises(RuntimeError, match="cancelled from inside"):
        await run_graph([operation], run)
