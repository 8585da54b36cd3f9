"""The execution core, wired: everything that a door needs, on one event loop.

It knows nothing of gRPC. :class:`schemaxis_server.app.in_process.ExecutionService` is its
synchronous face, ``rpc`` its served one.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from schemaxis_server.execution.attempt import Barrier, Workshop
from schemaxis_server.execution.capabilities import Capabilities
from schemaxis_server.execution.engines import Engines
from schemaxis_server.execution.evidence import Evidence
from schemaxis_server.execution.hosts import Hosts
from schemaxis_server.execution.inspection import Inspection
from schemaxis_server.execution.jobs import Jobs
from schemaxis_server.execution.owner import JobOwner
from schemaxis_server.execution.planning import Plans
from schemaxis_server.execution.records import now
from schemaxis_server.execution.recovery import recover
from schemaxis_server.execution.resources import Resources
from schemaxis_server.execution.reverification import Reverification
from schemaxis_server.execution.tasks import Tasks
from schemaxis_server.execution.unbroken import background
from schemaxis_server.execution.verification import Verifier
from schemaxis_server.execution.watch import Watches
from schemaxis_server.native.containment import Containment
from schemaxis_server.native.pool import HostPool
from schemaxis_server.native.sweep import sweep
from schemaxis_server.providers.contract import Provider
from schemaxis_server.providers.registry import Registry
from schemaxis_server.store.database import Database
from schemaxis_server.store.files import make_directory
from schemaxis_server.store.objects import ObjectStore

DRAIN_SECONDS = 10.0
_POOL_THREADS = 4


log = logging.getLogger(__name__)


def _marker(directory: Path, database: Database) -> str:
    """What this workspace's processes are known by. A copy of it has the same id in another place."""
    status = os.stat(directory)
    return f"{database.workspace_id}.{status.st_dev:x}.{status.st_ino:x}"


async def _no_barrier(name: str) -> None:
    """In use nothing holds an attempt."""


class ExecutionCore:
    """Open with :meth:`open` on the loop that will use it; the caller holds the workspace's lock."""

    def __init__(
        self,
        directory: Path,
        database: Database,
        registry: Registry,
        locations: Mapping[str, str],
        barrier: Barrier,
    ) -> None:
        self.start_time = now()
        self.directory = directory
        self.database = database
        self.registry = registry
        self._pool = ThreadPoolExecutor(_POOL_THREADS, thread_name_prefix="core")
        self._objects = ObjectStore(directory / "objects")
        self.hosts = HostPool(directory / "run", _marker(directory, database))
        self.engines = Engines(registry, locations)
        self.capabilities = Capabilities(registry, self.engines)
        self.tasks = Tasks(database, registry)
        self.jobs = Jobs(database, registry, self.engines)
        self.resources = Resources(database, self._objects, self.jobs.invalidate)
        self.plans = Plans(
            database,
            directory / "plans",
            registry,
            self.engines,
            self.resources,
            self._off_loop,
            foresee=self._warm,
        )
        hosts = Hosts(self.hosts, self._off_loop)
        self._shop = Workshop(
            database=database,
            jobs=self.jobs,
            plans=self.plans,
            resources=self.resources,
            hosts=hosts,
            engines=self.engines,
            verifier=Verifier(hosts, self._objects),
            objects=self._objects,
            directory=directory / "jobs",
            barrier=barrier,
        )
        self._containment: Containment | None = None
        self._owner = JobOwner(self._shop, registry)
        self.reverification = Reverification(self._shop)
        self.watches = Watches(database, self.jobs)
        self.evidence = Evidence(
            database, directory / "jobs", self.jobs, self.plans, self.resources, self._off_loop
        )
        self.inspection = Inspection(self.resources, self._off_loop)
        self.jobs.enqueue = self._owner.enqueue

    @classmethod
    async def open(
        cls,
        directory: Path,
        registry: Registry,
        *,
        encode_event: Callable[[int, float, object], bytes],
        locations: Mapping[str, str] | None = None,
        barrier: Barrier = _no_barrier,
    ) -> ExecutionCore:
        """Open the workspace: end what a previous life left running, then tell what it left unfinished."""
        database = await asyncio.to_thread(Database.open, directory, encode_event=encode_event)
        try:
            for name in ("plans", "jobs", "run"):
                make_directory(directory / name)
            core = cls(directory, database, registry, locations or {}, barrier)
            swept = await asyncio.to_thread(sweep, directory / "run", _marker(directory, database))
            if swept.ended or swept.surviving:
                log.warning(
                    "an earlier service left processes",
                    extra={"ended": [one.pid for one in swept.ended], "surviving": swept.surviving},
                )
            await asyncio.to_thread(recover, database, directory / "jobs")
        except BaseException:
            database.close()
            raise
        core._owner.start()
        return core

    async def containment(self) -> Containment:
        """How native processes are contained here; found out once."""
        if self._containment is None:
            self._containment = await self.hosts.containment()
        return self._containment

    async def drain(self, grace_seconds: float = DRAIN_SECONDS) -> None:
        """Take no new work, let the working job finish within the grace, end every process.

        What is stored can still be read; then :meth:`close`, when nobody does any more.
        """
        self.jobs.accepting = False
        self.watches.drain()
        try:
            await self.reverification.drain()
            await self._owner.drain(grace_seconds)
        finally:
            await self.hosts.close()

    async def close(self) -> None:
        """Release the store. Nothing of the core may be used any more."""
        async with contextlib.AsyncExitStack() as rest:
            rest.callback(self._pool.shutdown, wait=True)
            rest.push_async_callback(asyncio.to_thread, self.database.close)
            rest.push_async_callback(asyncio.to_thread, self._objects.close)

    def _warm(self, provider: Provider) -> None:
        """Load a provider's engines while its author reads the plan; a failure shows when it runs."""
        for program in (self.engines.producer(provider), self.engines.verifier(provider)):
            background(self.hosts.warm(program))

    async def _off_loop(self, work: Callable[..., Any], *arguments: Any) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, functools.partial(work, *arguments))
