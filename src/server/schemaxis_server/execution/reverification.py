"""VerifyJob: a fresh check of what a job published, beside the queue.

Concurrent calls for one job share one run, which is owned here and outlives its callers.
A failed check takes the job's standing away; a verifier that cannot run decides nothing.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from pathlib import Path

import msgspec

from schemaxis_server.execution.attempt import Workshop
from schemaxis_server.execution.bindings import bound_paths, in_resolved
from schemaxis_server.execution.hosts import Cancelled, Deadline
from schemaxis_server.execution.job_log import VerifierLog
from schemaxis_server.execution.ledger import TASK_SHELF, evidence
from schemaxis_server.execution.records import Job, JobState, Verification, now
from schemaxis_server.execution.unbroken import background
from schemaxis_server.execution.verification import RECEIPTS_CHECK, Subject, failure_of
from schemaxis_server.faults import Fault
from schemaxis_server.ids import new_id

_AT_ONCE = 2
"""Checks that run at once, each in a process of its own; more wait."""


class Reverification:
    """Runs fresh checks."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop
        self._running: dict[str, asyncio.Task[Verification]] = {}
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._stop = asyncio.Event()

    async def verify(self, job_id: str) -> Verification:
        """Check the job's bytes, receipts and result afresh.

        Raises ``NOT_VERIFIED`` for a job that has not succeeded, and the faults of a verifier
        that could not run. A verification that did not pass is the answer, not a fault.
        """
        job = self._shop.jobs.get(job_id)
        if job.state is not JobState.SUCCEEDED:
            raise Fault(
                "NOT_VERIFIED",
                f"The job is {job.state}, so there is nothing to verify; "
                + ("use a job that succeeded." if job.state.terminal else "verify it when it has succeeded."),
                "/job_id",
                retryable=not job.state.terminal,
                state=job.state.value,
            )
        running = self._running.get(job_id)
        if running is None:
            running = background(self._verify(job))
            self._running[job_id] = running
            running.add_done_callback(lambda _: self._running.pop(job_id, None))
        return await asyncio.shield(running)

    async def drain(self) -> None:
        """Stop what runs."""
        self._stop.set()
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _verify(self, job: Job) -> Verification:
        async with self._turns:
            return await self._verify_now(job)

    async def _verify_now(self, job: Job) -> Verification:
        shop = self._shop
        task = TASK_SHELF.get(shop.database.reader, job.task_id)
        deadline = Deadline(
            time.monotonic() + task.budget.max_attempt_seconds,
            "NATIVE_TIMEOUT",
            f"The verification ran longer than {task.budget.max_attempt_seconds:g} s; the job is as it was.",
        )
        directory = shop.directory / job.job_id / new_id("verify")
        try:
            verification = await self._check(job, directory, deadline)
        except Cancelled:
            raise Fault("SHUTTING_DOWN", "The service is stopping; verify again when it is back.") from None
        finally:
            await asyncio.to_thread(shutil.rmtree, directory, ignore_errors=True)
        if not verification.verified:
            await shop.jobs.invalidate(job.job_id, _why(verification))
        return verification

    async def _check(self, job: Job, directory: Path, deadline: Deadline) -> Verification:
        shop = self._shop
        plan = shop.plans.get(job.plan_id)
        file = await shop.plans.file(plan)
        result = msgspec.json.decode(evidence(shop.database.reader, job.job_id, "result") or b"{}")
        resources = tuple(shop.resources.get(resource_id) for resource_id in job.resource_ids)
        receipts = await shop.verifier.check_receipts(resources)
        checks = [receipts]
        not_covered: list[str] = []
        if receipts.passed:
            for operation in plan.operations:
                provider = shop.plans.provider(operation.provider)
                paths = await bound_paths(file.bindings, shop.resources)
                subject = Subject(
                    program=shop.engines.verifier(provider),
                    document=file.resolved,
                    outputs={name: result["outputs"][name] for name in operation.outputs},
                    bindings=in_resolved(paths, file.document, file.resolved, provider),
                    resources=tuple(
                        r for r in resources if r.producer.operation_id == operation.operation_id
                    ),
                )
                made = await shop.verifier.verify(
                    subject,
                    directory / operation.operation_id,
                    deadline,
                    VerifierLog(None),
                    self._stop,
                    pictures=False,
                )
                checks += [check for check in made.verification.checks if check.name != RECEIPTS_CHECK]
                not_covered += made.verification.not_covered
        return Verification(
            verified=all(check.passed for check in checks),
            checks=tuple(checks),
            not_covered=tuple(not_covered),
            time=now(),
        )


def _why(verification: Verification) -> Fault:
    receipts = verification.checks[0]
    if receipts.passed:
        return failure_of(verification)
    return Fault(
        "RESOURCE_CORRUPT",
        f"The stored bytes no longer match their receipts ({receipts.observed}); execute again.",
    )
