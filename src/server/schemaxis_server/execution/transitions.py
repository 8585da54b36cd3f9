"""The job's state machine, as steps inside one transaction each.

Every step reads the job it moves, so whoever comes second finds the first one's state: there
is one terminal state, written once, with its event, its resources and the task's usage.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from schemaxis_server.execution import events
from schemaxis_server.execution.ledger import JOB_SHELF, PLAN_SHELF, RESOURCE_SHELF, TASK_SHELF, put_evidence
from schemaxis_server.execution.records import (
    Check,
    FaultView,
    Goal,
    Job,
    JobState,
    LatestFailure,
    NativeState,
    Progress,
    Resource,
    ResourceState,
    Task,
    now,
)
from schemaxis_server.faults import Fault
from schemaxis_server.store.damage import Corrupt
from schemaxis_server.store.database import Transaction


@dataclass(frozen=True, slots=True)
class Ending:
    """How an attempt ended, before the transaction that says so.

    ``engine_started`` decides whether the reserved attempt is used or given back.
    ``sections`` are evidence by name; ``elapsed_seconds`` is charged to the task.
    """

    state: JobState
    fault: FaultView | None = None
    native_state: NativeState = NativeState.NOT_STARTED
    engine_started: bool = False
    elapsed_seconds: float = 0.0
    goal: Goal = Goal.UNKNOWN
    checks: tuple[Check, ...] = ()
    resources: tuple[Resource, ...] = ()
    sections: Mapping[str, Any] = field(default_factory=dict)


_OF_THE_DOCUMENT = ("NATIVE_FAILURE", "NATIVE_TIMEOUT", "UNSUPPORTED_INPUT", "VERIFICATION_FAILED")
"""Codes that the same plan would meet again; a full disk, say, is none of the document's fault."""


def view(fault: Fault) -> FaultView:
    """The fault as it is kept in a job."""
    record = fault.record
    return FaultView(
        code=record.code,
        message=record.message,
        retryable=record.retryable,
        pointer=record.pointer,
        details=dict(record.details),
    )


def move(tx: Transaction, job_id: str, expected: JobState, state: JobState) -> Job:
    """Move a job on to a state that is not terminal, if it still is where it was expected.

    Returns the job as it is afterwards, moved or not.
    """
    job = JOB_SHELF.get(tx.connection, job_id)
    if job.state is not expected:
        return job
    changes: dict[str, Any] = {"state": state}
    if state is JobState.RUNNING:
        changes["start_time"] = now()
    job = replace(job, **changes)
    JOB_SHELF.put(tx, job_id, job)
    tx.append(job_id, events.StateChanged(state))
    return job


def progress(tx: Transaction, job_id: str, made: Progress, native: NativeState) -> None:
    """Note how far a job is."""
    job = JOB_SHELF.get(tx.connection, job_id)
    if job.state.terminal:
        return
    JOB_SHELF.put(tx, job_id, replace(job, progress=made, native_state=native))
    tx.append(job_id, events.ProgressMade(made.fraction, made.operation))


def request_cancellation(tx: Transaction, job_id: str, fault: FaultView) -> Job:
    """Cancel a queued job at once, ask a working one to stop; a terminal one stays as it is."""
    job = JOB_SHELF.get(tx.connection, job_id)
    if job.state is JobState.QUEUED:
        return finish(tx, job_id, Ending(JobState.CANCELLED, fault))
    if job.state in (JobState.RUNNING, JobState.VERIFYING):
        # Kept for the end, which comes when no process is left.
        JOB_SHELF.put(tx, job_id, replace(job, fault=fault))
        return move(tx, job_id, job.state, JobState.CANCELLATION_REQUESTED)
    return job


