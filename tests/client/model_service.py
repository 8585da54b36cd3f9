"""A small service in memory behind a real socket, whose troubles a test scripts.

Jobs succeed at once with a fixed result; what matters here is what the client makes of the answers,
of their absence, and of streams that break.
"""

# ruff: noqa: N802  (gRPC names the methods)

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import grpc
from google.protobuf import any_pb2
from google.protobuf.timestamp_pb2 import Timestamp
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status
from schemaxis.v1 import (
    capability_pb2,
    capability_pb2_grpc,
    fault_pb2,
    inspection_pb2,
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
    workspace_pb2,
    workspace_pb2_grpc,
)

NOW = Timestamp(seconds=1_790_000_000, nanos=500_000_000)
RESULT = {
    "outputs": {"body": {"volume": {"value": 1000.0, "unit": "mm3"}, "spread": {"$number": "NaN"}}},
    "engine": {"name": "model", "version": "1"},
}
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40
MESH = hashlib.sha256(b"mesh").digest() * 40_000


@dataclass
class Trouble:
    """One scripted trouble: end a call with a status after some frames, or after the work is done."""

    status: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE
    fault: fault_pb2.Fault | None = None
    after_frames: int = 0
    after_work: bool = False
    close: bool = False
    """End the stream properly, as far as gRPC knows, but without its last frame."""


def abort(context: grpc.ServicerContext, trouble: Trouble) -> NoReturn:
    if trouble.fault is None:
        context.abort(trouble.status, "scripted")
    detail, info = any_pb2.Any(), any_pb2.Any()
    detail.Pack(trouble.fault)
    info.Pack(error_details_pb2.ErrorInfo(domain="schemaxis", reason=trouble.fault.code))
    status = status_pb2.Status(
        code=trouble.status.value[0], message=trouble.fault.message, details=[info, detail]
    )
    context.abort_with_status(rpc_status.to_status(status))
    raise AssertionError("abort returns never")


def refusal(code: str, status: grpc.StatusCode, **details: Any) -> Trouble:
    fault = fault_pb2.Fault(
        code=code,
        message=f"{code} was scripted: go on.",
        retryable=status is grpc.StatusCode.UNAVAILABLE,
        pointer="/here",
        details_json=json.dumps(details),
    )
    return Trouble(status, fault)


def job_events(count: int) -> list[job_pb2.JobEvent]:
    """``count`` events, the last of them terminal."""
    events = [job_pb2.JobEvent(sequence=number, time=NOW) for number in range(1, count + 1)]
    for event in events[:-1]:
        event.progress.fraction = event.sequence / count
    events[-1].terminal.CopyFrom(
        job_pb2.Terminal(state=job_pb2.JOB_STATE_SUCCEEDED, verified=True, goal=job_pb2.GOAL_MET)
    )
    return events


