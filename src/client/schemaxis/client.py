"""The synchronous client: it uses synchronous stubs and runs no event loop of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from schemaxis._channel import Settings, new_request_id
from schemaxis._codec import capabilities as capability_codec
from schemaxis._codec import jobs as job_codec
from schemaxis._codec import plans as plan_codec
from schemaxis._codec import resources as resource_codec
from schemaxis._codec import tasks as task_codec
from schemaxis._codec.workspaces import workspace_record
from schemaxis.connection import Connection
from schemaxis.handles import Job, Plan, Task, list_jobs, list_plans
from schemaxis.looking import walk
from schemaxis.models import (
    Budget,
    CapabilityDescription,
    CapabilityMatches,
    CapabilitySchema,
    Criterion,
    ScopeLevel,
    WorkspaceRecord,
)
from schemaxis.process import START_SECONDS, Served, attachable_socket, serve_or_attach
from schemaxis.resources import Resource, list_resources
from schemaxis.v1 import capability_pb2, job_pb2, plan_pb2, resource_pb2, task_pb2, workspace_pb2


class Client:
    """A client of one workspace's server. A context manager; safe to share between threads."""

    def __init__(self, served: Served, settings: Settings) -> None:
        self._served = served
        self._connection = Connection(served.socket, settings)
        self.tasks = Tasks(self._connection)
        self.plans = Plans(self._connection)
        self.jobs = Jobs(self._connection)
        self.resources = Resources(self._connection)
        self.capabilities = Capabilities(self._connection)

    @property
    def socket(self) -> Path:
        """The socket that the client talks to."""
        return self._served.socket

    def workspace(self) -> WorkspaceRecord:
        """Versions, engines, limits, counts, containment and health of the workspace."""
        request = workspace_pb2.GetWorkspaceRequest()
        answer = self._connection.call(self._connection.workspace.GetWorkspace, request)
        return workspace_record(answer.workspace)

    def close(self) -> None:
        """Close the connection, and stop the server if this client started it. Again does nothing."""
        self._connection.close()
        self._served.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client of {self.socket}>"


class Tasks:
    """The tasks of the workspace."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        objective: str,
        allowed_providers: Iterable[str],
        *,
        budget: Budget | None = None,
        criteria: Iterable[Criterion] = (),
        request_id: str | None = None,
    ) -> Task:
        """Record what the user authorised: the objective, the providers, a fixed budget, and criteria.

        Raises ``InvalidRequest``.
        """
        request = task_codec.create_task_request(
            objective, allowed_providers, budget, criteria, request_id or new_request_id()
        )
        answer = self._connection.call(self._connection.tasks.CreateTask, request)
        return Task(self._connection, task_codec.task_record(answer.task))

    def get(self, task_id: str) -> Task:
        """One task. Raises ``NotFound``."""
        request = task_pb2.GetTaskRequest(task_id=task_id)
        answer = self._connection.call(self._connection.tasks.GetTask, request)
        return Task(self._connection, task_codec.task_record(answer.task))

    def list(self) -> Iterator[Task]:
        """All tasks, newest first; pages are fetched as they are needed."""
        return walk(
            self._connection,
            self._connection.tasks.ListTasks,
            task_pb2.ListTasksRequest(),
            lambda page: [Task(self._connection, task_codec.task_record(task)) for task in page.tasks],
        )


class Plans:
    """The plans of the workspace."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, plan_id: str) -> Plan:
        """One plan. Raises ``NotFound``."""
        request = plan_pb2.GetPlanRequest(plan_id=plan_id)
        answer = self._connection.call(self._connection.plans.GetPlan, request)
        return Plan(self._connection, plan_codec.plan_record(answer.plan))

    def list(self, task_id: str | None = None) -> Iterator[Plan]:
        """The plans of a task, or of the workspace, newest first; pages are fetched as they are needed."""
        return list_plans(self._connection, task_id)


