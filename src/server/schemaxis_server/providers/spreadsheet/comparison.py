"""Compares tables and workbooks, and writes down what was compared: the rows of a verification report."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from schemaxis_server.providers.spreadsheet.formulas.parser import parse
from schemaxis_server.providers.spreadsheet.formulas.tokens import FormulaError
from schemaxis_server.providers.spreadsheet.formulas.tree import (
    Area,
    Binary,
    Call,
    Cell,
    Group,
    Node,
    Number,
    Text,
    Unary,
)
from schemaxis_server.providers.spreadsheet.values import CellError, Value, as_json, is_number

Check = dict[str, Any]

_SHOWN = 5
_SHOWN_CHARACTERS = 60
_SHEET = re.compile(r"\b(Source|Model)!")
_PREFIX = re.compile(r"_xlfn\.", re.IGNORECASE)


class Differences:
    """The places where something differs; the first five with both sides."""

    def __init__(self) -> None:
        self.count = 0
        self.expected: dict[str, Any] = {}
        self.observed: dict[str, Any] = {}

    def add(self, place: str, expected: Any, observed: Any) -> None:
        self.count += 1
        if self.count <= _SHOWN:
            self.expected[place] = shown(expected)
            self.observed[place] = shown(observed)


def shown(value: Any) -> Any:
    """A cell, or another value, short enough for a report."""
    if isinstance(value, CellError | float):
        return as_json(value)
    return value[:_SHOWN_CHARACTERS] if isinstance(value, str) else value


def check(
    name: str,
    scope: str,
    engine: str,
    differences: Differences,
    expected: Mapping[str, Any],
    observed: Mapping[str, Any],
    tolerance: str,
) -> Check:
    """A row of the report, passed if there are no differences."""
    passed = not differences.count
    return {
        "name": name,
        "scope": scope if passed else f"{scope} Differences: {differences.count}.",
        "engine": engine,
        "passed": passed,
        "expected": {**expected, **differences.expected},
        "observed": {**observed, **differences.observed},
        "tolerance": tolerance,
    }


def failed(name: str, scope: str, engine: str, expected: str, observed: str) -> Check:
    """A row for a check that could not be carried through, which counts as not passed."""
    return {
        "name": name,
        "scope": scope,
        "engine": engine,
        "passed": False,
        "expected": expected,
        "observed": observed[:300],
        "tolerance": "",
    }


def figures(rows: list[list[Value]]) -> dict[str, Any]:
    """What a table comes to in few figures: its extent, its errors, the sum of its numbers."""
    cells = [cell for row in rows for cell in row]
    numbers = [float(cell) for cell in cells if is_number(cell) and math.isfinite(cell)]
    try:
        total = as_json(math.fsum(numbers))
    except OverflowError:
        total = None
    return {
        "rows": len(rows),
        "numbers": len(numbers),
        "sumOfNumbers": total,
        "texts": sum(isinstance(cell, str) for cell in cells),
        "errors": sum(isinstance(cell, CellError) for cell in cells),
    }


def same_formula(one: str, other: str) -> bool:
    """Whether two formulas mean the same, however numbers and blanks are written."""
    if one == other:
        return True
    try:
        return _meaning(one) == _meaning(other)
    except FormulaError:
        return False


def _meaning(formula: str) -> tuple[list[str], Any]:
    parts = formula.split('"')
    sheets = [one for part in parts[::2] for one in _SHEET.findall(part)]
    parts[::2] = [_SHEET.sub("", _PREFIX.sub("", part)) for part in parts[::2]]
    return sheets, _bare(parse('"'.join(parts)))


def _bare(node: Node) -> Any:
    """The tree without positions. Parentheses only matter where they make another tree."""
    if isinstance(node, Group):
        return _bare(node.inner)
    if isinstance(node, Number):
        return float(node.text)
    if isinstance(node, Text):
        return "text", node.value
    if isinstance(node, Cell):
        return "cell", node.column, node.row, node.column_fixed, node.row_fixed
    if isinstance(node, Area):
        return "area", _bare(node.first), _bare(node.last)
    if isinstance(node, Unary):
        return "unary", node.operator, _bare(node.operand)
    if isinstance(node, Binary):
        return "binary", node.operator, _bare(node.left), _bare(node.right)
    if isinstance(node, Call):
        # TRUE and TRUE() are the same.
        if node.name in ("TRUE", "FALSE"):
            return "boolean", node.name == "TRUE"
        return node.name, *(_bare(one) for one in node.arguments)
    return "boolean", getattr(node, "value", None)
