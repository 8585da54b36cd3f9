"""The picture of a chart, drawn from the cells of its verified CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from schemaxis_server.native.hostkit import Kit
from schemaxis_server.providers.plots import line
from schemaxis_server.providers.spreadsheet.values import Value, csv_text, is_number

_STYLES = {"line": "line", "scatter": "points", "bar": "bars"}


def draw(
    node: Mapping[str, Any], cells: Sequence[Sequence[Value]], kit: Kit, warnings: list[str]
) -> list[dict[str, str]]:
    """PNG and SVG of a chart node's columns, x first; without them the result is as good."""
    name = node["id"]
    pictures = []
    try:
        plot = plot_of(node["options"], cells)
        for suffix, media_type, content in (
            ("png", "image/png", line.png(plot)),
            ("svg", "image/svg+xml", line.svg(plot)),
        ):
            file = f"{name}.{suffix}"
            (kit.publications / file).write_bytes(content)
            pictures.append(
                {
                    "name": file,
                    "file": f"publications/{file}",
                    "kind": f"picture/{suffix}",
                    "mediaType": media_type,
                    "operation": name,
                    "derivedFrom": f"{name}.csv",
                }
            )
    except Exception as reason:
        warnings.append(f"No picture of {name} could be drawn: {type(reason).__name__}: {reason}"[:300])
    return pictures


def plot_of(options: Mapping[str, Any], cells: Sequence[Sequence[Value]]) -> line.Plot:
    """The chart as a plot. Bars stand side by side at the places of their rows, named by x."""
    bars = options["kind"] == "bar"
    ticks = tuple(csv_text(row[0]) or "" for row in cells) if bars else ()
    count = len(options["y"])
    curves = []
    for place, name in enumerate(options["y"], 1):
        x = [float(index) for index in range(len(cells))] if bars else [_number(row[0]) for row in cells]
        y = [_number(row[place]) for row in cells]
        if bars and count > 1:
            # A plot draws bars of one width: several series share it as dots beside each other.
            x = [one + 0.6 * ((place - 1) / (count - 1) - 0.5) for one in x]
        style = _STYLES[options["kind"]] if not bars or count == 1 else "points"
        curves.append(line.Curve(name, x, y, style))
    x_label = options["xLabel"] or options["x"]
    y_label = options["yLabel"] or ", ".join(options["y"])
    return line.Plot(options["title"], x_label, y_label, tuple(curves), ticks)


def _number(value: Value) -> float:
    return float(value) if is_number(value) else math.nan
