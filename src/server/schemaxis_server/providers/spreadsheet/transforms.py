"""The operations that make a table of tables."""

from __future__ import annotations

from typing import Any

from schemaxis_server.providers.contract import Operation
from schemaxis_server.providers.spreadsheet import schemas as s
from schemaxis_server.providers.spreadsheet.descriptions import FORMULAS, SCOPE, VERIFIED, document, node

_ONE = "the table"
_SALES: dict[str, Any] = {
    "columns": ["region", "units", "price"],
    "rows": [["north", 12, 2.5], ["south", 7, 4], ["north", 3, 2.25], ["east", 20, 1.5]],
}


def transforms(version: str) -> tuple[Operation, ...]:
    sales = node("sales", "cells", _SALES)
    return (
        Operation(
            name="formulaColumn",
            title="Formula column",
            purpose="The table with a further column, whose formula is written for row 2 and filled down to "
            "the last row. "
            "It sees the columns that were there before. " + FORMULAS,
            scope=f"{SCOPE}/formulas",
            min_inputs=1,
            max_inputs=1,
            options=s.options(
                {
                    "column": s.name("The new column's name."),
                    "formula": s.formula(
                        "The formula as it stands in row 2, for instance =[@units]*[@price]."
                    ),
                }
            ),
            input_purpose=_ONE,
            keywords=(
                "formula",
                "computed column",
                "calculated",
                "derive",
                "expression",
                "fill down",
                "compute",
                "transform",
            ),
            example=document(
                version,
                sales,
                node(
                    "revenue",
                    "formulaColumn",
                    {"column": "revenue", "formula": "=[@units]*[@price]"},
                    "sales",
                ),
            ),
            verification=VERIFIED,
        ),
        Operation(
            name="aggregate",
            title="Aggregate",
            purpose="One row of figures for each group of rows, or for all rows if groupBy is empty. Groups "
            "come in the order "
            "of their first rows; cells are of one group if they hold the same value of the same type, texts "
            "letter for letter. Numbers count, texts, booleans and blanks do not; an error in the column is the "
            "figure. Without numbers sum and count are 0, average is #DIV/0!, min, max and median are #N/A; "
            "standardDeviation and variance (of a sample, divisor n - 1) of fewer than two are #DIV/0!. "
            "count counts numbers, countAll all cells that are not blank. A result of one row is given as "
            "values by name too.",
            scope=f"{SCOPE}/summaries",
            min_inputs=1,
            max_inputs=1,
            options=s.options(
                {
                    "groupBy": s.names("The columns whose cells make the groups.", 0, 16),
                    "values": s.listed(
                        "The figures, each a column of the result.",
                        s.item(
                            {
                                "name": s.name("The figure's name."),
                                "function": s.choice("What is computed.", s.STATISTICS),
                                "column": s.name("Of which column."),
                            }
                        ),
                    ),
                }
            ),
            input_purpose=_ONE,
            keywords=(
                "group",
                "group by",
                "pivot",
                "summarise",
                "summarize",
                "sum",
                "average",
                "mean",
                "count",
                "total",
                "statistics",
                "subtotal",
            ),
            example=document(
                version,
                sales,
                node(
                    "totals",
                    "aggregate",
                    {
                        "groupBy": ["region"],
                        "values": [{"name": "units", "function": "sum", "column": "units"}],
                    },
                    "sales",
                ),
            ),
            verification=VERIFIED,
        ),
        Operation(
            name="sort",
            title="Sort",
            purpose="The rows in order of one or more columns, the first named counting most. The sort is "
            "stable: rows that "
            "tie keep their order, also when descending. Ascending means numbers by size (NaN last), then texts by "
            "Unicode code points, FALSE before TRUE, errors by their code; descending is the reverse; blanks are "
            "always last. Formulas become their values.",
            scope=f"{SCOPE}/rows",
            min_inputs=1,
            max_inputs=1,
            options=s.options(
                {
                    "by": s.listed(
                        "The columns to sort by.",
                        s.item(
                            {
                                "column": s.name("A column."),
                                "order": s.choice(
                                    "Smallest or largest first.", ("ascending", "descending"), "ascending"
                                ),
                            }
                        ),
                        1,
                        16,
                    )
                }
            ),
            input_purpose=_ONE,
            keywords=("order", "order by", "rank", "arrange", "ascending", "descending"),
            example=document(
                version,
                sales,
                node("ranked", "sort", {"by": [{"column": "units", "order": "descending"}]}, "sales"),
            ),
            verification=VERIFIED,
        ),
        Operation(
            name="filterRows",
            title="Filter rows",
            purpose="The rows that meet the conditions, in their order. A comparison is of like with like: a "
            "number with "
            "numbers by size, a text with texts by Unicode code points and letter for letter. A cell of "
            "another type, "
            "a blank or NaN is never equal, less or greater, and always notEquals; an error meets no condition "
            "but isError. Formulas become their values.",
            scope=f"{SCOPE}/rows",
            min_inputs=1,
            max_inputs=1,
            options=s.options(
                {
                    "conditions": s.listed(
                        "The conditions.",
                        s.item(
                            {
                                "column": s.name("The column whose cells are judged."),
                                "operator": s.choice(
                                    "The test.", (*s.COMPARISONS, *s.TEXT_TESTS, *s.STATE_TESTS)
                                ),
                                "value": {
                                    "anyOf": [
                                        {"type": "number", "minimum": -s.LARGEST, "maximum": s.LARGEST},
                                        {"type": "string", "maxLength": 1000},
                                        {"type": "boolean"},
                                        {"type": "null"},
                                    ],
                                    "default": None,
                                    "description": "What cells are compared with; null for the tests that "
                                    "need nothing.",
                                },
                            }
                        ),
                        1,
                        32,
                    ),
                    "match": s.choice(
                        "Whether all conditions must be met or any one.", ("all", "any"), "all"
                    ),
                }
            ),
            input_purpose=_ONE,
            keywords=("filter", "where", "select", "query", "subset", "condition", "keep", "drop rows"),
            example=document(
                version,
                sales,
                node(
                    "large",
                    "filterRows",
                    {"conditions": [{"column": "units", "operator": "greaterOrEqual", "value": 7}]},
                    "sales",
                ),
            ),
            verification=VERIFIED,
        ),
        Operation(
            name="lookup",
            title="Lookup",
            purpose="The first table with columns of a second one, the reference, found by a key: the first "
            "row of the "
            "reference whose key holds the same value of the same type, texts letter for letter. Keys not found "
            "give #N/A or a blank; a blank key or NaN is never found; an error as key gives that error.",
            scope=f"{SCOPE}/rows",
            min_inputs=2,
            max_inputs=2,
            options=s.options(
                {
                    "key": s.name("The key column of the first table."),
                    "referenceKey": s.name("The key column of the reference."),
                    "columns": s.names("The reference's columns to bring in, at the right.", 1, 64),
                    "missing": s.choice("What a key that is not found gives.", ("error", "blank"), "error"),
                }
            ),
            input_purpose="the table, then the reference",
            keywords=("vlookup", "xlookup", "join", "merge", "match", "index", "left join", "map"),
            example=document(
                version,
                sales,
                node(
                    "managers",
                    "cells",
                    {"columns": ["area", "manager"], "rows": [["north", "Ada"], ["south", "Max"]]},
                ),
                node(
                    "assigned",
                    "lookup",
                    {"key": "region", "referenceKey": "area", "columns": ["manager"], "missing": "blank"},
                    "sales",
                    "managers",
                ),
            ),
            verification=VERIFIED,
        ),
    )
