"""The operations that a table begins with: readCSV and cells."""

from __future__ import annotations

from schemaxis_server.providers.contract import Operation
from schemaxis_server.providers.spreadsheet import limits
from schemaxis_server.providers.spreadsheet import schemas as s
from schemaxis_server.providers.spreadsheet.descriptions import FORMULAS, SCOPE, VERIFIED, document, node
from schemaxis_server.providers.tables import dialect

CSV_KINDS = ("table/csv", "series/csv")


def sources(version: str) -> tuple[Operation, ...]:
    return (
        Operation(
            name="readCSV",
            title="Read CSV",
            purpose="A table from a CSV file that an earlier, verified job published. Leave file null and "
            "bind a resource of "
            "kind table/csv or series/csv to it when planning. Columns hold numbers (an empty cell is blank), those "
            "listed in textColumns hold text letter for letter: leading zeros, long ids, dates, 1e5, =1+2. "
            + dialect.STRICT,
            scope=f"{SCOPE}/exchange",
            min_inputs=0,
            max_inputs=0,
            options=s.options(
                {
                    "file": s.file("table/csv or series/csv"),
                    **dialect.options(),
                    "textColumns": dialect.text_columns_option(),
                }
            ),
            keywords=("import", "load", "open", "csv", "tsv", "delimited", "data", "ingest", "file"),
            example=document(version, node("data", "readCSV", {"file": None})),
            file_options={"file": CSV_KINDS},
            verification=VERIFIED,
        ),
        Operation(
            name="cells",
            title="Cells",
            purpose="A table written out: column names and rows of cells, numbers, texts, true, false, null "
            "for a blank, and "
            "formulas, which are texts that begin with =. The names stand in row 1 of the sheet, so that the "
            "first row "
            'of cells is row 2. A text that begins with = but is none is written {"text": "=1+2"}. Cells may be '
            "given names, whose values the result then holds. " + FORMULAS,
            scope=f"{SCOPE}/tables",
            min_inputs=0,
            max_inputs=0,
            options=s.options(
                {
                    "columns": s.names("The column names, from column A on.", 1, limits.MAX_AUTHORED_COLUMNS),
                    "rows": s.grid(
                        "The rows below the names. A row shorter than the names ends in blanks. At most "
                        f"{limits.MAX_AUTHORED_ROWS} rows."
                    ),
                    "names": s.listed(
                        "Cells whose values the result names.",
                        s.item(
                            {
                                "name": s.name("The name in the result's values."),
                                "cell": s.cell("The cell, for instance B3."),
                            }
                        ),
                        0,
                    ),
                }
            ),
            keywords=(
                "sheet",
                "table",
                "grid",
                "model",
                "spreadsheet",
                "worksheet",
                "formula",
                "calculate",
                "values",
            ),
            example=document(
                version,
                node(
                    "budget",
                    "cells",
                    {
                        "columns": ["item", "cost"],
                        "rows": [["rent", 900], ["food", 312.5], ["total", "=SUM(B2:B3)"]],
                        "names": [{"name": "total", "cell": "B4"}],
                    },
                ),
            ),
            verification=VERIFIED,
        ),
    )
