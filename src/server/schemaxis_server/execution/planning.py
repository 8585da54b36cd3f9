"""Plans: a document validated, resolved and captured, so that what runs is what was agreed."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from schemaxis_server.documents import digest, parse_document
from schemaxis_server.execution.bindings import bind
from schemaxis_server.execution.engines import Engines
from schemaxis_server.execution.idempotency import digest_of, made_before, once
from schemaxis_server.execution.ledger import PLAN_SHELF, TASK_SHELF, Page
from schemaxis_server.execution.records import (
    Binding,
    Plan,
    PlanFile,
    PlanOperation,
    PlanProvider,
    Task,
    now,
)
from schemaxis_server.execution.resources import Resources
from schemaxis_server.execution.tasks import check_revision
from schemaxis_server.execution.unbroken import unbroken
from schemaxis_server.faults import Fault
from schemaxis_server.ids import new_id
from schemaxis_server.providers.contract import Engine, Problem, Provider, ResolvedDocument
from schemaxis_server.providers.problems import Problems, clip, nearest
from schemaxis_server.providers.registry import Registry
from schemaxis_server.store.damage import Corrupt, record_fault
from schemaxis_server.store.database import Database, Transaction
from schemaxis_server.store.files import read_regular, write_immutable

log = logging.getLogger(__name__)

OPERATION_ID = "document"
"""The operation of a plan whose graph is one provider document."""

OffLoop = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Planned:
    """The outcome of planning a document: pure, the same for the same inputs."""

    provider: Provider
    engine: Engine
    resolved: ResolvedDocument
    digest: str
    document_digest: str


class Plans:
    """Captures plans, finds them, and plans again before dispatch."""

    def __init__(
        self,
        database: Database,
        directory: Path,
        registry: Registry,
        engines: Engines,
        resources: Resources,
        off_loop: OffLoop,
        *,
        foresee: Callable[[Provider], None],
    ) -> None:
        self._database = database
        self._directory = directory
        self._registry = registry
        self._engines = engines
        self._resources = resources
        self._off_loop = off_loop
        self._foresee = foresee

    async def create(
        self,
        task_id: str,
        document_text: str,
        expected_revision: int,
        bindings: Mapping[str, str] | None = None,
        request_id: str | None = None,
    ) -> Plan:
        """Capture a document as the task's current plan; its revision moves on by one.

        Raises ``INVALID_DOCUMENT`` with all problems, among them the criteria of the task that no
        result of this document can answer, ``STALE_REVISION``,
        ``UNAUTHORISED_PROVIDER``, ``MISSING_RUNTIME``, ``BINDING_MISMATCH`` and the faults of
        a bound resource; then nothing has changed.
        """
        bindings = dict(bindings or {})

        def request() -> str:
            text = hashlib.sha256(document_text.encode("utf-8", "surrogatepass")).hexdigest()
            return digest_of(
                {"task": task_id, "document": text, "revision": expected_revision, "bindings": bindings}
            )

        # The task first: whoever sees the revision moved on sees the request that moved it too.
        task = TASK_SHELF.get(self._database.reader, task_id)
        made = made_before(self._database.reader, "plan", request_id, request)
        if made is not None:
            return self.get(made)
        check_revision(task, expected_revision)
        document = await self._off_loop(parse_document, document_text)
        provider, resolved = await self._off_loop(self._checked, task, document)
        records = await bind(document, provider, bindings, self._resources)
        planned = await self._off_loop(self._seal, provider, resolved, records)
        plan, data = _capture(task, document, planned, records)
        path = self._directory / f"{plan.plan_id}.json"
        await self._off_loop(write_immutable, path, data)

        def make(tx: Transaction) -> tuple[str, Plan]:
            present = TASK_SHELF.get(tx.connection, task_id)
            check_revision(present, expected_revision)
            PLAN_SHELF.put(tx, plan.plan_id, plan)
            moved = msgspec.structs.replace(present, revision=plan.revision, current_plan_id=plan.plan_id)
            TASK_SHELF.put(tx, task_id, moved)
            tx.count("plans", 1)
            return plan.plan_id, plan

        def unit(tx: Transaction) -> Plan:
            return once(
                tx,
                "plan",
                request_id,
                request,
                lambda id: PLAN_SHELF.get(tx.connection, id),
                lambda: make(tx),
            )

        captured = await unbroken(self._capture(unit, plan, path))
        self._foresee(provider)
        return captured

    async def _capture(self, unit: Callable[[Transaction], Plan], plan: Plan, path: Path) -> Plan:
        """Commit a plan whose file is there already; the file of one that is refused goes."""
        captured = None
        try:
            captured = await self._database.write(unit)
            return captured
        finally:
            if captured is None or captured.plan_id != plan.plan_id:
                await self._off_loop(path.unlink, True)

    def get(self, plan_id: str) -> Plan:
        """The plan in short. Raises ``NOT_FOUND``."""
        return PLAN_SHELF.get(self._database.reader, plan_id)

    async def list(self, task_id: str | None = None, page_token: str = "", page_size: int = 50) -> Page[Plan]:
        """A page of plans, newest first."""
        where = {} if task_id is None else {"task_id": task_id}
        return await self._database.scan(
            lambda connection: PLAN_SHELF.page(connection, page_token, page_size, **where)
        )

    async def file(self, plan: Plan) -> PlanFile:
        """The captured document. Raises ``WORKSPACE_CORRUPT`` if its file is not what was written."""
        return msgspec.json.decode(await self.file_bytes(plan), type=PlanFile)

    async def file_bytes(self, plan: Plan) -> bytes:
        """The text of the captured document's file, checked against its digest."""
        path = self._directory / f"{plan.plan_id}.json"
        try:
            data: bytes = await self._off_loop(read_regular, path)
        except OSError as error:
            raise record_fault("plans", plan.plan_id, error, path) from error
        if hashlib.sha256(data).hexdigest() != plan.file_sha256:
            raise Corrupt("plans", plan.plan_id, "its file's digest does not match")
        return data

    async def replan(self, plan: Plan, file: PlanFile) -> Planned:
        """Plan again before dispatch. Raises ``STALE_PLAN`` when the digest differs now."""
        provider = self.provider(plan.providers[0].provider)
        try:
            resolved = await self._off_loop(self._resolve, provider, file.document)
        except Fault as fault:
            if fault.code == "INVALID_DOCUMENT":
                raise _stale(plan, "the document no longer passes") from fault
            raise
        planned: Planned = await self._off_loop(self._seal, provider, resolved, file.bindings)
        if planned.digest != plan.digest:
            raise _stale(plan, f"planning again gave {planned.digest}")
        return planned

    def provider(self, name: str) -> Provider:
        """The provider that a plan names. Raises ``MISSING_RUNTIME`` if it is gone or lacks its engine."""
        provider = self._registry.get(name)
        if provider is None:
            raise Fault("MISSING_RUNTIME", f"The provider {name} is no longer installed; install it again.")
        self._engines.require(provider)
        return provider

    def _resolve(self, provider: Provider, document: Any) -> ResolvedDocument:
        self._engines.require(provider)
        return provider.plan(document)

    def _seal(self, provider: Provider, resolved: ResolvedDocument, bindings: tuple[Binding, ...]) -> Planned:
        engine = self._engines.of(provider)
        document_digest = digest(resolved.document)
        whole = digest(
            {
                "document": document_digest,
                "bindings": {binding.pointer: binding.sha256 for binding in bindings},
                "provider": provider.manifest.name,
                "engineVersion": engine.version,
                "enginePath": engine.path,
            }
        )
        return Planned(provider, engine, resolved, whole, document_digest)

    def _checked(self, task: Task, document: Any) -> tuple[Provider, ResolvedDocument]:
        """The provider of a document and the document resolved, or every problem that it has."""
        problems = Problems()
        if not isinstance(document, dict):
            problems.add("", f"The document is {clip(document)}.", "an object with version, nodes and output")
            raise problems.fault()
        version = document.get("version")
        provider = self._registry.for_version(version) if isinstance(version, str) else None
        if provider is None:
            raise self._without_provider(task, document)
        _check_scope(task, provider)
        self._engines.require(provider)
        resolved = _planned(provider, document, problems)
        if resolved is None:
            raise problems.fault()
        return provider, resolved

    def _without_provider(self, task: Task, document: dict[str, Any]) -> Fault:
        """The problems of a document whose version names no provider.

        The rest is checked as the provider that is most likely meant.
        """
        allowed = [self._registry[name] for name in task.allowed_providers if name in self._registry]
        by_version = {provider.manifest.version: provider for provider in allowed}
        version = document.get("version")
        near = nearest(version, by_version)
        meant = by_version.get(near) if near else allowed[0] if len(allowed) == 1 else None
        problems = Problems()
        said = (
            f"version is {clip(version)}, which no provider reads"
            if "version" in document
            else "version is missing"
        )
        checked = f"; the rest was checked as {meant.manifest.version}" if meant else ""
        problems.add(
            "/version",
            f"{said}{checked}.",
            f"one of {', '.join(by_version)}",
            given=version,
            names=by_version,
        )
        if meant is not None:
            _planned(meant, {**document, "version": meant.manifest.version}, problems)
        return problems.fault()


