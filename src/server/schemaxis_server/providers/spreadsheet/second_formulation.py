"""Evaluates a document a second time, for a verifier: what a producer does with one means is done with others.

Files are read with the csv module of Python, rows are sorted by comparing pairs, groups and matches are
found by looking through all that came before, figures are computed in plain Python beside the second
engine. Formulas are the second engine's; how they are parsed and filled down is common to both.
"""

from __future__ import annotations

import csv
import io
import math
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import cmp_to_key
from pathlib import Path
from typing import Any

from schemaxis_server.providers.order import execution_order, needed
from schemaxis_server.providers.spreadsheet import operations
from schemaxis_server.providers.spreadsheet.goal import seek
from schemaxis_server.providers.spreadsheet.table import Engine, Table, calculated
from schemaxis_server.providers.spreadsheet.values import (
    NO_NUMBER,
    NO_QUOTIENT,
    NOT_AVAILABLE,
    CellError,
    Value,
    is_number,
)

Options = Mapping[str, Any]

RELATIVE = 1e-12
_ROUNDING = 2.0**-52
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\Z", re.ASCII)
_NAMED = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class CannotRepeat(Exception):
    """The document cannot be evaluated a second time; the message says why."""


def evaluate(document: Mapping[str, Any], bindings: Mapping[str, str], engine: Engine) -> dict[str, Table]:
    """The tables of all nodes that outputs are made from. Raises ``CannotRepeat``, or what the engine raises."""
    used = needed({node["id"]: node["inputs"] for node in document["nodes"]}, document["outputs"])
    nodes = {node["id"]: (index, node) for index, node in enumerate(document["nodes"]) if node["id"] in used}
    order, _ = execution_order({name: node["inputs"] for name, (_, node) in nodes.items()})
    tables: dict[str, Table] = {}
    for name in order:
        index, node = nodes[name]
        inputs = [tables[source] for source in node["inputs"]]
        if node["filter"] == "readCSV":
            tables[name] = _read(node["options"], bindings.get(f"/nodes/{index}/options/file"))
        else:
            tables[name] = _OPERATIONS[node["filter"]](inputs, node["options"], engine)
    return tables


def number_of(text: str, decimal: str = ".") -> float | None:
    """The number that a cell of a CSV holds, None if it holds none."""
    if text in _NAMED:
        return _NAMED[text]
    if decimal != ".":
        text = text.replace(".", "?").replace(decimal, ".")
    return float(text) if _NUMBER.match(text) else None


def csv_rows(text: str, delimiter: str = ",") -> list[list[str]]:
    """The cells of a CSV by the csv module. Raises ``CannotRepeat``."""
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as reason:
        raise CannotRepeat(f"no CSV: {reason}") from reason


def _read(options: Options, file: str | None) -> Table:
    if file is None:
        raise CannotRepeat("no file is bound")
    encoding: str = options["encoding"]
    codec = {"utf-8": "utf-8-sig", "windows-1252": "cp1252"}.get(encoding, encoding)
    try:
        text = Path(file).read_bytes().decode(codec)
    except (OSError, UnicodeDecodeError) as reason:
        raise CannotRepeat(f"the bound file cannot be read: {reason}") from reason
    # The csv module drops a line without any character, which a table of one column has for a blank.
    rows = [row or [""] for row in csv_rows(text, options["delimiter"])]
    names = (
        tuple(rows.pop(0)) if options["header"] else tuple(str(place + 1) for place in range(len(rows[0])))
    )
    kept = [name in options["textColumns"] for name in names]
    cells: list[list[Value]] = []
    for row in rows:
        values: list[Value] = []
        for cell, is_text in zip(row, kept, strict=True):
            value = cell if is_text else number_of(cell, options["decimal"])
            if value is None and cell:
                raise CannotRepeat(f"{cell[:40]!r} is no number")
            values.append(value if cell else None)
        cells.append(values)
    return Table(names, cells)


def _cells(_: Sequence[Table], options: Options, engine: Engine) -> Table:
    return _settled(calculated(operations.cells(options), engine))


def _formula_column(inputs: Sequence[Table], options: Options, engine: Engine) -> Table:
    return _settled(calculated(operations.formula_column(inputs[0], options), engine))


def _settled(table: Table) -> Table:
    for row, column in table.formulas:
        if table.rows[row][column] == "":
            table.rows[row][column] = None
    return table


