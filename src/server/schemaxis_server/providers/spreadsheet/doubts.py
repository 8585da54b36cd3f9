"""What was done as it was written, but hardly meant: the warnings about a node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from schemaxis_server.providers.problems import clip
from schemaxis_server.providers.spreadsheet.operations import cell_name, key_of
from schemaxis_server.providers.spreadsheet.table import Table
from schemaxis_server.providers.spreadsheet.values import CellError


def doubts(node: Mapping[str, Any], inputs: Sequence[Table], table: Table) -> Iterator[str]:
    """What is doubtful about a node's table, each a sentence or two."""
    options, operation = node["options"], node["filter"]
    if operation in ("cells", "formulaColumn"):
        yield from _formula_errors(table, inputs)
    elif operation == "aggregate":
        yield from _ignored(inputs[0], options)
    elif operation == "filterRows":
        yield from _filtered(inputs[0], table, options)
    elif operation == "lookup":
        yield from _looked_up(inputs[0], inputs[1], options)


def risky_texts(table: Table, output: str) -> Iterator[str]:
    """Texts that another program may take for formulas when it opens the CSV."""
    risky = [
        (row, column)
        for row, cells in enumerate(table.rows)
        for column, value in enumerate(cells)
        if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t")
    ]
    if risky:
        yield (
            f"{_count(len(risky), 'text')} from {cell_name(*risky[0])} on may be run as formulas where {output}.csv is "
            f"opened in a spreadsheet program; open {output}.xlsx instead, which holds them as texts."
        )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _formula_errors(table: Table, inputs: Sequence[Table]) -> Iterator[str]:
    fresh = [
        (row, column)
        for row, column in sorted(table.formulas)
        if isinstance(table.rows[row][column], CellError) and not (inputs and column < len(inputs[0].columns))
    ]
    if fresh:
        row, column = fresh[0]
        value = table.rows[row][column]
        code = value.code if isinstance(value, CellError) else ""
        count = len({place for place in table.formulas if not inputs or place[1] >= len(inputs[0].columns)})
        yield (
            f"{len(fresh)} of {_count(count, 'formula')} give an error, first {code} in {cell_name(row, column)}; "
            "mend the formula or its cells, or catch it with IFERROR."
        )


def _ignored(table: Table, options: Mapping[str, Any]) -> Iterator[str]:
    for column in dict.fromkeys(value["column"] for value in options["values"]):
        place = table.columns.index(column)
        figures = {value["function"] for value in options["values"] if value["column"] == column}
        others = sum(isinstance(row[place], str | bool) for row in table.rows)
        wrong = sum(isinstance(row[place], CellError) for row in table.rows)
        if others and figures - {"countAll"}:
            yield (
                f"{_count(others, 'cell')} of column {clip(column)} hold texts or booleans, which its figures leave out; "
                "filter the rows, or read the column as numbers."
            )
        if wrong and "count" in figures:
            yield (
                f"{_count(wrong, 'cell')} of column {clip(column)} hold errors, which count leaves out; filter the rows, "
                "or mend what gives the errors."
            )


def _filtered(source: Table, table: Table, options: Mapping[str, Any]) -> Iterator[str]:
    if source.rows and not table.rows:
        yield "No row meets the conditions; compare them with the cells, whose types count, too."
    places = {
        source.columns.index(one["column"]) for one in options["conditions"] if one["operator"] != "isError"
    }
    wrong = sum(any(isinstance(row[place], CellError) for place in places) for row in source.rows)
    if wrong:
        yield (
            f"{_count(wrong, 'row')} with an error in a column of the conditions meet none of them; ask for isError, "
            "or mend what gives the errors."
        )


def _looked_up(table: Table, reference: Table, options: Mapping[str, Any]) -> Iterator[str]:
    place = reference.columns.index(options["referenceKey"])
    keys = [key_of(row[place]) for row in reference.rows]
    known = set(keys)
    if len(known) < len(keys):
        yield (
            f"{_count(len(keys) - len(known), 'row')} of the reference repeat a key of {clip(options['referenceKey'])}, "
            "and the first one counts; aggregate or filter the reference."
        )
    at = table.columns.index(options["key"])
    missing = [row[at] for row in table.rows if key_of(row[at]) not in known]
    if missing and options["missing"] == "error":
        yield (
            f"{_count(len(missing), 'key')} of {clip(options['key'])} are not in the reference and give #N/A, first "
            f"{_shown(missing[0])}; add them, or set missing to blank."
        )


def _shown(value: Any) -> str:
    return value.code if isinstance(value, CellError) else clip(value)
