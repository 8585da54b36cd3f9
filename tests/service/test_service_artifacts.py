"""Bytes that changed on disk are never handed out, and the job that made them loses its standing."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from schemaxis.v1 import inspection_pb2, job_pb2, resource_pb2, resource_pb2_grpc
from schemaxis_server.execution.resources import MAX_STREAMS

from service.program import Program, Refused, box, eventually, refusal, stub


def artifact(program: Program, resource_id: str) -> Path:
    """Where the bytes of a resource lie."""
    request = resource_pb2.GetResourceRequest(resource_id=resource_id)
    found = program.call(program.resources.GetResource, request).resource.sha256
    sha256 = str(found)
    return program.workspace / "objects" / sha256[:2] / sha256


def change(path: Path) -> None:
    path.chmod(0o600)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def shorten(path: Path) -> None:
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-1])


def lengthen(path: Path) -> None:
    path.chmod(0o600)
    path.write_bytes(path.read_bytes() + b"\0")


def remove(path: Path) -> None:
    path.unlink()


def replace_by_link(path: Path) -> None:
    copy = path.with_name("copy")
    path.rename(copy)
    path.symlink_to(copy)


def replace_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def change_the_list(path: Path) -> None:
    change(path.with_name(path.name + ".b3"))


DAMAGES: list[Callable[[Path], None]] = [
    change,
    shorten,
    lengthen,
    remove,
    replace_by_link,
    replace_by_pipe,
    change_the_list,
]


def read(program: Program, resource_id: str) -> None:
    program.read(resource_id)


def read_range(program: Program, resource_id: str) -> None:
    request = resource_pb2.ReadResourceRangeRequest(resource_id=resource_id)
    program.call(program.resources.ReadResourceRange, request)


def inspect(program: Program, resource_id: str) -> None:
    request = inspection_pb2.InspectResourceRequest(resource_id=resource_id)
    program.call(program.inspections.InspectResource, request)


WAYS: list[Callable[[Program, str], None]] = [read, read_range, inspect]


def invalidated(program: Program, job: job_pb2.Job) -> None:
    """The job, its resources, its events and every way to its bytes say so."""
    found = program.job(job.job_id)
    assert found.state == job_pb2.JOB_STATE_INVALIDATED
    assert not found.verified
    assert found.fault.code in ("RESOURCE_CORRUPT", "VERIFICATION_FAILED")
    (told,) = program.events(job.job_id, after=job.last_sequence)
    assert told.invalidated.fault == found.fault
    for resource_id in job.resource_ids:
        request = resource_pb2.GetResourceRequest(resource_id=resource_id)
        resource = program.call(program.resources.GetResource, request).resource
        assert resource.state == resource_pb2.RESOURCE_STATE_BLOCKED
        for way in (read, read_range):
            with pytest.raises(Refused) as caught:
                way(program, resource_id)
            assert caught.value.code == "RESOURCE_BLOCKED"
    with pytest.raises(Refused) as caught:
        program.call(program.jobs.VerifyJob, job_pb2.VerifyJobRequest(job_id=job.job_id))
    assert caught.value.code == "NOT_VERIFIED"


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("way", WAYS)
def test_a_changed_artifact_is_refused(
    way: Callable[[Program, str], None], damage: Callable[[Path], None], shared: Program
) -> None:
    value = DAMAGES.index(damage) * 10 + WAYS.index(way)
    job = shared.run(stub(value=value))
    way(shared, job.resource_ids[0])
    path = artifact(shared, job.resource_ids[0])
    if damage is change_the_list:
        # The list in memory was proved; a service that starts anew reads it from the disk.
        shared.stop()
        damage(path)
        shared.start()
    else:
        damage(path)
    with pytest.raises(Refused) as caught:
        way(shared, job.resource_ids[0])
    assert caught.value.code == "RESOURCE_CORRUPT"
    invalidated(shared, job)


@pytest.mark.parametrize("damage", [change, remove])
def test_a_fresh_verification_notices(damage: Callable[[Path], None], program: Program) -> None:
    job = program.run(box())
    damage(artifact(program, job.resource_ids[1]))
    request = job_pb2.VerifyJobRequest(job_id=job.job_id)
    verification = program.call(program.jobs.VerifyJob, request).verification
    assert not verification.verified
    assert [check.name for check in verification.checks if not check.passed] == ["receipts"]
    invalidated(program, job)
    assert program.observe(job.job_id, "verification")["verified"] is True, "the captured one stays as it was"


def test_a_bound_artifact_is_checked_before_dispatch(program: Program) -> None:
    source = program.run(stub(value=7))
    document = {
        "version": "schemaxis.stub/1",
        "nodes": [{"id": "n", "filter": "read", "options": {"file": None}}],
        "output": "n",
    }
    bindings = {"/nodes/0/options/file": source.resource_ids[0]}
    plan = program.plan(program.task().task_id, document, bindings=bindings)
    assert program.ended(program.execute(plan).job_id).state == job_pb2.JOB_STATE_SUCCEEDED
    program.hold("planned")
    job = program.execute(plan)
    program.await_held("planned")
    change(artifact(program, source.resource_ids[0]))
    program.release("planned")
    assert program.ended(job.job_id).fault.code == "RESOURCE_CORRUPT"
    invalidated(program, source)


def test_a_read_in_progress_stops_at_the_damage(program: Program) -> None:
    job = program.run(stub("large"))
    large = next(
        resource_id
        for resource_id in job.resource_ids
        if artifact(program, resource_id).stat().st_size > 2**21
    )
    path = artifact(program, large)
    whole = path.read_bytes()
    assert program.read(large) == whole
    assert program.read(large, offset=10, length=5000, chunk_bytes=4096) == whole[10:5010]
    assert program.read(large, offset=len(whole)) == b""
    path.chmod(0o600)
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(Refused) as caught:
        program.read(large)
    assert caught.value.code == "RESOURCE_CORRUPT"


def test_a_service_without_descriptors_tells_no_damage(workspace: Path) -> None:
    served = Program(workspace)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        served.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    job = served.run(stub())
    resource_id = job.resource_ids[0]
    whole = served.read(resource_id)
    with contextlib.ExitStack() as held:
        for _ in range(256):
            client = held.enter_context(socket.socket(socket.AF_UNIX))
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                client.connect(served.ready["socket"])
        eventually(lambda: len(os.listdir(f"/proc/{served.process.pid}/fd")) >= 256, "no descriptor left")
        for refuse in (read, read_range):
            with pytest.raises(Refused) as caught:
                refuse(served, resource_id)
            assert (caught.value.code, caught.value.fault.retryable) == ("OVERLOADED", True)
        with pytest.raises(Refused) as caught:
            served.call(served.jobs.VerifyJob, job_pb2.VerifyJobRequest(job_id=job.job_id))
        assert caught.value.code == "OVERLOADED"
    eventually(lambda: len(os.listdir(f"/proc/{served.process.pid}/fd")) < 200, "descriptors again")
    assert served.read(resource_id) == whole
    assert served.job(job.job_id).verified
    assert served.stop() == 0


def first_of(stream: Any) -> str:
    """``frame``, or the code with which the stream is refused."""
    try:
        next(stream)
    except grpc.RpcError as error:
        return refusal(error).code
    return "frame"


def test_many_streams_that_nobody_reads_hold_no_descriptors_and_are_bounded(program: Program) -> None:
    job = program.run(stub("large"))
    listing = resource_pb2.ListResourcesRequest(job_id=job.job_id)
    listed = program.call(program.resources.ListResources, listing).resources
    big = next(one for one in listed if one.name == "large.bin")
    before = len(os.listdir(f"/proc/{program.process.pid}/fd"))
    request = resource_pb2.ReadResourceRequest(resource_id=big.resource_id, chunk_bytes=65_536)
    # Without a window that grows by itself, which would take a whole resource in.
    options = (("grpc.default_authority", "localhost"), ("grpc.http2.bdp_probe", 0))
    channel = grpc.insecure_channel(f"unix:{program.ready['socket']}", options=options)
    resources = resource_pb2_grpc.ResourceServiceStub(channel)
    streams = [resources.ReadResource(request, timeout=60) for _ in range(MAX_STREAMS + 40)]
    outcomes = Counter(first_of(stream) for stream in streams)
    assert outcomes == {"frame": MAX_STREAMS, "OVERLOADED": 40}
    assert len(os.listdir(f"/proc/{program.process.pid}/fd")) < before + 10
    for stream in streams:
        stream.cancel()
    eventually(lambda: first_of(program.resources.ReadResource(request, timeout=60)) == "frame", "room again")
    channel.close()