def _same(one: Value, other: Value) -> bool:
    """Whether two cells hold the same value of the same type."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if is_number(one) and is_number(other):
        return one == other or (math.isnan(one) and math.isnan(other))
    return type(one) is type(other) and one == other


def _aggregate(inputs: Sequence[Table], options: Options, engine: Engine) -> Table:
    table = inputs[0]
    by = [table.columns.index(name) for name in options["groupBy"]]

    # Sorting brings alike rows together without asking for hashes; the order of first rows comes back after.
    def order(one: int, other: int) -> int:
        return _group_order(table, by, one, other)

    marked = sorted(range(len(table.rows)), key=cmp_to_key(order))
    groups: list[list[int]] = [] if by or not table.rows else [list(range(len(table.rows)))]
    for index in marked if by else ():
        if groups and all(_same(table.rows[groups[-1][0]][place], table.rows[index][place]) for place in by):
            groups[-1].append(index)
        else:
            groups.append([index])
    groups.sort(key=min)
    if not by and not groups:
        groups = [[]]
    rows: list[list[Value]] = []
    slack: list[list[float]] = []
    for members in groups:
        keys = [table.rows[min(members)][place] for place in by] if members else []
        figures = []
        for value in options["values"]:
            place = table.columns.index(value["column"])
            figures.append(figure(value["function"], [table.rows[one][place] for one in sorted(members)]))
        rows.append([*keys, *(one for one, _ in figures)])
        slack.append([0.0] * len(by) + [room for _, room in figures])
    columns = (*options["groupBy"], *(value["name"] for value in options["values"]))
    laid_out = operations.aggregate(table, options)
    again = calculated(laid_out, engine)
    if len(again.rows) == len(rows):
        # Where both agree the engine's value stands, so that what follows meets the same last digits.
        for row, other, rooms in zip(rows, again.rows, slack, strict=True):
            for place in range(len(by), len(columns)):
                if agree(row[place], other[place], rooms[place]):
                    row[place] = other[place]
    return Table(columns, rows, laid_out.formulas, sources=laid_out.sources)


def _group_order(table: Table, by: Sequence[int], one: int, other: int) -> int:
    for place in by:
        found = _compare(table.rows[one][place], table.rows[other][place])
        if found:
            return found
    return one - other


def figure(function: str, cells: Sequence[Value]) -> tuple[Value, float]:
    """A figure of cells in plain Python, and how far rounding may take another computation from it."""
    if function == "count":
        return float(sum(is_number(one) and math.isfinite(one) for one in cells)), 0.0
    if function == "countAll":
        return float(sum(one is not None for one in cells)), 0.0
    # A spreadsheet has no infinities: they are errors there.
    seen = [NO_NUMBER if is_number(one) and not math.isfinite(one) else one for one in cells]
    wrong = next((one for one in seen if isinstance(one, CellError)), None)
    if wrong is not None:
        return wrong, 0.0
    numbers = [float(one) for one in seen if is_number(one)]
    try:
        return _figure(function, numbers)
    except OverflowError:
        return NO_NUMBER, 0.0


def _figure(function: str, numbers: list[float]) -> tuple[Value, float]:
    count, size = len(numbers), math.fsum(map(abs, numbers))
    room = 4 * _ROUNDING * math.sqrt(count) * size
    if function == "sum":
        return math.fsum(numbers), room
    if not count:
        return (
            NO_QUOTIENT if function in ("average", "variance", "standardDeviation") else NOT_AVAILABLE
        ), 0.0
    mean = math.fsum(numbers) / count
    if function == "average":
        return mean, room / count
    if function in ("min", "max"):
        return (min if function == "min" else max)(numbers), 0.0
    if function == "median":
        return statistics.median(numbers), 0.0
    if count < 2:
        return NO_QUOTIENT, 0.0
    variance = math.fsum((one - mean) ** 2 for one in numbers) / (count - 1)
    blur = room / count + 4 * _ROUNDING * max(map(abs, numbers))
    spread = math.sqrt(variance)
    return (variance, 2 * blur * spread + blur**2) if function == "variance" else (spread, blur)


def _compare(one: Value, other: Value) -> int:
    """Below, like or above in ascending order; blanks last."""
    ranks = _kind(one), _kind(other)
    if ranks[0] != ranks[1]:
        return -1 if ranks[0] < ranks[1] else 1
    left: Any = one.code if isinstance(one, CellError) else one
    right: Any = other.code if isinstance(other, CellError) else other
    if ranks[0] in (1, 5):
        return 0
    return -1 if left < right else 1 if left > right else 0


def _kind(value: Value) -> int:
    if value is None:
        return 5
    if isinstance(value, CellError):
        return 4
    if isinstance(value, bool):
        return 3
    if isinstance(value, str):
        return 2
    return 1 if math.isnan(value) else 0


def _sort(inputs: Sequence[Table], options: Options, _: Engine) -> Table:
    table = inputs[0]
    by = [(table.columns.index(one["column"]), one["order"] == "descending") for one in options["by"]]

    def order(one: list[Value], other: list[Value]) -> int:
        for place, descending in by:
            left, right = one[place], other[place]
            if left is None or right is None:
                found = (left is None) - (right is None)
            else:
                found = _compare(right, left) if descending else _compare(left, right)
            if found:
                return found
        return 0

    return Table(table.columns, sorted(table.rows, key=cmp_to_key(order)))


def _filter_rows(inputs: Sequence[Table], options: Options, _: Engine) -> Table:
    table = inputs[0]
    kept = []
    for row in table.rows:
        met = 0
        for condition in options["conditions"]:
            cell = row[table.columns.index(condition["column"])]
            met += _meets(cell, condition["operator"], operations.literal(condition["value"]))
        if met == len(options["conditions"]) or (met and options["match"] == "any"):
            kept.append(row)
    return Table(table.columns, kept)


def _meets(cell: Value, operator: str, value: Value) -> bool:
    if isinstance(cell, CellError):
        return operator == "isError"
    if operator in ("isBlank", "isNotBlank"):
        return (cell is None) == (operator == "isBlank")
    if operator in ("isNumber", "isText", "isError"):
        return _kind(cell) in {"isNumber": (0, 1), "isText": (2,), "isError": ()}[operator]
    if operator in ("contains", "startsWith", "endsWith"):
        if not isinstance(cell, str) or not isinstance(value, str):
            return False
        places = [found.start() for found in re.finditer(f"(?={re.escape(value)})", cell)]
        wanted_place = {"contains": places, "startsWith": [0], "endsWith": [len(cell) - len(value)]}[operator]
        return bool(set(places) & set(wanted_place))
    # NaN has a kind of its own, so that it compares with nothing.
    order = _compare(cell, value) if _kind(cell) == _kind(value) and _kind(cell) != 1 else None
    holds = {
        "equals": (0,),
        "notEquals": (-1, 1, None),
        "less": (-1,),
        "lessOrEqual": (-1, 0),
        "greater": (1,),
        "greaterOrEqual": (0, 1),
    }
    return order in holds[operator]


def _lookup(inputs: Sequence[Table], options: Options, _: Engine) -> Table:
    table, reference = inputs
    key = table.columns.index(options["key"])
    found_by = reference.columns.index(options["referenceKey"])
    taken = [reference.columns.index(name) for name in options["columns"]]

    # A stable sort leaves the first of alike rows in front, where a bisection finds it.
    def order(one: list[Value], other: list[Value]) -> int:
        return _compare(one[found_by], other[found_by])

    ordered = sorted(reference.rows, key=cmp_to_key(order))
    rows: list[list[Value]] = []
    for row in table.rows:
        wanted = row[key]
        if isinstance(wanted, CellError):
            rows.append([*row, *([wanted] * len(taken))])
            continue
        match = None if _kind(wanted) in (1, 5) else _first(ordered, found_by, wanted)
        missing: Value = NOT_AVAILABLE if options["missing"] == "error" else None
        rows.append([*row, *([missing] * len(taken) if match is None else [match[place] for place in taken])])
    return Table((*table.columns, *options["columns"]), rows, table.formulas, table.names)


def _first(ordered: Sequence[list[Value]], place: int, wanted: Value) -> list[Value] | None:
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high) // 2
        if _compare(ordered[middle][place], wanted) < 0:
            low = middle + 1
        else:
            high = middle
    return ordered[low] if low < len(ordered) and _same(ordered[low][place], wanted) else None


def _goal_seek(inputs: Sequence[Table], options: Options, engine: Engine) -> Table:
    return calculated(seek(inputs[0], options, engine, ""), engine)


def _chart(inputs: Sequence[Table], options: Options, _: Engine) -> Table:
    wanted = [options["x"], *options["y"]]
    cells = [dict(zip(inputs[0].columns, row, strict=True)) for row in inputs[0].rows]
    return Table(tuple(wanted), [[row[name] for name in wanted] for row in cells])


_OPERATIONS: Mapping[str, Callable[[Sequence[Table], Options, Engine], Table]] = {
    "cells": _cells,
    "formulaColumn": _formula_column,
    "aggregate": _aggregate,
    "sort": _sort,
    "filterRows": _filter_rows,
    "lookup": _lookup,
    "goalSeek": _goal_seek,
    "chart": _chart,
}

_ALIKE = (frozenset(("#DIV/0!", "#NUM!")), frozenset(("#REF!", "#VALUE!")))
"""Errors that engines do not tell apart alike: a division by zero that overflows, a place that is none."""


def agree(one: Value, other: Value, room: float = 0.0) -> bool:
    """Whether two cells hold the same: numbers to 1e-12 of themselves or within ``room``, all else exactly."""
    if isinstance(one, CellError) and isinstance(other, CellError):
        return one == other or any(one.code in group and other.code in group for group in _ALIKE)
    if is_number(one) and is_number(other) and math.isfinite(one) and math.isfinite(other):
        return abs(one - other) <= max(RELATIVE * max(abs(one), abs(other)), room)
    return _same(one, other)
