"""The operations that ask something of a table: goalSeek and chart."""

from __future__ import annotations

from schemaxis_server.providers.contract import Operation
from schemaxis_server.providers.spreadsheet import limits
from schemaxis_server.providers.spreadsheet import schemas as s
from schemaxis_server.providers.spreadsheet.descriptions import SCOPE, VERIFIED, document, node


def studies(version: str) -> tuple[Operation, ...]:
    return (
        Operation(
            name="goalSeek",
            title="Goal seek",
            purpose="The number that has to stand in one cell so that a formula in another one gives the "
            "target, sought "
            "between low and high by bisection. The formula's values at low and high must lie on different "
            "sides of the "
            "target; of several solutions it is one. Cells are those of the input's sheet, whose first data row "
            "is row 2. The result is one row: solution, value (what the formula gives there) and target. "
            f"The sheet may have at most {limits.MAX_SEEK_CELLS} cells.",
            scope=f"{SCOPE}/studies",
            min_inputs=1,
            max_inputs=1,
            options=s.options(
                {
                    "cell": s.cell("The cell to vary, which holds a number, for instance B2."),
                    "goal": s.cell("The cell with the formula, for instance B5."),
                    "target": s.number("What the formula is to give."),
                    "low": s.number("The smallest number to try."),
                    "high": s.number("The largest number to try."),
                }
            ),
            input_purpose="the table with the model's formulas, from cells or formulaColumn",
            keywords=(
                "solve",
                "solver",
                "root",
                "target",
                "what if",
                "inverse",
                "breakeven",
                "find value",
                "seek",
            ),
            example=document(
                version,
                node(
                    "plan",
                    "cells",
                    {
                        "columns": ["quantity", "amount"],
                        "rows": [["price", 10], ["units", "=1000-20*B2"], ["revenue", "=B2*B3"]],
                    },
                ),
                node(
                    "best",
                    "goalSeek",
                    {"cell": "B2", "goal": "B4", "target": 12000, "low": 5, "high": 25},
                    "plan",
                ),
            ),
            verification="The solution put into the model and recalculated by the other engine, which solves "
            "it again as well.",
        ),
        Operation(
            name="chart",
            title="Chart",
            purpose="A picture of columns of the table, drawn from the published and verified CSV. Its own "
            "result is the table of "
            "the columns shown, x first. Numbers are drawn, blanks and texts leave gaps; a chart without anything "
            "to draw is refused. For bar the x column may hold text.",
            scope=f"{SCOPE}/studies",
            min_inputs=1,
            max_inputs=1,
            options=s.options(
                {
                    "kind": s.choice("How it is drawn.", ("line", "scatter", "bar"), "line"),
                    "x": s.name("The column along the horizontal axis."),
                    "y": s.names("The columns drawn over it.", 1, 6),
                    "title": s.text("The title.", ""),
                    "xLabel": s.text("The label of the horizontal axis; empty for the column's name.", ""),
                    "yLabel": s.text("The label of the vertical axis; empty for the columns' names.", ""),
                }
            ),
            input_purpose="the table",
            keywords=(
                "plot",
                "graph",
                "diagram",
                "figure",
                "picture",
                "line chart",
                "bar chart",
                "scatter",
                "visualise",
            ),
            example=document(
                version,
                node("data", "cells", {"columns": ["x", "y"], "rows": [[0, 0], [1, 1], [2, 4], [3, 9]]}),
                node("curve", "chart", {"x": "x", "y": ["y"], "title": "Squares"}, "data"),
            ),
            verification=VERIFIED + " The picture is drawn from the verified CSV.",
        ),
    )
