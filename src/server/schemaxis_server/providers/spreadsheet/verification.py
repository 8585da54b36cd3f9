"""Judges spreadsheet results from the document and the published bytes, with a second engine.

Every expected value comes from the document, from bound files or from published bytes; what a producer
claims is only ever observed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.spreadsheet import comparison, xlsx_reader
from schemaxis_server.providers.spreadsheet.comparison import Check, Differences, failed, figures
from schemaxis_server.providers.spreadsheet.formulas.layout import FIRST_ROW
from schemaxis_server.providers.spreadsheet.formulas.parser import reference
from schemaxis_server.providers.spreadsheet.formulas.tokens import FormulaError
from schemaxis_server.providers.spreadsheet.goal import MODEL
from schemaxis_server.providers.spreadsheet.operations import cell_name
from schemaxis_server.providers.spreadsheet.second_formulation import (
    RELATIVE,
    CannotRepeat,
    agree,
    csv_rows,
    evaluate,
    number_of,
)
from schemaxis_server.providers.spreadsheet.table import Engine, Formula, Sheet, Table, workbook
from schemaxis_server.providers.spreadsheet.values import NO_NUMBER, CellError, Value, as_json, is_number
from schemaxis_server.providers.spreadsheet.vocabulary import QUANTITIES

_TOLERANCE = f"{RELATIVE:g} of each number; all else exactly"
_CSV_NAME = "CSV of {}"


class SecondEngine(Engine, Protocol):
    """An engine that can also read a published workbook."""

    def recalculated(self, path: Path, extents: Sequence[tuple[str, int, int]]) -> list[list[list[Value]]]:
        """The recalculated values of the named sheets, of so many rows and columns. Raises on what it cannot read."""


class Report:
    """Collects what the checks of all outputs found.

    ``refusals`` are what the second engine raises when it cannot go on. A verifier of another
    engine says in a class of its own when two cells ``agree`` and what their ``tolerance`` is.
    """

    tolerance = _TOLERANCE

    def agree(self, one: Value, other: Value, room: float = 0.0) -> bool:
        """Whether a cell that was expected and one that was observed hold the same; numbers also within ``room``."""
        return agree(one, other, room)

    def __init__(
        self,
        request: Mapping[str, Any],
        engine: SecondEngine,
        engine_name: str,
        refusals: tuple[type[Exception], ...],
    ) -> None:
        self.document: Mapping[str, Any] = request["document"]
        self.results: Mapping[str, Any] = request["outputs"]
        self.published = {
            (one["operation"], one["kind"]): Path(one["path"]) for one in request["publications"]
        }
        self.count = len(request["publications"])
        self.checks: list[Check] = []
        self._engine = engine
        self._name = engine_name
        self._refusals: tuple[type[Exception], ...] = (
            *refusals,
            CannotRepeat,
            FormulaError,
            UnsupportedInput,
        )
        self._nodes = {node["id"]: node for node in self.document["nodes"]}
        self._tables: Mapping[str, Table] = {}
        self._why_not = ""
        try:
            self._tables = evaluate(self.document, request.get("bindings", {}), engine)
        except self._refusals as reason:
            self._why_not = f"{type(reason).__name__}: {reason}"

    def judge(self, output: str) -> list[list[Value]] | None:
        """All checks of one output; the cells of its CSV if that could be read."""
        cells = self._csv(output)
        self._result(output, cells)
        self._xlsx(output, cells)
        return cells

    def judge_names(self, kinds: Sequence[str]) -> None:
        """Exactly one file of each kind for each output, and no other."""
        wanted = {(output, kind) for output in self.document["outputs"] for kind in kinds}
        if set(self.published) != wanted or self.count != len(wanted):
            found = ", ".join(f"{kind} of {output}" for output, kind in sorted(self.published)) or "nothing"
            scope = "One file of each kind for each output and nothing else."
            row = failed(
                "published files", scope, "schemaxis", f"{len(wanted)} files", f"{self.count}: {found}"
            )
            self.checks.append(row)

    def _csv(self, output: str) -> list[list[Value]] | None:
        """The published CSV against the document evaluated again."""
        name, engine = _CSV_NAME.format(output), f"Python and {self._name}"
        scope = "The document evaluated again in a second formulation, cell by cell against the published CSV as the "
        scope += "csv module reads it."
        path = self.published.get((output, "table/csv"))
        if path is None:
            self.checks.append(failed(name, scope, engine, "a CSV file", "none published"))
            return None
        try:
            rows = csv_rows(path.read_bytes().decode("utf-8"))
        except (OSError, UnicodeDecodeError, CannotRepeat) as reason:
            self.checks.append(failed(name, scope, engine, "a readable CSV", str(reason)))
            return None
        table = self._tables.get(output)
        if table is None:
            self.checks.append(failed(name, scope, engine, "the document evaluated again", self._why_not))
            return None
        differences = Differences()
        if rows[:1] != [list(table.columns)]:
            differences.add("names", list(table.columns), rows[0] if rows else None)
        data = [row or [""] for row in rows[1:]]
        if len(data) != len(table.rows) or any(len(row) != len(table.columns) for row in data):
            differences.add(
                "extent", [len(table.rows), len(table.columns)], [len(data), len(rows[0]) if rows else 0]
            )
        cells: list[list[Value]] = []
        if not differences.count:
            room = self._room(output)
            for index, (expected, row) in enumerate(zip(table.rows, data, strict=True)):
                read = [_typed(text, like) for text, like in zip(row, expected, strict=True)]
                cells.append(read)
                for place, (one, other) in enumerate(zip(expected, read, strict=True)):
                    if not self.agree(one, other, room.get((index, place), 0.0)):
                        differences.add(cell_name(index, place), one, other)
        tolerance = self.tolerance + (
            f", the solution to {RELATIVE:g} of its bounds"
            if self._nodes[output]["filter"] == "goalSeek"
            else ""
        )
        observed = figures(cells)
        self.checks.append(
            comparison.check(name, scope, engine, differences, figures(table.rows), observed, tolerance)
        )
        return None if differences.count else cells

    def _room(self, output: str) -> Mapping[tuple[int, int], float]:
        """How far the cells of a goal seek may lie off: a bracket of doubles ends where it ends."""
        node = self._nodes[output]
        if node["filter"] != "goalSeek":
            return {}
        bound = RELATIVE * max(abs(node["options"]["low"]), abs(node["options"]["high"]))
        row = self._tables[output].rows[0] if output in self._tables else [0.0]
        # The formula's value follows the solution; at the published one the XLSX check computes it again.
        value = row[1] if len(row) > 1 and is_number(row[1]) else 0.0
        return {(0, 0): bound, (0, 1): 1e-6 * max(abs(value), abs(node["options"]["target"]), 1e-9)}

    def _result(self, output: str, cells: list[list[Value]] | None) -> None:
        """The quantities of the result against the published CSV."""
        name = f"result of {output}"
        scope = "Every quantity with its unit, as the verified CSV holds it."
        claimed = self.results.get(output)
        result = claimed if isinstance(claimed, Mapping) else {}
        if cells is None:
            self.checks.append(failed(name, scope, "schemaxis", "a verified CSV", "none"))
            return
        table = self._tables[output]
        named = (
            {key: cells[row][column] for key, (row, column) in table.names.items()}
            if table.names
            else dict(zip(table.columns, cells[0], strict=True))
            if len(cells) == 1
            else {}
        )
        expected: dict[str, Any] = {
            "rows": len(cells),
            "columns": len(table.columns),
            "header": list(table.columns),
            "errors": sum(isinstance(cell, CellError) for row in cells for cell in row),
            "values": {key: as_json(value) for key, value in named.items()},
        }
        wanted = {one.name: {"value": expected[one.name], "unit": one.unit} for one in QUANTITIES}
        differences = Differences()
        for key in {**wanted, **result}:
            if key not in result or key not in wanted or not _identical(wanted[key], result[key]):
                differences.add(key, wanted.get(key), result.get(key))
        shown = {"rows": len(cells), "values": dict(list(expected["values"].items())[:5])}
        row = comparison.check(name, scope, "schemaxis", differences, shown, shown, "exact")
        self.checks.append(row)

    def _xlsx(self, output: str, cells: list[list[Value]] | None) -> None:
        """The published workbook: what stands in it, and what it comes to when it is calculated again."""
        written, again = f"XLSX of {output}", f"XLSX of {output} recalculated"
        scope = "The published workbook's cells as they stand in it against the verified CSV, its formulas against the "
        scope += "document's."
        path = self.published.get((output, "table/xlsx"))
        table = self._tables.get(output)
        if path is None or table is None or cells is None:
            missing = "none published" if path is None else "no verified CSV to compare with"
            self.checks.append(failed(written, scope, "schemaxis", "an XLSX file", missing))
            return
        try:
            sheets = xlsx_reader.read(path)
        except (OSError, xlsx_reader.Unreadable) as reason:
            self.checks.append(failed(written, scope, "schemaxis", "a readable XLSX", str(reason)))
            return
        layout = workbook(self._solved(output, table, cells))
        differences = Differences()
        names = [sheet.name for sheet in layout]
        if [sheet.name for sheet in sheets] != names:
            differences.add("sheets", names, [sheet.name for sheet in sheets])
        else:
            for index, (sheet, read) in enumerate(zip(layout, sheets, strict=True)):
                _compare_sheet(sheet, read, cells if index == 0 else None, differences)
        formulas = {"formulas": sum(len(sheet.formulas) for sheet in sheets), "sheets": len(sheets)}
        meant = sum(isinstance(one, Formula) for sheet in layout for row in sheet.rows for one in row)
        expected = {"formulas": meant, "sheets": len(layout)}
        self.checks.append(
            comparison.check(written, scope, "schemaxis", differences, expected, formulas, "exact")
        )
        if not differences.count:
            self._recalculated(again, path, layout, sheets)

    def _solved(self, output: str, table: Table, cells: list[list[Value]]) -> Table:
        """With the published solution of a goal seek in its model, which may differ in the last digits."""
        node = self._nodes[output]
        if node["filter"] != "goalSeek":
            return table
        cell = reference(node["options"]["cell"])
        model = table.sources[MODEL]
        rows = [[*row] for row in model.rows]
        if cell is not None:
            rows[cell.row - FIRST_ROW][cell.column - 1] = cells[0][0]
        solved = Table(model.columns, rows, model.formulas)
        return Table(table.columns, table.rows, table.formulas, table.names, {MODEL: solved})

    def _recalculated(
        self, name: str, path: Path, layout: Sequence[Sheet], sheets: Sequence[xlsx_reader.ReadSheet]
    ) -> None:
        scope = (
            "The published workbook opened and calculated again by another engine; the values that it was "
        )
        scope += "published with are observed."
        extents = [(sheet.name, len(sheet.rows), max(map(len, sheet.rows))) for sheet in layout]
        try:
            values = self._engine.recalculated(path, extents)
        except self._refusals as reason:
            self.checks.append(failed(name, scope, self._name, "a workbook", str(reason)))
            return
        differences = Differences()
        calculated: list[list[Value]] = []
        observed: list[list[Value]] = []
        for read, again in zip(sheets, values, strict=True):
            for row, contents in enumerate(again, 1):
                seen = [read.values.get((row, column)) for column in range(1, len(contents) + 1)]
                calculated.append(contents)
                observed.append(seen)
                for column, (one, other) in enumerate(zip(contents, seen, strict=True), 1):
                    if not agree(_no_blank(one), _no_blank(other)):
                        differences.add(f"{read.name}!{cell_name(row - 2, column - 1)}", one, other)
        row_of = comparison.check(
            name, scope, self._name, differences, figures(calculated), figures(observed), _TOLERANCE
        )
        self.checks.append(row_of)


def _typed(text: str, like: Value) -> Value:
    """A cell of a CSV, which has no types, read as what it should be; as text if it is not that."""
    if text == "":
        return None
    if is_number(like):
        value = number_of(text)
        return text if value is None else value
    if isinstance(like, bool):
        return {"TRUE": True, "FALSE": False}.get(text, text)
    if isinstance(like, CellError) and text.startswith("#"):
        return CellError(text)
    return text


def _identical(one: Any, other: Any) -> bool:
    """Equality of JSON values that tells true from 1."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_identical(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_identical, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other) and not (isinstance(one, str) ^ isinstance(other, str))


