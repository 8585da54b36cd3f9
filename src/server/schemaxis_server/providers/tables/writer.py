"""Writes CSV by RFC 4180, so that :mod:`reader` gives back every cell as it was."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from schemaxis_server.providers.tables.dialect import Dialect
from schemaxis_server.providers.tables.numbers import format_number

Cell = str | float | int | None

CANONICAL = Dialect()
"""What is published: a header, commas, decimal points, UTF-8 without a byte order mark, CRLF."""


def write(columns: Mapping[str, Sequence[Cell]], dialect: Dialect = CANONICAL) -> bytes:
    """The columns, all of one length, with their names in the first line.

    Numbers are written as their shortest text that reads back as the same double; None is an empty cell.
    """
    cells = [_texts(column, dialect) for column in columns.values()]
    return write_rows(list(columns), list(zip(*cells, strict=True)), dialect)


def _texts(column: Sequence[Cell], dialect: Dialect) -> Sequence[Cell]:
    """A column of finite numbers as texts, all at once, where none of them needs quotes; others as they are."""
    if dialect.decimal == "." and set(map(type, column)) == {float} and all(map(math.isfinite, column)):  # type: ignore[arg-type]
        return list(map(repr, column))
    return column


def write_rows(names: Sequence[str], rows: Sequence[Sequence[Cell]], dialect: Dialect = CANONICAL) -> bytes:
    """The same from rows."""
    # A file that starts with U+FEFF would be taken for one with a byte order mark, and lose it.
    quoted = re.compile(rf'["\r\n{re.escape(dialect.delimiter)}]|\A\ufeff')

    def text(cell: Cell) -> str:
        if isinstance(cell, str):
            return '"' + cell.replace('"', '""') + '"' if quoted.search(cell) else cell
        return "" if cell is None else format_number(cell, dialect.decimal)

    shown = [dialect.delimiter.join(map(text, row)) for row in ([names, *rows] if dialect.header else rows)]
    codec = {"latin-1": "latin-1", "windows-1252": "cp1252", "utf-16": "utf-16"}.get(
        dialect.encoding, "utf-8"
    )
    return "".join(f"{line}\r\n" for line in shown).encode(codec)
