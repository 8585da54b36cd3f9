"""Evaluates a document node by node, the arithmetic by an engine. What a producer host runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.order import execution_order, needed, unused_warnings
from schemaxis_server.providers.problems import Problems
from schemaxis_server.providers.spreadsheet import limits, operations
from schemaxis_server.providers.spreadsheet.columns import columns_of
from schemaxis_server.providers.spreadsheet.doubts import doubts
from schemaxis_server.providers.spreadsheet.formulas.tokens import FormulaError
from schemaxis_server.providers.spreadsheet.goal import seek
from schemaxis_server.providers.spreadsheet.table import Engine, Table, calculated
from schemaxis_server.providers.spreadsheet.values import Value
from schemaxis_server.providers.tables.dialect import Dialect
from schemaxis_server.providers.tables.reader import TableRefused, read_file

_WARNINGS = 20
Progress = Callable[[int, str], None]


class Evaluation:
    """The tables of a document's nodes, and what is worth a warning on the way to them."""

    def __init__(self, document: Mapping[str, Any], bindings: Mapping[str, str], engine: Engine) -> None:
        used = needed({node["id"]: node["inputs"] for node in document["nodes"]}, document["outputs"])
        self._nodes = {
            node["id"]: (index, node) for index, node in enumerate(document["nodes"]) if node["id"] in used
        }
        self._bindings = bindings
        self._engine = engine
        self.tables: dict[str, Table] = {}
        self.warnings = unused_warnings(document)[:_WARNINGS]

    def run(self, progress: Progress) -> None:
        """Evaluate every node that an output is made from.

        ``progress(nodes done, what comes next)`` is called before each. Raises ``UnsupportedInput``
        with the pointer of the node that cannot be evaluated.
        """
        order, _ = execution_order({name: node["inputs"] for name, (_, node) in self._nodes.items()})
        for done, name in enumerate(order):
            index, node = self._nodes[name]
            progress(done, f"{node['filter']} {name}")
            inputs = [self.tables[source] for source in node["inputs"]]
            self.tables[name] = self._evaluated(node, inputs, f"/nodes/{index}")

    def _evaluated(self, node: Mapping[str, Any], inputs: Sequence[Table], pointer: str) -> Table:
        problems = Problems()
        columns_of(node, [table.columns for table in inputs], pointer, problems)
        if problems.kept:
            first = problems.kept[0]
            near = f"; the nearest is {first.nearest}" if first.nearest else ""
            raise UnsupportedInput(f"{first.message} Expected: {first.expected}{near}.", first.pointer)
        try:
            table = self._made(node, inputs, pointer)
            _bounded(table, pointer)
            table = self._settled(calculated(table, self._engine), pointer)
        except FormulaError as reason:
            message = f"At character {reason.position}: {reason.message} Expected: {reason.expected}."
            raise UnsupportedInput(message, f"{pointer}/options/formula") from reason
        for doubt in doubts(node, inputs, table):
            self.warn(node["id"], doubt)
        return table

    def _made(self, node: Mapping[str, Any], inputs: Sequence[Table], pointer: str) -> Table:
        options, operation = node["options"], node["filter"]
        if operation == "readCSV":
            return self._read(options, pointer)
        if operation == "cells":
            return operations.cells(options)
        if operation == "formulaColumn":
            return operations.formula_column(inputs[0], options)
        if operation == "aggregate":
            return operations.aggregate(inputs[0], options)
        if operation == "sort":
            return operations.sort(inputs[0], options)
        if operation == "filterRows":
            return operations.filter_rows(inputs[0], options)
        if operation == "lookup":
            return operations.lookup(inputs[0], inputs[1], options)
        if operation == "goalSeek":
            return seek(inputs[0], options, self._engine, pointer)
        table = operations.charted(inputs[0], options)
        if not operations.drawable(table, options["kind"]):
            message = "The chart has nothing to draw: no row has a finite number for y" + (
                "." if options["kind"] == "bar" else " and for x."
            )
            raise UnsupportedInput(message, f"{pointer}/options/y")
        return table

    def _read(self, options: Mapping[str, Any], pointer: str) -> Table:
        place = f"{pointer}/options/file"
        if place not in self._bindings:
            raise UnsupportedInput("No resource is bound to file; bind one when planning.", place)
        dialect = Dialect.of(options)
        try:
            file = read_file(Path(self._bindings[place]), dialect)
            columns = file.columns()
        except TableRefused as reason:
            raise UnsupportedInput(reason.message, place) from reason
        if len(file.names) > limits.MAX_COLUMNS or len(file.rows) > limits.MAX_ROWS:
            message = f"The file has {len(file.rows)} rows and {len(file.names)} columns. {limits.TABLE}"
            raise UnsupportedInput(message, place)
        texts = frozenset(dialect.text_columns)
        cells: list[list[Value]] = [
            [value or None for value in column] if name in texts else list(column)
            for name, column in columns.items()
        ]
        rows = [list(row) for row in zip(*cells, strict=True)]
        return Table(file.names, rows)

    def _settled(self, table: Table, pointer: str) -> Table:
        """Calculated cells that hold an empty text are blanks, as they would be once written and read."""
        for row, column in table.formulas:
            value = table.rows[row][column]
            if value == "" and isinstance(value, str):
                table.rows[row][column] = None
            elif isinstance(value, str) and len(value) > limits.MAX_TEXT:
                place = operations.cell_name(row, column)
                message = f"{place} holds {len(value)} characters, and {limits.MAX_TEXT} are the most."
                raise UnsupportedInput(message, pointer)
        return table

    def warn(self, name: str, doubt: str) -> None:
        """Add a warning about a node; the first twenty are kept."""
        index, node = self._nodes[name]
        if len(self.warnings) < _WARNINGS:
            self.warnings.append(f"/nodes/{index}: {name} ({node['filter']}): {doubt}"[:400])


def _bounded(table: Table, pointer: str) -> None:
    sheets = [table, *table.sources.values()]
    cells = sum(len(one.rows) * len(one.columns) for one in sheets)
    formulas = sum(len(one.formulas) for one in sheets)
    if cells > 2 * limits.MAX_CELLS or len(table.rows) * len(table.columns) > limits.MAX_CELLS:
        raise UnsupportedInput(
            f"The table has {len(table.rows)} rows and {cells} cells. {limits.TABLE}", pointer
        )
    if formulas > limits.MAX_FORMULAS:
        message = f"The table needs {formulas} formulas. {limits.TABLE}"
        raise UnsupportedInput(message, pointer)


def named_values(table: Table) -> dict[str, Value]:
    """The named cells of a table, or the cells of its only row by their columns."""
    if table.names:
        return {name: table.rows[row][column] for name, (row, column) in table.names.items()}
    return dict(zip(table.columns, table.rows[0], strict=True)) if len(table.rows) == 1 else {}
