"""Jobs as clients see them: admission, status, cancellation, invalidation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from schemaxis_server.execution import events, transitions
from schemaxis_server.execution.engines import Engines
from schemaxis_server.execution.idempotency import digest_of, once
from schemaxis_server.execution.job_cache import JobCache
from schemaxis_server.execution.ledger import JOB_SHELF, PLAN_SHELF, TASK_SHELF, Page
from schemaxis_server.execution.records import Job, JobState, Plan, Task, now
from schemaxis_server.execution.tasks import check_revision
from schemaxis_server.execution.unbroken import unbroken
from schemaxis_server.faults import Fault
from schemaxis_server.ids import new_id
from schemaxis_server.providers.registry import Registry
from schemaxis_server.store.connection import Connection
from schemaxis_server.store.database import Database, Transaction
from schemaxis_server.store.event_pages import read_tail
from schemaxis_server.store.records import count

log = logging.getLogger(__name__)

MAX_QUEUED = 1000


class Jobs:
    """Admits jobs and answers for them. ``enqueue(job_id)`` hands a job to its owner."""

    def __init__(self, database: Database, registry: Registry, engines: Engines) -> None:
        self._database = database
        self._registry = registry
        self._engines = engines
        self._cache = JobCache(database, self._read)
        self._cancels: dict[str, asyncio.Event] = {}
        self.enqueue: Callable[[str], None] = lambda job_id: None
        self.accepting = True

    async def execute(self, plan_id: str, expected_revision: int, request_id: str | None = None) -> Job:
        """Queue the task's current plan and reserve one attempt, in one transaction.

        Raises ``STALE_REVISION``, ``STALE_PLAN``, ``UNAUTHORISED_PROVIDER``,
        ``BUDGET_EXHAUSTED``, ``BUDGET_EXPIRED``, ``REPEATED_FAILURE``, ``MISSING_RUNTIME``,
        ``NOT_FOUND``, ``OVERLOADED``, ``REQUEST_ID_REUSED``, ``SHUTTING_DOWN``.
        """
        made = False

        def make(tx: Transaction) -> tuple[str, Job]:
            nonlocal made
            job = self._admit(tx, plan_id, expected_revision)
            made = True
            return job.job_id, job

        def request() -> str:
            return digest_of({"plan": plan_id, "revision": expected_revision})

        async def admit() -> Job:
            job = await self._database.write(
                lambda tx: once(
                    tx,
                    "execute",
                    request_id,
                    request,
                    lambda id: JOB_SHELF.get(tx.connection, id),
                    lambda: make(tx),
                )
            )
            if made:
                self.enqueue(job.job_id)
            return self.get(job.job_id)

        return await unbroken(admit())

    def get(self, job_id: str) -> Job:
        """The job as it is now. Raises ``NOT_FOUND``."""
        return self._cache.get(job_id)

    async def list(self, task_id: str | None = None, page_token: str = "", page_size: int = 50) -> Page[Job]:
        """A page of jobs, newest first."""
        where = {} if task_id is None else {"task_id": task_id}

        def read(connection: Connection) -> Page[Job]:
            page = JOB_SHELF.page(connection, page_token, page_size, **where)
            tailed = (replace(job, last_sequence=read_tail(connection, job.job_id)) for job in page.records)
            return Page(tuple(tailed), page.next_token)

        return await self._database.scan(read)

    async def cancel(self, job_id: str) -> Job:
        """Ask a job to stop; answers with its state. A terminal job stays as it is."""
        return await unbroken(self._cancel(job_id, "The job was cancelled at a client's request."))

    async def cancel_all(self, job_ids: Iterable[str], message: str) -> None:
        """Ask several jobs to stop, as the service does when it stops; one that cannot be told in
        writing is stopped all the same."""
        asked = list(job_ids)
        outcomes = await asyncio.gather(
            *(self._cancel(job_id, message) for job_id in asked), return_exceptions=True
        )
        for job_id, outcome in zip(asked, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                log.error("a cancellation was not written", exc_info=outcome, extra={"job": job_id})
                if job_id in self._cancels:
                    self._cancels[job_id].set()

    async def invalidate(self, job_id: str, fault: Fault) -> None:
        """Take a succeeded job's standing away, with its resources and an event."""
        view = transitions.view(fault)
        job = await self._database.write(lambda tx: transitions.invalidate(tx, job_id, view))
        if job.state is JobState.INVALIDATED:
            log.warning("job invalidated", extra={"job": job_id, "code": fault.code})

    def cancellation_of(self, job_id: str) -> asyncio.Event:
        """The event that is set when a working job is to stop."""
        return self._cancels.setdefault(job_id, asyncio.Event())

    def forget(self, job_id: str) -> None:
        self._cancels.pop(job_id, None)

    async def _cancel(self, job_id: str, message: str) -> Job:
        fault = transitions.cancelled_fault(message)
        job = await self._database.write(lambda tx: transitions.request_cancellation(tx, job_id, fault))
        if job.state is JobState.CANCELLATION_REQUESTED and job_id in self._cancels:
            self._cancels[job_id].set()
        return self.get(job_id)

    def _read(self, job_id: str) -> Job:
        job, tail = JOB_SHELF.get_with_tail(self._database.reader, job_id)
        return replace(job, last_sequence=tail)

    def _admit(self, tx: Transaction, plan_id: str, expected_revision: int) -> Job:
        if not self.accepting:
            raise Fault(
                "SHUTTING_DOWN",
                "The service is stopping and takes no new work; connect again when it is back.",
            )
        plan = PLAN_SHELF.get(tx.connection, plan_id)
        task = TASK_SHELF.get(tx.connection, plan.task_id)
        _check_current(task, plan, expected_revision)
        _check_budget(task, plan)
        for entry in plan.providers:
            provider = self._registry.get(entry.provider)
            if provider is None:
                raise Fault(
                    "MISSING_RUNTIME", f"The provider {entry.provider} is no longer installed; install it."
                )
            self._engines.require_seen(provider)
        if count(tx.connection, "unfinished_jobs") >= MAX_QUEUED:
            raise Fault(
                "OVERLOADED",
                f"{MAX_QUEUED} jobs wait already; nothing was changed. Execute again when some have ended.",
                retryAfterSeconds=5,
            )
        job = Job(
            job_id=new_id("job"),
            plan_id=plan_id,
            task_id=task.task_id,
            revision=plan.revision,
            state=JobState.QUEUED,
            create_time=now(),
        )
        JOB_SHELF.put(tx, job.job_id, job)
        tx.append(job.job_id, events.StateChanged(JobState.QUEUED))
        usage = replace(task.usage, attempts=task.usage.attempts + 1)
        TASK_SHELF.put(tx, task.task_id, replace(task, usage=usage))
        tx.count("jobs", 1)
        tx.count("unfinished_jobs", 1)
        return job


