"""Volume, area and centre of a shape, by integrals along the outlines of its faces.

FreeCAD offers its kernel's integrals with their fixed rule only, which was seen 1e-5 off where holes meet
in round faces. These here are refined until they settle, and depend on the kernel for positions alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from schemaxis_server.providers.freecad import topology
from schemaxis_server.providers.freecad.moments import Integrals, Strip, Triple, strip
from schemaxis_server.providers.freecad.quadrature import gauss
from schemaxis_server.providers.freecad.topology import Shape

import Part  # isort: skip

_RULE = gauss(10)
_SETTLED = 1e-13
_DEEPEST = 14
_QUARTER = math.pi / 2

# From a solid by shells, faces and wires.
_DOWN_TO_FACES, _DOWN_TO_EDGES = 2, 4

_NOTHING: Integrals = (0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Whole:
    """``volume`` in mm^3, ``area`` in mm^2, ``center`` in mm."""

    volume: float
    area: float
    center: Triple


def integrate(shape: Shape) -> Whole:
    """The integrals over all solids of a shape."""
    reference = _apex(shape)
    size = max(shape.BoundBox.DiagonalLength, 1e-12)
    sizes: Integrals = (size**2, size**3, size**4, size**4, size**4)
    faces = [
        _face(face, reference, sizes) for solid in shape.Solids for face in _oriented(solid, _DOWN_TO_FACES)
    ]
    area, volume, mx, my, mz = (math.fsum(part) for part in zip(*faces, strict=True))
    if not volume:
        return Whole(volume, area, reference)
    center = (reference[0] + mx / volume, reference[1] + my / volume, reference[2] + mz / volume)
    return Whole(volume, area, center)


def _apex(shape: Shape) -> Triple:
    """Where the cones stand that add up to the volume: the mean of the corners, as often as edges end there.

    Edges are where two faces meet to 1e-7 mm only, so that the volume of a round part depends on the
    apex by some 1e-8 of itself. The kernel takes this one, and so does whoever measures the files with it.
    """
    ends = [
        vertex.Point
        for solid in shape.Solids
        for edge in _oriented(solid, _DOWN_TO_EDGES)
        for vertex in edge.childShapes()
    ]
    if not ends:
        center = shape.BoundBox.Center
        return (center.x, center.y, center.z)
    return (
        math.fsum(one.x for one in ends) / len(ends),
        math.fsum(one.y for one in ends) / len(ends),
        math.fsum(one.z for one in ends) / len(ends),
    )


def _oriented(shape: Shape, levels: int) -> list[Shape]:
    """The shapes so many levels below, each as often as it occurs, its orientation composed."""
    below = [shape]
    for _ in range(levels):
        below = [child for one in below for child in one.childShapes(True, True)]
    return below


def _face(face: Shape, reference: Triple, sizes: Integrals) -> Integrals:
    integrals = strip(face, reference)
    outwards = -1.0 if face.Orientation == "Reversed" else 1.0
    flat = topology.is_plane(face)
    along = []
    for edge in _oriented(face, _DOWN_TO_EDGES - _DOWN_TO_FACES):
        if edge.Orientation not in ("Forward", "Reversed"):
            continue
        found = face.curveOnSurface(edge)
        if found is None:
            raise ArithmeticError("an edge of a face has no place on its surface")
        curve, first, last = found
        # Of the edge in the solid, so that the face's own direction is in it already.
        sign = -1.0 if edge.Orientation == "Reversed" else 1.0
        for start, end, exact in _pieces(curve, first, last, flat):
            area, *others = _along(curve, integrals, start, end, sizes, exact)
            along.append((sign * outwards * area, *(sign * one for one in others)))
    if not along:
        return _NOTHING
    area, volume, mx, my, mz = (math.fsum(part) for part in zip(*along, strict=True))
    return (area, volume, mx, my, mz)


def _pieces(curve: Any, first: float, last: float, flat: bool) -> list[tuple[float, float, bool]]:
    """Parts of an outline along which it is smooth; and whether one panel is exact."""
    if isinstance(curve, Part.Geom2d.Line2d):
        pace = max(abs(curve.Direction.x), abs(curve.Direction.y))
        turns = 1 if flat else math.ceil((last - first) * pace / _QUARTER)
        # Of a cylinder along its lines the length is no angle.
        marks, exact = _even(first, last, min(max(turns, 1), 8)), flat
    elif isinstance(curve, Part.Geom2d.BSplineCurve2d):
        knots = [knot for knot in curve.getKnots() if first < knot < last]
        marks, exact = [first, *knots, last], False
    else:
        marks, exact = _even(first, last, 4), False
    return [(start, end, exact) for start, end in itertools.pairwise(marks)]


def _even(first: float, last: float, count: int) -> list[float]:
    return [first + (last - first) * index / count for index in range(count)] + [last]


def _along(
    curve: Any, integrals: Strip, start: float, end: float, sizes: Integrals, exact: bool
) -> Integrals:
    """The integral of G dv over a piece, halved until both halves say what the whole said."""
    value = curve.value
    whole = _panel(value, integrals, start, end)
    if exact or whole is None:
        return whole or _NOTHING
    settled = []
    waiting = [(start, end, whole, 0)]
    while waiting:
        start, end, before, depth = waiting.pop()
        middle = (start + end) / 2
        left = _panel(value, integrals, start, middle) or _NOTHING
        right = _panel(value, integrals, middle, end) or _NOTHING
        both = _added(left, right)
        if depth >= _DEEPEST or all(
            abs(a - b) <= _SETTLED * size for a, b, size in zip(both, before, sizes, strict=True)
        ):
            settled.append(both)
        else:
            waiting += [(start, middle, left, depth + 1), (middle, end, right, depth + 1)]
    area, volume, mx, my, mz = (math.fsum(part) for part in zip(*settled, strict=True))
    return (area, volume, mx, my, mz)


def _added(one: Integrals, other: Integrals) -> Integrals:
    return (
        one[0] + other[0],
        one[1] + other[1],
        one[2] + other[2],
        one[3] + other[3],
        one[4] + other[4],
    )


def _panel(value: Callable[[float], Any], integrals: Strip, start: float, end: float) -> Integrals | None:
    """Gauss's rule over one panel; None where v stays, which adds nothing."""
    half, middle = (end - start) / 2, (start + end) / 2
    points = [value(middle + half * node) for node in _RULE.nodes]
    rises = [point.y for point in points]
    if _stays(rises):
        return None
    total = [0.0] * 5
    for point, weight, row in zip(points, _RULE.weights, _RULE.derivative, strict=True):
        share = weight * sum(factor * rise for factor, rise in zip(row, rises, strict=True))
        for place, integral in enumerate(integrals(point.x, point.y)):
            total[place] += share * integral
    return (total[0], total[1], total[2], total[3], total[4])


def _stays(values: Sequence[float]) -> bool:
    return max(values) - min(values) <= 1e-15 * max(1e-6, max(map(abs, values)))
