"""What Calc publishes besides CSV and XLSX, and of which tables. Standard library only: planner and hosts share it."""

from __future__ import annotations

from schemaxis_server.providers.contract import ArtifactKind
from schemaxis_server.providers.spreadsheet.table import Table
from schemaxis_server.providers.spreadsheet.vocabulary import CSV, XLSX

MAX_PDF_CELLS = 20_000

ODS = ArtifactKind(
    "table/ods",
    "application/vnd.oasis.opendocument.spreadsheet",
    "The table as an OpenDocument spreadsheet with its formulas, and of a chart node with the chart; sheet Result, and "
    "Source or Model where formulas look into one.",
)
PDF = ArtifactKind(
    "document/pdf",
    "application/pdf",
    "The workbook as it is printed, of a chart node with the chart; numbers to ten decimals. Of tables "
    f"with at most {MAX_PDF_CELLS} cells.",
)
PUBLISHED = {"csv": CSV, "xlsx": XLSX, "ods": ODS, "pdf": PDF}


def suffixes(table: Table) -> tuple[str, ...]:
    """What is published of a table, by the suffix of its file."""
    cells = sum((1 + len(one.rows)) * len(one.columns) for one in (table, *table.sources.values()))
    return ("csv", "xlsx", "ods", "pdf") if cells <= MAX_PDF_CELLS else ("csv", "xlsx", "ods")