def _check_current(task: Task, plan: Plan, expected_revision: int) -> None:
    check_revision(task, expected_revision)
    if task.current_plan_id != plan.plan_id:
        raise Fault(
            "STALE_PLAN",
            f"The plan made revision {plan.revision} and the task is at {task.revision}; "
            f"execute {task.current_plan_id} or plan again.",
            "/plan_id",
            currentPlanId=task.current_plan_id,
        )


def _check_budget(task: Task, plan: Plan) -> None:
    budget, usage = task.budget, task.usage
    for entry in plan.providers:
        if entry.provider not in task.allowed_providers:
            raise Fault("UNAUTHORISED_PROVIDER", f"The task does not allow {entry.provider}.", "/plan_id")
    if usage.attempts >= budget.max_attempts:
        raise Fault(
            "BUDGET_EXHAUSTED",
            f"All {budget.max_attempts} attempts of the task are used; report what was reached, "
            "more need a new task from the user.",
            attempts=usage.attempts,
            maxAttempts=budget.max_attempts,
        )
    if usage.elapsed_seconds >= budget.max_elapsed_seconds:
        raise Fault(
            "BUDGET_EXPIRED",
            f"The task has executed for {usage.elapsed_seconds:.1f} s of {budget.max_elapsed_seconds:g}; "
            "report what was reached, more time needs a new task from the user.",
            elapsedSeconds=usage.elapsed_seconds,
        )
    failure = task.failure
    if failure and failure.digest == plan.digest and failure.count >= budget.max_repeated_failures:
        raise Fault(
            "REPEATED_FAILURE",
            f"This plan failed {failure.count} times in a row with {failure.code}; change the document "
            "and plan again.",
            failure=failure.code,
            count=failure.count,
        )
