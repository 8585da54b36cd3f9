"""What the engines can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Scope:
    """A scope and how many capabilities lie in it, at any depth."""

    scope: str
    capability_count: int


@dataclass(frozen=True, slots=True)
class CapabilitySummary:
    """A capability in short. ``filter`` is its name in a document, empty for a whole provider."""

    capability: str
    title: str
    purpose: str
    scope: str
    provider: str
    document_version: str
    filter: str
    available: bool


@dataclass(frozen=True, slots=True)
class ScopeLevel:
    """One level of the scope tree: the scopes below, and the capabilities directly in it."""

    scope: str
    scopes: tuple[Scope, ...]
    capabilities: tuple[CapabilitySummary, ...]


@dataclass(frozen=True, slots=True)
class CapabilityMatch:
    """A match of a search: how well it matched, above 0 to 1, and why."""

    capability: CapabilitySummary
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class CapabilityMatches:
    """The matches of a search, best first, and how many there are in all."""

    matches: tuple[CapabilityMatch, ...]
    total: int


@dataclass(frozen=True, slots=True)
class CapabilityInputs:
    """How many inputs a capability takes (``maximum`` is ``None`` for any number) and what they are."""

    minimum: int
    maximum: int | None
    purpose: str


@dataclass(frozen=True, slots=True)
class CapabilityOption:
    """An option: its meaning, unit, JSON Schema, and its default when it need not be given.

    ``has_default`` tells a default of JSON ``null`` from none; ``accepts`` lists the artifact kinds
    of an option that is a bound file.
    """

    name: str
    purpose: str
    unit: str
    required: bool
    default: Any
    has_default: bool
    schema: Any
    accepts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CapabilityQuantity:
    """A quantity that a result measures; ``unit`` is empty when it has none.

    ``pointer`` (RFC 6901) is where the example's result has it, and what a criterion points at.
    """

    name: str
    unit: str
    purpose: str
    pointer: str


@dataclass(frozen=True, slots=True)
class CapabilityArtifact:
    """A kind of artifact that is published."""

    kind: str
    media_type: str
    purpose: str


@dataclass(frozen=True, slots=True)
class CapabilityDescription:
    """All that is needed to use a capability; ``example`` is a document that plans and runs as it is.

    ``install`` says what to install when the engine is missing.
    """

    summary: CapabilitySummary
    inputs: CapabilityInputs
    options: tuple[CapabilityOption, ...]
    quantities: tuple[CapabilityQuantity, ...]
    artifacts: tuple[CapabilityArtifact, ...]
    verification: str
    example: dict[str, Any]
    engine: str
    install: str | None


@dataclass(frozen=True, slots=True)
class CapabilitySchema:
    """A JSON Schema (2020-12) and the document version that it belongs to."""

    version: str
    schema: Mapping[str, Any]
