"""Closed forms: volume, area, centre and bounds of documents that have them, from formulas alone.

Sections use the shoelace formula and its moments, sweeps use Cavalieri's principle and the theorems of
Pappus and Guldin, boxes rounded all over Steiner's formula for parallel bodies. Bounds come from support
functions, which follow every rotation, mirror and scale exactly. A body made of several parts has a
closed form as long as a direction is found that separates each pair of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from schemaxis_server.providers.geometry import eased
from schemaxis_server.providers.geometry.bodies import Ball, Part, Prism, Revolved
from schemaxis_server.providers.geometry.profiles import polygon_points
from schemaxis_server.providers.geometry.sections import Disc, Polygon, Section
from schemaxis_server.providers.geometry.vectors import (
    IDENTITY,
    add,
    direction,
    reflection,
    rotation,
    scaled,
    times,
)
from schemaxis_server.providers.order import execution_order

_MAX_PARTS = 128

Form = tuple[Part, ...]
"""Parts of which every two are separated by a plane."""


def quantities(form: Form) -> dict[str, Any]:
    """The plain values of a result: volume, area, boundingBox, centerOfMass, solids."""
    volume = math.fsum(part.volume for part in form)
    low, high = [], []
    for axis in IDENTITY:
        high.append(max(part.support(axis) for part in form))
        # Adding 0 makes a negative zero an ordinary one.
        low.append(0.0 - max(part.support(times(-1, axis)) for part in form))
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
    if operation in _EASED and len(inputs[0]) == 1:
        part = _EASED[operation](options, inputs[0][0])
        return None if part is None else (part,)
    if operation == "linearPattern":
        along = direction(options["direction"])
        steps = [times(options["spacing"] * index, along) for index in range(options["count"])]
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

_EASED: Mapping[str, Any] = {"fillet": eased.rounded, "chamfer": eased.bevelled}

_MOVES: Mapping[str, Any] = {
    "translate": lambda part, o: part.shifted(o["offset"]),
    "rotate": lambda part, o: part.moved(
        rotation(direction(o["axis"]), math.radians(o["angle"])), o["center"]
    ),
    "mirror": lambda part, o: part.moved(reflection(o["plane"]), o["center"]),
    "scale": lambda part, o: part.moved(scaled(IDENTITY, o["factor"]), o["center"], o["factor"]),
}


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
    between = add(other.center, times(-1, one.center))
    for towards in (between, *IDENTITY):
        length = math.hypot(*towards)
        if length == 0:
            continue
        normal = times(1 / length, towards)
        for side in (normal, times(-1, normal)):
            gap = -other.support(times(-1, side)) - one.support(side)
            if gap > 1e-6 * (1 + abs(one.support(side))):
                return True
    return False
