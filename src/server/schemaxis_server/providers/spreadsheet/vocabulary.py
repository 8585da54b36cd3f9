"""The spreadsheet vocabulary: what every spreadsheet provider offers under the same names."""

from __future__ import annotations

from schemaxis_server.providers.contract import ArtifactKind, Operation, Quantity
from schemaxis_server.providers.spreadsheet.sources import sources
from schemaxis_server.providers.spreadsheet.studies import studies
from schemaxis_server.providers.spreadsheet.transforms import transforms

QUANTITIES = (
    Quantity("rows", "", "The number of rows below the names."),
    Quantity("columns", "", "The number of columns."),
    Quantity("header", "", "The names of the columns, in order."),
    Quantity("errors", "", "How many cells hold an error value such as #DIV/0!."),
    Quantity(
        "values",
        "",
        "Cells by name: those that a cells operation named, else all cells of a table of one row by their "
        "columns, else "
        'none. A number, a text, true, false, null for a blank, or {"error": code}.',
    ),
)

CSV = ArtifactKind(
    "table/csv",
    "text/csv",
    "The table: a line of names, commas, decimal points, UTF-8, lines ended by CRLF (RFC 4180).",
)
XLSX = ArtifactKind(
    "table/xlsx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "The table as a workbook with its formulas; sheet Result, and Source or Model where formulas look into one.",
)


def operations(version: str) -> tuple[Operation, ...]:
    """The vocabulary with examples that say ``version``."""
    return (*sources(version), *transforms(version), *studies(version))
