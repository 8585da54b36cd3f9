"""Plane sections and their moments, in closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

Point = tuple[float, float]


class Figure(Protocol):
    """A plane region, as far as an extrusion needs to know it."""

    @property
    def area(self) -> float: ...
    @property
    def perimeter(self) -> float: ...
    @property
    def centroid(self) -> Point: ...
    def support(self, direction: Point) -> float:
        """The largest inner product of a point of the region with ``direction``."""


class Section(Figure, Protocol):
    """A region in coordinates (x, y) that can be turned about x = 0; y is then the height.

    ``first_moment`` is ∫x, ``second_moment`` ∫x², ``mixed_moment`` ∫xy over the region, and
    ``outline_moment`` ∫x along its outline.
    """

    @property
    def first_moment(self) -> float: ...
    @property
    def second_moment(self) -> float: ...
    @property
    def mixed_moment(self) -> float: ...
    @property
    def outline_moment(self) -> float: ...


@dataclass(frozen=True)
class Disc:
    center: Point
    radius: float

    @property
    def area(self) -> float:
        return math.pi * self.radius**2

    @property
    def perimeter(self) -> float:
        return 2 * math.pi * self.radius

    @property
    def centroid(self) -> Point:
        return self.center

    @property
    def first_moment(self) -> float:
        return self.center[0] * self.area

    @property
    def second_moment(self) -> float:
        return self.area * (self.center[0] ** 2 + self.radius**2 / 4)

    @property
    def mixed_moment(self) -> float:
        return self.center[0] * self.center[1] * self.area

    @property
    def outline_moment(self) -> float:
        return self.center[0] * self.perimeter

    def support(self, direction: Point) -> float:
        x, y = direction
        return self.center[0] * x + self.center[1] * y + self.radius * math.hypot(x, y)


@dataclass(frozen=True)
class Polygon:
    """A simple polygon, its corners counter-clockwise."""

    points: tuple[Point, ...]

    @classmethod
    def ordered(cls, points: Sequence[Point]) -> Polygon:
        """From corners in either direction."""
        forward = cls(tuple(points))
        return forward if forward.area > 0 else cls(tuple(reversed(points)))

    @cached_property
    def _triangles(self) -> list[tuple[float, Point, Point, Point]]:
        """Signed areas and corners of the fan from the first corner, which keeps the terms small."""
        o = self.points[0]
        return [
            (0.5 * ((a[0] - o[0]) * (b[1] - o[1]) - (b[0] - o[0]) * (a[1] - o[1])), o, a, b)
            for a, b in zip(self.points[1:-1], self.points[2:], strict=True)
        ]

    @cached_property
    def area(self) -> float:
        return math.fsum(area for area, *_ in self._triangles)

    @property
    def _sides(self) -> list[tuple[Point, Point]]:
        return list(zip(self.points, [*self.points[1:], self.points[0]], strict=True))

    @property
    def perimeter(self) -> float:
        return math.fsum(math.dist(a, b) for a, b in self._sides)

    @property
    def centroid(self) -> Point:
        y = math.fsum(area * (p[1] + q[1] + r[1]) / 3 for area, p, q, r in self._triangles)
        return (self.first_moment / self.area, y / self.area)

    @property
    def first_moment(self) -> float:
        return math.fsum(area * (p[0] + q[0] + r[0]) / 3 for area, p, q, r in self._triangles)

    @property
    def second_moment(self) -> float:
        # Exact for quadratics: the mean over a triangle is the mean over the middles of its sides.
        return math.fsum(
            area * sum(((a[0] + b[0]) / 2) ** 2 for a, b in ((p, q), (q, r), (r, p))) / 3
            for area, p, q, r in self._triangles
        )

    @property
    def mixed_moment(self) -> float:
        return math.fsum(
            area * sum((a[0] + b[0]) * (a[1] + b[1]) / 4 for a, b in ((p, q), (q, r), (r, p))) / 3
            for area, p, q, r in self._triangles
        )

    @property
    def outline_moment(self) -> float:
        return math.fsum(math.dist(a, b) * (a[0] + b[0]) / 2 for a, b in self._sides)

    def support(self, direction: Point) -> float:
        return max(x * direction[0] + y * direction[1] for x, y in self.points)

    def rectangle(self) -> tuple[Point, Point] | None:
        """(lowest corner, extents) when the polygon is an upright rectangle."""
        xs, ys = ({point[axis] for point in self.points} for axis in (0, 1))
        if len(self.points) != 4 or len(xs) != 2 or len(ys) != 2:
            return None
        low = (min(xs), min(ys))
        return low, (max(xs) - low[0], max(ys) - low[1])


@dataclass(frozen=True)
class RoundedRectangle:
    """A rectangle with its lowest corner at the origin, its corners rounded. Only to be extruded."""

    width: float
    height: float
    radius: float

    @property
    def area(self) -> float:
        return self.width * self.height - (4 - math.pi) * self.radius**2

    @property
    def perimeter(self) -> float:
        return 2 * (self.width + self.height) - (8 - 2 * math.pi) * self.radius

    @property
    def centroid(self) -> Point:
        return (self.width / 2, self.height / 2)

    def support(self, direction: Point) -> float:
        x, y = direction
        r = self.radius
        inner = x * r + y * r + max(0.0, x * (self.width - 2 * r)) + max(0.0, y * (self.height - 2 * r))
        return inner + r * math.hypot(x, y)
