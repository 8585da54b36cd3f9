"""The provider contract: how an engine describes itself, plans, runs and is verified.

A provider is a folder with a manifest, a pure planner, a host program and a verifier program.
Everything here is plain frozen data, free of gRPC, the store and any engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from schemaxis_server.native.contract import HostProgram

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ArtifactKind:
    """A kind of publication, for instance ``geometry/step`` of media type ``model/step``."""

    kind: str
    media_type: str
    purpose: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation (a node's ``filter``) of a provider's document.

    ``options`` is a JSON Schema 2020-12 object whose properties carry ``description``,
    ``default`` and, for measured options, ``unit`` (for instance ``mm`` or ``deg``).
    ``file_options`` maps the name of a file option to the artifact kinds it accepts.
    ``keywords`` are the other words that users of the field say. ``example`` is a complete
    document that plans and runs as it stands.
    """

    name: str
    title: str
    purpose: str
    scope: str
    min_inputs: int
    max_inputs: int | None
    options: JsonObject
    input_purpose: str = ""
    keywords: tuple[str, ...] = ()
    example: JsonObject = field(default_factory=dict)
    file_options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    verification: str = ""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A measured quantity in a result. ``unit`` is empty for a count, a flag or a structure."""

    name: str
    unit: str
    purpose: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a provider can do. ``name`` is what a task authorises; ``version`` what a document says."""

    name: str
    version: str
    title: str
    summary: str
    scope: str
    operations: tuple[Operation, ...]
    quantities: tuple[Quantity, ...]
    publishes: tuple[ArtifactKind, ...]
    verification: str
    max_attempt_seconds: float = 86_400.0


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine that was found, or why it was not and what to install."""

    name: str
    version: str
    path: str
    available: bool
    problem: str = ""
    install: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a document: where, what is wrong, what was expected, the nearest valid name."""

    pointer: str
    message: str
    expected: str = ""
    nearest: str = ""


@dataclass(frozen=True, slots=True)
class ResolvedDocument:
    """A document after planning.

    ``document`` is the authored document with every default written out: the whole of what the
    host reads. Its nodes keep their places, so that a pointer means the same in both.
    ``operations`` are the node ids in execution order. A document with problems never becomes
    one of these.
    """

    document: JsonObject
    operations: tuple[str, ...]
    outputs: tuple[str, ...]


class Provider(Protocol):
    """One engine behind the contract.

    **Producer host.** Request: ``{"document": <resolved document>, "bindings": {pointer: path}}``.
    It writes publications below ``publications/`` of its directory and returns
    ``{"outputs": {<id>: {<quantity>: {"value": v, "unit": u} | value}}, "publications":
    [{"name", "file", "kind", "mediaType", "operation", "units"}], "engine": {"name",
    "version"}, "warnings": [text]}``. ``file`` is relative to the directory. An input that the
    engine cannot work on is reported by raising ``UnsupportedInput(message, pointer)`` of the
    host kit.

    A warning is for what was done as it was written, but hardly meant: it starts with the
    pointer of the node (``/nodes/2: ``), then says what was seen and what to do. Nodes that no
    output is made from are among them (``order.unused_warnings``); they need not be built.

    **Verifier host.** Request: ``{"document", "outputs", "publications": [{"name", "path",
    "kind", "mediaType", "operation", "units"}], "pictures": bool, "bindings"}``, where the paths are absolute
    and read-only. It returns ``{"checks": [{"name", "scope", "engine", "passed", "expected", "observed",
    "tolerance"}], "notCovered": [text], "pictures": [{"name", "file", "kind", "mediaType",
    "operation", "derivedFrom"}], "warnings": [text]}``. It must judge from the document and
    the bytes, never from what the producer claims alone.

    In every check ``expected`` is what should be there: worked out from the document, or, where
    a file is on trial, the result that other checks hold against the document. ``observed`` is
    what the thing on trial shows: what the result claims, or what the file holds. ``scope``
    says first whether the checking engine is independent of the producer's.
    """

    @property
    def manifest(self) -> Manifest: ...

    def producer(self, engine: Engine) -> HostProgram:
        """The program that works in the engine that :meth:`engine` found."""

    def verifier(self, engines: Mapping[str, Engine]) -> HostProgram:
        """The program that checks; ``engines`` are those of all providers by name, so that another one can do it."""

    def engine(self, location: str | None) -> Engine:
        """Find the engine, at ``location`` if the configuration names one. Cheap; imports no engine."""

    def plan(self, document: JsonObject) -> ResolvedDocument:
        """Validate and resolve an authored document. Pure.

        Raises ``Fault("INVALID_DOCUMENT")`` with all problems at once.
        """

    def schema(self, operation: str | None = None) -> JsonObject:
        """The JSON Schema 2020-12 of the document, or of one operation's node."""