@dataclass
class Model:
    """What the service holds, kept over its restarts, and what it was asked."""

    tasks: dict[str, task_pb2.Task] = field(default_factory=dict)
    plans: dict[str, plan_pb2.Plan] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    jobs: dict[str, job_pb2.Job] = field(default_factory=dict)
    events: dict[str, list[job_pb2.JobEvent]] = field(default_factory=dict)
    resources: dict[str, tuple[resource_pb2.Resource, bytes]] = field(default_factory=dict)
    remembered: dict[str, Any] = field(default_factory=dict)
    troubles: dict[str, deque[Trouble]] = field(default_factory=lambda: defaultdict(deque))
    calls: list[tuple[str, Any]] = field(default_factory=list)
    job_state: job_pb2.JobState.ValueType = job_pb2.JOB_STATE_SUCCEEDED
    evidence: Any = field(default_factory=lambda: json.loads(json.dumps(RESULT)))
    event_count: int = 5
    frames: list[job_pb2.WatchJobResponse] | None = None
    """Frames that every watch sends instead of the job's events."""
    hold: threading.Event = field(default_factory=threading.Event)
    """Set to let watches of unfinished jobs end."""
    watch_ended: threading.Event = field(default_factory=threading.Event)
    """Set when a watch was given up by its client."""
    verify_began: threading.Event = field(default_factory=threading.Event)
    read_began: threading.Event = field(default_factory=threading.Event)

    def given_up(self) -> None:
        self.watch_ended.set()
        self.hold.set()

    def asked(self, method: str) -> list[Any]:
        return [request for name, request in self.calls if name == method]

    def enter(self, method: str, request: Any, context: grpc.ServicerContext) -> Trouble | None:
        """Record a call; end it with the next trouble scripted for the method, or return that."""
        self.calls.append((method, request))
        if not self.troubles[method]:
            return None
        trouble = self.troubles[method].popleft()
        if not trouble.after_work and not trouble.after_frames and not trouble.close:
            abort(context, trouble)
        return trouble

    def not_found(self, context: grpc.ServicerContext, what: str) -> NoReturn:
        abort(context, refusal("NOT_FOUND", grpc.StatusCode.NOT_FOUND, what=what))

    def resource(self, job_id: str, name: str, kind: str, media_type: str, data: bytes) -> str:
        resource_id = f"res_{len(self.resources) + 1}"
        self.resources[resource_id] = (
            resource_pb2.Resource(
                resource_id=resource_id,
                producer=resource_pb2.Producer(job_id=job_id, operation_id="main"),
                name=name,
                kind=kind,
                media_type=media_type,
                size_bytes=len(data),
                sha256=hashlib.sha256(data).hexdigest(),
                receipt=resource_pb2.Receipt(receipt_id="rcpt_1", digest="00"),
                units="mm",
                state=resource_pb2.RESOURCE_STATE_AVAILABLE,
                create_time=NOW,
            ),
            data,
        )
        return resource_id


def page(entries: Sequence[Any], token: str, size: int = 2) -> tuple[Sequence[Any], str]:
    begin = int(token or "0")
    following = begin + size
    return entries[begin:following], str(following) if following < len(entries) else ""


class TaskService(task_pb2_grpc.TaskServiceServicer):
    def __init__(self, model: Model) -> None:
        self.model = model

    def CreateTask(self, request: Any, context: Any) -> task_pb2.CreateTaskResponse:
        model = self.model
        trouble = model.enter("CreateTask", request, context)
        if request.request_id not in model.remembered:
            task = task_pb2.Task(
                task_id=f"task_{len(model.tasks) + 1}",
                objective=request.objective,
                criteria=request.criteria,
                allowed_providers=request.allowed_providers,
                budget=task_pb2.Budget(
                    max_attempts=request.budget.max_attempts or 5,
                    max_repeated_failures=2,
                    max_elapsed_seconds=request.budget.max_elapsed_seconds or 900,
                    max_attempt_seconds=300,
                ),
                create_time=NOW,
            )
            model.tasks[task.task_id] = model.remembered[request.request_id] = task
        if trouble:
            abort(context, trouble)
        return task_pb2.CreateTaskResponse(task=model.remembered[request.request_id])

    def GetTask(self, request: Any, context: Any) -> task_pb2.GetTaskResponse:
        self.model.enter("GetTask", request, context)
        task = self.model.tasks.get(request.task_id)
        if task is None:
            self.model.not_found(context, request.task_id)
        return task_pb2.GetTaskResponse(task=task)

    def ListTasks(self, request: Any, context: Any) -> task_pb2.ListTasksResponse:
        self.model.enter("ListTasks", request, context)
        tasks, token = page(list(self.model.tasks.values())[::-1], request.page_token)
        return task_pb2.ListTasksResponse(tasks=tasks, next_page_token=token)


