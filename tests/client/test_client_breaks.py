"""Connections that break at every place where they can."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import hashlib
import os
import threading
import time
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
import schemaxis
import schemaxis.aio
from schemaxis._download import PartFile
from schemaxis.errors import (
    ClientClosed,
    ConnectionLost,
    DownloadBusy,
    DownloadCorrupt,
    NotFound,
    SchemaxisError,
    Unavailable,
    UnexpectedAnswer,
    WaitTimeout,
)
from schemaxis.models import EndReason
from schemaxis.v1 import fault_pb2, job_pb2

from client import model_service
from client.model_service import MESH, Model, ModelService, Trouble, job_events, refusal

DOCUMENT = {"version": "model/1"}
SEQUENCES = [1, 2, 3, 4, 5]
MESH_FRAMES = -(-len(MESH) // 65_536)


@pytest.fixture
def job(client: schemaxis.Client) -> schemaxis.Job:
    return client.tasks.create("x", ["model"]).plan(DOCUMENT).execute()


@pytest.fixture
async def ajob(aclient: schemaxis.aio.Client) -> schemaxis.aio.Job:
    return await (await (await aclient.tasks.create("x", ["model"])).plan(DOCUMENT)).execute()


def frame(*sequences: int) -> job_pb2.WatchJobResponse:
    events = job_events(9)
    return job_pb2.WatchJobResponse(tail_sequence=9, events=[events[sequence - 1] for sequence in sequences])


def end(last: int, reason: job_pb2.EndReason.ValueType) -> job_pb2.WatchJobResponse:
    return job_pb2.WatchJobResponse(end=job_pb2.WatchEnd(last_sequence=last, reason=reason))


@pytest.mark.parametrize("close", [False, True], ids=["aborted", "closed"])
@pytest.mark.parametrize("after", range(6))
def test_a_watch_broken_after_any_frame(job: schemaxis.Job, model: Model, after: int, close: bool) -> None:
    model.troubles["WatchJob"].append(Trouble(after_frames=after, close=close))
    assert [event.sequence for event in job.watch()] == SEQUENCES
    assert [request.after_sequence for request in model.asked("WatchJob")] == [0, after]


@pytest.mark.parametrize("close", [False, True], ids=["aborted", "closed"])
@pytest.mark.parametrize("after", range(6))
async def test_a_watch_broken_after_any_frame_with_asyncio(
    ajob: schemaxis.aio.Job, model: Model, after: int, close: bool
) -> None:
    model.troubles["WatchJob"].append(Trouble(after_frames=after, close=close))
    assert [event.sequence async for event in ajob.watch()] == SEQUENCES
    assert [request.after_sequence for request in model.asked("WatchJob")] == [0, after]


def test_a_watch_broken_after_every_frame(job: schemaxis.Job, model: Model) -> None:
    model.troubles["WatchJob"].extend(Trouble(after_frames=1) for _ in range(5))
    assert [event.sequence for event in job.watch()] == SEQUENCES
    assert [request.after_sequence for request in model.asked("WatchJob")] == [0, 1, 2, 3, 4, 5]


def test_a_watch_over_a_restart(job: schemaxis.Job, service: ModelService) -> None:
    model = service.model
    model.frames = [frame(1, 2), end(2, job_pb2.END_REASON_DRAINING)]
    events = job.watch()
    assert [next(events).sequence, next(events).sequence] == [1, 2]
    service.stop()
    model.frames = None
    restart = threading.Timer(0.3, service.start)
    restart.start()
    assert [event.sequence for event in events] == [3, 4, 5]
    restart.join()
    assert events.end is EndReason.TERMINAL


async def test_a_watch_over_a_restart_with_asyncio(ajob: schemaxis.aio.Job, service: ModelService) -> None:
    model = service.model
    model.frames = [frame(1, 2), end(2, job_pb2.END_REASON_DRAINING)]
    events = ajob.watch()
    assert [(await anext(events)).sequence, (await anext(events)).sequence] == [1, 2]
    await asyncio.to_thread(service.stop)
    model.frames = None
    restart = threading.Timer(0.3, service.start)
    restart.start()
    assert [event.sequence async for event in events] == [3, 4, 5]
    restart.join()


def test_a_server_that_stays_away(workspace: Path, service: ModelService) -> None:
    with schemaxis.connect(workspace, patience_seconds=0.2) as client:
        job = client.tasks.create("x", ["model"]).plan(DOCUMENT).execute()
        service.stop()
        with pytest.raises(ConnectionLost):
            job.refresh()
        with pytest.raises(ConnectionLost):
            list(job.watch())
        with pytest.raises(ConnectionLost):
            list(client.tasks.list())


def test_a_server_in_trouble_is_not_stormed(workspace: Path, service: ModelService) -> None:
    with schemaxis.connect(workspace, patience_seconds=0.3) as client:
        job = client.tasks.create("x", ["model"]).plan(DOCUMENT).execute()
        for method in ("WatchJob", "GetJob"):
            trouble = refusal("SHUTTING_DOWN", grpc.StatusCode.UNAVAILABLE)
            service.model.troubles[method].extend([trouble] * 1000)
        with pytest.raises(Unavailable):
            list(job.watch())
        with pytest.raises(Unavailable):
            job.refresh()
        assert 3 <= len(service.model.asked("WatchJob")) <= 7
        assert 3 <= len(service.model.asked("GetJob")) <= 7


async def test_a_server_in_trouble_is_not_stormed_with_asyncio(
    workspace: Path, service: ModelService
) -> None:
    async with schemaxis.aio.connect(workspace, patience_seconds=0.3) as client:
        job = await (await (await client.tasks.create("x", ["model"])).plan(DOCUMENT)).execute()
        trouble = refusal("SHUTTING_DOWN", grpc.StatusCode.UNAVAILABLE)
        service.model.troubles["WatchJob"].extend([trouble] * 1000)
        with pytest.raises(Unavailable):
            await anext(job.watch())
        assert 3 <= len(service.model.asked("WatchJob")) <= 7


def test_a_gap_is_mended_once_and_then_told(job: schemaxis.Job, model: Model) -> None:
    model.frames = [frame(1, 2), frame(4)]
    events = job.watch()
    assert [next(events).sequence, next(events).sequence] == [1, 2]
    with pytest.raises(UnexpectedAnswer) as broken:
        next(events)
    assert broken.value.details == {"first": 3, "last": 3}
    assert [request.after_sequence for request in model.asked("WatchJob")] == [0, 2]


def test_a_refused_watch_is_told(job: schemaxis.Job, model: Model) -> None:
    model.troubles["WatchJob"].append(refusal("NOT_FOUND", grpc.StatusCode.NOT_FOUND))
    with pytest.raises(NotFound):
        next(job.watch())
    model.troubles["WatchJob"].append(refusal("SHUTTING_DOWN", grpc.StatusCode.UNAVAILABLE))
    assert [event.sequence for event in job.watch()] == SEQUENCES


def test_leaving_a_loop_ends_the_call(job: schemaxis.Job, model: Model) -> None:
    model.job_state = job_pb2.JOB_STATE_RUNNING
    for event in job.watch():
        if event.sequence == 5:
            break
    assert model.watch_ended.wait(10)


async def test_leaving_a_loop_ends_the_call_with_asyncio(ajob: schemaxis.aio.Job, model: Model) -> None:
    model.job_state = job_pb2.JOB_STATE_RUNNING
    async for event in ajob.watch():
        if event.sequence == 5:
            break
    assert await asyncio.to_thread(model.watch_ended.wait, 10)


def test_a_watch_closed_from_another_thread(job: schemaxis.Job, model: Model) -> None:
    model.job_state = job_pb2.JOB_STATE_RUNNING
    with job.watch() as events:
        closing = threading.Thread(target=events.close)
        seen = []
        for event in events:
            seen.append(event.sequence)
            if event.sequence == 5:
                closing.start()
        closing.join()
    assert seen == SEQUENCES
    assert events.end is None


async def test_a_watch_closed_from_another_task(ajob: schemaxis.aio.Job, model: Model) -> None:
    model.job_state = job_pb2.JOB_STATE_RUNNING
    seen = []
    async with ajob.watch() as events:
        closing: asyncio.Task[None] | None = None
        async for event in events:
            seen.append(event.sequence)
            if event.sequence == 5:
                closing = asyncio.create_task(events.close())
        assert closing
        await closing
    assert seen == SEQUENCES


def test_a_watch_closed_just_before_its_call(job: schemaxis.Job, model: Model) -> None:
    model.job_state = job_pb2.JOB_STATE_RUNNING
    events = job.watch(after=5)
    frames = events._frames
    begin = frames._method

    def late(request: job_pb2.WatchJobRequest, *, timeout: float | None) -> Any:
        closing = threading.Thread(target=events.close)
        closing.start()
        closing.join()
        return begin(request, timeout=timeout)

    frames._method = cast("Any", late)
    assert list(events) == []
    assert events.end is None


async def test_a_watch_closed_just_before_its_call_with_asyncio(
    ajob: schemaxis.aio.Job, model: Model
) -> None:
    model.job_state = job_pb2.JOB_STATE_RUNNING
    events = ajob.watch(after=5)
    frames = events._frames
    begin = frames._method

    def late(request: job_pb2.WatchJobRequest, *, timeout: float | None) -> Any:
        frames.close()
        return begin(request, timeout=timeout)

    frames._method = cast("Any", late)
    assert [event async for event in events] == []
    assert events.end is None


def test_a_watch_closed_while_it_pauses(job: schemaxis.Job, model: Model) -> None:
    model.job_state = job_pb2.JOB_STATE_RUNNING
    model.troubles["WatchJob"].append(
        refusal("OVERLOADED", grpc.StatusCode.UNAVAILABLE, retryAfterSeconds=60)
    )
    events = job.watch(after=5)
    closing = threading.Timer(0.1, events.close)
    closing.start()
    assert list(events) == []
    closing.join()


async def test_a_watch_closed_while_it_pauses_with_asyncio(ajob: schemaxis.aio.Job, model: Model) -> None:
    model.job_state = job_pb2.JOB_STATE_RUNNING
    model.troubles["WatchJob"].append(
        refusal("OVERLOADED", grpc.StatusCode.UNAVAILABLE, retryAfterSeconds=60)
    )
    events = ajob.watch(after=5)
    asyncio.get_running_loop().call_later(0.1, events._frames.close)
    assert [event async for event in events] == []


async def test_waiting_for_one_event_with_a_limit_loses_none(ajob: schemaxis.aio.Job, model: Model) -> None:
    model.job_state = job_pb2.JOB_STATE_RUNNING
    events = ajob.watch()
    for sequence in SEQUENCES:
        assert (await anext(events)).sequence == sequence
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(anext(events), 0.05)
    assert events.cursor == 5
    model.job_state = job_pb2.JOB_STATE_SUCCEEDED
    assert [event async for event in events] == []
    assert model.asked("WatchJob")[-1].after_sequence == 5


def test_waiting_has_a_limit(job: schemaxis.Job, model: Model) -> None:
    model.job_state = model.jobs[job.job_id].state = job_pb2.JOB_STATE_RUNNING
    started = time.monotonic()
    with pytest.raises(WaitTimeout) as late:
        job.wait(0.1)
    assert isinstance(late.value, TimeoutError)
    assert late.value.details == {"jobId": job.job_id, "lastSequence": 5}
    assert time.monotonic() - started < 5
    with pytest.raises(WaitTimeout):
        job.wait(0)


async def test_waiting_has_a_limit_with_asyncio(ajob: schemaxis.aio.Job, model: Model) -> None:
    model.job_state = model.jobs[ajob.job_id].state = job_pb2.JOB_STATE_RUNNING
    with pytest.raises(WaitTimeout):
        await ajob.wait(0.1)


def test_waiting_for_an_ended_job_asks_nothing(job: schemaxis.Job, model: Model) -> None:
    job.wait()
    asked = len(model.calls)
    job.wait(0)
    assert len(model.calls) == asked


def test_a_creation_is_repeated_under_its_request_id(client: schemaxis.Client, model: Model) -> None:
    for method in ("CreateTask", "CreatePlan", "ExecutePlan"):
        model.troubles[method].append(Trouble(after_work=True))
    client.tasks.create("x", ["model"]).plan(DOCUMENT).execute()
    assert (len(model.tasks), len(model.plans), len(model.jobs)) == (1, 1, 1)
    for method in ("CreateTask", "CreatePlan", "ExecutePlan"):
        first, second = model.asked(method)
        assert first == second
        assert 1 <= len(first.request_id) <= 128
    client.tasks.create("x", ["model"])
    assert len(model.tasks) == 2, "another creation has another request id"
    client.tasks.create("x", ["model"], request_id="mine")
    client.tasks.create("x", ["model"], request_id="mine")
    assert len(model.tasks) == 3


def test_what_acts_without_a_request_id_is_not_repeated(job: schemaxis.Job, model: Model) -> None:
    for method, act in (("CancelJob", job.cancel), ("VerifyJob", job.verify)):
        model.troubles[method].append(Trouble())
        with pytest.raises(ConnectionLost) as lost:
            act()
        assert lost.value.retryable
        assert len(model.asked(method)) == 1


def test_passing_faults_are_borne(client: schemaxis.Client, model: Model) -> None:
    model.troubles["ListTasks"].append(
        refusal("OVERLOADED", grpc.StatusCode.UNAVAILABLE, retryAfterSeconds=0.1)
    )
    model.troubles["ListTasks"].append(refusal("SHUTTING_DOWN", grpc.StatusCode.UNAVAILABLE))
    started = time.monotonic()
    assert not list(client.tasks.list())
    assert time.monotonic() - started >= 0.1
    model.troubles["ListTasks"].append(refusal("STORAGE_FULL", grpc.StatusCode.RESOURCE_EXHAUSTED))
    with pytest.raises(Unavailable):
        list(client.tasks.list())


def test_a_fault_of_a_newer_server(client: schemaxis.Client, model: Model) -> None:
    fault = fault_pb2.Fault(code="MOON_PHASE", message="Wait for the moon.", details_json="not json")
    model.troubles["ListTasks"].append(Trouble(grpc.StatusCode.ABORTED, fault))
    with pytest.raises(schemaxis.FaultError) as unknown:
        list(client.tasks.list())
    assert type(unknown.value) is schemaxis.FaultError
    assert (unknown.value.code, unknown.value.details) == ("MOON_PHASE", {"text": "not json"})


def test_a_status_without_a_fault(client: schemaxis.Client, model: Model) -> None:
    model.troubles["ListTasks"].append(Trouble(grpc.StatusCode.UNKNOWN))
    with pytest.raises(UnexpectedAnswer):
        list(client.tasks.list())


def test_a_message_over_the_limit_ends_its_call_only(client: schemaxis.Client, model: Model) -> None:
    job = client.tasks.create("x", ["model"]).plan(DOCUMENT).execute()
    model.evidence = "x" * 5_000_000
    with pytest.raises(UnexpectedAnswer):
        job.observe("log")
    assert job.refresh().state.is_terminal


def test_a_list_that_goes_on_where_it_began_ends(
    job: schemaxis.Job, client: schemaxis.Client, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_service, "page", lambda entries, token, size=2: (entries, "7"))
    for every in (client.tasks.list, client.plans.list, client.jobs.list, client.resources.list):
        with pytest.raises(UnexpectedAnswer):
            list(every())
    assert [request.page_token for request in model.asked("ListTasks")] == ["", "7"]


async def test_a_list_that_goes_on_where_it_began_ends_with_asyncio(
    ajob: schemaxis.aio.Job, aclient: schemaxis.aio.Client, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_service, "page", lambda entries, token, size=2: (entries, "7"))
    for every in (aclient.tasks.list, aclient.plans.list, aclient.jobs.list, aclient.resources.list):
        with pytest.raises(UnexpectedAnswer):
            [entry async for entry in every()]
    assert [request.page_token for request in model.asked("ListTasks")] == ["", "7"]


def test_a_page_is_asked_for_when_the_one_before_it_is_used_up(
    client: schemaxis.Client, model: Model
) -> None:
    for number in range(3):
        client.tasks.create(f"task {number}", ["model"])
    tasks = client.tasks.list()
    assert [next(tasks).objective, next(tasks).objective] == ["task 2", "task 1"]
    assert len(model.asked("ListTasks")) == 1
    assert [task.objective for task in tasks] == ["task 0"]


def test_a_closed_client_says_so(workspace: Path, service: ModelService) -> None:
    client = schemaxis.connect(workspace)
    job = client.tasks.create("x", ["model"]).plan(DOCUMENT).execute()
    client.close()
    client.close()
    for use in (job.refresh, lambda: list(job.watch()), lambda: list(client.tasks.list())):
        with pytest.raises(ClientClosed):
            use()


async def test_a_client_closed_while_a_task_waits(workspace: Path, service: ModelService) -> None:
    client = await schemaxis.aio.connect(workspace)
    job = await (await (await client.tasks.create("x", ["model"])).plan(DOCUMENT)).execute()
    service.model.job_state = job_pb2.JOB_STATE_RUNNING
    started = asyncio.Event()

    async def waits() -> None:
        async for event in job.watch():
            if event.sequence == 5:
                started.set()

    task = asyncio.create_task(waits())
    await started.wait()
    await client.close()
    with pytest.raises(ClientClosed):
        await task
    with pytest.raises(ClientClosed):
        await job.refresh()


async def test_a_client_closed_during_a_call(workspace: Path, service: ModelService) -> None:
    client = await schemaxis.aio.connect(workspace)
    job = await (await (await client.tasks.create("x", ["model"])).plan(DOCUMENT)).execute()
    service.model.job_state = job_pb2.JOB_STATE_RUNNING
    task = asyncio.create_task(job.verify())
    assert await asyncio.to_thread(service.model.verify_began.wait, 10)
    await client.close()
    with pytest.raises(ClientClosed):
        await task


async def test_a_task_cancelled_during_a_call(ajob: schemaxis.aio.Job, model: Model) -> None:
    model.job_state = job_pb2.JOB_STATE_RUNNING
    task = asyncio.create_task(ajob.verify())
    assert await asyncio.to_thread(model.verify_began.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    model.hold.set()
    assert (await ajob.refresh()).state.is_terminal


def mesh_of(job: schemaxis.Job) -> schemaxis.Resource:
    return next(resource for resource in job.resources if resource.name == "body.stl")


def test_a_download_broken_after_any_frame(job: schemaxis.Job, model: Model, tmp_path: Path) -> None:
    mesh = mesh_of(job)
    for after in range(MESH_FRAMES):
        for close in (False, True):
            model.troubles["ReadResource"].append(Trouble(after_frames=after, close=close))
            assert mesh.save(tmp_path / "mesh").read_bytes() == MESH
            assert model.asked("ReadResource")[-1].offset == after * 65_536
    assert [path.name for path in tmp_path.iterdir()] == ["mesh"]


async def test_a_download_broken_after_any_frame_with_asyncio(
    ajob: schemaxis.aio.Job, model: Model, tmp_path: Path
) -> None:
    mesh = (await ajob.resources)[0]
    for after in range(MESH_FRAMES):
        model.troubles["ReadResource"].append(Trouble(after_frames=after))
        assert (await mesh.save(tmp_path / "mesh")).read_bytes() == MESH
        assert model.asked("ReadResource")[-1].offset == after * 65_536


def test_a_download_goes_on_from_the_bytes_it_has(job: schemaxis.Job, model: Model, tmp_path: Path) -> None:
    mesh, part = mesh_of(job), tmp_path / "mesh.part"
    part.write_bytes(MESH[:100_000])
    assert mesh.save(tmp_path / "mesh").read_bytes() == MESH
    assert [request.offset for request in model.asked("ReadResource")] == [100_000]
    part.write_bytes(MESH)
    assert mesh.save(tmp_path / "mesh").read_bytes() == MESH
    assert model.asked("ReadResource")[-1].offset == len(MESH), "a whole part is confirmed by the server"


@pytest.mark.parametrize("left", [b"something else", MESH + b"more"])
def test_a_part_of_another_resource_is_dropped(job: schemaxis.Job, tmp_path: Path, left: bytes) -> None:
    (tmp_path / "mesh.part").write_bytes(left)
    assert mesh_of(job).save(tmp_path / "mesh").read_bytes() == MESH
    assert not (tmp_path / "mesh.part").exists()


def test_wrong_bytes_are_not_kept(job: schemaxis.Job, model: Model, tmp_path: Path) -> None:
    mesh = mesh_of(job)
    record, _ = model.resources[mesh.resource_id]
    model.resources[mesh.resource_id] = (record, MESH[:-1] + b"!")
    with pytest.raises(DownloadCorrupt) as corrupt:
        mesh.save(tmp_path / "mesh")
    assert corrupt.value.details["expected"]["sha256"] == hashlib.sha256(MESH).hexdigest()
    assert not list(tmp_path.iterdir())
    with pytest.raises(DownloadCorrupt):
        mesh.read()


def test_two_downloads_of_one_file(job: schemaxis.Job, tmp_path: Path) -> None:
    mesh = mesh_of(job)
    with PartFile(tmp_path / "mesh", mesh.sha256, mesh.size_bytes), pytest.raises(DownloadBusy):
        mesh.save(tmp_path / "mesh")
    assert mesh.save(tmp_path / "mesh").read_bytes() == MESH


def test_a_part_that_got_its_name_before_it_was_locked(
    job: schemaxis.Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another download ends between opening and locking: the finished file must not be written to."""
    mesh, path, lock = mesh_of(job), tmp_path / "mesh", fcntl.flock
    calls: list[int] = []

    def late(descriptor: int, operation: int) -> None:
        if not calls:
            path.with_name("mesh.part").replace(path)
            path.chmod(0o444)
        calls.append(descriptor)
        lock(descriptor, operation)

    path.with_name("mesh.part").write_bytes(b"finished by the other download")
    monkeypatch.setattr(fcntl, "flock", late)
    with PartFile(path, mesh.sha256, mesh.size_bytes) as part:
        part.write(b"new")
    assert len(calls) == 2
    assert path.read_bytes() == b"finished by the other download"


