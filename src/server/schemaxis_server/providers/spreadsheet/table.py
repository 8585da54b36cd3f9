"""A table and the workbook in which it is calculated and published."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from schemaxis_server.providers.spreadsheet.formulas.layout import FIRST_ROW
from schemaxis_server.providers.spreadsheet.values import CellError, Value


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns over rows of cells. ``formulas`` are the texts behind cells, by row and column from 0.

    ``names`` are cells that the document gave a name, and ``sources`` further sheets that the formulas
    of this table look into.
    """

    columns: tuple[str, ...]
    rows: list[list[Value]]
    formulas: Mapping[tuple[int, int], str] = field(default_factory=dict)
    names: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    sources: Mapping[str, Table] = field(default_factory=dict)

    def without_formulas(self) -> Table:
        return Table(self.columns, self.rows)


@dataclass(frozen=True, slots=True)
class Formula:
    """A cell's formula, with its ``=``."""

    text: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet of a workbook, from A1: the names in row 1, the data below."""

    name: str
    rows: list[list[Value | Formula]]


class Engine(Protocol):
    """A spreadsheet program. Everything it may see has passed this package's own grammar."""

    def calculate(self, sheets: Sequence[Sheet]) -> list[list[list[Value]]]:
        """The values of all cells of all sheets."""

    def probe(
        self, sheets: Sequence[Sheet], cell: tuple[int, int], goal: tuple[int, int]
    ) -> Callable[[float], Value]:
        """What the goal cell holds with a number put into the other cell; row and column of the first sheet from 1."""


RESULT = "Result"


def workbook(table: Table) -> list[Sheet]:
    """The table's workbook: itself first, then what its formulas look into."""
    return [sheet(RESULT, table), *(sheet(name, source) for name, source in table.sources.items())]


def sheet(name: str, table: Table) -> Sheet:
    rows: list[list[Value | Formula]] = [list(table.columns)]
    rows.extend([*row] for row in table.rows)
    for (row, column), text in table.formulas.items():
        rows[row + FIRST_ROW - 1][column] = Formula(text)
    return Sheet(name, rows)


def calculated(table: Table, engine: Engine) -> Table:
    """The table with the values that the engine gives to its formulas; all other cells stay as they are."""
    if not table.formulas:
        return table
    values = engine.calculate(workbook(table))[0]
    rows = [[*row] for row in table.rows]
    for row, column in table.formulas:
        rows[row][column] = values[row + FIRST_ROW - 1][column]
    return Table(table.columns, rows, table.formulas, table.names, table.sources)


def errors(table: Table) -> int:
    """How many cells hold an error value."""
    return sum(isinstance(value, CellError) for row in table.rows for value in row)