class PlanService(plan_pb2_grpc.PlanServiceServicer):
    def __init__(self, model: Model) -> None:
        self.model = model

    def CreatePlan(self, request: Any, context: Any) -> plan_pb2.CreatePlanResponse:
        model = self.model
        trouble = model.enter("CreatePlan", request, context)
        task = model.tasks[request.task_id]
        if request.request_id not in model.remembered:
            if request.expected_revision != task.revision:
                abort(context, refusal("STALE_REVISION", grpc.StatusCode.ABORTED, revision=task.revision))
            task.revision += 1
            plan = plan_pb2.Plan(
                plan_id=f"plan_{len(model.plans) + 1}",
                task_id=task.task_id,
                revision=task.revision,
                digest=hashlib.sha256(request.document_json.encode()).hexdigest(),
                providers=[plan_pb2.PlanProvider(provider="model", engine="model", engine_version="1")],
                operations=[plan_pb2.PlanOperation(operation_id="main", nodes=["body"], outputs=["body"])],
                create_time=NOW,
            )
            task.current_plan_id = plan.plan_id
            model.documents[plan.plan_id] = request.document_json
            model.plans[plan.plan_id] = model.remembered[request.request_id] = plan
        if trouble:
            abort(context, trouble)
        return plan_pb2.CreatePlanResponse(plan=model.remembered[request.request_id])

    def GetPlan(self, request: Any, context: Any) -> plan_pb2.GetPlanResponse:
        self.model.enter("GetPlan", request, context)
        return plan_pb2.GetPlanResponse(plan=self.model.plans[request.plan_id])

    def ListPlans(self, request: Any, context: Any) -> plan_pb2.ListPlansResponse:
        self.model.enter("ListPlans", request, context)
        plans = [item for item in self.model.plans.values() if request.task_id in ("", item.task_id)]
        found, token = page(plans[::-1], request.page_token)
        return plan_pb2.ListPlansResponse(plans=found, next_page_token=token)


