"""One attempt at a job: run its operations, take in what they published, verify, judge.

It returns how the job ended and writes nothing of that itself.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from schemaxis_server.execution import transitions
from schemaxis_server.execution.bindings import bound_paths, in_resolved
from schemaxis_server.execution.criteria import evaluate
from schemaxis_server.execution.engines import Engines
from schemaxis_server.execution.hosts import Cancelled, Deadline, HostRun, Hosts
from schemaxis_server.execution.job_log import JobLog, VerifierLog
from schemaxis_server.execution.jobs import Jobs
from schemaxis_server.execution.planning import Planned, Plans
from schemaxis_server.execution.publications import Origin, read_publications, store
from schemaxis_server.execution.records import (
    FaultView,
    Job,
    JobState,
    NativeState,
    Plan,
    PlanFile,
    PlanOperation,
    Resource,
    Task,
    Verification,
)
from schemaxis_server.execution.resources import Resources
from schemaxis_server.execution.scheduler import run_graph
from schemaxis_server.execution.transitions import Ending
from schemaxis_server.execution.verification import Subject, Verified, Verifier, failure_of
from schemaxis_server.faults import Fault
from schemaxis_server.providers.contract import ArtifactKind
from schemaxis_server.store.database import Database
from schemaxis_server.store.objects import ObjectStore

Barrier = Callable[[str], Awaitable[None]]
"""Awaited at named instants of an attempt; tests hold it there. In use it does nothing."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """What every attempt works with."""

    database: Database
    jobs: Jobs
    plans: Plans
    resources: Resources
    hosts: Hosts
    engines: Engines
    verifier: Verifier
    objects: ObjectStore
    directory: Path
    barrier: Barrier


@dataclass(slots=True)
class _Produced:
    """What one operation brought so far; kept also when a later step fails."""

    operation: PlanOperation
    run: HostRun
    resources: tuple[Resource, ...] = ()
    verified: Verified | None = None
    pictures: tuple[Resource, ...] = ()
    bindings: dict[str, str] | None = None


class Attempt:
    """Runs one job once. Use :meth:`run`, then read nothing else of it."""

    def __init__(self, shop: Workshop, job: Job, task: Task, plan: Plan, deadline: Deadline) -> None:
        self._shop = shop
        self._job = job
        self._task = task
        self._plan = plan
        self._deadline = deadline
        self._cancel = shop.jobs.cancellation_of(job.job_id)
        self._log = JobLog(shop.database, job.job_id)
        self._began = time.monotonic()
        self._produced: list[_Produced] = []

    async def run(self) -> Ending:
        """Work until an end is known. The log is complete and no process is left when it returns."""
        fault: Fault | None = None
        try:
            return await self._work()
        except Cancelled:
            return self._ending(JobState.CANCELLED, transitions.cancelled_fault())
        except Fault as error:
            fault = error
        finally:
            await self._log.close()
        return self._ending(JobState.FAILED, transitions.view(fault))

    async def _work(self) -> Ending:
        shop, plan = self._shop, self._plan
        file = await shop.plans.file(plan)
        planned = await shop.plans.replan(plan, file)
        await shop.barrier("planned")
        await run_graph(plan.operations, lambda operation: self._produce(operation, planned, file))
        await self._enter_verifying()
        for produced in self._produced:
            await self._verify(produced, planned)
        await bound_paths(plan.bindings, shop.resources)
        await shop.barrier("verified")
        if self._cancel.is_set():
            raise Cancelled
        self._deadline.remaining()
        return self._success()

    async def _produce(self, operation: PlanOperation, planned: Planned, file: PlanFile) -> None:
        shop = self._shop
        provider = planned.provider
        paths = await bound_paths(file.bindings, shop.resources)
        resolved = planned.resolved.document
        bindings = in_resolved(paths, file.document, resolved, provider)
        directory = self._directory(operation)
        await shop.barrier("dispatching")
        run = await shop.hosts.run(
            shop.engines.producer(provider),
            directory,
            {"document": resolved, "bindings": bindings},
            self._deadline,
            self._log,
            self._cancel,
        )
        self._log.native_state = NativeState.EXITED
        for stream in run.outcome.truncated:
            self._log.truncated(stream)
        produced = _Produced(operation, run, bindings=bindings)
        self._produced.append(produced)
        _check_outputs(run.result, operation)
        await shop.barrier("publishing")
        publications = read_publications(
            run.result.get("publications", []), directory, provider.manifest.publishes
        )
        produced.resources = await store(publications, directory, shop.objects, self._origin(operation))

    async def _enter_verifying(self) -> None:
        job_id = self._job.job_id
        job = await self._shop.database.write(
            lambda tx: transitions.move(tx, job_id, JobState.RUNNING, JobState.VERIFYING)
        )
        if job.state is not JobState.VERIFYING:
            raise Cancelled
        await self._shop.barrier("verifying")

    async def _verify(self, produced: _Produced, planned: Planned) -> None:
        shop = self._shop
        subject = Subject(
            program=shop.engines.verifier(planned.provider),
            document=planned.resolved.document,
            outputs=produced.run.result["outputs"],
            bindings=produced.bindings or {},
            resources=produced.resources,
        )
        directory = self._directory(produced.operation) / "verify"
        verified = await shop.verifier.verify(
            subject, directory, self._deadline, VerifierLog(self._log), self._cancel, pictures=True
        )
        produced.verified = verified
        if not verified.verification.verified:
            raise failure_of(verified.verification)
        await self._take_pictures(produced, directory)

    async def _take_pictures(self, produced: _Produced, directory: Path) -> None:
        """Pictures were drawn from what was verified. One that is amiss is a warning, no failure."""
        verified = produced.verified
        assert verified is not None
        kinds = _picture_kinds(verified.pictures)
        sources = {resource.name: resource.resource_id for resource in produced.resources}
        try:
            pictures = read_publications(verified.pictures, directory, kinds, "pictures")
            stored = await store(pictures, directory, self._shop.objects, self._origin(produced.operation))
        except Fault as fault:
            if fault.code == "STORAGE_FULL":
                raise
            produced.verified = Verified(
                verified.verification,
                [],
                (*verified.warnings, f"No picture was taken in: {fault.record.message}"),
            )
            return
        produced.pictures = tuple(
            replace(resource, derived_from=sources.get(picture.derived_from or ""))
            for resource, picture in zip(stored, pictures, strict=True)
        )

    def _success(self) -> Ending:
        ending = self._ending(JobState.SUCCEEDED, None)
        if "verification" not in ending.sections:
            raise RuntimeError("nothing was verified")
        reports, goal = evaluate(self._task.criteria, ending.sections["result"])
        return dataclasses.replace(
            ending,
            goal=goal,
            resources=tuple(
                resource
                for produced in self._produced
                for resource in (*produced.resources, *produced.pictures)
            ),
            sections={**ending.sections, "criteria": reports},
        )

    def _ending(self, state: JobState, fault: FaultView | None) -> Ending:
        checks = tuple(
            check
            for produced in self._produced
            if produced.verified
            for check in produced.verified.verification.checks
        )
        sections: dict[str, Any] = {"operations": self._operations()}
        verification = self._verification()
        if verification is not None:
            sections["verification"] = verification
        sections["result"] = self._result()
        return Ending(
            state=state,
            fault=fault,
            native_state=self._native_state(fault),
            engine_started=self._log.engine_started,
            elapsed_seconds=time.monotonic() - self._began,
            checks=checks,
            sections=sections,
        )

    def _native_state(self, fault: FaultView | None) -> NativeState:
        known = self._log.native_state
        if known is not NativeState.RUNNING:
            return known
        if fault is None or fault.code == "CANCELLED":
            return NativeState.UNKNOWN
        return (
            NativeState.KILLED if fault.code in ("NATIVE_TIMEOUT", "BUDGET_EXPIRED") else NativeState.EXITED
        )

    def _result(self) -> dict[str, Any]:
        """The operations' outputs side by side, as the engines reported them."""
        outputs: dict[str, Any] = {}
        engines: dict[str, Any] = {}
        warnings: list[Any] = []
        for produced in self._produced:
            reported = produced.run.result
            found = reported.get("outputs")
            outputs.update(found if isinstance(found, dict) else {})
            engines[produced.operation.operation_id] = reported.get("engine")
            said = reported.get("warnings", [])
            warnings += said if isinstance(said, list) else [said]
            warnings += produced.verified.warnings if produced.verified else ()
        return {"outputs": outputs, "engines": engines, "warnings": warnings}

    def _verification(self) -> Verification | None:
        made = [produced.verified.verification for produced in self._produced if produced.verified]
        if not made:
            return None
        return Verification(
            verified=all(one.verified for one in made),
            checks=tuple(check for one in made for check in one.checks),
            not_covered=tuple(dict.fromkeys(text for one in made for text in one.not_covered)),
            time=made[-1].time,
        )

    def _operations(self) -> list[dict[str, Any]]:
        runs = {produced.operation.operation_id: produced for produced in self._produced}
        described = []
        for operation in self._plan.operations:
            produced = runs.get(operation.operation_id)
            entry = {**msgspec.to_builtins(operation), "completed": produced is not None}
            if produced is not None:
                outcome = produced.run.outcome
                entry |= {
                    "warmHost": outcome.warm,
                    "containment": outcome.containment,
                    "wallSeconds": round(outcome.wall_seconds, 6),
                    "cpuSeconds": round(outcome.cpu_seconds, 6),
                    "maxRssBytes": outcome.max_rss_bytes,
                    "outputTruncated": bool(outcome.truncated),
                    "publications": [resource.name for resource in produced.resources],
                }
            described.append(entry)
        return described

    def _directory(self, operation: PlanOperation) -> Path:
        return self._shop.directory / self._job.job_id / operation.operation_id

    def _origin(self, operation: PlanOperation) -> Origin:
        return Origin(self._job.job_id, operation.operation_id, self._plan.document_digest)


def _check_outputs(result: dict[str, Any], operation: PlanOperation) -> None:
    outputs = result.get("outputs")
    if not isinstance(outputs, dict) or set(outputs) != set(operation.outputs):
        raise Fault(
            "NATIVE_FAILURE",
            f"The engine's result is refused: it must have exactly the outputs {', '.join(operation.outputs)}.",
        )


def _picture_kinds(pictures: list[Any]) -> list[ArtifactKind]:
    named = {entry.get("kind") for entry in pictures if isinstance(entry, dict)}
    return [
        ArtifactKind(kind, "", "") for kind in named if isinstance(kind, str) and kind.startswith("picture/")
    ]
