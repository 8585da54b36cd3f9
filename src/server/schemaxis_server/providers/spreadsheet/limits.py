"""How large spreadsheet documents and tables may be."""

from __future__ import annotations

MAX_ROWS = 100_000
MAX_COLUMNS = 256
MAX_CELLS = 500_000
MAX_FORMULAS = 200_000
MAX_AUTHORED_ROWS = 2_000
MAX_AUTHORED_COLUMNS = 100
MAX_TEXT = 32_767
MAX_NAME = 256
MAX_SEEK_CELLS = 20_000

TABLE = f"A table has at most {MAX_ROWS} rows, {MAX_COLUMNS} columns, {MAX_CELLS} cells and {MAX_FORMULAS} formulas."