def finish(tx: Transaction, job_id: str, ending: Ending) -> Job:
    """Write the terminal state with everything that belongs to it. A second ending changes nothing.

    After a cancellation was requested an attempt ends cancelled whatever it brought, unless it
    was interrupted.
    """
    job = JOB_SHELF.get(tx.connection, job_id)
    if job.state.terminal:
        return job
    state, fault = ending.state, ending.fault
    if job.state is JobState.CANCELLATION_REQUESTED and state is not JobState.INTERRUPTED:
        state = JobState.CANCELLED
        fault = job.fault or cancelled_fault()
    succeeded = state is JobState.SUCCEEDED
    native = ending.native_state
    if state in (JobState.CANCELLED, JobState.INTERRUPTED) and ending.engine_started:
        native = NativeState.UNKNOWN
    for check in ending.checks:
        tx.append(job_id, events.CheckMade(check))
    resources = ending.resources if succeeded else ()
    for resource in resources:
        RESOURCE_SHELF.put(tx, resource.resource_id, resource)
        tx.append(
            job_id,
            events.ResourcePublished(
                resource.resource_id, resource.name, resource.kind, resource.size_bytes, resource.sha256
            ),
        )
    goal = ending.goal if succeeded else Goal.UNKNOWN
    job = replace(
        job,
        state=state,
        verified=succeeded,
        goal=goal,
        native_state=native,
        progress=Progress(fraction=1.0, operation="") if succeeded else job.progress,
        fault=fault,
        resource_ids=tuple(resource.resource_id for resource in resources),
        end_time=now(),
    )
    JOB_SHELF.put(tx, job_id, job)
    for section, value in (ending.sections if succeeded else _unfinished(ending.sections)).items():
        put_evidence(tx, job_id, section, value)
    tx.append(job_id, events.Terminal(state, succeeded, goal, fault))
    tx.count("unfinished_jobs", -1)
    tx.count("resources", len(resources))
    _charge(tx, job, ending)
    return job


def _unfinished(sections: Mapping[str, Any]) -> dict[str, Any]:
    """The evidence of a job that did not succeed, which must not read as if it had.

    A cancellation may come between the last check and the commit.
    """
    kept = {name: value for name, value in sections.items() if name != "criteria"}
    if "result" in kept:
        kept["result"] = {"partial": True, **kept["result"]}
    verification = kept.get("verification")
    if verification is not None and verification.verified:
        note = "The job did not succeed, so nothing that was checked is published."
        kept["verification"] = replace(
            verification, verified=False, not_covered=(*verification.not_covered, note)
        )
    return kept


def invalidate(tx: Transaction, job_id: str, fault: FaultView) -> Job:
    """Take a succeeded job's standing away, with all its resources. Anything else stays as it is."""
    job = JOB_SHELF.get(tx.connection, job_id)
    if job.state is not JobState.SUCCEEDED:
        return job
    job = replace(job, state=JobState.INVALIDATED, verified=False, goal=Goal.UNKNOWN, fault=fault)
    JOB_SHELF.put(tx, job_id, job)
    for resource_id in job.resource_ids:
        # A damaged record cannot be read by anybody, which blocks its resource too.
        with contextlib.suppress(Corrupt):
            resource = RESOURCE_SHELF.get(tx.connection, resource_id)
            RESOURCE_SHELF.put(tx, resource_id, replace(resource, state=ResourceState.BLOCKED))
    tx.append(job_id, events.Invalidated(fault))
    return job


def cancelled_fault(message: str = "The job was cancelled at a client's request.") -> FaultView:
    return FaultView(code="CANCELLED", message=f"{message} Execute again if it is still wanted.")


def _charge(tx: Transaction, job: Job, ending: Ending) -> None:
    try:
        task = TASK_SHELF.get(tx.connection, job.task_id)
    except Corrupt:
        # Nobody can use it any more, and the job must have its end.
        return
    usage = task.usage
    attempts = usage.attempts if ending.engine_started else max(0, usage.attempts - 1)
    failure = _latest_failure(tx, task, job, ending)
    usage = replace(
        usage,
        attempts=attempts,
        elapsed_seconds=usage.elapsed_seconds + ending.elapsed_seconds,
        repeated_failures=failure.count if failure else 0,
    )
    TASK_SHELF.put(tx, task.task_id, replace(task, usage=usage, failure=failure))


def _latest_failure(tx: Transaction, task: Task, job: Job, ending: Ending) -> LatestFailure | None:
    if job.state is JobState.SUCCEEDED:
        return None
    if job.state is not JobState.FAILED or job.fault is None or not ending.engine_started:
        return task.failure
    if job.fault.code not in _OF_THE_DOCUMENT:
        return task.failure
    try:
        digest = PLAN_SHELF.get(tx.connection, job.plan_id).digest
    except Corrupt:
        return task.failure
    latest = task.failure
    if latest is not None and (latest.digest, latest.code) == (digest, job.fault.code):
        return replace(latest, count=latest.count + 1)
    return LatestFailure(digest=digest, code=job.fault.code, count=1)