def _no_blank(value: Value) -> Value:
    return None if value == "" and isinstance(value, str) else value


def _compare_sheet(
    sheet: Sheet, read: xlsx_reader.ReadSheet, cells: list[list[Value]] | None, differences: Differences
) -> None:
    """The cells of one sheet: constants as laid out, calculated ones of the first sheet as in the CSV."""
    expected_places = set()
    for row, contents in enumerate(sheet.rows, 1):
        for column, content in enumerate(contents, 1):
            place = row, column
            where = f"{sheet.name}!{cell_name(row - 2, column - 1)}"
            expected_places.add(place)
            formula, value = read.formulas.get(place), read.values.get(place)
            if isinstance(content, Formula):
                if formula is None or not comparison.same_formula(content.text, formula):
                    differences.add(where, content.text, formula)
            elif formula is not None:
                differences.add(where, "no formula", formula)
            if cells is not None and row > 1:
                wanted = cells[row - 2][column - 1]
            elif isinstance(content, Formula):
                continue
            else:
                wanted = content
            if not _stands(wanted, value, 0.0 if cells is not None else RELATIVE):
                differences.add(where, wanted, value)
    for place in set(read.values) - expected_places:
        if read.values[place] is not None:
            differences.add(f"{sheet.name}!{cell_name(place[0] - 2, place[1] - 1)}", None, read.values[place])


def _stands(wanted: Value, value: Value, tolerance: float) -> bool:
    """Whether a value stands in a workbook as it should; there NaN and the infinities are #NUM!."""
    if is_number(wanted):
        if not math.isfinite(wanted):
            return value == NO_NUMBER
        return is_number(value) and abs(wanted - value) <= tolerance * abs(wanted)
    return type(_no_blank(value)) is type(wanted) and _no_blank(value) == wanted