def _planned(provider: Provider, document: dict[str, Any], problems: Problems) -> ResolvedDocument | None:
    """The document resolved, or None with the provider's problems added."""
    resolved = None
    before = problems.total
    try:
        resolved = provider.plan(document)
    except Fault as fault:
        if fault.code != "INVALID_DOCUMENT":
            raise
        _take(fault, problems)
    return resolved if problems.total == before else None


def _take(fault: Fault, problems: Problems) -> None:
    """Take over a provider's problems; it need not have listed them as the shared rules do."""
    details = fault.record.details
    try:
        listed = msgspec.convert(details.get("problems"), list[Problem])
    except msgspec.ValidationError:
        listed = [Problem(fault.record.pointer, fault.record.message)]
    total = details.get("total")
    branch = problems.branch()
    branch.kept = listed[: branch.room]
    branch.total = max(len(listed), total if isinstance(total, int) else 0)
    problems.take(branch)


def _check_scope(task: Task, provider: Provider) -> None:
    name = provider.manifest.name
    if name not in task.allowed_providers:
        raise Fault(
            "UNAUTHORISED_PROVIDER",
            f"The task allows {', '.join(task.allowed_providers)}, not {name}; use one of those, "
            "or ask the user for a new task.",
            "/version",
            allowed=list(task.allowed_providers),
        )


