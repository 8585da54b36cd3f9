"""Watching: cursors, slow readers and many of them, and requests at their limits."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import grpc
import pytest
from schemaxis.v1 import job_pb2, job_pb2_grpc, plan_pb2, resource_pb2, task_pb2, workspace_pb2

from service.program import Program, Refused, refusal, stub

LINES = 100_000
WATCHERS = 50
ALLOWED_GROWTH = 20 * 2**20


def rss(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1]) * 1024


def drain(program: Program, job_id: str, after: int = 0) -> tuple[int, int]:
    """Watch to the end on a channel of its own; returns (last sequence, lines seen)."""
    options = (("grpc.default_authority", "localhost"), ("grpc.use_local_subchannel_pool", 1))
    sequence, lines = after, 0
    with grpc.insecure_channel(f"unix:{program.ready['socket']}", options=options) as channel:
        request = job_pb2.WatchJobRequest(job_id=job_id, after_sequence=after)
        for frame in job_pb2_grpc.JobServiceStub(channel).WatchJob(request, timeout=100):
            for event in frame.events:
                assert event.sequence == sequence + 1
                sequence = event.sequence
                lines += len(event.log.lines)
    return sequence, lines


def test_fifty_watchers_and_one_that_stopped_reading(program: Program) -> None:
    program.run(stub("log", count=1000))
    before = rss(program.process.pid)
    program.hold("dispatching")
    job = program.started(stub("log", count=LINES))
    program.await_held("dispatching")
    stalled = program.jobs.WatchJob(job_pb2.WatchJobRequest(job_id=job.job_id))
    seen = [event.sequence for event in next(stalled).events][-1]
    results: list[tuple[int, int]] = []

    def watch() -> None:
        results.append(drain(program, job.job_id))

    threads = [threading.Thread(target=watch) for _ in range(WATCHERS - 1)]
    for thread in threads:
        thread.start()
    program.release("dispatching")
    for thread in threads:
        thread.join()
    ended = program.ended(job.job_id)
    assert ended.state == job_pb2.JOB_STATE_SUCCEEDED
    assert results == [(ended.last_sequence, LINES)] * (WATCHERS - 1)
    assert rss(program.process.pid) - before < ALLOWED_GROWTH
    rest = [event.sequence for frame in stalled for event in frame.events]
    assert rest == list(range(seen + 1, ended.last_sequence + 1))


@pytest.fixture(scope="module")
def ended(shared: Program) -> job_pb2.Job:
    return shared.run(stub("log", count=3))


def test_cursors(shared: Program, ended: job_pb2.Job) -> None:
    last = ended.last_sequence
    assert len(shared.events(ended.job_id)) == last
    assert len(shared.events(ended.job_id, after=last - 1)) == 1
    assert shared.events(ended.job_id, after=last) == []
    for cursor in (last + 1, 2**62):
        with pytest.raises(Refused) as caught:
            shared.events(ended.job_id, after=cursor)
        assert caught.value.code == "OUT_OF_RANGE"
        assert caught.value.details == {"firstSequence": 1, "tailSequence": last}
    with pytest.raises(Refused) as caught:
        shared.events(ended.job_id, after=-1)
    assert caught.value.code == "INVALID_REQUEST"


def test_the_end_says_why(shared: Program, ended: job_pb2.Job) -> None:
    for follow in (True, False):
        request = job_pb2.WatchJobRequest(job_id=ended.job_id, follow=follow)
        frames = list(shared.jobs.WatchJob(request))
        assert frames[-1].end.reason == job_pb2.END_REASON_TERMINAL
        assert frames[-1].end.last_sequence == ended.last_sequence
        assert not any(frame.HasField("end") for frame in frames[:-1])
    with pytest.raises(grpc.RpcError) as caught:
        list(shared.jobs.WatchJob(job_pb2.WatchJobRequest(job_id="job_none")))
    assert refusal(caught.value).code == "NOT_FOUND"


def test_without_follow_a_working_job_ends_at_the_tail(program: Program) -> None:
    program.hold("dispatching")
    job = program.started(stub())
    program.await_held("dispatching")
    frames = list(program.jobs.WatchJob(job_pb2.WatchJobRequest(job_id=job.job_id, follow=False)))
    assert frames[-1].end.reason == job_pb2.END_REASON_TAIL
    program.release("dispatching")
    assert program.ended(job.job_id).verified


def test_a_request_id_at_once_twenty_times_makes_one_thing(shared: Program) -> None:
    request = task_pb2.CreateTaskRequest(
        objective="once", allowed_providers=["stub"], request_id="twenty at once"
    )
    calls = [shared.tasks.CreateTask.future(request) for _ in range(20)]
    assert len({call.result().task.task_id for call in calls}) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_attempts", 0),
        ("max_attempts", 101),
        ("max_attempts", -1),
        ("max_repeated_failures", 0),
        ("max_elapsed_seconds", 0.0),
        ("max_elapsed_seconds", -1.0),
        ("max_elapsed_seconds", float("nan")),
        ("max_elapsed_seconds", float("inf")),
        ("max_attempt_seconds", 86_401.0),
    ],
)
def test_budgets_outside_their_range(field: str, value: Any, shared: Program) -> None:
    with pytest.raises(Refused) as caught:
        shared.task(budget={field: value})
    assert caught.value.code == "INVALID_REQUEST"
    assert caught.value.fault.pointer == f"/budget/{field}"


def test_pages_cover_everything_once_newest_first(program: Program) -> None:
    made = [program.task().task_id for _ in range(7)]
    found: list[str] = []
    token = ""
    while True:
        page = program.call(program.tasks.ListTasks, task_pb2.ListTasksRequest(page_size=3, page_token=token))
        assert len(page.tasks) <= 3
        found += [task.task_id for task in page.tasks]
        token = page.next_page_token
        if not token:
            break
    assert found == made[::-1]
    with pytest.raises(Refused) as caught:
        program.call(program.tasks.ListTasks, task_pb2.ListTasksRequest(page_token="nowhere"))
    assert caught.value.code == "OUT_OF_RANGE"
    whole = program.call(program.tasks.ListTasks, task_pb2.ListTasksRequest(page_size=10**6))
    assert len(whole.tasks) == 7


def test_what_sizes_a_reply_is_clamped(shared: Program, ended: job_pb2.Job) -> None:
    resource_id = shared.run(stub("large")).resource_ids[1]
    request = resource_pb2.ReadResourceRangeRequest(resource_id=resource_id, length=10**6)
    part = shared.call(shared.resources.ReadResourceRange, request).range
    assert len(part.data) == part.next_offset == 16_384
    chunks = [
        len(frame.data)
        for frame in shared.resources.ReadResource(
            resource_pb2.ReadResourceRequest(resource_id=resource_id, chunk_bytes=2**30)
        )
    ]
    assert max(chunks) == 2**20


def test_a_message_over_the_limit_leaves_the_channel_usable(shared: Program) -> None:
    request = task_pb2.CreateTaskRequest(objective="x" * (5 * 2**20), allowed_providers=["stub"])
    with pytest.raises(grpc.RpcError) as caught:
        shared.tasks.CreateTask(request)
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert shared.call(shared.workspaces.GetWorkspace, workspace_pb2.GetWorkspaceRequest()).workspace


@pytest.mark.parametrize(
    "document",
    [
        "",
        "[]",
        "null",
        "{}",
        '{"version":1}',
        '{"version":"schemaxis.stub/1"}',
        "[" * 10**5,
        '{"a":1,"a":2}',
        "NaN",
        "é\ud7ff",
    ],
)
def test_hostile_documents_are_refused_and_change_nothing(document: str, shared: Program) -> None:
    task = shared.task()
    request = plan_pb2.CreatePlanRequest(task_id=task.task_id, document_json=document, expected_revision=0)
    with pytest.raises(Refused) as caught:
        shared.call(shared.plans.CreatePlan, request)
    assert caught.value.code in ("INVALID_DOCUMENT", "INVALID_REQUEST")
    got = shared.call(shared.tasks.GetTask, task_pb2.GetTaskRequest(task_id=task.task_id)).task
    assert (got.revision, got.usage.attempts) == (0, 0)


def test_details_stay_within_what_a_status_can_carry(shared: Program) -> None:
    nodes = [{"id": f"n{i}", "filter": "x" * 900, "options": {"é" * 200: i}} for i in range(300)]
    document = {"version": "schemaxis.stub/1", "nodes": nodes, "output": "y" * 5000}
    with pytest.raises(Refused) as caught:
        shared.plan(shared.task().task_id, document)
    assert caught.value.code == "INVALID_DOCUMENT"
    assert caught.value.details["total"] >= 300
    assert caught.value.details["problems"]
    assert caught.value.fault.ByteSize() < 4096
    assert json.dumps(caught.value.details)
