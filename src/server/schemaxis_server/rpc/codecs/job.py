"""Jobs, verifications and events as Protobuf.

Events are encoded once, when they are committed; watch frames splice those bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from google.protobuf.timestamp_pb2 import Timestamp
from schemaxis.v1 import fault_pb2, job_pb2

from schemaxis_server.execution import events
from schemaxis_server.execution.records import (
    Check,
    FaultView,
    Goal,
    Job,
    JobState,
    NativeState,
    Verification,
)
from schemaxis_server.execution.watch import End, EndReason
from schemaxis_server.faults import FaultRecord
from schemaxis_server.rpc.codecs.common import fill_timestamp, json_text, numbers_of, timestamp, varint
from schemaxis_server.rpc.statuses import fault_message

_STATES = numbers_of(job_pb2.JobState, "JOB_STATE_", JobState)
_GOALS = numbers_of(job_pb2.Goal, "GOAL_", Goal)
_NATIVE_STATES = numbers_of(job_pb2.NativeState, "NATIVE_STATE_", NativeState)
_REASONS = numbers_of(job_pb2.EndReason, "END_REASON_", EndReason)
_EVENTS_TAG = bytes([job_pb2.WatchJobResponse.EVENTS_FIELD_NUMBER << 3 | 2])


def job_message(job: Job) -> job_pb2.Job:
    message = job_pb2.Job()
    _fill_job(message, job)
    return message


def job_response(job: Job) -> job_pb2.GetJobResponse:
    """The answer of GetJob, which agents ask most: filled in place, without a message to copy."""
    response = job_pb2.GetJobResponse()
    _fill_job(response.job, job)
    return response


def _fill_job(message: job_pb2.Job, job: Job) -> None:
    message.job_id = job.job_id
    message.plan_id = job.plan_id
    message.task_id = job.task_id
    message.revision = job.revision
    message.state = _STATES[job.state]
    message.verified = job.verified
    message.goal = _GOALS[job.goal]
    message.native_state = _NATIVE_STATES[job.native_state]
    progress = message.progress
    progress.fraction = job.progress.fraction
    progress.operation = job.progress.operation
    message.resource_ids.extend(job.resource_ids)
    message.last_sequence = job.last_sequence
    fill_timestamp(message.create_time, job.create_time)
    if job.start_time is not None:
        fill_timestamp(message.start_time, job.start_time)
    if job.end_time is not None:
        fill_timestamp(message.end_time, job.end_time)
    if job.fault is not None:
        message.fault.CopyFrom(_fault(job.fault))


def verification_message(verification: Verification) -> job_pb2.Verification:
    return job_pb2.Verification(
        verified=verification.verified,
        checks=[_check(check) for check in verification.checks],
        not_covered=verification.not_covered,
        time=timestamp(verification.time),
    )


def encode_event(sequence: int, time: float, event: object) -> bytes:
    """The bytes of one job event; ``time`` in seconds since the epoch."""
    # A double holds the present to a fraction of a microsecond.
    nanoseconds = round(time * 1e6) * 1000
    message = job_pb2.JobEvent(
        sequence=sequence, time=Timestamp(seconds=nanoseconds // 10**9, nanos=nanoseconds % 10**9)
    )
    _fill(message, event)  # type: ignore[arg-type]
    return message.SerializeToString()


def _fill(message: job_pb2.JobEvent, event: events.JobEvent) -> None:
    match event:
        case events.StateChanged(state):
            message.state_changed.state = _STATES[state]
        case events.ProgressMade(fraction, operation):
            message.progress.fraction = fraction
            message.progress.operation = operation
        case events.LogWritten(stream, lines, truncated):
            message.log.CopyFrom(job_pb2.LogLines(stream=stream, lines=lines, truncated=truncated))
        case events.ResourcePublished(resource_id, name, kind, size, sha256):
            message.resource_published.CopyFrom(
                job_pb2.ResourcePublished(
                    resource_id=resource_id, name=name, kind=kind, size_bytes=size, sha256=sha256
                )
            )
        case events.CheckMade(check):
            message.check.CopyFrom(_check(check))
        case events.Terminal(state, verified, goal, fault):
            message.terminal.CopyFrom(
                job_pb2.Terminal(
                    state=_STATES[state],
                    verified=verified,
                    goal=_GOALS[goal],
                    fault=None if fault is None else _fault(fault),
                )
            )
        case events.Invalidated(fault):
            message.invalidated.fault.CopyFrom(_fault(fault))
        case _:
            assert_never(event)


def encode_frame(tail: int, encoded: Iterable[bytes]) -> bytes:
    """A watch frame that carries events which are encoded already."""
    parts = [job_pb2.WatchJobResponse(tail_sequence=tail).SerializeToString()]
    for event in encoded:
        parts += (_EVENTS_TAG, varint(len(event)), event)
    return b"".join(parts)


def _check(check: Check) -> job_pb2.Check:
    return job_pb2.Check(
        name=check.name,
        scope=check.scope,
        engine=check.engine,
        passed=check.passed,
        expected_json=None if check.expected is None else json_text(check.expected),
        observed_json=None if check.observed is None else json_text(check.observed),
        tolerance=check.tolerance,
    )


def _fault(fault: FaultView) -> fault_pb2.Fault:
    return fault_message(
        FaultRecord(fault.code, fault.message, fault.pointer, fault.details, fault.retryable)
    )


def end_message(end: End) -> job_pb2.WatchJobResponse:
    return job_pb2.WatchJobResponse(
        tail_sequence=end.last_sequence,
        end=job_pb2.WatchEnd(last_sequence=end.last_sequence, reason=_REASONS[end.reason]),
    )