class JobService(job_pb2_grpc.JobServiceServicer):
    def __init__(self, model: Model) -> None:
        self.model = model

    def ExecutePlan(self, request: Any, context: Any) -> job_pb2.ExecutePlanResponse:
        model = self.model
        trouble = model.enter("ExecutePlan", request, context)
        if request.request_id not in model.remembered:
            model.remembered[request.request_id] = self._run(model.plans[request.plan_id])
        if trouble:
            abort(context, trouble)
        queued = job_pb2.Job()
        queued.CopyFrom(model.remembered[request.request_id])
        queued.state = job_pb2.JOB_STATE_QUEUED
        queued.last_sequence = 0
        return job_pb2.ExecutePlanResponse(job=queued)

    def _run(self, plan: plan_pb2.Plan) -> job_pb2.Job:
        model = self.model
        job = job_pb2.Job(
            job_id=f"job_{len(model.jobs) + 1}",
            plan_id=plan.plan_id,
            task_id=plan.task_id,
            revision=plan.revision,
            state=model.job_state,
            verified=model.job_state == job_pb2.JOB_STATE_SUCCEEDED,
            goal=job_pb2.GOAL_MET,
            native_state=job_pb2.NATIVE_STATE_EXITED,
            last_sequence=model.event_count,
            create_time=NOW,
        )
        if model.job_state == job_pb2.JOB_STATE_FAILED:
            job.fault.code, job.fault.message = "NATIVE_FAILURE", "The engine died: change the document."
        if job.verified:
            job.resource_ids.append(model.resource(job.job_id, "body.stl", "geometry/stl", "model/stl", MESH))
            job.resource_ids.append(
                model.resource(job.job_id, "body.png", "picture/preview", "image/png", PICTURE)
            )
        model.events[job.job_id] = job_events(model.event_count)
        model.jobs[job.job_id] = job
        return job

    def GetJob(self, request: Any, context: Any) -> job_pb2.GetJobResponse:
        self.model.enter("GetJob", request, context)
        return job_pb2.GetJobResponse(job=self.model.jobs[request.job_id])

    def ListJobs(self, request: Any, context: Any) -> job_pb2.ListJobsResponse:
        self.model.enter("ListJobs", request, context)
        jobs = [item for item in self.model.jobs.values() if request.task_id in ("", item.task_id)]
        found, token = page(jobs[::-1], request.page_token)
        return job_pb2.ListJobsResponse(jobs=found, next_page_token=token)

    def WatchJob(self, request: Any, context: Any) -> Iterator[job_pb2.WatchJobResponse]:
        model = self.model
        trouble = model.enter("WatchJob", request, context)
        frames = model.frames if model.frames is not None else self._frames(request, context)
        for index, frame in enumerate(frames):
            if trouble and index == trouble.after_frames:
                if trouble.close:
                    return
                abort(context, trouble)
            yield frame

    def _frames(self, request: Any, context: Any) -> Iterator[job_pb2.WatchJobResponse]:
        model = self.model
        events = model.events[request.job_id]
        holds = model.job_state == job_pb2.JOB_STATE_RUNNING
        if holds and not context.add_callback(model.given_up):
            model.given_up()
        for event in events[request.after_sequence :]:
            yield job_pb2.WatchJobResponse(tail_sequence=len(events), events=[event])
        if holds:
            model.hold.wait()
        reason = job_pb2.END_REASON_TERMINAL if request.follow else job_pb2.END_REASON_TAIL
        end = job_pb2.WatchEnd(last_sequence=len(events), reason=reason)
        yield job_pb2.WatchJobResponse(tail_sequence=len(events), end=end)

    def CancelJob(self, request: Any, context: Any) -> job_pb2.CancelJobResponse:
        self.model.enter("CancelJob", request, context)
        return job_pb2.CancelJobResponse(job=self.model.jobs[request.job_id])

    def VerifyJob(self, request: Any, context: Any) -> job_pb2.VerifyJobResponse:
        self.model.enter("VerifyJob", request, context)
        if self.model.job_state == job_pb2.JOB_STATE_RUNNING:
            self.model.verify_began.set()
            self.model.hold.wait()
        check = job_pb2.Check(
            name="volume", scope="body", engine="other 1", passed=True, expected_json="1000", tolerance="1e-9"
        )
        return job_pb2.VerifyJobResponse(
            verification=job_pb2.Verification(
                verified=True, checks=[check], not_covered=["appearance"], time=NOW
            )
        )


class ObservationService(
    observation_pb2_grpc.ObservationServiceServicer, inspection_pb2_grpc.InspectionServiceServicer
):
    def __init__(self, model: Model) -> None:
        self.model = model

    def Observe(self, request: Any, context: Any) -> observation_pb2.ObserveResponse:
        self.model.enter("Observe", request, context)
        return observation_pb2.ObserveResponse(observation=self._look(request))

    def InspectResource(self, request: Any, context: Any) -> inspection_pb2.InspectResourceResponse:
        self.model.enter("InspectResource", request, context)
        return inspection_pb2.InspectResourceResponse(observation=self._look(request))

    def _look(self, request: Any) -> observation_pb2.Observation:
        value = self.model.evidence
        for token in request.pointer.split("/")[1:]:
            token = token.replace("~1", "/").replace("~0", "~")
            value = value[int(token)] if isinstance(value, list) else value[token]
        text = json.dumps(value, separators=(",", ":"))
        if len(text) <= request.max_bytes or not isinstance(value, (dict, list)):
            return observation_pb2.Observation(
                mode=observation_pb2.OBSERVATION_MODE_VALUE, value_json=text, revision="r1"
            )
        children = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
        shown = children[request.offset : request.offset + min(request.limit, 3)]
        following = request.offset + len(shown)
        return observation_pb2.Observation(
            mode=observation_pb2.OBSERVATION_MODE_MEMBERS,
            type="object" if isinstance(value, dict) else "array",
            members=[self._member(request.pointer, key, child) for key, child in shown],
            page=observation_pb2.ObservationPage(
                offset=request.offset,
                next_offset=following if following < len(children) else None,
                total=len(children),
            ),
            revision="r1",
        )

    def _member(self, pointer: str, key: Any, child: Any) -> observation_pb2.ObservationMember:
        text = json.dumps(child, separators=(",", ":"))
        token = str(key).replace("~", "~0").replace("/", "~1")
        names = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
        return observation_pb2.ObservationMember(
            pointer=f"{pointer}/{token}",
            type=names.get(type(child), "number"),
            size_bytes=len(text),
            value_json=text if len(text) < 64 else None,
        )


