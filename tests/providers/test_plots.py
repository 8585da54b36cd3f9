"""Plots: readable by others, the same bytes each time, and true to the pixel."""

from __future__ import annotations

import json
import math
import struct
import xml.etree.ElementTree as ElementTree
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from schemaxis_server.providers.plots import line

from providers.numerics_bench import NumericsBench, document, grid, node


def chunks(png: bytes) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    place = 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        kind = png[place + 4 : place + 8]
        found.setdefault(kind, []).append(png[place + 8 : place + 8 + length])
        place += 12 + length
    return found


def mapping_of(png: bytes) -> dict[str, Any]:
    texts = dict(chunk.split(b"\0", 1) for chunk in chunks(png)[b"tEXt"])
    found: dict[str, Any] = json.loads(texts[b"schemaxis:axes"])
    return found


def pixels(png: bytes) -> NDArray[np.int64]:
    """The picture as (height, width, channels), decoded with the standard library."""
    parts = chunks(png)
    width, height, depth, colour = struct.unpack(">IIBB", parts[b"IHDR"][0][:10])
    assert depth == 8
    channels = {2: 3, 6: 4}[colour]
    raw = zlib.decompress(b"".join(parts[b"IDAT"]))
    rows = np.zeros((height, width * channels), dtype=np.int64)
    above = np.zeros(width * channels, dtype=np.int64)
    for number in range(height):
        start = number * (1 + width * channels)
        kind, row = raw[start], np.frombuffer(raw, np.uint8, width * channels, start + 1).astype(np.int64)
        if kind == 2:
            row = (row + above) % 256
        elif kind:
            row = row.copy()
            for at in range(len(row)):
                left = row[at - channels] if at >= channels else 0
                corner = above[at - channels] if at >= channels else 0
                row[at] = (row[at] + _predicted(kind, left, above[at], corner)) % 256
        rows[number] = above = row
    return rows.reshape(height, width, channels)


def _predicted(kind: int, left: int, above: int, corner: int) -> int:
    if kind == 1:
        return left
    if kind == 3:
        return (left + above) // 2
    guess = left + above - corner
    return min((left, above, corner), key=lambda one: abs(guess - one))


def curve_pixels(picture: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where the first curve's blue is."""
    red, green, blue = (picture[..., channel] for channel in range(3))
    found: NDArray[np.bool_] = (blue - red > 60) & (green < 200)
    return found


@pytest.mark.parametrize("frequency", [50, 123, 211])
def test_the_plotted_peak_lies_at_the_known_frequency_to_a_pixel(
    tmp_path_factory: pytest.TempPathFactory, frequency: int
) -> None:
    bench = NumericsBench(tmp_path_factory.mktemp("plots"))
    made = bench.produce(
        document(*grid(0, 511 / 512, 512, f"3*sin(2*pi*{frequency}*x)"), node("s", "spectrum", "data"))
    )
    report = bench.verify(made, pictures=True)
    names = {one["name"]: one for one in report["pictures"]}
    assert {name: one["kind"] for name, one in names.items()} == {
        "s.png": "picture/png",
        "s.svg": "picture/svg",
    }
    assert all(one["derivedFrom"] == "s.csv" for one in names.values())
    png = Path(report["directory"], names["s.png"]["file"]).read_bytes()
    axes = mapping_of(png)
    inside = curve_pixels(pixels(png))[axes["top"] : axes["bottom"], axes["left"] : axes["right"]]
    top = int(np.flatnonzero(inside.any(axis=1))[0])
    column = axes["left"] + 0.5 + float(np.mean(np.flatnonzero(inside[top])))
    part = (column - axes["left"]) / (axes["right"] - axes["left"])
    measured = axes["xMin"] + part * (axes["xMax"] - axes["xMin"])
    pixel = (axes["xMax"] - axes["xMin"]) / (axes["right"] - axes["left"])
    assert abs(measured - frequency) <= pixel
    row = axes["top"] + top + 0.5
    height = axes["yMax"] - (row - axes["top"]) / (axes["bottom"] - axes["top"]) * (
        axes["yMax"] - axes["yMin"]
    )
    assert height == pytest.approx(3, abs=2 * (axes["yMax"] - axes["yMin"]) / (axes["bottom"] - axes["top"]))


def test_the_same_samples_give_the_same_bytes() -> None:
    x = np.linspace(0, 1, 500)
    plot = line.Plot(
        "wave", "t", "u", (line.Curve("a", x, np.sin(9 * x)), line.Curve("b", x, np.cos(9 * x), "points"))
    )
    assert line.draw(plot) == line.draw(plot)


def test_an_svg_is_xml_with_the_mapping_in_it() -> None:
    plot = line.Plot("a <b> & $c$", "x_1^2", "$\\frac", (line.Curve("", [0, 1, 2], [0, 1, 0]),))
    svg = line.draw(plot)[1]
    root = ElementTree.fromstring(svg)
    described = root.find(".//{http://purl.org/dc/elements/1.1/}description")
    assert described is not None
    assert json.loads(described.text or "")["xMax"] == pytest.approx(2.08)
    assert "script" not in svg.decode().lower().replace("description", "")


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([], []),
        ([1], [2]),
        ([0, 1, 2], [math.nan] * 3),
        ([0, 1, 2], [1, math.inf, 2]),
        ([0, 1, 2], [5, 5, 5]),
        ([1e-300, 2e-300], [1e-310, 0]),
        ([0, 1], [1e300, -1e300]),
        ([1e15, 1e15 + 1], [1, 2]),
        ([3, 1, 2], [1, 2, 3]),
    ],
    ids=range(9),
)
@pytest.mark.parametrize("style", ["line", "points", "bars"])
def test_any_series_can_be_drawn(x: list[float], y: list[float], style: str) -> None:
    plot = line.Plot("t" * 500, "x\ty", "\u202e\ufffd漢", (line.Curve("", x, y, style),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        png, svg = line.draw(plot)
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    ElementTree.fromstring(svg)


def test_bars_with_names_under_them() -> None:
    plot = line.Plot(
        "parts", "part", "mass", (line.Curve("kg", [0, 1, 2], [3, 1, 2], "bars"),), ["a", "b", "c"]
    )
    axes = mapping_of(line.draw(plot)[0])
    assert axes["yMin"] <= 0 < 3 < axes["yMax"]
    assert axes["xMin"] < -0.5
    assert axes["xMax"] > 2.5
