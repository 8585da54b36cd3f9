"""The values of cells: number, text, boolean, blank, or an error that is carried and never swallowed.

Numbers are doubles. NaN and the infinities, which a spreadsheet lacks, stay what they are in a table; in
a formula's eyes such a cell holds #NUM!.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeGuard

from schemaxis_server.providers.tables.numbers import format_number

_WHOLE = 1e15


@dataclass(frozen=True, slots=True)
class CellError:
    """An error value such as ``#DIV/0!``."""

    code: str


Value = float | str | bool | CellError | None

NOT_AVAILABLE = CellError("#N/A")
NO_QUOTIENT = CellError("#DIV/0!")
NO_NUMBER = CellError("#NUM!")
CODES = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#CIRC!")


def is_number(value: Value) -> TypeGuard[float]:
    """Whether the value is a number, NaN and the infinities included; booleans are none."""
    return isinstance(value, float | int) and not isinstance(value, bool)


def csv_text(value: Value) -> str | None:
    """A cell as it stands in a published CSV: the shortest digits of a number, TRUE and FALSE, an error's code."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, CellError):
        return value.code
    if value is None or isinstance(value, str):
        return value
    # A negative zero has no whole number to stand for it.
    if math.isfinite(value) and value.is_integer() and abs(value) < _WHOLE and repr(value) != "-0.0":
        return str(int(value))
    return format_number(value)


def as_json(value: Value) -> Any:
    """A cell as it stands in a result: ``{"error": code}`` for an error, ``{"$number": name}`` for NaN and the like."""
    if isinstance(value, CellError):
        return {"error": value.code}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": format_number(value)}
    return value