class ResourceService(resource_pb2_grpc.ResourceServiceServicer):
    def __init__(self, model: Model) -> None:
        self.model = model

    def GetResource(self, request: Any, context: Any) -> resource_pb2.GetResourceResponse:
        self.model.enter("GetResource", request, context)
        return resource_pb2.GetResourceResponse(resource=self.model.resources[request.resource_id][0])

    def ListResources(self, request: Any, context: Any) -> resource_pb2.ListResourcesResponse:
        self.model.enter("ListResources", request, context)
        resources = [
            resource
            for resource, _ in self.model.resources.values()
            if request.job_id in ("", resource.producer.job_id)
        ]
        found, token = page(resources[::-1], request.page_token, 1)
        return resource_pb2.ListResourcesResponse(resources=found, next_page_token=token)

    def ReadResource(self, request: Any, context: Any) -> Iterator[resource_pb2.ReadResourceResponse]:
        trouble = self.model.enter("ReadResource", request, context)
        self.model.read_began.set()
        resource, data = self.model.resources[request.resource_id]
        if request.offset > len(data):
            abort(context, refusal("OUT_OF_RANGE", grpc.StatusCode.OUT_OF_RANGE, size=len(data)))
        end = request.offset + request.length if request.HasField("length") else len(data)
        offset, index = request.offset, 0
        while True:
            if trouble and index == trouble.after_frames:
                if trouble.close:
                    return
                abort(context, trouble)
            chunk = data[offset : min(offset + 65_536, end)]
            last = offset + len(chunk) >= min(end, len(data))
            yield resource_pb2.ReadResourceResponse(
                resource=resource if index == 0 else None, offset=offset, data=chunk, last=last
            )
            if last:
                return
            offset, index = offset + len(chunk), index + 1

    def ReadResourceRange(self, request: Any, context: Any) -> resource_pb2.ReadResourceRangeResponse:
        self.model.enter("ReadResourceRange", request, context)
        resource, data = self.model.resources[request.resource_id]
        length = min(request.length if request.HasField("length") else 4096, 16_384)
        chunk = data[request.offset : request.offset + length]
        following = request.offset + len(chunk)
        return resource_pb2.ReadResourceRangeResponse(
            range=resource_pb2.Range(
                resource_id=request.resource_id,
                offset=request.offset,
                data=chunk,
                next_offset=following if following < len(data) else None,
                size_bytes=len(data),
                sha256=resource.sha256,
            )
        )


