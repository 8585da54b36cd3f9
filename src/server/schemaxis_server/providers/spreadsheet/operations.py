"""What the operations do to tables, but for the arithmetic, which is the engine's.

A verifier repeats this in a formulation of its own, ``second_formulation``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from schemaxis_server.providers.spreadsheet.formulas.layout import FIRST_ROW, Filled, check_inside, placed
from schemaxis_server.providers.spreadsheet.formulas.parser import parse, reference
from schemaxis_server.providers.spreadsheet.formulas.tree import Cell, address, column_letters
from schemaxis_server.providers.spreadsheet.table import Table
from schemaxis_server.providers.spreadsheet.values import NOT_AVAILABLE, CellError, Value, is_number

Key = tuple[str, Any]
Options = Mapping[str, Any]

SOURCE = "Source"


def cells(options: Options) -> Table:
    """The authored grid, its formulas not yet calculated. Raises ``FormulaError``, which planning should have."""
    columns = tuple(options["columns"])
    height = len(options["rows"])
    rows: list[list[Value]] = []
    formulas: dict[tuple[int, int], str] = {}
    for index, authored in enumerate(options["rows"]):
        row: list[Value] = [None] * len(columns)
        for position, content in enumerate(authored):
            if isinstance(content, str) and content.startswith("="):
                tree = placed(parse(content), columns, height, index + FIRST_ROW)
                formulas[index, position] = Filled(tree).text()
            else:
                row[position] = literal(content)
        rows.append(row)
    names = {item["name"]: _place(item["cell"]) for item in options["names"]}
    return Table(columns, rows, formulas, names)


def literal(content: Any) -> Value:
    """An authored cell that is no formula. An empty text is a blank."""
    if isinstance(content, dict):
        content = content["text"]
    if isinstance(content, int) and not isinstance(content, bool):
        return float(content)
    value: Value = content if content != "" else None
    return value


def _place(name: str) -> tuple[int, int]:
    cell = reference(name)
    if cell is None:
        raise ValueError(f"{name} is no cell")
    return cell.row - FIRST_ROW, cell.column - 1


def formula_column(table: Table, options: Options) -> Table:
    """The table with the formula in every row, not yet calculated. Raises ``FormulaError``."""
    height = len(table.rows)
    tree = placed(parse(options["formula"]), table.columns, height)
    if height:
        check_inside(tree, len(table.columns), height, height - 1)
    filled = Filled(tree)
    formulas = dict(table.formulas)
    for index in range(height):
        formulas[index, len(table.columns)] = filled.text(index)
    rows = [[*row, None] for row in table.rows]
    return Table((*table.columns, options["column"]), rows, formulas, table.names)


def key_of(value: Value) -> Key:
    """Equal for cells that hold the same value of the same type. All NaN are alike, 0 and -0 too."""
    if isinstance(value, bool):
        return "boolean", value
    if value is None:
        return "blank", 0
    if isinstance(value, CellError):
        return "error", value.code
    if isinstance(value, str):
        return "text", value
    return ("NaN", 0) if math.isnan(value) else ("number", float(value))


_FIGURES: Mapping[str, str] = {
    "sum": "SUM({0})",
    "average": "AVERAGE({0})",
    "min": "IF(AND(COUNT({0})=0,NOT(ISERROR(SUM({0})))),NA(),MIN({0}))",
    "max": "IF(AND(COUNT({0})=0,NOT(ISERROR(SUM({0})))),NA(),MAX({0}))",
    "median": "IF(AND(COUNT({0})=0,NOT(ISERROR(SUM({0})))),NA(),MEDIAN({0}))",
    "variance": "SUMSQ({0})/IF(COUNT({0})<2,0,COUNT({0})-1)",
    "standardDeviation": "SQRT(SUMSQ({0})/IF(COUNT({0})<2,0,COUNT({0})-1))",
    "count": "COUNT({0})",
    "countAll": "COUNTA({0})",
}
_SPREADS = ("variance", "standardDeviation")


def aggregate(table: Table, options: Options) -> Table:
    """Formulas over a sheet Source, in which the rows of a group stand together.

    Variances are taken of a further column with the deviations from the group's mean: the engine's own
    functions for them cancel.
    """
    by = [table.columns.index(name) for name in options["groupBy"]]
    groups: dict[tuple[Key, ...], list[int]] = {}
    for index, row in enumerate(table.rows):
        groups.setdefault(tuple(key_of(row[place]) for place in by), []).append(index)
    if not by:
        groups = {(): list(range(len(table.rows)))}
    # One group in the authored order keeps the formulas of its table.
    ordered = [table.rows[index] for members in groups.values() for index in members]
    source = table if len(groups) == 1 else Table(table.columns, ordered)
    source, spread = _with_deviations(source, options, [len(members) for members in groups.values()])
    columns = (*options["groupBy"], *(value["name"] for value in options["values"]))
    rows: list[list[Value]] = []
    formulas: dict[tuple[int, int], str] = {}
    first = FIRST_ROW
    for members in groups.values():
        keys = [table.rows[members[0]][place] for place in by] if members else []
        last = max(first, first + len(members) - 1)
        for position, value in enumerate(options["values"], len(by)):
            name = value["column"]
            place = spread[name] if value["function"] in _SPREADS else table.columns.index(name)
            letters = column_letters(place + 1)
            area = f"{SOURCE}!{letters}{first}:{letters}{last}"
            formulas[len(rows), position] = "=" + _FIGURES[value["function"]].format(area)
        rows.append([*keys, *(None for _ in options["values"])])
        first += len(members)
    return Table(columns, rows, formulas, sources={SOURCE: source})


def _with_deviations(
    source: Table, options: Options, sizes: Sequence[int]
) -> tuple[Table, Mapping[str, int]]:
    """The source with two columns for each column whose spread is asked: the mean, in the first row of each
    group, and the deviations from it; and the places of the latter."""
    spread = dict.fromkeys(value["column"] for value in options["values"] if value["function"] in _SPREADS)
    columns, formulas = list(source.columns), dict(source.formulas)
    places: dict[str, int] = {}
    for name in spread:
        letters = column_letters(source.columns.index(name) + 1)
        means = column_letters(len(columns) + 1)
        first = FIRST_ROW
        for size in filter(None, sizes):
            formulas[first - FIRST_ROW, len(columns)] = (
                f"=AVERAGE({letters}{first}:{letters}{first + size - 1})"
            )
            for row in range(first, first + size):
                cell = f"{letters}{row}"
                text = f'=IF(ISNUMBER({cell}),{cell}-{means}${first},IF(ISERROR({cell}),{cell},""))'
                formulas[row - FIRST_ROW, len(columns) + 1] = text
            first += size
        places[name] = len(columns) + 1
        columns += [f"mean of {name}", f"deviation of {name}"]
    rows: list[list[Value]] = [[*row, *([None] * (2 * len(spread)))] for row in source.rows]
    return Table(tuple(columns), rows, formulas), places


def sort(table: Table, options: Options) -> Table:
    """Stable sorts by the least column first, so that the first named counts most."""
    rows = list(table.rows)
    for by in reversed(options["by"]):
        place = table.columns.index(by["column"])
        filled = [row for row in rows if row[place] is not None]
        blank = [row for row in rows if row[place] is None]
        # A reversed sort keeps ties in their order, too.
        filled.sort(key=lambda row: _rank(row[place]), reverse=by["order"] == "descending")
        rows = filled + blank
    return Table(table.columns, rows)


def _rank(value: Value) -> tuple[int, Any]:
    if isinstance(value, bool):
        return 3, value
    if isinstance(value, CellError):
        return 4, value.code
    if isinstance(value, str):
        return 2, value
    if value is None or math.isnan(value):
        return 1, 0
    return 0, value


def filter_rows(table: Table, options: Options) -> Table:
    tests = [
        (table.columns.index(one["column"]), _TESTS[one["operator"]], literal(one["value"]))
        for one in options["conditions"]
    ]
    meets = all if options["match"] == "all" else any
    return Table(
        table.columns,
        [row for row in table.rows if meets(test(row[place], value) for place, test, value in tests)],
    )


def _alike(cell: Value, value: Value) -> bool:
    if isinstance(cell, bool) or isinstance(value, bool):
        return isinstance(cell, bool) and isinstance(value, bool)
    if is_number(cell):
        return is_number(value)
    return isinstance(cell, str) and isinstance(value, str)


def _equals(cell: Value, value: Value) -> bool:
    return _alike(cell, value) and cell == value


def _ordered(holds: Callable[[Any, Any], bool]) -> Callable[[Value, Value], bool]:
    return lambda cell, value: _alike(cell, value) and holds(cell, value)


def _on_text(holds: Callable[[str, str], bool]) -> Callable[[Value, Value], bool]:
    return lambda cell, value: isinstance(cell, str) and isinstance(value, str) and holds(cell, value)


_TESTS: Mapping[str, Callable[[Value, Value], bool]] = {
    "equals": _equals,
    "notEquals": lambda cell, value: not isinstance(cell, CellError) and not _equals(cell, value),
    "less": _ordered(lambda cell, value: cell < value),
    "lessOrEqual": _ordered(lambda cell, value: cell <= value),
    "greater": _ordered(lambda cell, value: cell > value),
    "greaterOrEqual": _ordered(lambda cell, value: cell >= value),
    "contains": _on_text(lambda cell, value: value in cell),
    "startsWith": _on_text(str.startswith),
    "endsWith": _on_text(str.endswith),
    "isBlank": lambda cell, _: cell is None,
    "isNotBlank": lambda cell, _: cell is not None and not isinstance(cell, CellError),
    "isNumber": lambda cell, _: is_number(cell),
    "isText": lambda cell, _: isinstance(cell, str),
    "isError": lambda cell, _: isinstance(cell, CellError),
}


def lookup(table: Table, reference_table: Table, options: Options) -> Table:
    key = table.columns.index(options["key"])
    found_by = reference_table.columns.index(options["referenceKey"])
    taken = [reference_table.columns.index(name) for name in options["columns"]]
    first: dict[Key, list[Value]] = {}
    for row in reference_table.rows:
        first.setdefault(key_of(row[found_by]), row)
    missing: Value = NOT_AVAILABLE if options["missing"] == "error" else None
    rows = [[*row, *_found(row[key], first, taken, missing)] for row in table.rows]
    return Table((*table.columns, *options["columns"]), rows, table.formulas, table.names)


def _found(
    value: Value, first: Mapping[Key, list[Value]], taken: Sequence[int], missing: Value
) -> list[Value]:
    if isinstance(value, CellError):
        return [value] * len(taken)
    key = key_of(value)
    if key[0] in ("blank", "NaN") or key not in first:
        return [missing] * len(taken)
    return [first[key][place] for place in taken]


def charted(table: Table, options: Options) -> Table:
    """The columns of a chart, x first."""
    places = [table.columns.index(name) for name in (options["x"], *options["y"])]
    return Table((options["x"], *options["y"]), [[row[place] for place in places] for row in table.rows])


def drawable(table: Table, kind: str) -> int:
    """How many points a chart of these columns shows."""
    return sum(
        _finite(value) and (kind == "bar" or _finite(row[0])) and row[0] is not None
        for row in table.rows
        for value in row[1:]
    )


def _finite(value: Value) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def cell_name(row: int, column: int) -> str:
    """The address of a table's cell, from 0, in its sheet."""
    return address(Cell(column + 1, row + FIRST_ROW))
