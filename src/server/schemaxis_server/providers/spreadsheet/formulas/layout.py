"""Puts a formula where it belongs in a sheet: columns by name become cells, and rows are filled down.

A table lies in its sheet with the names in row 1 and the data from row 2 on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from schemaxis_server.providers.problems import nearest
from schemaxis_server.providers.spreadsheet.formulas.functions import SAME_SHAPE
from schemaxis_server.providers.spreadsheet.formulas.tokens import FormulaError
from schemaxis_server.providers.spreadsheet.formulas.tree import (
    Area,
    Binary,
    Boolean,
    Call,
    Cell,
    Group,
    Node,
    Number,
    Text,
    ThisRow,
    Unary,
    WholeColumn,
    address,
    upright,
    walk,
)

FIRST_ROW = 2
"""The row of a sheet in which the data of a table begin."""

Part = str | Cell | Area


def placed(tree: Node, columns: Sequence[str], rows: int, row: int = FIRST_ROW) -> Node:
    """The tree with cells in place of named columns, for a formula that stands in ``row``.

    Raises ``FormulaError`` for a column that is not there and for cells outside of the table.
    """
    places = {name: index for index, name in enumerate(columns, 1)}

    def column(name: str, position: int) -> int:
        if name not in places:
            message = f"There is no column {name[:60]}."
            raise FormulaError(
                position, message, "one of " + ", ".join(columns)[:200], nearest(name, columns)
            )
        return places[name]

    def change(node: Node) -> Node:
        if isinstance(node, ThisRow):
            return Cell(column(node.name, node.position), row, True, False, node.position)
        if isinstance(node, WholeColumn):
            place = column(node.name, node.position)
            if rows == 0:
                raise FormulaError(
                    node.position, f"The column {node.name[:60]} has no rows.", "a table with rows"
                )
            first = Cell(place, FIRST_ROW, True, True, node.position)
            return Area(first, Cell(place, FIRST_ROW + rows - 1, True, True, node.position), node.position)
        return node

    return _mapped(tree, change)


def check_inside(tree: Node, columns: int, rows: int, further_rows: int = 0) -> None:
    """Every cell that the placed tree names lies in the table, also after it was filled down.

    Raises ``FormulaError``: beyond its edges a table holds nothing, which a formula would take for 0.
    """
    check_shapes(tree)
    for node in walk(tree):
        for cell in (node.first, node.last) if isinstance(node, Area) else (node,):
            if not isinstance(cell, Cell):
                continue
            if cell.column > columns:
                message = f"{address(cell)} lies to the right of the table, which has {columns} columns."
                raise FormulaError(cell.position, message, "a column of the table")
            lowest = cell.row if cell.row_fixed else cell.row + further_rows
            if lowest > FIRST_ROW + rows - 1:
                last = f"row {FIRST_ROW + rows - 1}"
                message = f"{address(cell)} leads below the table, which ends in {last}."
                if further_rows:
                    message = f"Filled down, {address(cell)} leads below the table, which ends in {last}."
                raise FormulaError(cell.position, message, "rows of the table")


def check_shapes(tree: Node) -> None:
    """Ranges that belong together have one shape, as far as it is written. Raises ``FormulaError``."""
    for node in walk(tree):
        if isinstance(node, Call) and node.name in SAME_SHAPE:
            _check_shape(node)


def _check_shape(call: Call) -> None:
    # The criterion, the second argument of all but SUMPRODUCT, is a value and may be any cell.
    ranges = [
        one
        for place, one in enumerate(call.arguments)
        if (place != 1 or call.name == "SUMPRODUCT") and not isinstance(one, WholeColumn)
    ]
    shapes = {
        (one.last.row - one.first.row, one.last.column - one.first.column)
        if isinstance(one, Area)
        else (0, 0)
        for one in ranges
    }
    if len(shapes) > 1:
        message = f"The ranges of {call.name} differ in shape."
        raise FormulaError(call.position, message, "ranges with as many rows and columns")


def _mapped(node: Node, change: Callable[[Node], Node]) -> Node:
    if isinstance(node, Call):
        return Call(node.name, tuple(_mapped(one, change) for one in node.arguments), node.position)
    if isinstance(node, Binary):
        left, right = _mapped(node.left, change), _mapped(node.right, change)
        return Binary(node.operator, left, right, node.position)
    if isinstance(node, Unary):
        return Unary(node.operator, _mapped(node.operand, change), node.position)
    if isinstance(node, Group):
        return Group(_mapped(node.inner, change), node.position)
    return change(node)


class Filled:
    """A placed formula as text for any row: written once, its relative rows put in for each."""

    def __init__(self, tree: Node) -> None:
        written: list[Part] = []
        _put(tree, written)
        self._parts: list[Part] = []
        for part in written:
            if isinstance(part, str) and self._parts and isinstance(self._parts[-1], str):
                self._parts[-1] += part
            else:
                self._parts.append(part)

    def text(self, further: int = 0) -> str:
        """The formula, ``=`` included, filled down by so many rows."""
        return "=" + "".join(part if isinstance(part, str) else _moved(part, further) for part in self._parts)


def _moved(part: Cell | Area, further: int) -> str:
    if isinstance(part, Cell):
        return address(_lowered(part, further))
    # Filled down, a range with one fixed corner may turn over, which engines read differently.
    first, last = upright(_lowered(part.first, further), _lowered(part.last, further))
    return f"{address(first)}:{address(last)}"


def _lowered(cell: Cell, further: int) -> Cell:
    return cell if cell.row_fixed else Cell(cell.column, cell.row + further, cell.column_fixed, False)


def _put(node: Node, parts: list[Part]) -> None:
    """Append the parts of a placed tree."""
    if isinstance(node, Number):
        parts.append(node.text.upper())
    elif isinstance(node, Text):
        parts.append('"' + node.value.replace('"', '""') + '"')
    elif isinstance(node, Boolean):
        parts.append("TRUE" if node.value else "FALSE")
    elif isinstance(node, Cell | Area):
        parts.append(node)
    elif isinstance(node, Group):
        parts.append("(")
        _put(node.inner, parts)
        parts.append(")")
    elif isinstance(node, Unary):
        if node.operator != "%":
            parts.append(node.operator)
        _put(node.operand, parts)
        if node.operator == "%":
            parts.append("%")
    elif isinstance(node, Binary):
        _put(node.left, parts)
        parts.append(node.operator)
        _put(node.right, parts)
    elif isinstance(node, Call):
        parts.append(f"{node.name}(")
        for place, argument in enumerate(node.arguments):
            if place:
                parts.append(",")
            _put(argument, parts)
        parts.append(")")
    else:
        raise TypeError(f"{type(node).__name__} was not placed")
