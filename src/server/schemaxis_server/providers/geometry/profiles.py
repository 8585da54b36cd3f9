"""Plane figures: their outlines, and whether an outline crosses itself. Standard library only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Point = Sequence[float]


def polygon_points(profile: Mapping[str, Any]) -> list[tuple[float, float]] | None:
    """The corners of a resolved profile, or None for a circle."""
    if profile["type"] == "polygon":
        return [(float(x), float(y)) for x, y in profile["points"]]
    if profile["type"] == "rectangle":
        x, y = profile["center"]
        w, h = profile["width"] / 2, profile["height"] / 2
        return [(x - w, y - h), (x + w, y - h), (x + w, y + h), (x - w, y + h)]
    return None


def signed_area(points: Sequence[Point]) -> float:
    """By the shoelace formula; positive when the corners run counter-clockwise."""
    x0, y0 = points[0]
    return 0.5 * sum(
        (a[0] - x0) * (b[1] - y0) - (b[0] - x0) * (a[1] - y0)
        for a, b in zip(points, [*points[1:], points[0]], strict=True)
    )


def breadth(points: Sequence[Point]) -> float:
    """How far the corners lie at most from the line through the first one and the one furthest from it."""
    first = points[0]
    furthest = max(points, key=lambda point: math.dist(first, point))
    length = math.dist(first, furthest)
    return max(abs(_turn(first, furthest, point)) for point in points) / length if length else 0.0


def crossing_sides(points: Sequence[Point], budget: int) -> tuple[int, int] | None:
    """The first two sides that cross or touch where they should not; side i starts at corner i.

    Sides are compared only where their extents along x overlap, at most ``budget`` pairs of them:
    beyond that the answer is None, as if there were no crossing.
    """
    count = len(points)
    sides = sorted(range(count), key=lambda i: min(points[i][0], points[(i + 1) % count][0]))
    for rank, i in enumerate(sides):
        a, b = points[i], points[(i + 1) % count]
        right = max(a[0], b[0])
        for j in sides[rank + 1 :]:
            c, d = points[j], points[(j + 1) % count]
            if min(c[0], d[0]) > right:
                break
            budget -= 1
            if budget < 0:
                return None
            if (i + 1) % count == j:
                bad = _folds_back(a, b, d)
            elif (j + 1) % count == i:
                bad = _folds_back(c, d, b)
            else:
                bad = _meet(a, b, c, d)
            if bad:
                return (min(i, j), max(i, j))
    return None


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _folds_back(a: Point, b: Point, c: Point) -> bool:
    """Whether the side from b to c runs back over the side from a to b."""
    forward = (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1])
    return _turn(a, b, c) == 0 and forward < 0


def _within(a: Point, b: Point, c: Point) -> bool:
    return min(a[0], b[0]) <= c[0] <= max(a[0], b[0]) and min(a[1], b[1]) <= c[1] <= max(a[1], b[1])


def _meet(a: Point, b: Point, c: Point, d: Point) -> bool:
    abc, abd, cda, cdb = _turn(a, b, c), _turn(a, b, d), _turn(c, d, a), _turn(c, d, b)
    if ((abc > 0) != (abd > 0)) and ((cda > 0) != (cdb > 0)) and 0 not in (abc, abd, cda, cdb):
        return True
    return (
        (abc == 0 and _within(a, b, c))
        or (abd == 0 and _within(a, b, d))
        or (cda == 0 and _within(c, d, a))
        or (cdb == 0 and _within(c, d, b))
    )
