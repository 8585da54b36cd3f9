"""Asks, once a workbook is calculated, whether a formula met TRUE or FALSE where Calc takes them for numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.calc.logical import Holds, Truth, check
from schemaxis_server.providers.spreadsheet.formulas.parser import parse
from schemaxis_server.providers.spreadsheet.formulas.tokens import FormulaError
from schemaxis_server.providers.spreadsheet.formulas.tree import Area, Cell, Node, address
from schemaxis_server.providers.spreadsheet.table import Formula, Sheet, Table
from schemaxis_server.providers.spreadsheet.values import Value

_SHEET = re.compile(r"\b(Source|Model)!")
_ROW = re.compile(r"(?<=[A-Z])([1-9][0-9]*)\b")

Places = Mapping[int, frozenset[int]]
"""The rows with TRUE or FALSE of each column that has any; both count from 1."""


def check_workbook(sheets: Sequence[Sheet], values: Sequence[list[list[Value]]], pointer: str) -> None:
    """Raises ``UnsupportedInput`` for the first formula of which Calc makes something else for that."""
    places = {sheet.name: _places(cells) for sheet, cells in zip(sheets, values, strict=True)}
    none = not any(places.values())
    for sheet in sheets:
        safe: set[str] = set()
        for row, contents in enumerate(sheet.rows, 1):
            for column, content in enumerate(contents, 1):
                # The vocabulary's own formulas look into another sheet; by themselves they are safe.
                if isinstance(content, Formula) and not (none and _SHEET.search(content.text)):
                    _check(content.text, Cell(column, row), sheet.name, places, safe, pointer)


def refuse_truths(table: Table, pointer: str) -> None:
    """Raises ``UnsupportedInput`` if a chart's table holds TRUE or FALSE: Calc would draw 1 and 0, not a gap."""
    for place, name in enumerate(table.columns):
        if any(isinstance(row[place], bool) for row in table.rows):
            message = f"The column {name[:60]} of the chart holds TRUE or FALSE, which Calc draws as 1 and 0."
            raise UnsupportedInput(
                f"{message} Make numbers of them with IF(…,1,0), or leave them out.", pointer
            )


def _places(cells: list[list[Value]]) -> Places:
    found: dict[int, set[int]] = {}
    for row, contents in enumerate(cells, 1):
        for column, value in enumerate(contents, 1):
            if isinstance(value, bool):
                found.setdefault(column, set()).add(row)
    return {column: frozenset(rows) for column, rows in found.items()}


def _check(
    formula: str, at: Cell, sheet: str, places: Mapping[str, Places], safe: set[str], pointer: str
) -> None:
    # Formulas that were filled down are alike but for the rows, and most are safe whatever the rows hold.
    shape = _ROW.sub(lambda found: str(int(found[1]) - at.row), formula)
    if shape in safe:
        return
    other = _SHEET.search(formula)
    seen = places[other[1] if other else sheet]
    tree = parse(_SHEET.sub("", formula))
    if _passes(tree, _anywhere(seen)):
        safe.add(shape)
        return
    try:
        check(tree, _exactly(seen))
    except FormulaError as reason:
        message = f"{formula[:80]} in {sheet}!{address(at)}: {reason.message} Expected: {reason.expected}."
        raise UnsupportedInput(message, pointer) from reason


def _passes(tree: Node, holds: Holds) -> bool:
    try:
        check(tree, holds)
    except FormulaError:
        return False
    return True


def _anywhere(places: Places) -> Holds:
    def holds(reference: Node) -> Truth:
        return Truth.SOMETIMES if any(column in places for column in _columns(reference)) else Truth.NEVER

    return holds


def _exactly(places: Places) -> Holds:
    def holds(reference: Node) -> Truth:
        if isinstance(reference, Cell):
            return Truth.ALWAYS if reference.row in places.get(reference.column, ()) else Truth.NEVER
        if not isinstance(reference, Area):
            return Truth.NEVER
        rows = range(reference.first.row, reference.last.row + 1)
        found = any(row in rows for column in _columns(reference) for row in places.get(column, ()))
        return Truth.SOMETIMES if found else Truth.NEVER

    return holds


def _columns(reference: Node) -> range:
    if isinstance(reference, Cell):
        return range(reference.column, reference.column + 1)
    if isinstance(reference, Area):
        return range(reference.first.column, reference.last.column + 1)
    return range(0)
