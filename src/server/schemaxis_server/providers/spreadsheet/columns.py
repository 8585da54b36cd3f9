"""Which columns each node of a document has, and whether those that its options name are there.

The planner asks as far as columns are known without files; a host asks again for every node, with the
columns that its files turned out to have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schemaxis_server.providers.order import execution_order
from schemaxis_server.providers.problems import Problems, child, clip
from schemaxis_server.providers.spreadsheet import limits
from schemaxis_server.providers.spreadsheet.formulas.layout import placed
from schemaxis_server.providers.spreadsheet.formulas.parser import parse
from schemaxis_server.providers.spreadsheet.formulas.tokens import FormulaError
from schemaxis_server.providers.spreadsheet.formulas.tree import Area, Cell, column_letters, walk

Columns = tuple[str, ...]
_SHOWN = 12


def check_document(document: Mapping[str, Any], problems: Problems) -> None:
    """Check every node of a resolved document whose columns follow from the document alone."""
    nodes = {node["id"]: (index, node) for index, node in enumerate(document["nodes"])}
    order, _ = execution_order({name: node["inputs"] for name, (_, node) in nodes.items()})
    known: dict[str, Columns | None] = {}
    for name in order:
        index, node = nodes[name]
        inputs = [known[source] for source in node["inputs"]]
        known[name] = columns_of(node, inputs, f"/nodes/{index}", problems)


def columns_of(
    node: Mapping[str, Any], inputs: Sequence[Columns | None], pointer: str, problems: Problems
) -> Columns | None:
    """The columns of a node's table, None if they depend on a file or cannot be told for a problem."""
    options, operation = node["options"], node["filter"]
    if operation == "cells":
        return tuple(options["columns"])
    if operation == "goalSeek":
        return ("solution", "value", "target")
    if operation == "aggregate":
        _there([*options["groupBy"]], inputs[0], f"{pointer}/options/groupBy", problems)
        for index, value in enumerate(options["values"]):
            _one(value["column"], inputs[0], f"{pointer}/options/values/{index}/column", problems)
        return (*options["groupBy"], *(value["name"] for value in options["values"]))
    if operation == "chart":
        _one(options["x"], inputs[0], f"{pointer}/options/x", problems)
        _there(options["y"], inputs[0], f"{pointer}/options/y", problems)
        return (options["x"], *options["y"])
    if operation == "readCSV" or inputs[0] is None:
        return None
    if operation == "formulaColumn":
        return _formula_column(options, inputs[0], f"{pointer}/options", problems)
    if operation == "lookup":
        return _lookup(options, inputs, f"{pointer}/options", problems)
    for key in ("by", "conditions"):
        for index, item in enumerate(options.get(key, ())):
            _one(item["column"], inputs[0], f"{pointer}/options/{key}/{index}/column", problems)
    return inputs[0]


def _formula_column(
    options: Mapping[str, Any], columns: Columns, pointer: str, problems: Problems
) -> Columns | None:
    before = problems.total
    _new(options["column"], columns, child(pointer, "column"), problems)
    try:
        tree = placed(parse(options["formula"]), columns, 1)
        for node in walk(tree):
            for cell in (node.first, node.last) if isinstance(node, Area) else (node,):
                if isinstance(cell, Cell) and cell.column > len(columns):
                    letters = column_letters(cell.column)
                    message = (
                        f"Column {letters} lies to the right of the table, which has {len(columns)} columns."
                    )
                    raise FormulaError(cell.position, message, "a column of the table")
    except FormulaError as reason:
        add_formula_problem(child(pointer, "formula"), reason, problems)
    return None if problems.total > before else (*columns, options["column"])


def _lookup(
    options: Mapping[str, Any], inputs: Sequence[Columns | None], pointer: str, problems: Problems
) -> Columns | None:
    before = problems.total
    columns, reference = inputs
    _one(options["key"], columns, child(pointer, "key"), problems)
    _one(options["referenceKey"], reference, child(pointer, "referenceKey"), problems)
    _there(options["columns"], reference, child(pointer, "columns"), problems)
    if columns is None:
        return None
    for index, name in enumerate(options["columns"]):
        _new(name, columns, f"{pointer}/columns/{index}", problems)
    return None if problems.total > before else (*columns, *options["columns"])


def add_formula_problem(pointer: str, reason: FormulaError, problems: Problems) -> None:
    """Record what is wrong with a formula, with the place in it."""
    message = f"At character {reason.position}: {reason.message}"
    names = [reason.near] if reason.near else []
    problems.add(pointer, message, reason.expected, given=reason.near, names=names)


def _there(names: Sequence[str], columns: Columns | None, pointer: str, problems: Problems) -> None:
    for index, name in enumerate(names):
        _one(name, columns, f"{pointer}/{index}", problems)


def _one(name: str, columns: Columns | None, pointer: str, problems: Problems) -> None:
    if columns is not None and name not in columns:
        shown = ", ".join(clip(one) for one in columns[:_SHOWN]) + (" …" if len(columns) > _SHOWN else "")
        message = f"There is no column {clip(name)}."
        problems.add(pointer, message, f"one of {shown}", given=name, names=columns)


def _new(name: str, columns: Columns, pointer: str, problems: Problems) -> None:
    if name in columns:
        message = f"There is a column {clip(name)} already."
        problems.add(pointer, message, "a name that no column has")
    elif len(columns) >= limits.MAX_COLUMNS:
        message = f"The table has {len(columns)} columns already."
        problems.add(pointer, message, f"at most {limits.MAX_COLUMNS} columns")
