"""Jobs, their events and verifications between model and message."""

from __future__ import annotations

from schemaxis import _json
from schemaxis._codec.common import fault_record, member, time
from schemaxis.models import (
    Check,
    Checked,
    Ended,
    EndReason,
    Goal,
    Invalidated,
    JobEvent,
    JobRecord,
    JobState,
    LogWritten,
    NativeState,
    Progress,
    Progressed,
    ResourcePublished,
    StateChanged,
    Verification,
)
from schemaxis.v1 import job_pb2

_STATE = job_pb2.JobState.DESCRIPTOR
_GOAL = job_pb2.Goal.DESCRIPTOR
_NATIVE = job_pb2.NativeState.DESCRIPTOR
_END = job_pb2.EndReason.DESCRIPTOR


def job_record(job: job_pb2.Job) -> JobRecord:
    return JobRecord(
        job_id=job.job_id,
        plan_id=job.plan_id,
        task_id=job.task_id,
        revision=job.revision,
        state=member(JobState, _STATE, job.state),
        verified=job.verified,
        goal=member(Goal, _GOAL, job.goal),
        native_state=member(NativeState, _NATIVE, job.native_state),
        progress=Progress(job.progress.fraction, job.progress.operation),
        fault=fault_record(job.fault) if job.HasField("fault") else None,
        resource_ids=tuple(job.resource_ids),
        last_sequence=job.last_sequence,
        create_time=time(job.create_time),
        start_time=time(job.start_time) if job.HasField("start_time") else None,
        end_time=time(job.end_time) if job.HasField("end_time") else None,
    )


def check(message: job_pb2.Check) -> Check:
    return Check(
        name=message.name,
        scope=message.scope,
        engine=message.engine,
        passed=message.passed,
        expected=_json.parse(message.expected_json) if message.HasField("expected_json") else None,
        observed=_json.parse(message.observed_json) if message.HasField("observed_json") else None,
        tolerance=message.tolerance if message.HasField("tolerance") else None,
    )


def verification(message: job_pb2.Verification) -> Verification:
    return Verification(
        verified=message.verified,
        checks=tuple(check(item) for item in message.checks),
        not_covered=tuple(message.not_covered),
        time=time(message.time),
    )


def end_reason(end: job_pb2.WatchEnd) -> EndReason:
    return member(EndReason, _END, end.reason)


def event(message: job_pb2.JobEvent) -> JobEvent | None:
    """The event, or ``None`` for a payload that this client does not know."""
    sequence, at = message.sequence, time(message.time)
    match message.WhichOneof("payload"):
        case "state_changed":
            return StateChanged(sequence, at, member(JobState, _STATE, message.state_changed.state))
        case "progress":
            done = message.progress
            return Progressed(sequence, at, Progress(done.fraction, done.operation))
        case "log":
            log = message.log
            return LogWritten(sequence, at, log.stream, tuple(log.lines), log.truncated)
        case "resource_published":
            made = message.resource_published
            return ResourcePublished(
                sequence, at, made.resource_id, made.name, made.kind, made.size_bytes, made.sha256
            )
        case "check":
            return Checked(sequence, at, check(message.check))
        case "terminal":
            end = message.terminal
            return Ended(
                sequence,
                at,
                state=member(JobState, _STATE, end.state),
                verified=end.verified,
                goal=member(Goal, _GOAL, end.goal),
                fault=fault_record(end.fault) if end.HasField("fault") else None,
            )
        case "invalidated":
            return Invalidated(sequence, at, fault_record(message.invalidated.fault))
        case _:
            return None
