"""The server program as tests drive it: start, hold at barriers, kill, start again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import grpc
from grpc_status import rpc_status
from schemaxis.bridge.methods import faults_of, faults_of_any_method
from schemaxis.v1 import (
    capability_pb2_grpc,
    fault_pb2,
    inspection_pb2_grpc,
    job_pb2,
    job_pb2_grpc,
    observation_pb2,
    observation_pb2_grpc,
    plan_pb2,
    plan_pb2_grpc,
    resource_pb2,
    resource_pb2_grpc,
    task_pb2,
    task_pb2_grpc,
    workspace_pb2_grpc,
)

STUB_PACKAGE = Path(__file__).parent / "stub_package"
_CHANNEL = (("grpc.default_authority", "localhost"), ("grpc.enable_http_proxy", 0))


class Refused(Exception):
    """A call was refused; ``fault`` is what the status carries."""

    def __init__(self, fault: fault_pb2.Fault) -> None:
        super().__init__(f"{fault.code}: {fault.message}")
        self.fault = fault
        self.code = fault.code
        self.details: dict[str, Any] = json.loads(fault.details_json) if fault.details_json else {}


def refusal(error: grpc.RpcError, method: Any = None) -> Refused:
    """The fault of a refused call; asserts that the status carries one, which its method lists."""
    status = rpc_status.from_call(cast("grpc.Call", error))
    assert status is not None, error
    fault = fault_pb2.Fault()
    assert any(detail.Unpack(fault) for detail in status.details), error
    if method is not None:
        path = method._method.decode()
        listed = (*faults_of(path), *faults_of_any_method())
        assert fault.code in listed, f"{path} does not list {fault.code}"
    return Refused(fault)


class Program:
    """A server program on one workspace. ``barriers`` is the directory of its barriers."""

    def __init__(self, workspace: Path, *arguments: str, **environment: str) -> None:
        self.workspace = workspace
        self.barriers = workspace.parent / "barriers"
        self.barriers.mkdir(parents=True, exist_ok=True)
        self.engine_file = workspace.parent / "engine"
        if not self.engine_file.exists():
            self.engine_file.write_text("1")
        self._arguments = arguments
        self._environment = environment
        self.ready: dict[str, Any] = {}

    def start(self) -> dict[str, Any]:
        """Start the program; returns the line that it prints."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(STUB_PACKAGE),
            "SCHEMAXIS_BARRIERS": str(self.barriers),
            "STUB_ENGINE_FILE": str(self.engine_file),
            **self._environment,
        }
        log = (self.workspace.parent / "server.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "schemaxis_server", "--workspace", str(self.workspace), *self._arguments],
            stdout=subprocess.PIPE,
            stderr=log,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
        log.close()
        assert self.process.stdout
        self.ready = json.loads(self.process.stdout.readline())
        if self.ready["event"] == "ready":
            self.connect()
        return self.ready

    def connect(self) -> None:
        self.channel = grpc.insecure_channel(f"unix:{quote(self.ready['socket'])}", options=_CHANNEL)
        self.workspaces = workspace_pb2_grpc.WorkspaceServiceStub(self.channel)
        self.capabilities = capability_pb2_grpc.CapabilityServiceStub(self.channel)
        self.tasks = task_pb2_grpc.TaskServiceStub(self.channel)
        self.plans = plan_pb2_grpc.PlanServiceStub(self.channel)
        self.jobs = job_pb2_grpc.JobServiceStub(self.channel)
        self.observations = observation_pb2_grpc.ObservationServiceStub(self.channel)
        self.resources = resource_pb2_grpc.ResourceServiceStub(self.channel)
        self.inspections = inspection_pb2_grpc.InspectionServiceStub(self.channel)

    def kill(self) -> None:
        """``kill -9``, as a crash would."""
        self.channel.close()
        self.process.kill()
        self._reap()

    def stop(self) -> int:
        """SIGTERM, and its exit status."""
        if self.process.poll() is None:
            self.channel.close()
            self.process.send_signal(signal.SIGTERM)
        return self._reap()

    def _reap(self) -> int:
        status = self.process.wait(60)
        assert self.process.stdout
        self.process.stdout.close()
        return status

    def hold(self, instant: str) -> None:
        """Have the service wait at a barrier."""
        (self.barriers / f"{instant}.reached").unlink(missing_ok=True)
        (self.barriers / instant).touch()

    def await_held(self, instant: str) -> None:
        eventually((self.barriers / f"{instant}.reached").exists, f"barrier {instant}")

    def release(self, instant: str) -> None:
        (self.barriers / instant).unlink(missing_ok=True)

    def call(self, method: Any, request: Any) -> Any:
        """A unary call; a refusal is raised as :class:`Refused`."""
        try:
            return method(request, timeout=60)
        except grpc.RpcError as error:
            raise refusal(error, method) from None

    def task(self, *providers: str, **fields: Any) -> task_pb2.Task:
        budget = task_pb2.Budget(**fields.pop("budget", {"max_attempts": 100}))
        request = task_pb2.CreateTaskRequest(
            objective="test", allowed_providers=providers or ("stub", "occt"), budget=budget, **fields
        )
        made: task_pb2.Task = self.call(self.tasks.CreateTask, request).task
        return made

    def plan(self, task_id: str, document: Any, revision: int = 0, **fields: Any) -> plan_pb2.Plan:
        request = plan_pb2.CreatePlanRequest(
            task_id=task_id, document_json=json.dumps(document), expected_revision=revision, **fields
        )
        made: plan_pb2.Plan = self.call(self.plans.CreatePlan, request).plan
        return made

    def execute(self, plan: plan_pb2.Plan, **fields: Any) -> job_pb2.Job:
        request = job_pb2.ExecutePlanRequest(plan_id=plan.plan_id, expected_revision=plan.revision, **fields)
        made: job_pb2.Job = self.call(self.jobs.ExecutePlan, request).job
        return made

    def started(self, document: Any, **budget: Any) -> job_pb2.Job:
        """A new task, its plan, and the job that executes it."""
        task = self.task(budget=budget or {"max_attempts": 100})
        return self.execute(self.plan(task.task_id, document))

    def job(self, job_id: str) -> job_pb2.Job:
        found: job_pb2.Job = self.call(self.jobs.GetJob, job_pb2.GetJobRequest(job_id=job_id)).job
        return found

    def events(self, job_id: str, after: int = 0, follow: bool = True) -> list[job_pb2.JobEvent]:
        """The events behind a cursor, to the end; asserts that they are dense."""
        found: list[job_pb2.JobEvent] = []
        request = job_pb2.WatchJobRequest(job_id=job_id, after_sequence=after, follow=follow)
        try:
            for frame in self.jobs.WatchJob(request, timeout=100):
                found += frame.events
        except grpc.RpcError as error:
            raise refusal(error, self.jobs.WatchJob) from None
        assert [event.sequence for event in found] == list(range(after + 1, after + 1 + len(found)))
        return found

    def ended(self, job_id: str) -> job_pb2.Job:
        """The job when it is terminal; asserts that it has exactly one terminal event, its last."""
        seen = self.events(job_id)
        assert [event.HasField("terminal") for event in seen].count(True) == 1
        return self.job(job_id)

    def run(self, document: Any, **budget: Any) -> job_pb2.Job:
        return self.ended(self.started(document, **budget).job_id)

    def observe(self, job_id: str, section: str, pointer: str = "") -> Any:
        request = observation_pb2.ObserveRequest(
            job_id=job_id, section=section, pointer=pointer, max_bytes=65_536
        )
        return json.loads(self.call(self.observations.Observe, request).observation.value_json)

    def read(self, resource_id: str, **fields: Any) -> bytes:
        request = resource_pb2.ReadResourceRequest(resource_id=resource_id, **fields)
        try:
            return b"".join(frame.data for frame in self.resources.ReadResource(request, timeout=60))
        except grpc.RpcError as error:
            raise refusal(error, self.resources.ReadResource) from None


def stub(mode: str = "ok", **options: Any) -> dict[str, Any]:
    """A document of the stub provider."""
    nodes = [{"id": "n", "filter": "act", "options": {"mode": mode, **options}}]
    return {"version": "schemaxis.stub/1", "nodes": nodes, "output": "n"}


def box(height: float = 5) -> dict[str, Any]:
    options = {"length": 20, "width": 10, "height": height}
    nodes = [{"id": "body", "filter": "box", "options": options}]
    return {"version": "schemaxis.occt/1", "nodes": nodes, "output": "body"}


def eventually(condition: Callable[[], bool], what: str, seconds: float = 30) -> None:
    """Wait until something outside this process has come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.005)


def descendants(marker: str) -> Iterator[int]:
    """The living processes that carry a workspace's marker, or an argument, anywhere."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            text = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if state != "Z" and marker.encode() in text:
            yield int(entry.name)
