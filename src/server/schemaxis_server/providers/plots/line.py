"""Plots of series as PNG and SVG: the same samples give the same bytes.

The axes lie at fixed places of the picture, and where they lie and what they span is written into it,
so that a sample can be found to the pixel: a PNG has a text chunk ``schemaxis:axes``, an SVG the same JSON
in its description. Pixels are counted from the top left corner.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

WIDTH, HEIGHT = 960, 540
LEFT, RIGHT, TOP, BOTTOM = 110, 930, 50, 470
"""The pixels between which the axes lie."""

AXES_KEY = "schemaxis:axes"

_DPI = 100
_COLOURS = ("#1f5fa8", "#c2571a", "#3a7d34", "#7a3f98", "#8a6d1b", "#444444")
_MARGIN = 0.04
_MAX_LABEL = 80


def _quiet_import() -> Any:
    """Matplotlib, without a cache of fonts left behind and with its own fonts only."""
    folder = tempfile.mkdtemp(prefix="schemaxis-plots-")
    added = {"MPLCONFIGDIR": folder, "MPL_IGNORE_SYSTEM_FONTS": "1"}
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.figure
        import matplotlib.font_manager
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        shutil.rmtree(folder, ignore_errors=True)
    return matplotlib


_matplotlib = _quiet_import()
_STYLE = {
    "text.parse_math": False,
    "svg.hashsalt": "schemaxis",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "path.simplify": False,
    "agg.path.chunksize": 20_000,
    "axes.formatter.use_mathtext": False,
    "axes.unicode_minus": True,
}


@dataclass(frozen=True, slots=True)
class Curve:
    """Samples under a name. ``style`` is ``line``, ``points`` or ``bars``; what is not finite is a gap."""

    name: str
    x: Any
    y: Any
    style: str = "line"


@dataclass(frozen=True, slots=True)
class Plot:
    """A title, the names of the axes and one to six curves. ``ticks`` are names at x = 0, 1, 2 … in place of numbers."""

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    ticks: Sequence[str] = ()


def png(plot: Plot) -> bytes:
    """The plot as PNG, 960 × 540 pixels."""
    return draw(plot)[0]


def svg(plot: Plot) -> bytes:
    """The plot as SVG of the same size."""
    return draw(plot)[1]


def draw(plot: Plot) -> tuple[bytes, bytes]:
    """Both, PNG and SVG, from one drawing; cheaper than one after the other."""
    with _matplotlib.rc_context(_STYLE):
        figure, mapping = _figure(plot)
        title, text = _clipped(plot.title), json.dumps(mapping)
        png = {"Software": None, "Title": title, AXES_KEY: text}
        svg = {"Date": None, "Creator": None, "Title": title, "Description": text}
        return _saved(figure, "png", png), _saved(figure, "svg", svg)


def _saved(figure: Any, kind: str, metadata: Any) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format=kind, dpi=_DPI, metadata=metadata)
    return file.getvalue()


def _figure(plot: Plot) -> tuple[Any, dict[str, Any]]:
    figure = _matplotlib.figure.Figure(figsize=(WIDTH / _DPI, HEIGHT / _DPI), dpi=_DPI, facecolor="white")
    box = (LEFT / WIDTH, 1 - BOTTOM / HEIGHT, (RIGHT - LEFT) / WIDTH, (BOTTOM - TOP) / HEIGHT)
    axes = figure.add_axes(box)
    curves = [Curve(one.name, *_finite(one.x, one.y), one.style) for one in plot.curves[: len(_COLOURS)]]
    low_x, high_x = _span(
        [one.x for one in curves], 0.5 if any(one.style == "bars" for one in curves) else 0.0
    )
    low_y, high_y = _span([one.y for one in curves], 0.0)
    if any(one.style == "bars" for one in curves):
        low_y, high_y = min(low_y, 0.0), max(high_y, 0.0)
    axes.set_xlim(low_x, high_x)
    axes.set_ylim(low_y, high_y)
    for curve, colour in zip(curves, _COLOURS, strict=False):
        _add(axes, curve, colour)
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title(_clipped(plot.title), fontsize=12, y=1.0, pad=8)
    axes.set_xlabel(_clipped(plot.x_label))
    axes.set_ylabel(_clipped(plot.y_label))
    if plot.ticks:
        every = -(-len(plot.ticks) // 24)
        axes.set_xticks(
            range(0, len(plot.ticks), every), [_clipped(name)[:16] for name in plot.ticks[::every]]
        )
    if len(curves) > 1:
        axes.legend(
            [_clipped(one.name) for one in curves], loc="best" if len(curves[0].y) < 5000 else "upper right"
        )
    mapping = {
        "left": LEFT,
        "right": RIGHT,
        "top": TOP,
        "bottom": BOTTOM,
        "width": WIDTH,
        "height": HEIGHT,
        "xMin": low_x,
        "xMax": high_x,
        "yMin": low_y,
        "yMax": high_y,
        "xScale": "linear",
        "yScale": "linear",
    }
    return figure, mapping


def _add(axes: Any, curve: Curve, colour: str) -> None:
    if curve.style == "bars":
        axes.bar(curve.x, curve.y, color=colour, width=0.8)
    elif curve.style == "points" or len(curve.y) == 1:
        axes.plot(curve.x, curve.y, ".", color=colour, markersize=5)
    else:
        axes.plot(curve.x, curve.y, color=colour, linewidth=1.2)


def _finite(x: Any, y: Any) -> tuple[Any, Any]:
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    sound = np.isfinite(first) & np.isfinite(second)
    # Far beyond what a picture shows, and where Matplotlib's own sums overflow.
    sound &= (np.abs(first) < 1e250) & (np.abs(second) < 1e250)
    return first, np.where(sound, second, np.nan)


def _span(columns: Sequence[Any], margin: float) -> tuple[float, float]:
    """The limits of an axis: what is there and some room, never empty."""
    values = np.concatenate([*columns, []])
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    room = _MARGIN * (high - low) + margin
    if not room > 1e-12 * max(abs(low), abs(high), 1e-300):
        room = 0.05 * max(abs(low), abs(high)) or 1.0
    return low - room, high + room


def _clipped(text: str) -> str:
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return shown if len(shown) <= _MAX_LABEL else shown[: _MAX_LABEL - 1] + "…"
