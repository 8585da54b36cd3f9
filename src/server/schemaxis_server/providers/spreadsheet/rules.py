"""The rules of the spreadsheet vocabulary that a JSON Schema cannot say."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from schemaxis_server.providers.contract import Manifest, ResolvedDocument
from schemaxis_server.providers.document import Rule
from schemaxis_server.providers.document import resolve as resolve_graph
from schemaxis_server.providers.order import execution_order, one_cycle
from schemaxis_server.providers.problems import Problems, child, clip
from schemaxis_server.providers.spreadsheet import schemas as s
from schemaxis_server.providers.spreadsheet.columns import add_formula_problem, check_document
from schemaxis_server.providers.spreadsheet.formulas.layout import (
    FIRST_ROW,
    check_inside,
    check_shapes,
    placed,
)
from schemaxis_server.providers.spreadsheet.formulas.parser import parse, reference
from schemaxis_server.providers.spreadsheet.formulas.tokens import FormulaError
from schemaxis_server.providers.spreadsheet.formulas.tree import Area, Cell, Node, address, walk
from schemaxis_server.providers.tables import dialect

# Enough for any honest sheet, and parsed in well under a second.
_FORMULA_CHARACTERS = 100_000
_LINKS = 200_000
# What CSV and XLSX hold alike: no control characters but tab and line feed, no halves of surrogate pairs.
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def resolve(document: Any, manifest: Manifest) -> ResolvedDocument:
    """Check and resolve a spreadsheet document; see :func:`schemaxis_server.providers.document.resolve`."""
    budget = _Budget()
    rules: Mapping[str, Rule] = {
        "readCSV": dialect.check,
        "cells": lambda options, pointer, problems: _cells(options, pointer, problems, budget),
        "formulaColumn": lambda options, pointer, problems: _formula_column(
            options, pointer, problems, budget
        ),
        "aggregate": _aggregate,
        "filterRows": _filter_rows,
        "goalSeek": _goal_seek,
        "chart": _chart,
    }
    resolved = resolve_graph(document, manifest, {name: _writable(rules.get(name)) for name in _NAMES})
    problems = Problems()
    check_document(resolved.document, problems)
    if problems.total:
        raise problems.fault()
    return resolved


_NAMES = (
    "readCSV",
    "cells",
    "formulaColumn",
    "aggregate",
    "sort",
    "filterRows",
    "lookup",
    "goalSeek",
    "chart",
)


class _Budget:
    """How many characters of formulas a document may still hold."""

    def __init__(self) -> None:
        self.left = _FORMULA_CHARACTERS

    def parse(self, formula: str) -> Node:
        """Raises ``FormulaError``."""
        self.left -= len(formula)
        if self.left < 0:
            message = "The document's formulas are too long together."
            raise FormulaError(
                1, message, f"at most {_FORMULA_CHARACTERS} characters of formulas in a document"
            )
        return parse(formula)


def _writable(rule: Rule | None) -> Rule:
    def checked(options: dict[str, Any], pointer: str, problems: Problems) -> None:
        before = problems.total
        _check_texts(options, pointer, problems)
        if rule is not None and problems.total == before:
            rule(options, pointer, problems)

    return checked


def _check_texts(value: Any, pointer: str, problems: Problems) -> None:
    if isinstance(value, str):
        found = _UNWRITABLE.search(value)
        if found is not None:
            message = f"The text holds the character U+{ord(found[0]):04X}, which no file can hold."
            problems.add(pointer, message, "text without control characters but tab and line feed")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            _check_texts(member, child(pointer, index), problems)
    elif isinstance(value, dict):
        for name, member in value.items():
            _check_texts(member, child(pointer, name), problems)


def _cells(options: dict[str, Any], pointer: str, problems: Problems, budget: _Budget) -> None:
    columns, rows = options["columns"], options["rows"]
    place = child(pointer, "rows")
    before = problems.total
    trees: dict[tuple[int, int], Node] = {}
    for index, row in enumerate(rows):
        if len(row) > len(columns):
            message = f"The row has {len(row)} cells and the table {len(columns)} columns."
            problems.add(child(place, index), message, f"at most {len(columns)} cells")
            continue
        for position, content in enumerate(row):
            if isinstance(content, str) and content.startswith("="):
                try:
                    tree = placed(budget.parse(content), columns, len(rows), index + FIRST_ROW)
                    check_inside(tree, len(columns), len(rows))
                    trees[index + FIRST_ROW, position + 1] = tree
                except FormulaError as reason:
                    add_formula_problem(child(child(place, index), position), reason, problems)
    if problems.total == before:
        _no_circle(trees, place, problems)
    seen: set[str] = set()
    for index, item in enumerate(options["names"]):
        where = f"{pointer}/names/{index}"
        cell = reference(item["cell"])
        if cell is None or not (
            FIRST_ROW <= cell.row < FIRST_ROW + len(rows) and cell.column <= len(columns)
        ):
            message = f"{clip(item['cell'])} is no cell below the names of this table."
            last = address(Cell(len(columns), FIRST_ROW + len(rows) - 1))
            problems.add(child(where, "cell"), message, f"a cell from A{FIRST_ROW} to {last}")
        if item["name"] in seen:
            problems.add(
                child(where, "name"), f"The name {clip(item['name'])} is given twice.", "names that differ"
            )
        seen.add(item["name"])


def _no_circle(trees: Mapping[tuple[int, int], Node], pointer: str, problems: Problems) -> None:
    """No formula comes, by way of others, before itself."""
    by_column: dict[int, list[int]] = defaultdict(list)
    for row, column in sorted(trees):
        by_column[column].append(row)
    links: dict[str, list[str]] = {}
    count = 0
    for (row, column), tree in trees.items():
        sources: set[str] = set()
        for node in walk(tree):
            if isinstance(node, Cell):
                if (node.row, node.column) in trees:
                    sources.add(address(Cell(node.column, node.row)))
            elif isinstance(node, Area):
                for one in range(node.first.column, node.last.column + 1):
                    within = by_column.get(one, [])
                    low, high = bisect_left(within, node.first.row), bisect_right(within, node.last.row)
                    count += high - low
                    if count > _LINKS:
                        message = f"The formulas refer to other formulas more than {_LINKS} times."
                        problems.add(pointer, message, "smaller ranges, or a formulaColumn")
                        return
                    sources.update(address(Cell(one, at)) for at in within[low:high])
        links[address(Cell(column, row))] = sorted(sources)
    _, left_over = execution_order(links)
    if left_over:
        cycle = one_cycle(links, left_over)
        shown = " → ".join([*cycle[:8], *(["…"] if len(cycle) > 8 else []), cycle[0]])
        first = reference(cycle[0])
        place = f"{pointer}/{first.row - FIRST_ROW}/{first.column - 1}" if first else pointer
        problems.add(
            place, f"These formulas need each other in a circle: {shown}.", "formulas without a circle"
        )


def _formula_column(options: dict[str, Any], pointer: str, problems: Problems, budget: _Budget) -> None:
    try:
        check_shapes(budget.parse(options["formula"]))
    except FormulaError as reason:
        add_formula_problem(child(pointer, "formula"), reason, problems)


def _aggregate(options: dict[str, Any], pointer: str, problems: Problems) -> None:
    seen = set(options["groupBy"])
    for index, value in enumerate(options["values"]):
        if value["name"] in seen:
            message = f"The result has a column {clip(value['name'])} already."
            problems.add(f"{pointer}/values/{index}/name", message, "names that all differ")
        seen.add(value["name"])


def _filter_rows(options: dict[str, Any], pointer: str, problems: Problems) -> None:
    for index, condition in enumerate(options["conditions"]):
        operator, value = condition["operator"], condition["value"]
        place = f"{pointer}/conditions/{index}/value"
        if operator in s.STATE_TESTS:
            if value is not None:
                problems.add(place, f"{operator} compares with nothing.", "null")
        elif operator in s.TEXT_TESTS:
            if not isinstance(value, str) or not value:
                problems.add(place, f"{operator} needs a text.", "a text that is not empty")
        elif value is None or value == "":
            problems.add(
                place, f"{operator} needs a value.", "a number, a text, true or false; isBlank for blanks"
            )
        elif isinstance(value, bool) and operator not in ("equals", "notEquals"):
            problems.add(
                place, f"{operator} has no meaning for {clip(value)}.", "equals or notEquals as operator"
            )


def _goal_seek(options: dict[str, Any], pointer: str, problems: Problems) -> None:
    for name in ("cell", "goal"):
        cell = reference(options[name])
        if cell is None or cell.row < FIRST_ROW:
            message = f"{clip(options[name])} is no cell below the names."
            problems.add(child(pointer, name), message, f"a cell from A{FIRST_ROW} on")
    if options["cell"].upper() == options["goal"].upper():
        problems.add(child(pointer, "goal"), "goal and cell are the same.", "the cell with the formula")
    if not options["low"] < options["high"]:
        problems.add(child(pointer, "high"), "high is not above low.", "a number above low")


def _chart(options: dict[str, Any], pointer: str, problems: Problems) -> None:
    if options["x"] in options["y"]:
        place = f"{pointer}/y/{options['y'].index(options['x'])}"
        problems.add(place, f"{clip(options['x'])} is the x column.", "another column")
