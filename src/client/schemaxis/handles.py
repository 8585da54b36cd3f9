"""The things that a user holds: tasks, plans and jobs, with what can be done with each.

A handle keeps the record that the service last told (``record``, and a property for each of its
fields); ``refresh`` asks again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, Self

from schemaxis import _html
from schemaxis._channel import new_request_id
from schemaxis._codec import jobs as job_codec
from schemaxis._codec import plans as plan_codec
from schemaxis._codec import tasks as task_codec
from schemaxis._views import JobView, PlanView, TaskView
from schemaxis._watch import WatchMachine
from schemaxis.connection import Connection
from schemaxis.errors import SchemaxisError, WaitTimeout
from schemaxis.looking import Observed, walk
from schemaxis.models import JobRecord, PlanRecord, TaskRecord, Verification
from schemaxis.resources import Resource, list_resources
from schemaxis.streams import Watch
from schemaxis.v1 import job_pb2, plan_pb2, task_pb2


class Task(TaskView):
    """What a user authorised, with its fixed budget and criteria."""

    def __init__(self, connection: Connection, record: TaskRecord) -> None:
        self._connection = connection
        self.record = record

    def refresh(self) -> Self:
        """Ask for the present record; this handle."""
        request = task_pb2.GetTaskRequest(task_id=self.task_id)
        answer = self._connection.call(self._connection.tasks.GetTask, request)
        self.record = task_codec.task_record(answer.task)
        return self

    def plan(
        self,
        document: Mapping[str, Any] | str,
        expected_revision: int | None = None,
        bindings: Mapping[str, str] | None = None,
        *,
        request_id: str | None = None,
    ) -> Plan:
        """Capture a document (a mapping, or JSON text as it is) as the task's current plan.

        ``expected_revision`` is by default the revision that this handle knows; ``bindings`` maps
        pointers of file options to resource ids. Raises ``InvalidDocument`` with the problems,
        ``Stale`` when the task has moved on, ``Unauthorised``.
        """
        request = plan_codec.create_plan_request(
            self.task_id,
            document,
            self.revision if expected_revision is None else expected_revision,
            bindings,
            request_id or new_request_id(),
        )
        answer = self._connection.call(self._connection.plans.CreatePlan, request)
        plan = Plan(self._connection, plan_codec.plan_record(answer.plan))
        self.record = task_codec.after_plan(self.record, plan.record)
        return plan

    def plans(self) -> Iterator[Plan]:
        """The plans of this task, newest first; pages are fetched as they are needed."""
        return list_plans(self._connection, self.task_id)

    def jobs(self) -> Iterator[Job]:
        """The jobs of this task, newest first; pages are fetched as they are needed."""
        return list_jobs(self._connection, self.task_id)


class Plan(Observed, PlanView):
    """A captured document that can be executed."""

    def __init__(self, connection: Connection, record: PlanRecord) -> None:
        self._connection = connection
        self.record = record

    def execute(self, expected_revision: int | None = None, *, request_id: str | None = None) -> Job:
        """Start this plan; the queued job, at once. One attempt of the task's budget is reserved.

        ``expected_revision`` is by default the plan's own. Raises ``Stale`` when the task has moved
        on, ``BudgetSpent``, ``Unavailable``.
        """
        request = job_pb2.ExecutePlanRequest(
            plan_id=self.plan_id,
            expected_revision=self.revision if expected_revision is None else expected_revision,
            request_id=request_id or new_request_id(),
        )
        answer = self._connection.call(self._connection.jobs.ExecutePlan, request)
        return Job(self._connection, job_codec.job_record(answer.job))

    def _target(self) -> dict[str, str]:
        return {"plan_id": self.plan_id}


class Job(Observed, JobView):
    """An execution of a plan."""

    def __init__(self, connection: Connection, record: JobRecord) -> None:
        self._connection = connection
        self.record = record

    def refresh(self) -> Self:
        """Ask for the present record; this handle."""
        request = job_pb2.GetJobRequest(job_id=self.job_id)
        answer = self._connection.call(self._connection.jobs.GetJob, request)
        self.record = job_codec.job_record(answer.job)
        return self

    def watch(self, after: int = 0, follow: bool = True, *, timeout: float | None = None) -> Watch:
        """The job's events after a sequence, then, if ``follow``, those to come until it is terminal.

        Breaks are mended unseen: every event comes once and in order. At the job's end this handle
        is refreshed. Raises ``WaitTimeout`` after ``timeout`` seconds, ``ConnectionLost`` when the
        server stays away longer than the client's patience.
        """
        machine = WatchMachine(
            self.job_id,
            after,
            follow,
            patience=self._connection.patience(),
            clock=time.monotonic,
            timeout=timeout,
        )
        return Watch(self._connection, machine, self.refresh)

    def wait(self, timeout: float | None = None, *, raise_on_failure: bool = False) -> Self:
        """Wait until the job is terminal; this handle, refreshed.

        Raises ``WaitTimeout`` after ``timeout`` seconds (the job goes on), and with
        ``raise_on_failure`` ``JobFailed`` unless it succeeded.
        """
        if not self.state.is_terminal:
            try:
                with self.watch(self.last_sequence, timeout=timeout) as events:
                    for _ in events:
                        pass
            except WaitTimeout:
                if not self.refresh().state.is_terminal:
                    raise
        if raise_on_failure:
            self.require_success()
        return self

    @property
    def result(self) -> dict[str, Any]:
        """The whole result of the verified job, parsed from JSON.

        Raises ``JobUnfinished`` before its end and ``JobFailed`` when it did not succeed; what a
        failed job left is in ``evidence("result")``.
        """
        self.refresh()
        self.require_success()
        result: dict[str, Any] = self.evidence("result")
        return result

    @property
    def resources(self) -> list[Resource]:
        """What the job published, in the order of publication; empty unless it succeeded."""
        return list(list_resources(self._connection, self.job_id))[::-1]

    def cancel(self) -> Self:
        """Ask the job to stop; this handle with the record as it is now. A terminal job stays as it is."""
        request = job_pb2.CancelJobRequest(job_id=self.job_id)
        answer = self._connection.call(self._connection.jobs.CancelJob, request, repeatable=False)
        self.record = job_codec.job_record(answer.job)
        return self

    def verify(self) -> Verification:
        """A fresh check of the published bytes, with what it does not cover; as long as it takes.

        A check that fails invalidates the job. Raises ``Untrusted`` when there is nothing verified
        to check.
        """
        request = job_pb2.VerifyJobRequest(job_id=self.job_id)
        answer = self._connection.call(
            self._connection.jobs.VerifyJob, request, repeatable=False, bounded=False
        )
        return job_codec.verification(answer.verification)

    def _target(self) -> dict[str, str]:
        return {"job_id": self.job_id}

    def _repr_html_(self) -> str:
        try:
            found = self.resources if self.record.resource_ids else []
        except SchemaxisError:
            # What the handle knows is shown even where nobody answers.
            found = []
        drawn = [one for one in found if one.media_type in _html.PICTURES]
        pictures = [one._picture() for one in drawn[: _html.MOST_PICTURES]]
        left_out = max(len(drawn) - _html.MOST_PICTURES, 0)
        return _html.job(self.record, [picture for picture in pictures if picture], left_out)


def list_plans(connection: Connection, task_id: str | None) -> Iterator[Plan]:
    """The plans of a task, or of the workspace, newest first."""
    return walk(
        connection,
        connection.plans.ListPlans,
        plan_pb2.ListPlansRequest(task_id=task_id),
        lambda page: [Plan(connection, plan_codec.plan_record(plan)) for plan in page.plans],
    )


def list_jobs(connection: Connection, task_id: str | None) -> Iterator[Job]:
    """The jobs of a task, or of the workspace, newest first."""
    return walk(
        connection,
        connection.jobs.ListJobs,
        job_pb2.ListJobsRequest(task_id=task_id),
        lambda page: [Job(connection, job_codec.job_record(job)) for job in page.jobs],
    )
