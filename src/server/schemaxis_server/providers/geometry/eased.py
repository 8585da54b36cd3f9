"""Prisms with rounded or cut edges that have closed forms, made without any kernel's fillets.

Chamfers along an upright prism are another prism, whose outline has its corners cut. Fillets along
one axis of a box are a rounded rectangle, extruded; a box rounded all over is a parallel body.
Only edges that keep room between them are taken, so that no two of them meet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from schemaxis_server.providers.geometry.bodies import Part, Prism, RoundedBox
from schemaxis_server.providers.geometry.profiles import crossing_sides
from schemaxis_server.providers.geometry.sections import Point, Polygon, RoundedRectangle
from schemaxis_server.providers.geometry.vectors import IDENTITY, Matrix, Vector, add, scaled, times

# Corners whose sides lie nearer to one line leave it to the kernel whether there is an edge.
_STRAIGHT = 1e-6
_ROOM = 1e-6
_CROSSING_PAIRS = 250_000

# What turns z to an axis, and x and y to the two that follow it.
_ONTO: Mapping[str, Matrix] = {
    "x": ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    "y": ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
    "z": IDENTITY,
}


def rounded(options: Mapping[str, Any], part: Part) -> Part | None:
    """A box with fillets on all of its edges, or on those along one axis; else None."""
    box = _box(part)
    if box is None:
        return None
    corner, size = box
    radius = float(options["radius"])
    if options["edges"] == "all":
        fits = 2 * radius < min(size) * (1 - _ROOM)
        return Part(RoundedBox(size, radius), offset=corner) if fits else None
    axis = _axis(options["edges"])
    if axis is None:
        return None
    width, height, length = _seen_along(axis, size)
    if 2 * radius >= min(width, height) * (1 - _ROOM):
        return None
    return Part(Prism(RoundedRectangle(width, height, radius), length), _ONTO[axis], corner)


def bevelled(options: Mapping[str, Any], part: Part) -> Part | None:
    """An upright prism with chamfers on its upright edges, or a box with those along one axis; else None."""
    axis = _axis(options["edges"])
    distance = float(options["distance"])
    if axis == "z" and _is_upright(part) and isinstance(part.body, Prism):
        section = part.body.section
        if not isinstance(section, Polygon):
            return None
        cut = _without_corners(section.points, distance / part.factor)
        return (
            None if cut is None else Part(Prism(cut, part.body.height), part.linear, part.offset, part.factor)
        )
    box = _box(part)
    if axis is None or box is None:
        return None
    corner, size = box
    width, height, length = _seen_along(axis, size)
    cut = _without_corners([(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)], distance)
    return None if cut is None else Part(Prism(cut, length), _ONTO[axis], corner)


def _axis(edges: Any) -> str | None:
    """The axis along which a selector takes all edges."""
    if isinstance(edges, list) and len(edges) == 1:
        edges = edges[0]
    return str(edges["parallelTo"]) if isinstance(edges, Mapping) and set(edges) == {"parallelTo"} else None


def _is_upright(part: Part) -> bool:
    return part.linear == scaled(IDENTITY, part.factor)


def _box(part: Part) -> tuple[Vector, Vector] | None:
    """(lowest corner, extents) of an upright box."""
    body = part.body
    if not _is_upright(part) or not isinstance(body, Prism) or not isinstance(body.section, Polygon):
        return None
    extent = body.section.rectangle()
    if extent is None:
        return None
    (x, y), (length, width) = extent
    corner = add(part.offset, times(part.factor, (x, y, 0.0)))
    return corner, times(part.factor, (length, width, body.height))


def _seen_along(axis: str, size: Vector) -> Vector:
    """The extents along the two axes that follow ``axis``, and along it."""
    index = "xyz".index(axis)
    return (size[(index + 1) % 3], size[(index + 2) % 3], size[index])


def _without_corners(points: Sequence[Point], distance: float) -> Polygon | None:
    """The outline with each corner replaced by the two points ``distance`` away from it on its sides."""
    cut: list[Point] = []
    for index, here in enumerate(points):
        before, after = points[index - 1], points[(index + 1) % len(points)]
        back, forward = math.dist(here, before), math.dist(here, after)
        turn = (here[0] - before[0]) * (after[1] - here[1]) - (here[1] - before[1]) * (after[0] - here[0])
        if 2 * distance >= forward * (1 - _ROOM) or abs(turn) < _STRAIGHT * back * forward:
            return None
        for towards, length in ((before, back), (after, forward)):
            part = distance / length
            cut.append((here[0] + part * (towards[0] - here[0]), here[1] + part * (towards[1] - here[1])))
    return None if crossing_sides(cut, _CROSSING_PAIRS) is not None else Polygon.ordered(cut)