class CapabilityService(
    capability_pb2_grpc.CapabilityServiceServicer, workspace_pb2_grpc.WorkspaceServiceServicer
):
    def __init__(self, model: Model) -> None:
        self.model = model
        self.summary = capability_pb2.CapabilitySummary(
            capability="model.box", title="Box", scope="domain/geometry", provider="model", filter="box"
        )

    def BrowseCapabilities(self, request: Any, context: Any) -> capability_pb2.BrowseCapabilitiesResponse:
        self.model.enter("BrowseCapabilities", request, context)
        scope = capability_pb2.Scope(scope="domain/geometry", capability_count=1)
        return capability_pb2.BrowseCapabilitiesResponse(scope=request.scope, scopes=[scope])

    def SearchCapabilities(self, request: Any, context: Any) -> capability_pb2.SearchCapabilitiesResponse:
        self.model.enter("SearchCapabilities", request, context)
        match = capability_pb2.CapabilityMatch(capability=self.summary, score=0.9, why="its name")
        return capability_pb2.SearchCapabilitiesResponse(matches=[match], total=1)

    def DescribeCapability(self, request: Any, context: Any) -> capability_pb2.DescribeCapabilityResponse:
        self.model.enter("DescribeCapability", request, context)
        option = capability_pb2.CapabilityOption(
            name="height", unit="mm", default_json="null", schema_json='{"type":"number"}'
        )
        return capability_pb2.DescribeCapabilityResponse(
            description=capability_pb2.CapabilityDescription(
                summary=self.summary,
                inputs=capability_pb2.CapabilityInputs(minimum=0, maximum=0),
                options=[option],
                quantities=[capability_pb2.CapabilityQuantity(name="volume", unit="mm3")],
                artifacts=[capability_pb2.CapabilityArtifact(kind="geometry/stl")],
                example_json='{"version":"model/1"}',
            )
        )

    def GetCapabilitySchema(self, request: Any, context: Any) -> capability_pb2.GetCapabilitySchemaResponse:
        self.model.enter("GetCapabilitySchema", request, context)
        return capability_pb2.GetCapabilitySchemaResponse(version="model/1", schema_json='{"type":"object"}')

    def GetWorkspace(self, request: Any, context: Any) -> workspace_pb2.GetWorkspaceResponse:
        self.model.enter("GetWorkspace", request, context)
        return workspace_pb2.GetWorkspaceResponse(
            workspace=workspace_pb2.Workspace(
                workspace_id="ws_1",
                start_time=NOW,
                engines=[workspace_pb2.EngineStatus(provider="model", available=True)],
                limits=[workspace_pb2.Limit(name="documentBytes", value=1_048_576, unit="bytes")],
                counts=workspace_pb2.Counts(jobs=len(self.model.jobs)),
                sandbox=workspace_pb2.Sandbox(level="subreaper"),
                health=workspace_pb2.Health(serving=True),
                hosts=[workspace_pb2.HostStatus(name="model", state="ready")],
            )
        )


class ModelService:
    """The model behind a socket; it can be stopped and started again."""

    def __init__(self, socket: Path, model: Model | None = None) -> None:
        self.socket = socket
        self.model = model or Model()
        self._server: grpc.Server | None = None

    def start(self) -> None:
        server = grpc.server(
            futures.ThreadPoolExecutor(8), options=[("grpc.max_receive_message_length", 8 * 1024 * 1024)]
        )
        model, both = self.model, CapabilityService(self.model)
        looks = ObservationService(model)
        task_pb2_grpc.add_TaskServiceServicer_to_server(TaskService(model), server)
        plan_pb2_grpc.add_PlanServiceServicer_to_server(PlanService(model), server)
        job_pb2_grpc.add_JobServiceServicer_to_server(JobService(model), server)
        observation_pb2_grpc.add_ObservationServiceServicer_to_server(looks, server)
        inspection_pb2_grpc.add_InspectionServiceServicer_to_server(looks, server)
        resource_pb2_grpc.add_ResourceServiceServicer_to_server(ResourceService(model), server)
        capability_pb2_grpc.add_CapabilityServiceServicer_to_server(both, server)
        workspace_pb2_grpc.add_WorkspaceServiceServicer_to_server(both, server)
        # A relative name of another socket would do, but bytes that are special in a target need this.
        server.add_insecure_port("unix:" + _quoted(self.socket))
        server.start()
        self._server = server

    def stop(self) -> None:
        self.model.hold.set()
        server, self._server = self._server, None
        if server is not None:
            server.stop(0).wait()
        self.socket.unlink(missing_ok=True)


def _quoted(socket: Path) -> str:
    return "".join(
        chr(byte) if (chr(byte).isalnum() and byte < 128) or chr(byte) in "/._-" else f"%{byte:02X}"
        for byte in os.fsencode(socket)
    )
