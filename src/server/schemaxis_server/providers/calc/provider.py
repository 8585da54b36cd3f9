"""The ``calc`` provider: LibreOffice Calc, as it is installed on the system, behind the provider contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from schemaxis_server.native.contract import HostProgram
from schemaxis_server.providers.calc import installation, rules
from schemaxis_server.providers.calc.kinds import ODS, PDF
from schemaxis_server.providers.contract import Engine, JsonObject, Manifest, ResolvedDocument
from schemaxis_server.providers.schema import document_schema, operation_schema
from schemaxis_server.providers.spreadsheet import limits, vocabulary
from schemaxis_server.providers.spreadsheet.descriptions import SCOPE, VALUES

VERSION = "schemaxis.calc/1"

MANIFEST = Manifest(
    name="calc",
    version=VERSION,
    title="Tables and formulas with LibreOffice Calc",
    summary="Reads CSV, computes columns and cells by spreadsheet formulas, aggregates, sorts, filters, joins, solves "
    "for a goal and charts; publishes CSV, ODS, XLSX and PDF, charts included. The same documents run on sheet, which "
    f"starts faster and has no ODS and PDF. {VALUES} {limits.TABLE} Here numbers keep 15 digits in ODS, XLSX and where "
    "they become text; a difference below about 1e-15 of its terms is 0; TRUE and FALSE count as numbers, so that "
    "formulas which sum, compare or join them are refused; wrong arguments give #VALUE! where sheet has #NUM! or #REF!.",
    scope=SCOPE,
    operations=vocabulary.operations(VERSION),
    quantities=vocabulary.QUANTITIES,
    publishes=(vocabulary.CSV, vocabulary.XLSX, ODS, PDF),
    verification="The document evaluated again in a second formulation, its formulas by another engine (Formualizer), "
    "to 1e-12; the CSV read by another parser and compared cell by cell; the formulas in XLSX and ODS compared with "
    "the document's, their values with the CSV, and the XLSX calculated again by Formualizer and IronCalc; the numbers "
    "and texts of the PDF read and compared. How formulas are parsed and filled down is common to both.",
)

_FOLDER = "schemaxis_server.providers.calc"
_JOBS_PER_OFFICE = 100

VERIFIER = HostProgram(
    name="calc-verifier",
    entry=f"{_FOLDER}.verifier:run",
    preload=(f"{_FOLDER}.verifier", f"{_FOLDER}.warm_verifier"),
)


@dataclass(frozen=True, slots=True)
class CalcProvider:
    """Implements :class:`schemaxis_server.providers.contract.Provider`."""

    manifest: Manifest = MANIFEST

    def producer(self, engine: Engine) -> HostProgram:
        program = engine.path
        return HostProgram(
            name="calc",
            entry=f"{_FOLDER}.host:run",
            preload=(f"{_FOLDER}.resident", f"{_FOLDER}.host"),
            python=installation.python_of(program),
            environment={installation.PROGRAM_VARIABLE: program},
            jobs_per_host=_JOBS_PER_OFFICE,
        )

    def verifier(self, engines: Mapping[str, Engine]) -> HostProgram:
        return VERIFIER

    def engine(self, location: str | None = None) -> Engine:
        """LibreOffice at ``location``: ``soffice.bin``, the folder it is in or the installation's; else Debian's."""
        return installation.look(location)

    def plan(self, document: JsonObject) -> ResolvedDocument:
        """Raises ``Fault("INVALID_DOCUMENT")`` with all problems."""
        return rules.resolve(document, self.manifest)

    def schema(self, operation: str | None = None) -> JsonObject:
        """Raises ``Fault("NOT_FOUND")`` for an operation that there is not."""
        if operation is None:
            return document_schema(self.manifest)
        return operation_schema(self.manifest, operation)


PROVIDER = CalcProvider()
