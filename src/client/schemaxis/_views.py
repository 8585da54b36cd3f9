"""What the handles of both clients show of their records, without asking the server."""

from __future__ import annotations

from datetime import datetime

from schemaxis import _html
from schemaxis.errors import JobFailed, JobUnfinished
from schemaxis.models import (
    Binding,
    Budget,
    Criterion,
    Fault,
    Goal,
    JobRecord,
    JobState,
    NativeState,
    PlanOperation,
    PlanProvider,
    PlanRecord,
    Producer,
    Progress,
    Receipt,
    ResourceRecord,
    ResourceState,
    TaskRecord,
    Usage,
)


class TaskView:
    """A task as it was when the service last told it."""

    record: TaskRecord

    @property
    def task_id(self) -> str:
        """Identity of the task."""
        return self.record.task_id

    @property
    def objective(self) -> str:
        """What is to be reached, in the user's words."""
        return self.record.objective

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """What a result must satisfy for the goal to be met."""
        return self.record.criteria

    @property
    def allowed_providers(self) -> tuple[str, ...]:
        """The providers that the task may use."""
        return self.record.allowed_providers

    @property
    def budget(self) -> Budget:
        """What the task may use; all four limits are set."""
        return self.record.budget

    @property
    def usage(self) -> Usage:
        """What the task has used."""
        return self.record.usage

    @property
    def revision(self) -> int:
        """How many plans were captured; 0 before the first."""
        return self.record.revision

    @property
    def current_plan_id(self) -> str | None:
        """The plan of this revision, ``None`` before the first."""
        return self.record.current_plan_id

    @property
    def create_time(self) -> datetime:
        """When the task was created."""
        return self.record.create_time

    def __repr__(self) -> str:
        return f"<Task {self.task_id} revision {self.revision}: {self.objective}>"

    def _repr_html_(self) -> str:
        return _html.task(self.record)


class PlanView:
    """A captured plan, which never changes."""

    record: PlanRecord

    @property
    def plan_id(self) -> str:
        """Identity of the plan."""
        return self.record.plan_id

    @property
    def task_id(self) -> str:
        """The task that it belongs to."""
        return self.record.task_id

    @property
    def revision(self) -> int:
        """The task's revision that this plan made."""
        return self.record.revision

    @property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, of what will be executed."""
        return self.record.digest

    @property
    def providers(self) -> tuple[PlanProvider, ...]:
        """The providers that it uses."""
        return self.record.providers

    @property
    def operations(self) -> tuple[PlanOperation, ...]:
        """The operations that executing it runs."""
        return self.record.operations

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """The resources bound into the document."""
        return self.record.bindings

    @property
    def create_time(self) -> datetime:
        """When the plan was captured."""
        return self.record.create_time

    def __repr__(self) -> str:
        return f"<Plan {self.plan_id} revision {self.revision} of {self.task_id}>"

    def _repr_html_(self) -> str:
        return _html.plan(self.record)


class JobView:
    """A job as it was when the service last told it."""

    record: JobRecord

    @property
    def job_id(self) -> str:
        """Identity of the job."""
        return self.record.job_id

    @property
    def plan_id(self) -> str:
        """The plan that it executes."""
        return self.record.plan_id

    @property
    def task_id(self) -> str:
        """The task that authorised it."""
        return self.record.task_id

    @property
    def revision(self) -> int:
        """The plan's revision."""
        return self.record.revision

    @property
    def state(self) -> JobState:
        """Where it stands."""
        return self.record.state

    @property
    def verified(self) -> bool:
        """Whether an independent check confirmed everything that it published."""
        return self.record.verified

    @property
    def goal(self) -> Goal:
        """Whether the task's criteria are satisfied by the verified result."""
        return self.record.goal

    @property
    def native_state(self) -> NativeState:
        """What is known of its native processes."""
        return self.record.native_state

    @property
    def progress(self) -> Progress:
        """How far it is."""
        return self.record.progress

    @property
    def fault(self) -> Fault | None:
        """Why it failed, was cancelled, interrupted or invalidated."""
        return self.record.fault

    @property
    def resource_ids(self) -> tuple[str, ...]:
        """What it published; empty unless it succeeded."""
        return self.record.resource_ids

    @property
    def last_sequence(self) -> int:
        """The sequence of its latest event."""
        return self.record.last_sequence

    @property
    def create_time(self) -> datetime:
        """When it was queued."""
        return self.record.create_time

    @property
    def start_time(self) -> datetime | None:
        """When it was taken up, ``None`` before."""
        return self.record.start_time

    @property
    def end_time(self) -> datetime | None:
        """When it reached a terminal state, ``None`` before."""
        return self.record.end_time

    def require_success(self) -> None:
        """Raise ``JobUnfinished`` before the job's end, and ``JobFailed`` after another one than success."""
        if not self.state.is_terminal:
            raise JobUnfinished(f"{self.job_id} is {self.state}: wait for it, then ask for its result.")
        if self.state is not JobState.SUCCEEDED:
            raise JobFailed(self.record)

    def __repr__(self) -> str:
        standing = ", verified" if self.verified else ""
        fault = f", {self.fault.code}" if self.fault else ""
        return f"<Job {self.job_id} {self.state}{standing}, goal {self.goal}{fault}>"

    def _repr_html_(self) -> str:
        return _html.job(self.record)


class ResourceView:
    """A published artifact, whose bytes never change."""

    record: ResourceRecord

    @property
    def resource_id(self) -> str:
        """Identity of the resource, the same over restarts."""
        return self.record.resource_id

    @property
    def producer(self) -> Producer:
        """What made it."""
        return self.record.producer

    @property
    def document_digest(self) -> str:
        """SHA-256, in hexadecimal, of the canonical resolved document that it was made from."""
        return self.record.document_digest

    @property
    def name(self) -> str:
        """Its name, for instance ``body.step``."""
        return self.record.name

    @property
    def kind(self) -> str:
        """Its kind, for instance ``geometry/step`` or ``picture/preview``."""
        return self.record.kind

    @property
    def media_type(self) -> str:
        """Its media type."""
        return self.record.media_type

    @property
    def size_bytes(self) -> int:
        """Its size in bytes."""
        return self.record.size_bytes

    @property
    def sha256(self) -> str:
        """SHA-256 of its bytes, in hexadecimal."""
        return self.record.sha256

    @property
    def receipt(self) -> Receipt:
        """The receipt that its bytes are checked against."""
        return self.record.receipt

    @property
    def units(self) -> str:
        """Unit of the numbers inside, or ``unknown``."""
        return self.record.units

    @property
    def state(self) -> ResourceState:
        """Whether it can be read."""
        return self.record.state

    @property
    def derived_from(self) -> str | None:
        """The resource that it was made from, when it is a picture."""
        return self.record.derived_from

    @property
    def output(self) -> str:
        """The node of the document whose output it holds or shows."""
        return self.record.output

    @property
    def create_time(self) -> datetime:
        """When it was published."""
        return self.record.create_time

    def __repr__(self) -> str:
        return f"<Resource {self.resource_id} {self.name} {self.kind} {self.size_bytes} bytes {self.state}>"

    def _repr_html_(self) -> str:
        return _html.resource(self.record)