@pytest.mark.parametrize("failing", ["read", "ftruncate", "fstat", "flock"])
@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "bad disk"), KeyboardInterrupt()], ids=["error", "interrupt"]
)
def test_a_part_that_cannot_be_taken_over_is_let_go_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, error: BaseException
) -> None:
    (tmp_path / "mesh.part").write_bytes(b"more than that")
    before = os.listdir("/proc/self/fd")

    def fails(*arguments: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(fcntl if failing == "flock" else os, failing, fails)
        with pytest.raises(type(error)):
            PartFile(tmp_path / "mesh", "00", 4).__enter__()
    assert os.listdir("/proc/self/fd") == before
    with PartFile(tmp_path / "mesh", "00", 4) as part:
        assert part.offset == 0


def test_a_part_that_is_a_link_is_refused(job: schemaxis.Job, tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"precious")
    (tmp_path / "mesh.part").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match=r"mesh\.part"):
        mesh_of(job).save(tmp_path / "mesh")
    assert (tmp_path / "precious").read_bytes() == b"precious"


async def test_a_cancelled_download_can_go_on(ajob: schemaxis.aio.Job, model: Model, tmp_path: Path) -> None:
    mesh = (await ajob.resources)[0]
    task = asyncio.create_task(mesh.save(tmp_path / "mesh"))
    assert await asyncio.to_thread(model.read_began.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await mesh.save(tmp_path / "mesh")).read_bytes() == MESH


def test_errors_share_one_root() -> None:
    assert issubclass(ConnectionLost, SchemaxisError)
    assert issubclass(WaitTimeout, TimeoutError)
