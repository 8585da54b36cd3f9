"""The job owner: takes one queued job after another and brings each to its end.

Work is owned here, never by the call that asked for it, so a client may come and go.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
from pathlib import Path

from schemaxis_server.execution import transitions
from schemaxis_server.execution.attempt import Attempt, Workshop
from schemaxis_server.execution.hosts import Deadline
from schemaxis_server.execution.ledger import PLAN_SHELF, TASK_SHELF
from schemaxis_server.execution.records import FaultView, Job, JobState, NativeState, Plan, Task
from schemaxis_server.execution.transitions import Ending
from schemaxis_server.faults import Fault
from schemaxis_server.ids import new_id
from schemaxis_server.providers.registry import Registry
from schemaxis_server.store.database import Database

log = logging.getLogger(__name__)

_RETRY_SECONDS = 1.0
_LAST_SECONDS = 20.0
_COPIES = ("publications", "tmp", "home")


class JobOwner:
    """Runs jobs in the order in which they were queued, one at a time."""

    def __init__(self, shop: Workshop, registry: Registry) -> None:
        self._shop = shop
        self._registry = registry
        self._queue: asyncio.Queue[str] = asyncio.Queue()
        self._unfinished: dict[str, None] = {}
        self._working = ""
        self._idle = asyncio.Event()
        self._idle.set()
        self._task: asyncio.Task[None] | None = None

    @property
    def _database(self) -> Database:
        return self._shop.database

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="job owner")

    def enqueue(self, job_id: str) -> None:
        """Take over a job that was committed as queued."""
        self._unfinished[job_id] = None
        self._idle.clear()
        self._queue.put_nowait(job_id)

    async def drain(self, grace_seconds: float) -> None:
        """Let the working job finish within the grace, then cancel; queued ones are cancelled at once."""
        message = "The service was stopped."
        await self._shop.jobs.cancel_all([id for id in self._unfinished if id != self._working], message)
        try:
            await asyncio.wait_for(self._idle.wait(), grace_seconds)
        except TimeoutError:
            await self._shop.jobs.cancel_all(list(self._unfinished), message)
            try:
                await asyncio.wait_for(self._idle.wait(), _LAST_SECONDS)
            except TimeoutError:
                # For instance without room to write its end; the next opening tells it as interrupted.
                log.error("a job did not end in time", extra={"jobs": list(self._unfinished)})
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            job_id = self._working = await self._queue.get()
            try:
                await self._work(job_id)
            except (Exception, asyncio.CancelledError) as error:
                # Nothing but the end of the service may end this loop: it serves all later jobs.
                task = asyncio.current_task()
                if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                    raise
                await self._end_unexpected(job_id, error)
            finally:
                self._working = ""
                self._unfinished.pop(job_id, None)
                self._shop.jobs.forget(job_id)
                if not self._unfinished:
                    self._idle.set()

    async def _work(self, job_id: str) -> None:
        await self._shop.barrier("queued")
        # The cancellation event exists before the job can be seen working.
        self._shop.jobs.cancellation_of(job_id)
        job = await self._database.write(
            lambda tx: transitions.move(tx, job_id, JobState.QUEUED, JobState.RUNNING)
        )
        if job.state is not JobState.RUNNING:
            return
        task = TASK_SHELF.get(self._database.reader, job.task_id)
        plan = PLAN_SHELF.get(self._database.reader, job.plan_id)
        log.info("job started", extra={"job": job_id})
        attempt = Attempt(self._shop, job, task, plan, self._deadline(task, plan))
        ending = await attempt.run()
        # Before the end is written: on a full disk these may be what it needs.
        await asyncio.to_thread(_tidy, self._shop.directory / job_id)
        await self._shop.barrier("committing")
        job = await self._finish(job_id, ending)
        log.info("job ended", extra={"job": job_id, "state": job.state.value})

    async def _end_unexpected(self, job_id: str, error: BaseException) -> None:
        incident = new_id("inc")
        log.error("job met an unexpected error", exc_info=error, extra={"job": job_id, "incident": incident})
        fault = FaultView(
            code="INTERNAL",
            message=f"The service met a state it did not expect; report incident {incident}.",
            details={"incident": incident},
        )
        try:
            await self._finish(
                job_id, Ending(JobState.FAILED, fault, NativeState.UNKNOWN, engine_started=True)
            )
        except Exception as unwritable:
            # The next opening tells it as interrupted.
            log.error("the end of a job cannot be written", exc_info=unwritable, extra={"job": job_id})

    async def _finish(self, job_id: str, ending: Ending) -> Job:
        """Commit the end. While the store cannot, the job has none, so this does not give up."""
        while True:
            try:
                return await self._database.write(lambda tx: transitions.finish(tx, job_id, ending))
            except Fault as fault:
                if fault.code not in ("STORAGE_FULL", "OVERLOADED"):
                    raise
                log.warning("the end of a job waits for room", extra={"job": job_id, "code": fault.code})
                await asyncio.sleep(_RETRY_SECONDS)

    def _deadline(self, task: Task, plan: Plan) -> Deadline:
        """When the attempt must end: its own limit, the provider's, or what is left of the task's time."""
        attempt_limit = min(
            [task.budget.max_attempt_seconds]
            + [self._registry[entry.provider].manifest.max_attempt_seconds for entry in plan.providers]
        )
        left = task.budget.max_elapsed_seconds - task.usage.elapsed_seconds
        if left < attempt_limit:
            return Deadline(
                time.monotonic() + left,
                "BUDGET_EXPIRED",
                f"The task's {task.budget.max_elapsed_seconds:g} s of execution are used up; report what was "
                "reached, more time needs a new task from the user.",
            )
        return Deadline(
            time.monotonic() + attempt_limit,
            "NATIVE_TIMEOUT",
            f"The attempt ran longer than {attempt_limit:g} s; simplify the document, or ask for a task with a "
            "larger max_attempt_seconds.",
        )


def _tidy(directory: Path) -> None:
    """Remove what an ended attempt no longer needs: files that were or will not be taken in, and
    scratch space. Requests, results and logs stay."""
    for operation in directory.glob("*/"):
        for place in (operation, operation / "verify"):
            for name in _COPIES:
                shutil.rmtree(place / name, ignore_errors=True)
