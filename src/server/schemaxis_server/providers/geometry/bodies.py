"""Solids whose volume, area, centre and extent follow from formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from schemaxis_server.providers.geometry.sections import Figure, Section
from schemaxis_server.providers.geometry.vectors import (
    IDENTITY,
    Matrix,
    Vector,
    add,
    apply,
    dot,
    product,
    times,
    transposed,
)


class Body(Protocol):
    """A solid in its own place. ``support`` is the largest inner product with a direction."""

    @property
    def volume(self) -> float: ...
    @property
    def area(self) -> float: ...
    @property
    def center(self) -> Vector: ...
    def support(self, direction: Vector) -> float: ...


@dataclass(frozen=True, slots=True)
class Ball:
    radius: float

    @property
    def volume(self) -> float:
        return 4 / 3 * math.pi * self.radius**3

    @property
    def area(self) -> float:
        return 4 * math.pi * self.radius**2

    @property
    def center(self) -> Vector:
        return (0.0, 0.0, 0.0)

    def support(self, direction: Vector) -> float:
        return self.radius * math.hypot(*direction)


@dataclass(frozen=True, slots=True)
class Prism:
    """A section in the xy plane from z = 0 to ``height``."""

    section: Figure
    height: float

    @property
    def volume(self) -> float:
        return self.section.area * self.height

    @property
    def area(self) -> float:
        return 2 * self.section.area + self.section.perimeter * self.height

    @property
    def center(self) -> Vector:
        x, y = self.section.centroid
        return (x, y, self.height / 2)

    def support(self, direction: Vector) -> float:
        x, y, z = direction
        return self.section.support((x, y)) + max(0.0, z * self.height)


@dataclass(frozen=True, slots=True)
class Revolved:
    """A section in the xz plane at x ≥ 0, turned from +x towards +y by ``angle`` in radians."""

    section: Section
    angle: float

    @property
    def _is_whole(self) -> bool:
        return self.angle >= 2 * math.pi

    @property
    def volume(self) -> float:
        return self.angle * self.section.first_moment

    @property
    def area(self) -> float:
        ends = 0.0 if self._is_whole else 2 * self.section.area
        return self.angle * self.section.outline_moment + ends

    @property
    def center(self) -> Vector:
        z = self.section.mixed_moment / self.section.first_moment
        if self._is_whole:
            return (0.0, 0.0, z)
        square = self.section.second_moment / self.volume
        return (square * math.sin(self.angle), square * (1 - math.cos(self.angle)), z)

    def support(self, direction: Vector) -> float:
        x, y, z = direction
        towards = math.atan2(y, x) % (2 * math.pi)
        if self._is_whole or towards <= self.angle:
            reach = math.hypot(x, y)
        else:
            reach = max(x, x * math.cos(self.angle) + y * math.sin(self.angle))
        return self.section.support((reach, z))


@dataclass(frozen=True, slots=True)
class RoundedBox:
    """A box at the origin with all of its edges rounded by ``radius``."""

    size: Vector
    radius: float

    @property
    def _core(self) -> Vector:
        a, b, c = (extent - 2 * self.radius for extent in self.size)
        return (a, b, c)

    @property
    def volume(self) -> float:
        a, b, c = self._core
        r = self.radius
        return (
            a * b * c
            + 2 * (a * b + b * c + c * a) * r
            + math.pi * (a + b + c) * r**2
            + 4 / 3 * math.pi * r**3
        )

    @property
    def area(self) -> float:
        a, b, c = self._core
        r = self.radius
        return 2 * (a * b + b * c + c * a) + 2 * math.pi * (a + b + c) * r + 4 * math.pi * r**2

    @property
    def center(self) -> Vector:
        a, b, c = self.size
        return (a / 2, b / 2, c / 2)

    def support(self, direction: Vector) -> float:
        flat = sum(
            part * self.radius + max(0.0, part * core)
            for part, core in zip(direction, self._core, strict=True)
        )
        return flat + self.radius * math.hypot(*direction)


@dataclass(frozen=True, slots=True)
class Part:
    """A body moved to ``linear`` · x + ``offset``; ``linear`` is ``factor`` times an isometry."""

    body: Body
    linear: Matrix = IDENTITY
    offset: Vector = (0.0, 0.0, 0.0)
    factor: float = 1.0

    @property
    def volume(self) -> float:
        return self.body.volume * self.factor**3

    @property
    def area(self) -> float:
        return self.body.area * self.factor**2

    @property
    def center(self) -> Vector:
        return add(apply(self.linear, self.body.center), self.offset)

    def support(self, direction: Vector) -> float:
        return self.body.support(apply(transposed(self.linear), direction)) + dot(direction, self.offset)

    def moved(self, linear: Matrix, center: Sequence[float], factor: float = 1.0) -> Part:
        """After ``linear`` about a fixed ``center``."""
        fixed = (float(center[0]), float(center[1]), float(center[2]))
        turned = apply(linear, add(self.offset, times(-1, fixed)))
        return Part(self.body, product(linear, self.linear), add(turned, fixed), self.factor * factor)

    def shifted(self, offset: Sequence[float]) -> Part:
        step = (float(offset[0]), float(offset[1]), float(offset[2]))
        return Part(self.body, self.linear, add(self.offset, step), self.factor)
