"""What a producer publishes of its tables: the result's quantities and the CSV."""

from __future__ import annotations

from typing import Any

from schemaxis_server.providers.spreadsheet.evaluation import named_values
from schemaxis_server.providers.spreadsheet.table import Table, errors
from schemaxis_server.providers.spreadsheet.values import as_json, csv_text
from schemaxis_server.providers.tables.writer import write_rows


def quantities(table: Table) -> dict[str, Any]:
    """The result of one output."""
    measured = {
        "rows": len(table.rows),
        "columns": len(table.columns),
        "header": list(table.columns),
        "errors": errors(table),
        "values": {name: as_json(value) for name, value in named_values(table).items()},
    }
    return {name: {"value": value, "unit": ""} for name, value in measured.items()}


def csv(table: Table) -> bytes:
    return write_rows(table.columns, [[csv_text(value) for value in row] for row in table.rows])


def publication(output: str, suffix: str, kind: str, media_type: str) -> dict[str, str]:
    return {
        "name": f"{output}.{suffix}",
        "file": f"publications/{output}.{suffix}",
        "kind": kind,
        "mediaType": media_type,
        "operation": output,
        "units": "",
    }
