"""What is measured. Each part yields lines of the report."""

from __future__ import annotations

import itertools
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from schemaxis.v1 import (
    job_pb2,
    job_pb2_grpc,
    plan_pb2,
    plan_pb2_grpc,
    resource_pb2,
    resource_pb2_grpc,
    task_pb2,
    task_pb2_grpc,
)

from bench.filling import EVENTS, fill_events, fill_jobs, fill_resource
from bench.replaying import replaying
from bench.serving import Served, bare, place, product

BOX = {
    "version": "schemaxis.occt/1",
    "nodes": [{"id": "body", "filter": "box", "options": {"length": 20, "width": 10, "height": 5}}],
    "output": "body",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the report: what, the measured figure, what it is held against."""

    what: str
    figure: str
    wanted: str = ""


def median(call: Callable[[], object], count: int) -> float:
    """Median seconds of ``count`` calls."""
    times = []
    for _ in range(count):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def ratio(
    ours: Callable[[], object], theirs: Callable[[], object], count: int, rounds: int = 15
) -> tuple[float, float, float]:
    """Interleaved medians: (ours, theirs, the median of the rounds' ratios)."""
    median(ours, count), median(theirs, count)
    pairs = [(median(ours, count), median(theirs, count)) for _ in range(rounds)]
    mine, others = (statistics.median(column) for column in zip(*pairs, strict=True))
    return mine, others, statistics.median(a / b for a, b in pairs)


class Client:
    """The product's stubs over one channel, and the study's few steps."""

    def __init__(self, served: Served) -> None:
        self.jobs = job_pb2_grpc.JobServiceStub(served.channel)
        self.plans = plan_pb2_grpc.PlanServiceStub(served.channel)
        self.tasks = task_pb2_grpc.TaskServiceStub(served.channel)
        self.resources = resource_pb2_grpc.ResourceServiceStub(served.channel)

    def new_plan(self, height: float = 5) -> plan_pb2.Plan:
        task = self.tasks.CreateTask(
            task_pb2.CreateTaskRequest(
                objective="bench", allowed_providers=["occt"], budget=task_pb2.Budget(max_attempts=100)
            )
        ).task
        document = json.loads(json.dumps(BOX))
        document["nodes"][0]["options"]["height"] = height
        return self.plans.CreatePlan(
            plan_pb2.CreatePlanRequest(
                task_id=task.task_id, document_json=json.dumps(document), expected_revision=0
            )
        ).plan

    def execute(self, plan: plan_pb2.Plan) -> job_pb2.Job:
        return self.jobs.ExecutePlan(
            job_pb2.ExecutePlanRequest(plan_id=plan.plan_id, expected_revision=plan.revision)
        ).job

    def run(self, plan: plan_pb2.Plan) -> tuple[float, list[job_pb2.JobEvent]]:
        """Seconds from execute to the watched end, and the events."""
        began = time.perf_counter()
        job = self.execute(plan)
        events: list[job_pb2.JobEvent] = []
        for frame in self.jobs.WatchJob(job_pb2.WatchJobRequest(job_id=job.job_id)):
            events += frame.events
        seconds = time.perf_counter() - began
        if events[-1].terminal.state != job_pb2.JOB_STATE_SUCCEEDED:
            raise RuntimeError(f"the job did not succeed: {events[-1]}")
        return seconds, events


def shuffled(job_ids: list[str]) -> Callable[[], job_pb2.GetJobRequest]:
    """Gives a request for another job at each call, in an order that no cache foresees."""
    requests = [job_pb2.GetJobRequest(job_id=job_id) for job_id in job_ids]
    random.Random(1).shuffle(requests)
    return itertools.cycle(requests).__next__


def get_job() -> Iterator[Line]:
    """Thrice, since the service keeps what was read or changed last: one job that an agent polls,
    jobs that changed and were not read since, and jobs that nobody touched since the start."""
    with place() as directory:
        workspace = directory / "w"
        another = shuffled(fill_jobs(workspace, 10_000))
        with product(workspace) as ours, bare(directory) as theirs:
            client = Client(ours)
            echo = job_pb2_grpc.JobServiceStub(theirs.channel)
            same = another()
            yield _against_echo("polled", client.jobs, echo, lambda: same)
            changed = shuffled(_changed(client, 16 * 50))
            yield _against_echo("changed since it was read", client.jobs, echo, changed, 50)
            yield _against_echo("never read before", client.jobs, echo, another)


def _changed(client: Client, count: int) -> list[str]:
    """Jobs that were executed and cancelled at once."""
    job_ids: list[str] = []
    while len(job_ids) < count:
        plan = client.new_plan()
        for _ in range(100):
            job = client.execute(plan)
            client.jobs.CancelJob(job_pb2.CancelJobRequest(job_id=job.job_id))
            job_ids.append(job.job_id)
    return job_ids[:count]


def _against_echo(
    what: str,
    ours: job_pb2_grpc.JobServiceStub,
    echo: job_pb2_grpc.JobServiceStub,
    request: Callable[[], job_pb2.GetJobRequest],
    count: int = 300,
) -> Line:
    mine, other, share = ratio(lambda: ours.GetJob(request()), lambda: echo.GetJob(request()), count)
    return Line(
        f"GetJob / bare echo, {what}", f"{share:.2f} ({mine * 1e6:.0f} µs / {other * 1e6:.0f} µs)", "≤ 1.3"
    )


def reads() -> Iterator[Line]:
    with place() as directory:
        workspace = directory / "w"
        resource_id = fill_resource(workspace)
        with product(workspace) as ours, bare(directory) as theirs:
            mine = resource_pb2_grpc.ResourceServiceStub(ours.channel)
            other = resource_pb2_grpc.ResourceServiceStub(theirs.channel)
            raw: Any = theirs.channel.unary_stream(
                "/schemaxis.v1.ResourceService/ReadResource",
                request_serializer=resource_pb2.ReadResourceRequest.SerializeToString,
                response_deserializer=None,
            )
            for size, wanted in ((64, ""), (256, "≥ 0.8"), (1024, "≥ 1.0")):
                chunk = size * 1024

                def request(name: str, chunk: int = chunk) -> resource_pb2.ReadResourceRequest:
                    return resource_pb2.ReadResourceRequest(resource_id=name, chunk_bytes=chunk)

                def drain(stream: Iterator[object]) -> None:
                    for _ in stream:
                        pass

                verified, _, share = ratio(
                    lambda: drain(mine.ReadResource(request(resource_id))),
                    lambda: drain(other.ReadResource(request("zeros"))),
                    1,
                    9,
                )
                plain = median(lambda: drain(raw(request("raw"))), 5)
                megabytes = 64 / verified
                yield Line(
                    f"verified read / bare stubs, {size} KiB chunks",
                    f"{1 / share:.2f} in throughput ({megabytes:.0f} MiB/s; raw bytes {64 / plain:.0f} MiB/s)",
                    wanted,
                )


def watching() -> Iterator[Line]:
    with place() as directory:
        workspace = directory / "w"
        job_id = fill_events(workspace)
        with product(workspace) as ours:
            client = Client(ours)

            def replay() -> int:
                frames = client.jobs.WatchJob(job_pb2.WatchJobRequest(job_id=job_id))
                return sum(len(frame.events) for frame in frames)

            seconds = median(replay, 3)
            yield Line("WatchJob, events replayed", f"{EVENTS / seconds:,.0f} a second")
            request = job_pb2.GetJobRequest(job_id=job_id)
            quiet, busy = [], []
            for _ in range(5):
                quiet.append(median(lambda: client.jobs.GetJob(request), 1000))
                with replaying(ours.socket, job_id):
                    busy.append(median(lambda: client.jobs.GetJob(request), 1000))
            share = statistics.median(b / q for b, q in zip(busy, quiet, strict=True))
            yield Line("GetJob while a client replays / idle", f"{share:.2f}", "≤ 3")


def smallest_job() -> Iterator[Line]:
    with place() as directory, product(directory / "w") as ours:
        client = Client(ours)
        idle = ours.rss_bytes()
        yield Line("start-up until ready", f"{ours.ready_seconds * 1e3:.0f} ms")
        yield Line("server's memory, idle, no hosts", f"{idle / 2**20:.0f} MiB", "≤ 120 MB")
        cold, _ = client.run(client.new_plan())
        warm = [client.run(client.new_plan(5 + step / 100)) for step in range(1, 22)]
        yield Line("smallest job, cold", f"{cold * 1e3:.0f} ms")
        yield Line(
            "smallest job, warm, verified",
            f"{statistics.median(t for t, _ in warm) * 1e3:.0f} ms",
            "≤ 250 ms",
        )
        for name, seconds in _phases([events for _, events in warm]):
            yield Line(f"  of it {name}", f"{seconds * 1e3:.0f} ms")
        yield Line("server's memory after them", f"{ours.rss_bytes() / 2**20:.0f} MiB")
        from schemaxis.v1 import workspace_pb2, workspace_pb2_grpc

        stub = workspace_pb2_grpc.WorkspaceServiceStub(ours.channel)
        for host in stub.GetWorkspace(workspace_pb2.GetWorkspaceRequest()).workspace.hosts:
            yield Line(f"host {host.name}", f"{host.rss_bytes / 2**20:.0f} MiB")


def _phases(runs: list[list[job_pb2.JobEvent]]) -> Iterator[tuple[str, float]]:
    """Median seconds between the events that mark the phases."""
    marks: dict[str, list[float]] = {"queue": [], "engine and publishing": [], "verifying and pictures": []}
    for events in runs:
        at = {
            job_pb2.JobState.Name(event.state_changed.state): event.time.ToNanoseconds() / 1e9
            for event in events
            if event.HasField("state_changed")
        }
        end = events[-1].time.ToNanoseconds() / 1e9
        marks["queue"].append(at["JOB_STATE_RUNNING"] - at["JOB_STATE_QUEUED"])
        marks["engine and publishing"].append(at["JOB_STATE_VERIFYING"] - at["JOB_STATE_RUNNING"])
        marks["verifying and pictures"].append(end - at["JOB_STATE_VERIFYING"])
    for name, times in marks.items():
        yield name, statistics.median(times)


def history() -> Iterator[Line]:
    with place() as directory:
        full, few, empty = (directory / name for name in ("full", "few", "empty"))
        any_of_many, any_of_few = shuffled(fill_jobs(full, 100_000)), shuffled(fill_jobs(few, 5_000))
        with product(full) as ours, product(empty) as theirs:
            yield Line(
                "100,000 jobs: start-up until ready",
                f"{ours.ready_seconds * 1e3:.0f} ms (empty: {theirs.ready_seconds * 1e3:.0f} ms)",
                "opens ≤ 1 s",
            )
            mine, other = Client(ours), Client(theirs)
            for client in (mine, other):
                client.run(client.new_plan())
            # An empty workspace has nothing that was not read yet, so a small one stands in for it.
            with product(few) as small:
                few_jobs = Client(small).jobs
                _, _, share = ratio(
                    lambda: mine.jobs.GetJob(any_of_many()), lambda: few_jobs.GetJob(any_of_few()), 300
                )
            yield Line("GetJob, never read before, 100,000 jobs / 5,000", f"{share:.2f}", "≤ 1.2")
            first = {c: c.jobs.ListJobs(job_pb2.ListJobsRequest(page_size=1)).jobs[0] for c in (mine, other)}
            _, _, share = ratio(
                lambda: mine.jobs.GetJob(job_pb2.GetJobRequest(job_id=first[mine].job_id)),
                lambda: other.jobs.GetJob(job_pb2.GetJobRequest(job_id=first[other].job_id)),
                300,
            )
            yield Line("GetJob, polled, 100,000 jobs / empty", f"{share:.2f}", "≤ 1.2")
            listing = job_pb2.ListJobsRequest(page_size=1)
            _, _, share = ratio(
                lambda: mine.jobs.ListJobs(listing), lambda: other.jobs.ListJobs(listing), 100
            )
            yield Line("ListJobs, 100,000 jobs / empty", f"{share:.2f}")
            times: dict[Client, list[float]] = {mine: [], other: []}
            for _ in range(30):
                for client in (mine, other):
                    plan = client.new_plan()
                    began = time.perf_counter()
                    job = client.execute(plan)
                    times[client].append(time.perf_counter() - began)
                    client.jobs.CancelJob(job_pb2.CancelJobRequest(job_id=job.job_id))
                    for _ in client.jobs.WatchJob(job_pb2.WatchJobRequest(job_id=job.job_id)):
                        pass
            medians = {client: statistics.median(measured) for client, measured in times.items()}
            yield Line("ExecutePlan, 100,000 jobs / empty", f"{medians[mine] / medians[other]:.2f}", "≤ 1.2")
