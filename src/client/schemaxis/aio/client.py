"""The asynchronous client, on the loop that opens it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Sequence
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
from schemaxis.aio.awaiting import Opening, in_thread, in_thread_or_undone
from schemaxis.aio.connection import Connection
from schemaxis.aio.handles import Job, Plan, Task, list_jobs, list_plans
from schemaxis.aio.looking import walk
from schemaxis.aio.resources import Resource, list_resources
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
from schemaxis.v1 import capability_pb2, job_pb2, plan_pb2, resource_pb2, task_pb2, workspace_pb2


class Client:
    """A client of one workspace's server. A context manager; it belongs to the loop that opened it."""

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

    async def workspace(self) -> WorkspaceRecord:
        """Versions, engines, limits, counts, containment and health of the workspace."""
        request = workspace_pb2.GetWorkspaceRequest()
        answer = await self._connection.call(self._connection.workspace.GetWorkspace, request)
        return workspace_record(answer.workspace)

    async def close(self) -> None:
        """Close the connection, and stop the server if this client started it. Again does nothing."""
        await self._connection.close()
        await in_thread(self._served.stop)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Client of {self.socket}>"


class Tasks:
    """The tasks of the workspace."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def create(
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
        answer = await self._connection.call(self._connection.tasks.CreateTask, request)
        return Task(self._connection, task_codec.task_record(answer.task))

    async def get(self, task_id: str) -> Task:
        """One task. Raises ``NotFound``."""
        request = task_pb2.GetTaskRequest(task_id=task_id)
        answer = await self._connection.call(self._connection.tasks.GetTask, request)
        return Task(self._connection, task_codec.task_record(answer.task))

    def list(self) -> AsyncIterator[Task]:
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

    async def get(self, plan_id: str) -> Plan:
        """One plan. Raises ``NotFound``."""
        request = plan_pb2.GetPlanRequest(plan_id=plan_id)
        answer = await self._connection.call(self._connection.plans.GetPlan, request)
        return Plan(self._connection, plan_codec.plan_record(answer.plan))

    def list(self, task_id: str | None = None) -> AsyncIterator[Plan]:
        """The plans of a task, or of the workspace, newest first; pages are fetched as they are needed."""
        return list_plans(self._connection, task_id)


class Jobs:
    """The jobs of the workspace."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def get(self, job_id: str) -> Job:
        """One job. Raises ``NotFound``."""
        request = job_pb2.GetJobRequest(job_id=job_id)
        answer = await self._connection.call(self._connection.jobs.GetJob, request)
        return Job(self._connection, job_codec.job_record(answer.job))

    def list(self, task_id: str | None = None) -> AsyncIterator[Job]:
        """The jobs of a task, or of the workspace, newest first; pages are fetched as they are needed."""
        return list_jobs(self._connection, task_id)


class Resources:
    """The published artifacts of the workspace."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def get(self, resource_id: str) -> Resource:
        """One resource. Raises ``NotFound``."""
        request = resource_pb2.GetResourceRequest(resource_id=resource_id)
        answer = await self._connection.call(self._connection.resources.GetResource, request)
        return Resource(self._connection, resource_codec.resource_record(answer.resource))

    def list(self, job_id: str | None = None) -> AsyncIterator[Resource]:
        """The resources of a job, or of the workspace, newest first; pages are fetched as they are needed."""
        return list_resources(self._connection, job_id)


class Capabilities:
    """What the engines can do."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def browse(self, scope: str = "") -> ScopeLevel:
        """One level of the scope tree, from the root by default. Raises ``NotFound``."""
        request = capability_pb2.BrowseCapabilitiesRequest(scope=scope)
        return capability_codec.scope_level(
            await self._connection.call(self._connection.capabilities.BrowseCapabilities, request)
        )

    async def search(self, query: str, scope: str = "", *, limit: int | None = None) -> CapabilityMatches:
        """A ranked search, 12 matches by default and at most 100; typing errors are forgiven."""
        request = capability_pb2.SearchCapabilitiesRequest(query=query, scope=scope, limit=limit)
        return capability_codec.matches(
            await self._connection.call(self._connection.capabilities.SearchCapabilities, request)
        )

    async def describe(self, capability: str) -> CapabilityDescription:
        """All that is needed to use a capability, with a checked example. Raises ``NotFound``."""
        request = capability_pb2.DescribeCapabilityRequest(capability=capability)
        answer = await self._connection.call(self._connection.capabilities.DescribeCapability, request)
        return capability_codec.description(answer.description)

    async def schema(self, capability: str | None = None, *, version: str | None = None) -> CapabilitySchema:
        """The JSON Schema of one capability's node, or of a whole document version."""
        request = capability_pb2.GetCapabilitySchemaRequest(capability=capability, version=version)
        return capability_codec.schema(
            await self._connection.call(self._connection.capabilities.GetCapabilitySchema, request)
        )


def connect(
    workspace: str | os.PathLike[str], *, call_seconds: float = 60.0, patience_seconds: float = 10.0
) -> Opening[Client]:
    """A client of the server that serves ``workspace`` now; use it in a ``with`` block.

    ``call_seconds`` bounds an ordinary call, ``patience_seconds`` how long a broken connection is
    borne. Raises ``ServerNotRunning``, or ``UnsafeSocket`` when what lies at the socket's path is
    no socket of this user.
    """
    settings = Settings(call_seconds=call_seconds, patience_seconds=patience_seconds)

    async def opened() -> Client:
        return Client(Served(attachable_socket(workspace), None), settings)

    return Opening(opened)


def start(
    workspace: str | os.PathLike[str],
    *,
    log: str | os.PathLike[str] | int | None = None,
    command: Sequence[str] | None = None,
    start_seconds: float = START_SECONDS,
    call_seconds: float = 60.0,
    patience_seconds: float = 10.0,
) -> Opening[Client]:
    """A client of the workspace's server, started as a child if none runs and stopped on exit.

    ``log`` is where the server's log lines go: a file, a descriptor, or ``None`` to keep only the
    last ones for error messages. ``command`` replaces the server program. Raises
    ``ServerStartFailed`` or ``UnsafeSocket``.
    """
    settings = Settings(call_seconds=call_seconds, patience_seconds=patience_seconds)

    def serve() -> Served:
        return serve_or_attach(workspace, log=log, command=command, deadline_seconds=start_seconds)

    async def opened() -> Client:
        return Client(await in_thread_or_undone(serve, Served.stop), settings)

    return Opening(opened)
