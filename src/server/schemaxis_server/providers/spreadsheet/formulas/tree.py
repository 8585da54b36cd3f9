"""The tree of a formula, and its text. Standard library only: planner, hosts and tests share it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

MAX_ROW = 1_048_576
MAX_COLUMN = 16_384


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it was written: digits, perhaps a point, perhaps an exponent."""

    text: str
    position: int = 0


@dataclass(frozen=True, slots=True)
class Text:
    value: str
    position: int = 0


@dataclass(frozen=True, slots=True)
class Boolean:
    value: bool
    position: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the sheet, counted from 1. A fixed part keeps its place when the formula is filled down."""

    column: int
    row: int
    column_fixed: bool = False
    row_fixed: bool = False
    position: int = 0


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells, from its upper left to its lower right one."""

    first: Cell
    last: Cell
    position: int = 0


@dataclass(frozen=True, slots=True)
class ThisRow:
    """``[@name]``: the cell of a named column in the formula's own row."""

    name: str
    position: int = 0


@dataclass(frozen=True, slots=True)
class WholeColumn:
    """``[name]``: all rows of a named column below its name."""

    name: str
    position: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: tuple[Node, ...]
    position: int = 0


@dataclass(frozen=True, slots=True)
class Unary:
    """A sign before (``+``, ``-``) or a percent sign after an operand."""

    operator: str
    operand: Node
    position: int = 0


@dataclass(frozen=True, slots=True)
class Binary:
    operator: str
    left: Node
    right: Node
    position: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """A part in parentheses, which stay where the author put them."""

    inner: Node
    position: int = 0


Node = Number | Text | Boolean | Cell | Area | ThisRow | WholeColumn | Call | Unary | Binary | Group


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, from left to right."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(reversed(_parts(one)))


def _parts(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Call):
        return node.arguments
    if isinstance(node, Binary):
        return (node.left, node.right)
    if isinstance(node, Unary):
        return (node.operand,)
    if isinstance(node, Group):
        return (node.inner,)
    return ()


def column_letters(column: int) -> str:
    """``A`` for 1, ``AA`` for 27."""
    letters = ""
    while column:
        column, place = divmod(column - 1, 26)
        letters = chr(ord("A") + place) + letters
    return letters


def column_number(letters: str) -> int:
    """1 for ``A``, 27 for ``AA``."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def upright(one: Cell, other: Cell) -> tuple[Cell, Cell]:
    """The upper left and the lower right corner of the rectangle between two cells.

    A corner that was fixed stays so; of equal rows or columns the one written first comes first.
    """
    left, right = (one, other) if one.column <= other.column else (other, one)
    top, bottom = (one, other) if one.row <= other.row else (other, one)
    return (
        Cell(left.column, top.row, left.column_fixed, top.row_fixed, one.position),
        Cell(right.column, bottom.row, right.column_fixed, bottom.row_fixed, one.position),
    )


def address(cell: Cell) -> str:
    """``$B3`` and the like."""
    column = "$" * cell.column_fixed + column_letters(cell.column)
    return column + "$" * cell.row_fixed + str(cell.row)
