"""Closed forms: volume, area, centre and bounds of documents that have them, from formulas alone.

Sections use the shoelace formula and its moments, sweeps use Cavalieri's principle and the theorems of
Pappus and Guldin, rounded boxes Steiner's formula for parallel bodies. Bounds come from support
functions, which follow every rotation, mirror and scale exactly. A body made of several parts has a
closed form as long as a direction is found that separates each pair of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from schemaxis_server.providers.geometry.profiles import polygon_points
from schemaxis_server.providers.geometry.sections import Disc, Figure, Polygon, RoundedRectangle, Section
from schemaxis_server.providers.order import execution_order

Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]

_IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_UNIT: Mapping[str, Vector] = dict(zip("xyz", _IDENTITY, strict=True))
_MAX_PARTS = 128


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
    linear: Matrix = _IDENTITY
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
        return _add(_apply(self.linear, self.body.center), self.offset)

    def support(self, direction: Vector) -> float:
        return self.body.support(_apply(_transposed(self.linear), direction)) + _dot(direction, self.offset)

    def moved(self, linear: Matrix, center: Sequence[float], factor: float = 1.0) -> Part:
        """After ``linear`` about a fixed ``center``."""
        fixed = (float(center[0]), float(center[1]), float(center[2]))
        turned = _apply(linear, _add(self.offset, _times(-1, fixed)))
        return Part(self.body, _product(linear, self.linear), _add(turned, fixed), self.factor * factor)

    def shifted(self, offset: Sequence[float]) -> Part:
        step = (float(offset[0]), float(offset[1]), float(offset[2]))
        return Part(self.body, self.linear, _add(self.offset, step), self.factor)


Form = tuple[Part, ...]
"""Parts of which every two are separated by a plane."""


def quantities(form: Form) -> dict[str, Any]:
    """The plain values of a result: volume, area, boundingBox, centerOfMass, solids."""
    volume = math.fsum(part.volume for part in form)
    low, high = [], []
    for axis in _IDENTITY:
        high.append(max(part.support(axis) for part in form))
        # Adding 0 makes a negative zero an ordinary one.
        low.append(0.0 - max(part.support(_times(-1, axis)) for part in form))
    center = [math.fsum(part.volume * part.center[axis] for part in form) / volume for axis in range(3)]
    return {
        "volume": volume,
        "area": math.fsum(part.area for part in form),
        "boundingBox": {"min": low, "max": high},
        "centerOfMass": center,
        "solids": len(form),
    }


def forms(document: Mapping[str, Any]) -> dict[str, Form | None]:
    """The closed form of every node of a resolved document, None where there is none."""
    nodes = {node["id"]: node for node in document["nodes"]}
    order, _ = execution_order({name: node["inputs"] for name, node in nodes.items()})
    found: dict[str, Form | None] = {}
    for name in order:
        node = nodes[name]
        inputs = [found[source] for source in node["inputs"]]
        known = [form for form in inputs if form is not None]
        found[name] = _form(node["filter"], node["options"], known) if len(known) == len(inputs) else None
    return found


def _form(operation: str, options: Mapping[str, Any], inputs: list[Form]) -> Form | None:
    if operation in _SOLIDS:
        return (Part(_SOLIDS[operation](options)),)
    if operation in _MOVES:
        return tuple(_MOVES[operation](part, options) for part in inputs[0])
    if operation == "fillet":
        return _rounded(options, inputs[0])
    if operation == "linearPattern":
        along = direction(options["direction"])
        steps = [_times(options["spacing"] * index, along) for index in range(options["count"])]
        return _separate([part.shifted(step) for step in steps for part in inputs[0]])
    if operation == "polarPattern":
        turns = [rotation(direction(options["axis"]), angle) for angle in polar_angles(options)]
        return _separate([part.moved(turn, options["center"]) for turn in turns for part in inputs[0]])
    if operation == "union":
        return _separate([part for form in inputs for part in form])
    if operation == "cut":
        kept, *taken = inputs
        apart = all(_are_apart(part, tool) for part in kept for form in taken for tool in form)
        return kept if apart else None
    return None


def section(profile: Mapping[str, Any]) -> Section:
    """The section of a resolved profile."""
    points = polygon_points(profile)
    if points is None:
        x, y = profile["center"]
        return Disc((float(x), float(y)), float(profile["radius"]))
    return Polygon.ordered(points)


def _rectangle(x: float, y: float) -> Section:
    return Polygon.ordered([(0.0, 0.0), (x, 0.0), (x, y), (0.0, y)])


def cone_section(options: Mapping[str, Any]) -> Polygon:
    height = options["height"]
    corners = [(0.0, 0.0), (options["radius1"], 0.0), (options["radius2"], height), (0.0, height)]
    distinct = [corner for index, corner in enumerate(corners) if corner != corners[index - 1]]
    return Polygon.ordered(distinct)


_SOLIDS: Mapping[str, Any] = {
    "box": lambda o: Prism(_rectangle(o["length"], o["width"]), o["height"]),
    "cylinder": lambda o: Prism(Disc((0.0, 0.0), o["radius"]), o["height"]),
    "sphere": lambda o: Ball(o["radius"]),
    "cone": lambda o: Revolved(cone_section(o), 2 * math.pi),
    "torus": lambda o: Revolved(Disc((o["radius1"], 0.0), o["radius2"]), 2 * math.pi),
    "extrude": lambda o: Prism(section(o["profile"]), o["height"]),
    "revolve": lambda o: Revolved(section(o["profile"]), math.radians(o["angle"])),
}

_MOVES: Mapping[str, Any] = {
    "translate": lambda part, o: part.shifted(o["offset"]),
    "rotate": lambda part, o: part.moved(
        rotation(direction(o["axis"]), math.radians(o["angle"])), o["center"]
    ),
    "mirror": lambda part, o: part.moved(reflection(o["plane"]), o["center"]),
    "scale": lambda part, o: part.moved(_scaled(_IDENTITY, o["factor"]), o["center"], o["factor"]),
}


def _rounded(options: Mapping[str, Any], form: Form) -> Form | None:
    """Fillets of one upright box: all of its edges, or those along z."""
    if len(form) != 1 or form[0].linear != _scaled(_IDENTITY, form[0].factor):
        return None
    part = form[0]
    body = part.body
    if not isinstance(body, Prism) or not isinstance(body.section, Polygon):
        return None
    extent = body.section.rectangle()
    if extent is None:
        return None
    (x, y), (length, width) = extent
    scale = part.factor
    radius = options["radius"]
    place = _add(part.offset, _times(scale, (x, y, 0.0)))
    if options["edges"] == "all" and 2 * radius < scale * min(length, width, body.height):
        size = (scale * length, scale * width, scale * body.height)
        return (Part(RoundedBox(size, radius), offset=place),)
    if options["edges"] == {"parallelTo": "z"} and 2 * radius < scale * min(length, width):
        return (
            Part(
                Prism(RoundedRectangle(scale * length, scale * width, radius), scale * body.height),
                offset=place,
            ),
        )
    return None


def polar_angles(options: Mapping[str, Any]) -> list[float]:
    """The turns of a polar pattern's copies in radians, the first one 0."""
    count, angle = options["count"], math.radians(options["angle"])
    step = angle / count if options["angle"] == 360 else angle / (count - 1)
    return [step * index for index in range(count)]