def _stale(plan: Plan, why: str) -> Fault:
    return Fault(
        "STALE_PLAN",
        f"The plan no longer holds: {why}. Plan the document again and execute the new plan.",
        planned=plan.digest,
    )


def _capture(
    task: Task, document: Any, planned: Planned, bindings: tuple[Binding, ...]
) -> tuple[Plan, bytes]:
    manifest = planned.provider.manifest
    plan_id = new_id("plan")
    revision = task.revision + 1
    providers = (
        PlanProvider(
            provider=manifest.name,
            document_version=manifest.version,
            engine=planned.engine.name,
            engine_version=planned.engine.version,
        ),
    )
    operations = (
        PlanOperation(
            operation_id=OPERATION_ID,
            provider=manifest.name,
            nodes=planned.resolved.operations,
            outputs=planned.resolved.outputs,
        ),
    )
    file = PlanFile(
        plan_id=plan_id,
        task_id=task.task_id,
        revision=revision,
        digest=planned.digest,
        document=document,
        resolved=planned.resolved.document,
        providers=providers,
        operations=operations,
        bindings=bindings,
    )
    data = msgspec.json.encode(file)
    plan = Plan(
        plan_id=plan_id,
        task_id=task.task_id,
        revision=revision,
        digest=planned.digest,
        providers=providers,
        operations=operations,
        bindings=bindings,
        create_time=now(),
        document_digest=planned.document_digest,
        file_sha256=hashlib.sha256(data).hexdigest(),
    )
    return plan, data