class Jobs:
    """The jobs of the workspace."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, job_id: str) -> Job:
        """One job. Raises ``NotFound``."""
        request = job_pb2.GetJobRequest(job_id=job_id)
        answer = self._connection.call(self._connection.jobs.GetJob, request)
        return Job(self._connection, job_codec.job_record(answer.job))

    def list(self, task_id: str | None = None) -> Iterator[Job]:
        """The jobs of a task, or of the workspace, newest first; pages are fetched as they are needed."""
        return list_jobs(self._connection, task_id)


class Resources:
    """The published artifacts of the workspace."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, resource_id: str) -> Resource:
        """One resource. Raises ``NotFound``."""
        request = resource_pb2.GetResourceRequest(resource_id=resource_id)
        answer = self._connection.call(self._connection.resources.GetResource, request)
        return Resource(self._connection, resource_codec.resource_record(answer.resource))

    def list(self, job_id: str | None = None) -> Iterator[Resource]:
        """The resources of a job, or of the workspace, newest first; pages are fetched as they are needed."""
        return list_resources(self._connection, job_id)


class Capabilities:
    """What the engines can do."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def browse(self, scope: str = "") -> ScopeLevel:
        """One level of the scope tree, from the root by default. Raises ``NotFound``."""
        request = capability_pb2.BrowseCapabilitiesRequest(scope=scope)
        return capability_codec.scope_level(
            self._connection.call(self._connection.capabilities.BrowseCapabilities, request)
        )

    def search(self, query: str, scope: str = "", *, limit: int | None = None) -> CapabilityMatches:
        """A ranked search, 12 matches by default and at most 100; typing errors are forgiven."""
        request = capability_pb2.SearchCapabilitiesRequest(query=query, scope=scope, limit=limit)
        return capability_codec.matches(
            self._connection.call(self._connection.capabilities.SearchCapabilities, request)
        )

    def describe(self, capability: str) -> CapabilityDescription:
        """All that is needed to use a capability, with a checked example. Raises ``NotFound``."""
        request = capability_pb2.DescribeCapabilityRequest(capability=capability)
        answer = self._connection.call(self._connection.capabilities.DescribeCapability, request)
        return capability_codec.description(answer.description)

    def schema(self, capability: str | None = None, *, version: str | None = None) -> CapabilitySchema:
        """The JSON Schema of one capability's node, or of a whole document version."""
        request = capability_pb2.GetCapabilitySchemaRequest(capability=capability, version=version)
        return capability_codec.schema(
            self._connection.call(self._connection.capabilities.GetCapabilitySchema, request)
        )


def connect(
    workspace: str | os.PathLike[str], *, call_seconds: float = 60.0, patience_seconds: float = 10.0
) -> Client:
    """A client of the server that serves ``workspace`` now; use it in a ``with`` block.

    ``call_seconds`` bounds an ordinary call, ``patience_seconds`` how long a broken connection is
    borne. Raises ``ServerNotRunning``, or ``UnsafeSocket`` when what lies at the socket's path is
    no socket of this user.
    """
    settings = Settings(call_seconds=call_seconds, patience_seconds=patience_seconds)
    return Client(Served(attachable_socket(workspace), None), settings)


def start(
    workspace: str | os.PathLike[str],
    *,
    log: str | os.PathLike[str] | int | None = None,
    command: Sequence[str] | None = None,
    start_seconds: float = START_SECONDS,
    call_seconds: float = 60.0,
    patience_seconds: float = 10.0,
) -> Client:
    """A client of the workspace's server, started as a child if none runs and stopped on exit.

    ``log`` is where the server's log lines go: a file, a descriptor, or ``None`` to keep only the
    last ones for error messages. ``command`` replaces the server program. Raises
    ``ServerStartFailed`` or ``UnsafeSocket``.
    """
    settings = Settings(call_seconds=call_seconds, patience_seconds=patience_seconds)
    served = serve_or_attach(workspace, log=log, command=command, deadline_seconds=start_seconds)
    return Client(served, settings)