def _separate(parts: list[Part]) -> Form | None:
    if len(parts) > _MAX_PARTS:
        return None
    apart = all(_are_apart(one, other) for index, one in enumerate(parts) for other in parts[:index])
    return tuple(parts) if apart else None


def _are_apart(one: Part, other: Part) -> bool:
    """Whether a plane across one of a few directions lies between the two, with room to spare."""
    between = _add(other.center, _times(-1, one.center))
    for towards in (between, *_IDENTITY):
        length = math.hypot(*towards)
        if length == 0:
            continue
        normal = _times(1 / length, towards)
        for side in (normal, _times(-1, normal)):
            gap = -other.support(_times(-1, side)) - one.support(side)
            if gap > 1e-6 * (1 + abs(one.support(side))):
                return True
    return False


def direction(value: str | Sequence[float]) -> Vector:
    """A unit vector from an axis' name or a vector."""
    if isinstance(value, str):
        return _UNIT[value]
    length = math.hypot(*value)
    return (value[0] / length, value[1] / length, value[2] / length)


def rotation(axis: Vector, angle: float) -> Matrix:
    """Rodrigues' formula; ``angle`` in radians."""
    x, y, z = axis
    c, s = math.cos(angle), math.sin(angle)
    t = 1 - c
    return (
        (c + t * x * x, t * x * y - s * z, t * x * z + s * y),
        (t * x * y + s * z, c + t * y * y, t * y * z - s * x),
        (t * x * z - s * y, t * y * z + s * x, c + t * z * z),
    )


def reflection(plane: str) -> Matrix:
    """Across a coordinate plane: the axis that the plane lacks changes its sign."""
    signs = [1.0 if axis in plane else -1.0 for axis in "xyz"]
    return ((signs[0], 0.0, 0.0), (0.0, signs[1], 0.0), (0.0, 0.0, signs[2]))


def _add(a: Vector, b: Vector) -> Vector:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def _times(factor: float, a: Vector) -> Vector:
    return (factor * a[0], factor * a[1], factor * a[2])


def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _apply(matrix: Matrix, a: Vector) -> Vector:
    return (_dot(matrix[0], a), _dot(matrix[1], a), _dot(matrix[2], a))


def _transposed(matrix: Matrix) -> Matrix:
    x, y, z = zip(*matrix, strict=True)
    return (x, y, z)


def _product(a: Matrix, b: Matrix) -> Matrix:
    columns = _transposed(b)
    rows = [_apply(columns, row) for row in a]
    return (rows[0], rows[1], rows[2])


def _scaled(matrix: Matrix, factor: float) -> Matrix:
    return (_times(factor, matrix[0]), _times(factor, matrix[1]), _times(factor, matrix[2]))
