"""The pool of warm hosts: one zygote an engine, and the supervisor that runs jobs on them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemaxis_server.faults import Fault
from schemaxis_server.native import procfs
from schemaxis_server.native.containment import Containment, probe
from schemaxis_server.native.contract import End, HostProgram, Listener, Outcome, Run
from schemaxis_server.native.host import Host, Settings, ThreadedPreload
from schemaxis_server.native.supervision import Attempt, never_started, prepare

_log = logging.getLogger(__name__)

_SHORT_LIFE_SECONDS = 10.0
_SHORT_LIVES = 3
_CLOSE_SECONDS = 5.0
_NOTICE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class HostStats:
    """One host of the pool.

    ``state`` is ``starting``, ``ready`` or ``stopped`` (started again by the next run).
    ``starts`` counts starts and ``jobs`` runs over the pool's life. ``rss_bytes`` is the zygote's
    own, shared pages included. ``problem`` is why the last start failed.
    """

    state: str
    pid: int
    starts: int
    jobs: int
    rss_bytes: int
    problem: str


class _Slot:
    """The place of one host program in the pool."""

    def __init__(self, program: HostProgram) -> None:
        self.program = program
        self.host: Host | None = None
        self.starting: asyncio.Task[Host] | None = None
        self.preloads = True
        self.starts = 0
        self.jobs = 0
        self.short_lives = 0
        self.problem = ""

    @property
    def living(self) -> Host | None:
        return self.host if self.host is not None and self.host.alive else None


class HostPool:
    """Keeps one zygote warm for each host program and runs jobs on it; a ``Supervisor``.

    ``runtime_directory`` (made if it is missing, 0700) takes records and host logs. ``marker``
    is the workspace's, see ``sweep``. ``namespaces`` False forces the weaker containment, for tests. Made
    and used on one event loop. :meth:`close` it; if the process dies instead, the hosts end
    themselves.
    """

    def __init__(
        self, runtime_directory: Path, marker: str, *, namespaces: bool = True, start_seconds: float = 120.0
    ) -> None:
        runtime_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._settings = Settings(runtime_directory.resolve(), marker, namespaces, start_seconds)
        self._slots: dict[str, _Slot] = {}
        self._runs: set[asyncio.Future[None]] = set()
        self._retired: set[asyncio.Task[None]] = set()
        self._closing: asyncio.Task[None] | None = None

    async def warm(self, program: HostProgram) -> None:
        """Start the host if it is not up, and wait until it has loaded its engine.

        Raises ``Fault("MISSING_RUNTIME")``.
        """
        await self._obtain(program)

    async def run(self, run: Run, listener: Listener, cancel: asyncio.Event) -> Outcome:
        """Run a host to its end; see ``contract.Supervisor``.

        Raises ``Fault`` also with ``SHUTTING_DOWN``, and with ``STORAGE_FULL`` when the run's
        directory cannot take its logs; nothing was started then.
        """
        began = time.monotonic()
        if cancel.is_set():
            return never_started(End.CANCELLED, began)
        cancelled: asyncio.Future[Any] = asyncio.ensure_future(cancel.wait())
        finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._runs.add(finished)
        try:
            prepare(run.directory)
            for _ in range(2):
                obtained = await self._obtain_in_time(run, cancelled, began)
                if isinstance(obtained, Outcome):
                    return obtained
                host, warm = obtained
                attempt = Attempt(run, listener, host, warm=warm, began=began)
                outcome = await self._attempt(attempt, cancelled, host)
                await self._recycle(host, sound=outcome.end is End.EXITED and outcome.exit_code == 0)
                if outcome.end is not End.LOST or outcome.containment:
                    return outcome
                # No worker was given the job, so that another host may try. A host that is there
                # all the same could not fork, and would not the next time.
                await asyncio.wait({host.ended}, timeout=_NOTICE_SECONDS)
                if not host.ended.done():
                    break
            return never_started(End.LOST, began, "no host could take the job; the service's log says why")
        finally:
            cancelled.cancel()
            self._runs.discard(finished)
            finished.set_result(None)

    def stats(self) -> Mapping[str, HostStats]:
        """Every host that was asked for, by its program's name."""
        return {name: _stats(slot) for name, slot in self._slots.items()}

    async def containment(self) -> Containment:
        """The level that hosts reach here, from a host that is up or else by a probe."""
        for slot in self._slots.values():
            if slot.living is not None and slot.living.ready is not None:
                return Containment.of(slot.living.ready)
        return await probe(self._settings)

    async def close(self) -> None:
        """End all hosts and all runs on them. May be called again, and at once from several places."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        starting = [slot.starting for slot in self._slots.values() if slot.starting is not None]
        for task in starting:
            task.cancel()
        await asyncio.gather(*starting, return_exceptions=True)
        hosts = [slot.host for slot in self._slots.values() if slot.host is not None]
        await asyncio.gather(*(host.close() for host in hosts), *self._retired)
        if self._runs:
            await asyncio.wait(set(self._runs), timeout=_CLOSE_SECONDS)

    async def _attempt(self, attempt: Attempt, cancelled: asyncio.Future[Any], host: Host) -> Outcome:
        host.served += 1
        try:
            attempt.submit()
            self._slots[attempt.program.name].jobs += 1
            return await attempt.outcome(cancelled)
        except BaseException:
            # The caller was cancelled itself: leave no process behind, then go.
            await asyncio.shield(asyncio.ensure_future(self._abandon(attempt, host)))
            raise
        finally:
            attempt.close()

    async def _abandon(self, attempt: Attempt, host: Host) -> None:
        await attempt.abandon()
        await self._recycle(host, sound=False)

    async def _recycle(self, host: Host, *, sound: bool) -> None:
        """Replace a host whose engine served enough jobs, or one whose last run was not sound.

        In the second case the engine may still be at work for that run, so its end is awaited.
        """
        limit = host.program.jobs_per_host
        if not limit or (sound and host.served < limit):
            return
        slot = self._slots[host.program.name]
        if slot.host is host:
            slot.host = None
            if self._closing is None:
                self._begin_start(slot)
        closing = self._close_later(host)
        if not sound:
            await asyncio.shield(closing)

    async def _obtain_in_time(
        self, run: Run, cancelled: asyncio.Future[Any], began: float
    ) -> tuple[Host, bool] | Outcome:
        """The host, or the outcome when the run's time or its caller's patience is over first."""
        obtaining = asyncio.ensure_future(self._obtain(run.program))
        left = began + run.limits.deadline_seconds - time.monotonic()
        try:
            awaited: set[asyncio.Future[Any]] = {obtaining, cancelled}
            await asyncio.wait(awaited, timeout=max(0.0, left), return_when=asyncio.FIRST_COMPLETED)
            if obtaining.done():
                return obtaining.result()
            return never_started(End.CANCELLED if cancelled.done() else End.DEADLINE, began)
        finally:
            obtaining.cancel()

    async def _obtain(self, program: HostProgram) -> tuple[Host, bool]:
        """A host that takes jobs, and whether it was up and had its engine loaded already."""
        self._check_open()
        slot = self._slots.setdefault(program.name, _Slot(program))
        if slot.program != program:
            self._retire(slot)
            slot = self._slots[program.name] = _Slot(program)
        if slot.living is not None:
            return slot.living, slot.preloads
        if slot.starting is None:
            self._begin_start(slot)
        starting = slot.starting
        assert starting is not None
        # Several runs may wait for one start, and none of them may end it for the others.
        await asyncio.wait({starting})
        if starting.cancelled():
            self._check_open()
            raise Fault("MISSING_RUNTIME", "The host was replaced while it started; execute again.")
        return starting.result(), False

    def _check_open(self) -> None:
        if self._closing is not None:
            raise Fault("SHUTTING_DOWN", "The service is stopping and starts no host")

    def _begin_start(self, slot: _Slot) -> None:
        slot.starts += 1
        slot.starting = asyncio.ensure_future(self._start(slot))
        # Nobody may be waiting for it; a failure is logged where it happens.
        slot.starting.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _start(self, slot: _Slot) -> Host:
        program = slot.program
        try:
            host = await self._start_host(slot)
        except Fault as fault:
            slot.problem = fault.record.message
            _log.warning("host did not start", extra={"host": program.name, "problem": slot.problem})
            raise
        finally:
            slot.starting = None
        slot.problem = ""
        slot.host = host
        host.on_problem = lambda message: _log.error(
            "host cannot fork", extra={"host": program.name, "pid": host.pid, "problem": message}
        )
        host.ended.add_done_callback(lambda _: self._host_ended(slot, host))
        return host

    async def _start_host(self, slot: _Slot) -> Host:
        program = slot.program
        module = program.entry.partition(":")[0]
        if slot.preloads:
            try:
                return await Host.start(program, [*program.preload, module], self._settings)
            except ThreadedPreload:
                slot.preloads = False
                _log.warning(
                    "loading the engine starts threads; every job will load it anew",
                    extra={"host": program.name},
                )
        return await Host.start(program, (), self._settings)

    def _host_ended(self, slot: _Slot, host: Host) -> None:
        if slot.host is not host:
            return
        slot.host = None
        if self._closing is not None or self._slots.get(slot.program.name) is not slot:
            return
        lived = time.monotonic() - host.began
        slot.short_lives = slot.short_lives + 1 if lived < _SHORT_LIFE_SECONDS else 0
        again = slot.short_lives <= _SHORT_LIVES and slot.starting is None
        fields = {"host": slot.program.name, "pid": host.pid, "exit_code": host.ended.result()}
        _log.warning("host died", extra={**fields, "lived_seconds": lived, "starts_again": again})
        if again:
            self._begin_start(slot)

    def _retire(self, slot: _Slot) -> None:
        """End the host of a program that has changed; its running jobs end with it."""
        if slot.starting is not None:
            slot.starting.cancel()
        if slot.host is not None:
            self._close_later(slot.host)

    def _close_later(self, host: Host) -> asyncio.Task[None]:
        task = asyncio.ensure_future(host.close())
        self._retired.add(task)
        task.add_done_callback(self._retired.discard)
        return task


def _stats(slot: _Slot) -> HostStats:
    host = slot.living
    state = "starting" if slot.starting is not None else "ready" if host is not None else "stopped"
    pid = host.pid if host is not None else 0
    rss = procfs.resident_bytes(pid) if pid else 0
    return HostStats(state, pid, slot.starts, slot.jobs, rss, slot.problem)
