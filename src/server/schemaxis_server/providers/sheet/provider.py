"""The ``sheet`` provider: IronCalc, embedded, behind the provider contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from schemaxis_server.native.contract import HostProgram
from schemaxis_server.providers.contract import Engine, JsonObject, Manifest, ResolvedDocument
from schemaxis_server.providers.schema import document_schema, operation_schema
from schemaxis_server.providers.spreadsheet import limits, rules, vocabulary
from schemaxis_server.providers.spreadsheet.descriptions import SCOPE, VALUES

VERSION = "schemaxis.sheet/1"
_ENGINE = "IronCalc"
_PACKAGES = {"ironcalc": "ironcalc>=0.9.1,<0.10", "formualizer": "formualizer>=0.13,<0.14"}

MANIFEST = Manifest(
    name="sheet",
    version=VERSION,
    title="Tables and formulas with IronCalc",
    summary="Reads CSV, computes columns and cells by spreadsheet formulas, aggregates, sorts, filters, "
    "joins, solves for "
    f"a goal and charts; publishes CSV and XLSX with formulas. {VALUES} {limits.TABLE}",
    scope=SCOPE,
    operations=vocabulary.operations(VERSION),
    quantities=vocabulary.QUANTITIES,
    publishes=(vocabulary.CSV, vocabulary.XLSX),
    verification="The document evaluated again in a second formulation, its formulas by another engine "
    "(Formualizer), to "
    "1e-12; the CSV read by another parser and compared cell by cell; the XLSX's formulas compared with the "
    "document's and recalculated by the other engine. How formulas are parsed and filled down is common to both.",
)

_FOLDER = "schemaxis_server.providers.sheet"

PRODUCER = HostProgram(
    name="sheet",
    entry=f"{_FOLDER}.host:run",
    preload=(f"{_FOLDER}.host", f"{_FOLDER}.warm"),
)
VERIFIER = HostProgram(
    name="sheet-verifier",
    entry=f"{_FOLDER}.verifier:run",
    preload=(f"{_FOLDER}.verifier", f"{_FOLDER}.warm_verifier"),
)


@dataclass(frozen=True, slots=True)
class SheetProvider:
    """Implements :class:`schemaxis_server.providers.contract.Provider`."""

    manifest: Manifest = MANIFEST

    def producer(self, engine: Engine) -> HostProgram:
        return PRODUCER

    def verifier(self, engines: Mapping[str, Engine]) -> HostProgram:
        return VERIFIER

    def engine(self, location: str | None = None) -> Engine:
        """Both packages, found without importing them. They are embedded: ``location`` has no meaning."""
        found: dict[str, str] = {}
        for package, wanted in _PACKAGES.items():
            try:
                found[package] = version(package)
            except PackageNotFoundError:
                found[package] = ""
            if find_spec(package) is None or not found[package]:
                problem = f"the Python package {package} is not installed"
                install = f"python -m pip install '{wanted}'"
                return Engine(_ENGINE, found["ironcalc"], "", False, problem, install)
        spec = find_spec("ironcalc")
        path = (spec.origin if spec else None) or ""
        return Engine(_ENGINE, found["ironcalc"], path, True)

    def plan(self, document: JsonObject) -> ResolvedDocument:
        """Raises ``Fault("INVALID_DOCUMENT")`` with all problems."""
        return rules.resolve(document, self.manifest)

    def schema(self, operation: str | None = None) -> JsonObject:
        """Raises ``Fault("NOT_FOUND")`` for an operation that there is not."""
        if operation is None:
            return document_schema(self.manifest)
        return operation_schema(self.manifest, operation)


PROVIDER = SheetProvider()
