"""Captured plans."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class PlanProvider:
    """A provider that a plan uses, with the versions of its document and its engine."""

    provider: str
    document_version: str
    engine: str
    engine_version: str


@dataclass(frozen=True, slots=True)
class PlanOperation:
    """One document given to one provider: its nodes in the order of execution, and its outputs."""

    operation_id: str
    provider: str
    nodes: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Binding:
    """A resource bound into a document at ``pointer``; ``sha256`` is hexadecimal."""

    pointer: str
    resource_id: str
    kind: str
    sha256: str


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """A captured plan, which never changes. ``digest`` is SHA-256 in hexadecimal."""

    plan_id: str
    task_id: str
    revision: int
    digest: str
    providers: tuple[PlanProvider, ...]
    operations: tuple[PlanOperation, ...]
    bindings: tuple[Binding, ...]
    create_time: datetime
