"""Charts in a Calc document, drawn by Calc from the cells of its first sheet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from com.sun.star.awt import Rectangle
from com.sun.star.table import CellRangeAddress

NAME = "Chart"

_DIAGRAMS = {
    "line": "com.sun.star.chart.XYDiagram",
    "scatter": "com.sun.star.chart.XYDiagram",
    "bar": "com.sun.star.chart.BarDiagram",
}
_LEFT_GAP, _WIDTH, _HEIGHT = 500, 16000, 9000
"""In hundredths of a millimetre."""


@dataclass(frozen=True, slots=True)
class Chart:
    """What the options of a chart node say; ``rows`` and ``columns`` are the extent of its table, x first."""

    kind: str
    title: str
    x_label: str
    y_label: str
    rows: int
    columns: int


def chart_of(node: Mapping[str, Any], rows: int) -> Chart | None:
    """The chart of a node's table; none if it is no chart node."""
    if node["filter"] != "chart":
        return None
    options = node["options"]
    return Chart(
        options["kind"],
        options["title"],
        options["xLabel"] or options["x"],
        options["yLabel"] or ", ".join(options["y"]),
        rows,
        1 + len(options["y"]),
    )


def draw(document: Any, chart: Chart) -> None:
    """Put the chart beside the table."""
    sheet = document.Sheets.getByIndex(0)
    beside = sheet.getCellByPosition(chart.columns + 1, 1).Position.X + _LEFT_GAP
    frame = Rectangle(beside, _LEFT_GAP, _WIDTH, _HEIGHT)
    cells = CellRangeAddress(0, 0, 0, chart.columns - 1, chart.rows)
    sheet.Charts.addNewByName(NAME, frame, (cells,), True, True)
    drawn = sheet.Charts.getByName(NAME).EmbeddedObject
    diagram = drawn.createInstance(_DIAGRAMS[chart.kind])
    drawn.setDiagram(diagram)
    if chart.kind != "bar":
        diagram.Lines = chart.kind == "line"
        if chart.kind == "line":
            # No symbols: the samples of a line may stand close.
            diagram.SymbolType = -3
    drawn.HasMainTitle = bool(chart.title)
    if chart.title:
        drawn.Title.String = chart.title
    drawn.HasLegend = chart.columns > 2
    diagram.HasXAxisTitle = True
    diagram.XAxisTitle.String = chart.x_label
    diagram.HasYAxisTitle = True
    diagram.YAxisTitle.String = chart.y_label
