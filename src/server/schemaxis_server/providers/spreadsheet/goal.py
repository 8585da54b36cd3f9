"""Goal seek: bisection over a model that an engine keeps calculating."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.spreadsheet import limits
from schemaxis_server.providers.spreadsheet.formulas.layout import FIRST_ROW
from schemaxis_server.providers.spreadsheet.formulas.parser import reference
from schemaxis_server.providers.spreadsheet.table import Engine, Table, workbook
from schemaxis_server.providers.spreadsheet.values import CellError, is_number

MODEL = "Model"
NARROWEST = 1e-15
"""The search ends when the bracket is narrower than this part of the larger bound's size."""

_STEPS = 200

Place = tuple[int, int]


def seek(table: Table, options: Mapping[str, Any], engine: Engine, pointer: str) -> Table:
    """A row with the solution, the formula's value there and the target, over a sheet Model that holds the solution."""
    cell, goal = places(table, options, pointer)
    column, row = cell[1] + 1, cell[0] + FIRST_ROW
    probe = engine.probe(workbook(table), (row, column), (goal[0] + FIRST_ROW, goal[1] + 1))

    def difference(x: float) -> float:
        value = probe(x)
        if not is_number(value) or not math.isfinite(value):
            shown = value.code if isinstance(value, CellError) else "no number"
            message = f"With {x!r} in {options['cell']} the formula in {options['goal']} gives {shown}."
            raise UnsupportedInput(f"{message} Choose low and high closer.", f"{pointer}/options/goal")
        return value - float(options["target"])

    solution = bisect(difference, float(options["low"]), float(options["high"]), options, pointer)
    rows = [[*one] for one in table.rows]
    rows[cell[0]][cell[1]] = solution
    model = Table(table.columns, rows, table.formulas)
    formulas = {(0, 0): f"={MODEL}!{options['cell'].upper()}", (0, 1): f"={MODEL}!{options['goal'].upper()}"}
    return Table(
        ("solution", "value", "target"),
        [[None, None, float(options["target"])]],
        formulas,
        sources={MODEL: model},
    )


def places(table: Table, options: Mapping[str, Any], pointer: str) -> tuple[Place, Place]:
    """Row and column of both cells. Raises ``UnsupportedInput`` if they are not what they should be."""
    if len(table.rows) * len(table.columns) > limits.MAX_SEEK_CELLS:
        message = f"The model has {len(table.rows) * len(table.columns)} cells."
        raise UnsupportedInput(f"{message} At most {limits.MAX_SEEK_CELLS}.", pointer)
    found: list[Place] = []
    for name in ("cell", "goal"):
        cell = reference(options[name])
        if cell is None or not (
            0 <= cell.row - FIRST_ROW < len(table.rows) and cell.column <= len(table.columns)
        ):
            message = (
                f"{options[name]} lies outside of the table, which has {len(table.columns)} columns and rows "
            )
            message += f"{FIRST_ROW} to {FIRST_ROW + len(table.rows) - 1}."
            raise UnsupportedInput(message, f"{pointer}/options/{name}")
        found.append((cell.row - FIRST_ROW, cell.column - 1))
    varied, goal = found
    if varied in table.formulas or not is_number(table.rows[varied[0]][varied[1]]):
        message = f"{options['cell']} holds no number that could be varied."
        raise UnsupportedInput(f"{message} Name a cell with a number.", f"{pointer}/options/cell")
    if goal not in table.formulas:
        message = f"{options['goal']} holds no formula; after sort and filterRows only values are left."
        raise UnsupportedInput(message, f"{pointer}/options/goal")
    return varied, goal


def bisect(
    difference: Callable[[float], float], low: float, high: float, options: Mapping[str, Any], pointer: str
) -> float:
    """Where the difference is 0 or changes its sign: the end of the last bracket that comes closer."""
    at_low, at_high = difference(low), difference(high)
    if at_low and at_high and (at_low > 0) == (at_high > 0):
        target = float(options["target"])
        message = (
            f"The formula in {options['goal']} gives {at_low + target:.6g} at low and {at_high + target:.6g} "
            f"at high, "
            f"both on the same side of {target:.6g}; choose low and high on its two sides."
        )
        raise UnsupportedInput(message, f"{pointer}/options/low")
    narrow = NARROWEST * max(abs(low), abs(high))
    for _ in range(_STEPS):
        middle = low + (high - low) / 2
        if not (at_low and at_high) or high - low <= narrow or middle in (low, high):
            break
        at_middle = difference(middle)
        if (at_middle > 0) == (at_low > 0) and at_middle:
            low, at_low = middle, at_middle
        else:
            high, at_high = middle, at_middle
    return low if abs(at_low) <= abs(at_high) else high
