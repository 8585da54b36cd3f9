"""What the store refuses or cuts, as a client sees it."""

from __future__ import annotations

import json

import pytest
from schemaxis.v1 import job_pb2, task_pb2, workspace_pb2

from service.program import Program, Refused, stub


def test_a_list_of_large_records_comes_in_pages_that_fit(program: Program) -> None:
    criteria = [
        task_pb2.Criterion(
            pointer="/outputs/n",
            operator=task_pb2.CRITERION_OPERATOR_EQUALS,
            value_json=json.dumps("x" * 4000),
        )
    ]
    made = [program.task(criteria=criteria * 32).task_id for _ in range(40)]
    found: list[str] = []
    token = ""
    while not found or token:
        request = task_pb2.ListTasksRequest(page_size=500, page_token=token)
        page = program.call(program.tasks.ListTasks, request)
        assert 1 < len(page.tasks) < 40
        found += [task.task_id for task in page.tasks]
        token = page.next_page_token
    assert found == made[::-1]


def test_a_workspace_whose_database_is_gone_acknowledges_nothing_and_says_so(program: Program) -> None:
    def health() -> workspace_pb2.Health:
        asked = workspace_pb2.GetWorkspaceRequest()
        told: workspace_pb2.Health = program.call(program.workspaces.GetWorkspace, asked).workspace.health
        return told

    kept = program.task().task_id
    assert health().serving
    path = program.workspace / "schemaxis.db"
    path.rename(path.with_name("gone.db"))
    for _ in range(2):
        with pytest.raises(Refused) as caught:
            program.task()
        assert caught.value.code == "WORKSPACE_CORRUPT"
    assert not health().serving
    assert any("schemaxis.db" in problem for problem in health().problems)
    assert not path.exists()

    path.with_name("gone.db").rename(path)
    assert health().serving
    later = program.run(stub()).task_id
    program.kill()
    program.start()
    for task_id in (kept, later):
        assert program.call(program.tasks.GetTask, task_pb2.GetTaskRequest(task_id=task_id)).task


def test_a_repeated_request_with_another_revision_is_told_however_large(program: Program) -> None:
    task = program.task()
    plan = program.plan(task.task_id, stub(), request_id="plan")
    program.execute(plan, request_id="execute")
    with pytest.raises(Refused) as caught:
        program.plan(task.task_id, stub(), 2**60, request_id="plan")
    assert caught.value.code == "REQUEST_ID_REUSED"
    request = job_pb2.ExecutePlanRequest(
        plan_id=plan.plan_id, expected_revision=2**63 - 1, request_id="execute"
    )
    with pytest.raises(Refused) as caught:
        program.call(program.jobs.ExecutePlan, request)
    assert caught.value.code == "REQUEST_ID_REUSED"
