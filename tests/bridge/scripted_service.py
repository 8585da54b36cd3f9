"""A service whose answers a test scripts, on a real socket: for what a healthy server never does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import grpc
from google.protobuf import any_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status
from schemaxis.v1 import (
    fault_pb2,
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
)

Frame = job_pb2.WatchJobResponse
_RANGE_BYTES = 16_384


def events(*sequences: int) -> Frame:
    """A frame with progress events of these sequences."""
    return Frame(
        tail_sequence=sequences[-1],
        events=[
            job_pb2.JobEvent(sequence=sequence, progress=job_pb2.Progress(fraction=sequence / 100))
            for sequence in sequences
        ],
    )


def end(last: int, reason: job_pb2.EndReason.ValueType = job_pb2.END_REASON_TERMINAL) -> Frame:
    """The last frame of a watch."""
    return Frame(tail_sequence=last, end=job_pb2.WatchEnd(last_sequence=last, reason=reason))


def heartbeat() -> Frame:
    """A frame that only says that the stream lives."""
    return Frame(heartbeat=job_pb2.Heartbeat())


BREAK = object()
HANG = object()


class ScriptedService:
    """Records every call; answers as told."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.requests: list[Any] = []
        # What each watch in turn sends: frames, BREAK (drop the connection's call), HANG (send nothing more).
        self.watches: list[Sequence[Any]] = []
        self.watch_after: list[int] = []
        self.hung = asyncio.Event()
        self.watch_left = asyncio.Event()
        self.verify_entered = asyncio.Event()
        self.verify_may_end = asyncio.Event()
        self.evidence = "{}"
        # What GetJob says of a job that was not cancelled.
        self.job_state: job_pb2.JobState.ValueType = job_pb2.JOB_STATE_RUNNING
        self.cancelling = 0
        self.most_cancelling = 0
        self.cancelled: dict[str, asyncio.Event] = {}
        self.range_data = bytes(range(256)) * (_RANGE_BYTES // 256)

    def note(self, request: Any) -> None:
        self.calls.append(type(request).__name__.removesuffix("Request"))
        self.requests.append(request)

    async def refuse(self, context: Any, code: int, fault: fault_pb2.Fault) -> NoReturn:
        """End the call with a status that carries a fault, as the service does."""
        reason, detail = any_pb2.Any(), any_pb2.Any()
        reason.Pack(error_details_pb2.ErrorInfo(domain="schemaxis", reason=fault.code))
        detail.Pack(fault)
        status = status_pb2.Status(code=code, message=fault.message, details=[reason, detail])
        await context.abort_with_status(rpc_status.to_status(status))
        raise AssertionError("abort raises")


class _Tasks(task_pb2_grpc.TaskServiceServicer):
    def __init__(self, service: ScriptedService) -> None:
        self._service = service

    async def CreateTask(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._service.note(request)
        return task_pb2.CreateTaskResponse(
            task=task_pb2.Task(task_id="task_1", objective=request.objective, budget=request.budget)
        )

    async def GetTask(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._service.note(request)
        details = json.dumps({"nearest": "task_1", "huge": 2**70})
        await self._service.refuse(
            context,
            code_pb2.NOT_FOUND,
            fault_pb2.Fault(
                code="NOT_FOUND",
                message="There is no such task; list them.",
                pointer="/task_id",
                details_json=details,
            ),
        )

    async def ListTasks(self, request: Any, context: Any) -> Any:  # noqa: N802
        await _unserved(context)


class _Plans(plan_pb2_grpc.PlanServiceServicer):
    def __init__(self, service: ScriptedService) -> None:
        self._service = service

    async def CreatePlan(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._service.note(request)
        return plan_pb2.CreatePlanResponse(plan=plan_pb2.Plan(plan_id="plan_1", revision=1))

    async def GetPlan(self, request: Any, context: Any) -> Any:  # noqa: N802
        garbage = (("grpc-status-details-bin", b"\xff\xff"),)
        await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "no", trailing_metadata=garbage)

    async def ListPlans(self, request: Any, context: Any) -> Any:  # noqa: N802
        await _unserved(context)


class _Jobs(job_pb2_grpc.JobServiceServicer):
    def __init__(self, service: ScriptedService) -> None:
        self._service = service
        self._count = 0

    async def ExecutePlan(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._service.note(request)
        self._count += 1
        job_id = f"job_{self._count}"
        self._service.cancelled[job_id] = asyncio.Event()
        return job_pb2.ExecutePlanResponse(job=job_pb2.Job(job_id=job_id, state=job_pb2.JOB_STATE_QUEUED))

    async def GetJob(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._service.note(request)
        return job_pb2.GetJobResponse(job=job_pb2.Job(job_id=request.job_id, state=self._service.job_state))

    async def ListJobs(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._service.note(request)
        return job_pb2.ListJobsResponse()

    async def CancelJob(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._service.note(request)
        self._service.cancelling += 1
        self._service.most_cancelling = max(self._service.most_cancelling, self._service.cancelling)
        await asyncio.sleep(0.001)
        self._service.cancelling -= 1
        self._service.cancelled[request.job_id].set()
        state = job_pb2.JOB_STATE_CANCELLATION_REQUESTED
        return job_pb2.CancelJobResponse(job=job_pb2.Job(job_id=request.job_id, state=state))

    async def VerifyJob(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._service.note(request)
        self._service.verify_entered.set()
        await self._service.verify_may_end.wait()
        return job_pb2.VerifyJobResponse(verification=job_pb2.Verification(verified=True))

    async def WatchJob(self, request: Any, context: Any) -> AsyncIterator[Any]:  # noqa: N802
        self._service.note(request)
        self._service.watch_after.append(request.after_sequence)
        script = self._service.watches.pop(0) if self._service.watches else [end(request.after_sequence)]
        try:
            for step in script:
                if step is BREAK:
                    await context.abort(grpc.StatusCode.UNAVAILABLE, "gone")
                elif step is HANG:
                    self._service.hung.set()
                    await asyncio.Event().wait()
                else:
                    yield step
        finally:
            self._service.watch_left.set()


class _Observations(observation_pb2_grpc.ObservationServiceServicer):
    def __init__(self, service: ScriptedService) -> None:
        self._service = service

    async def Observe(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._service.note(request)
        observation = observation_pb2.Observation(
            mode=observation_pb2.OBSERVATION_MODE_VALUE, value_json=self._service.evidence, revision="r"
        )
        return observation_pb2.ObserveResponse(observation=observation)


class _Resources(resource_pb2_grpc.ResourceServiceServicer):
    def __init__(self, service: ScriptedService) -> None:
        self._service = service

    async def ReadResourceRange(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._service.note(request)
        return resource_pb2.ReadResourceRangeResponse(
            range=resource_pb2.Range(
                resource_id=request.resource_id,
                offset=request.offset,
                data=self._service.range_data,
                size_bytes=2**53 + 1,
            )
        )

    async def GetResource(self, request: Any, context: Any) -> Any:  # noqa: N802
        await _unserved(context)

    async def ListResources(self, request: Any, context: Any) -> Any:  # noqa: N802
        await _unserved(context)

    async def ReadResource(self, request: Any, context: Any) -> AsyncIterator[Any]:  # noqa: N802
        await _unserved(context)
        yield


async def _unserved(context: Any) -> NoReturn:
    await context.abort(grpc.StatusCode.UNIMPLEMENTED, "not served here")
    raise AssertionError("abort raises")


async def start_service(service: ScriptedService, socket: Path) -> grpc.aio.Server:
    """Serve ``service`` at ``socket``."""
    server = grpc.aio.server()
    task_pb2_grpc.add_TaskServiceServicer_to_server(_Tasks(service), server)
    plan_pb2_grpc.add_PlanServiceServicer_to_server(_Plans(service), server)
    job_pb2_grpc.add_JobServiceServicer_to_server(_Jobs(service), server)
    observation_pb2_grpc.add_ObservationServiceServicer_to_server(_Observations(service), server)
    resource_pb2_grpc.add_ResourceServiceServicer_to_server(_Resources(service), server)
    server.add_insecure_port(f"unix:{socket}")
    await server.start()
    return server
