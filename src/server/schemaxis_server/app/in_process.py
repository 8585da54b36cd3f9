"""The execution core in-process: a synchronous facade over a loop in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec
from schemaxis.v1 import job_pb2

from schemaxis_server.app import configuration
from schemaxis_server.app.directory import own_directory
from schemaxis_server.app.workspace_lock import WorkspaceLock
from schemaxis_server.execution.capabilities import DEFAULT_LIMIT, Capability, Match, Schema, ScopeLevel
from schemaxis_server.execution.core import DRAIN_SECONDS, ExecutionCore
from schemaxis_server.execution.ledger import Page
from schemaxis_server.execution.observation import Observation, Window
from schemaxis_server.execution.records import Budget, Criterion, Job, Plan, Resource, Task, Verification
from schemaxis_server.execution.resources import DEFAULT_RANGE_BYTES, ResourceRange
from schemaxis_server.execution.status import Status, status
from schemaxis_server.execution.watch import Events
from schemaxis_server.faults import Fault
from schemaxis_server.providers.registry import Registry, load
from schemaxis_server.rpc.codecs.job import encode_event

T = TypeVar("T")


class ExecutionService:
    """Owns a workspace and executes in it, without a socket. Use it as a context manager.

    ``locations`` are trusted paths of engines by provider name, over those of
    ``schemaxis.toml``. Methods are those of the surface, under the bridge's names; they may be
    called from any thread and raise :class:`schemaxis_server.faults.Fault`.
    """

    def __init__(
        self,
        workspace: str | Path,
        *,
        locations: Mapping[str, str] | None = None,
        registry: Registry | None = None,
    ) -> None:
        self._directory = own_directory(Path(workspace))
        self._lock = WorkspaceLock(self._directory)
        self._lock.acquire()
        self._guard = threading.Lock()
        self._closing = self._closed = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="schemaxis-core", daemon=True)
        self._thread.start()
        try:
            found = configuration.load(self._directory).locations
            self._core = self._on_loop(
                ExecutionCore.open(
                    self._directory,
                    registry if registry is not None else load(),
                    encode_event=encode_event,
                    locations={**found, **(locations or {})},
                )
            )
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self, drain_seconds: float = DRAIN_SECONDS) -> None:
        """Let the working job finish within the time given, then cancel it; end every process.

        Calls that other threads have under way by then end with ``SHUTTING_DOWN``.
        """
        with self._guard:
            if self._closing:
                return
            self._closing = True
        try:
            self._on_loop(self._core.drain(drain_seconds))
        finally:
            with self._guard:
                self._closed = True
            try:
                asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
            finally:
                self._end()

    async def _close(self) -> None:
        """End what is under way on the loop, then what it used."""
        calls = asyncio.all_tasks() - {asyncio.current_task()}
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await self._core.close()

    def workspace(self) -> Status:
        return self._on_loop(status(self._core))

    def browse_capabilities(self, scope: str = "") -> ScopeLevel:
        return self._call(lambda core: core.capabilities.browse(scope))

    def search_capabilities(
        self, query: str, scope: str = "", limit: int = DEFAULT_LIMIT
    ) -> tuple[Match, ...]:
        return self._call(lambda core: core.capabilities.search(query, scope, limit)[0])

    def describe_capability(self, capability: str) -> Capability:
        return self._call(lambda core: core.capabilities.get(capability))

    def capability_schema(self, capability: str | None = None, version: str | None = None) -> Schema:
        return self._call(lambda core: core.capabilities.schema(capability, version))

    def create_task(
        self,
        objective: str,
        allowed_providers: Iterable[str],
        budget: Budget | None = None,
        criteria: Iterable[Criterion] = (),
        request_id: str | None = None,
    ) -> Task:
        return self._on_loop(
            self._core.tasks.create(objective, allowed_providers, budget, criteria, request_id)
        )

    def task(self, task_id: str) -> Task:
        return self._call(lambda core: core.tasks.get(task_id))

    def list_tasks(self, page_token: str = "", page_size: int = 50) -> Page[Task]:
        return self._on_loop(self._core.tasks.list(page_token, page_size))

    def plan(
        self,
        task_id: str,
        document: Mapping[str, Any] | str,
        expected_revision: int,
        bindings: Mapping[str, str] | None = None,
        request_id: str | None = None,
    ) -> Plan:
        """Capture a document, given as JSON values or as JSON text."""
        text = document if isinstance(document, str) else json.dumps(document)
        return self._on_loop(self._core.plans.create(task_id, text, expected_revision, bindings, request_id))

    def get_plan(self, plan_id: str) -> Plan:
        return self._call(lambda core: core.plans.get(plan_id))

    def list_plans(self, task_id: str | None = None, page_token: str = "", page_size: int = 50) -> Page[Plan]:
        return self._on_loop(self._core.plans.list(task_id, page_token, page_size))

    def execute(self, plan_id: str, expected_revision: int, request_id: str | None = None) -> Job:
        return self._on_loop(self._core.jobs.execute(plan_id, expected_revision, request_id))

    def job(self, job_id: str) -> Job:
        return self._call(lambda core: core.jobs.get(job_id))

    def list_jobs(self, task_id: str | None = None, page_token: str = "", page_size: int = 50) -> Page[Job]:
        return self._on_loop(self._core.jobs.list(task_id, page_token, page_size))

    def watch_job(
        self, job_id: str, after_sequence: int = 0, follow: bool = True
    ) -> Iterator[job_pb2.JobEvent]:
        """The job's events; ends when the job is terminal, or at the tail without ``follow``."""
        watch = self._call(lambda core: core.watches.watch(job_id, after_sequence, follow))
        try:
            while True:
                try:
                    frame = self._on_loop(anext(watch))
                except StopAsyncIteration:
                    return
                if isinstance(frame, Events):
                    yield from map(job_pb2.JobEvent.FromString, frame.encoded)
        finally:
            with contextlib.suppress(Fault):
                self._on_loop(watch.aclose())

    def wait(self, job_id: str) -> Job:
        """Block until the job is terminal; returns it."""
        for _ in self.watch_job(job_id, self.job(job_id).last_sequence):
            pass
        return self.job(job_id)

    def cancel(self, job_id: str) -> Job:
        return self._on_loop(self._core.jobs.cancel(job_id))

    def verify(self, job_id: str) -> Verification:
        return self._on_loop(self._core.reverification.verify(job_id))

    def observe(
        self,
        *,
        job_id: str | None = None,
        plan_id: str | None = None,
        section: str,
        window: Window | None = None,
    ) -> Observation:
        return self._on_loop(self._core.evidence.observe(section, window or Window(), job_id, plan_id))

    def value(self, *, job_id: str, section: str, pointer: str = "") -> Any:
        """A small observed value as Python values. Raises ``OBSERVATION_LIMIT`` if it comes as members."""
        seen = self.observe(job_id=job_id, section=section, window=Window(pointer, max_bytes=65_536))
        if seen.value is None:
            raise Fault("OBSERVATION_LIMIT", "The value is large; observe its members.", "/pointer")
        return msgspec.json.decode(seen.value)

    def get_resource(self, resource_id: str) -> Resource:
        return self._call(lambda core: core.resources.get(resource_id))

    def list_resources(
        self, job_id: str | None = None, page_token: str = "", page_size: int = 50
    ) -> Page[Resource]:
        return self._on_loop(self._core.resources.list(job_id, page_token, page_size))

    def resource(self, resource_id: str, offset: int = 0, length: int = DEFAULT_RANGE_BYTES) -> ResourceRange:
        return self._on_loop(self._core.resources.read_range(resource_id, offset, length))

    def read(self, resource_id: str) -> bytes:
        """All bytes of a resource, checked."""

        async def whole() -> bytes:
            _, chunks = await self._core.resources.read(resource_id)
            return b"".join([chunk.data async for chunk in chunks])

        return self._on_loop(whole())

    def inspect_resource(self, resource_id: str, window: Window | None = None) -> Observation:
        return self._on_loop(self._core.inspection.inspect(resource_id, window or Window()))

    def _on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        with self._guard:
            future = None if self._closed else asyncio.run_coroutine_threadsafe(work, self._loop)
        if future is None:
            work.close()
            raise _closed()
        try:
            return future.result()
        except CancelledError:
            raise _closed() from None

    def _call(self, work: Callable[[ExecutionCore], T]) -> T:
        async def run() -> T:
            return work(self._core)

        return self._on_loop(run())

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._lock.release()


def _closed() -> Fault:
    return Fault("SHUTTING_DOWN", "This service was closed; open the workspace anew.")
