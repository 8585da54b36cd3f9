"""The ``octave`` provider: GNU Octave, as it is installed on the system, behind the provider contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from schemaxis_server.native.contract import HostProgram
from schemaxis_server.providers.contract import Engine, JsonObject, Manifest, ResolvedDocument
from schemaxis_server.providers.numerics import rules, vocabulary
from schemaxis_server.providers.numerics.descriptions import SCOPE
from schemaxis_server.providers.octave import installation
from schemaxis_server.providers.octave.reverse import environment
from schemaxis_server.providers.schema import document_schema, operation_schema

VERSION = "schemaxis.octave/1"

MANIFEST = Manifest(
    name="octave",
    version=VERSION,
    title="Numerics with GNU Octave",
    summary=f"{vocabulary.SUMMARY} The same documents run on numpy, which needs nothing installed.",
    scope=SCOPE,
    operations=vocabulary.operations(VERSION),
    quantities=vocabulary.QUANTITIES,
    publishes=vocabulary.PUBLISHES,
    verification="The document is computed again from its source data by another engine, NumPy and SciPy, which reads "
    "source files with another parser. The published CSV and JSON, read by other parsers, and each quantity are held "
    "to it at 1e-9. A plot is drawn from the verified CSV.",
)

_FOLDER = "schemaxis_server.providers.octave"

VERIFIER = HostProgram(
    name="octave-verifier",
    entry=f"{_FOLDER}.verifier:run",
    preload=(
        f"{_FOLDER}.verifier",
        "schemaxis_server.providers.numpy_.warm",
        "schemaxis_server.providers.numpy_.warm_verifier",
    ),
)


@dataclass(frozen=True, slots=True)
class OctaveProvider:
    """Implements :class:`schemaxis_server.providers.contract.Provider`."""

    manifest: Manifest = MANIFEST

    def producer(self, engine: Engine) -> HostProgram:
        return HostProgram(
            name="octave",
            entry=f"{_FOLDER}.host:run",
            preload=(f"{_FOLDER}.host",),
            environment=environment(engine),
            ahead=f"{_FOLDER}.session:start",
        )

    def verifier(self, engines: Mapping[str, Engine]) -> HostProgram:
        return VERIFIER

    def engine(self, location: str | None = None) -> Engine:
        """The program ``octave-cli``: on PATH, or ``location``, which is its path or that of its folder."""
        return installation.look(location)

    def plan(self, document: JsonObject) -> ResolvedDocument:
        """Raises ``Fault("INVALID_DOCUMENT")`` with all problems."""
        return rules.resolve(document, self.manifest)

    def schema(self, operation: str | None = None) -> JsonObject:
        """Raises ``Fault("NOT_FOUND")`` for an operation that there is not."""
        if operation is None:
            return document_schema(self.manifest)
        return operation_schema(self.manifest, operation)


PROVIDER = OctaveProvider()
