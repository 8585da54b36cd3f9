"""The rules of the geometry vocabulary that a JSON Schema cannot say, and its short forms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from schemaxis_server.providers.contract import Manifest, ResolvedDocument
from schemaxis_server.providers.document import Rule
from schemaxis_server.providers.document import resolve as resolve_graph
from schemaxis_server.providers.geometry import profiles
from schemaxis_server.providers.geometry.schemas import SMALLEST
from schemaxis_server.providers.problems import Problems, child

# Enough for the largest honest profile; a document made to be slow is left to the host's own check.
_CROSSING_PAIRS = 250_000
_CROSSING_PAIRS_IN_ALL = 400_000


def resolve(document: Any, manifest: Manifest) -> ResolvedDocument:
    """Check and resolve a geometry document; see :func:`schemaxis_server.providers.document.resolve`.

    A list of points becomes a tagged polygon, and a polygon's closing corner is dropped.
    """
    crossings = _CrossingBudget()
    rules: Mapping[str, Rule] = {
        "cone": _cone,
        "torus": _torus,
        "extrude": lambda options, pointer, problems: _profile(options, pointer, problems, crossings),
        "revolve": lambda options, pointer, problems: _revolve(options, pointer, problems, crossings),
        "rotate": lambda options, pointer, problems: _not_zero("axis", options, pointer, problems),
        "linearPattern": lambda options, pointer, problems: _not_zero(
            "direction", options, pointer, problems
        ),
        "polarPattern": lambda options, pointer, problems: _not_zero("axis", options, pointer, problems),
    }
    return resolve_graph(document, manifest, rules)


class _CrossingBudget:
    def __init__(self) -> None:
        self.left = _CROSSING_PAIRS_IN_ALL

    def take(self) -> int:
        granted = min(self.left, _CROSSING_PAIRS)
        self.left -= granted
        return granted


def _cone(options: dict[str, Any], pointer: str, problems: Problems) -> None:
    radii = {name: options[name] for name in ("radius1", "radius2")}
    for name, radius in radii.items():
        if 0 < radius < SMALLEST:
            message = f"{name} is {radius:g}, too small to be told from a tip."
            problems.add(child(pointer, name), message, f"0, or at least {SMALLEST:g} mm")
    if not any(radii.values()):
        problems.add(child(pointer, "radius1"), "Both radii are 0.", "radius1 or radius2 above 0 mm")
    elif 0 < abs(radii["radius1"] - radii["radius2"]) < SMALLEST:
        message = "The radii differ by too little to make a cone."
        problems.add(child(pointer, "radius2"), message, f"equal radii, or {SMALLEST:g} mm apart")


def _torus(options: dict[str, Any], pointer: str, problems: Problems) -> None:
    if options["radius2"] > options["radius1"] - SMALLEST:
        message = "The tube is as wide as the ring, so that the torus meets itself."
        problems.add(child(pointer, "radius2"), message, "radius2 less than radius1")


def _not_zero(name: str, options: dict[str, Any], pointer: str, problems: Problems) -> None:
    value = options[name]
    if isinstance(value, list) and math.hypot(*value) < 1e-9:
        problems.add(
            child(pointer, name), f"{name} has no direction.", "x, y, z or a vector that is not zero"
        )


def _profile(options: dict[str, Any], pointer: str, problems: Problems, crossings: _CrossingBudget) -> None:
    place = child(pointer, "profile")
    profile = options["profile"]
    if isinstance(profile, list):
        profile = {"type": "polygon", "points": profile}
        points_place = place
    else:
        points_place = child(place, "points")
    if profile["type"] == "polygon":
        points = profile["points"]
        if len(points) > 3 and points[0] == points[-1]:
            points = points[:-1]
        profile = {**profile, "points": points}
        _polygon(points, points_place, problems, crossings)
    # The short form is written out, so that every reader of the resolved document meets one form.
    options["profile"] = profile


def _polygon(points: list[list[float]], place: str, problems: Problems, crossings: _CrossingBudget) -> None:
    before = problems.total
    for index, (here, there) in enumerate(zip(points, [*points[1:], points[0]], strict=True)):
        if math.dist(here, there) < SMALLEST:
            message = f"Corner {index} and the next one coincide."
            problems.add(child(place, index), message, f"corners at least {SMALLEST:g} mm apart")
    if problems.total > before:
        return
    if profiles.breadth(points) < SMALLEST:
        problems.add(place, "The corners lie in one line.", "corners that enclose an area")
        return
    crossing = profiles.crossing_sides(points, crossings.take())
    if crossing is not None:
        first, second = crossing
        message = f"The sides from corner {first} and from corner {second} cross or touch."
        problems.add(child(place, first), message, "corners in order around one simple outline")


def _revolve(options: dict[str, Any], pointer: str, problems: Problems, crossings: _CrossingBudget) -> None:
    before = problems.total
    _profile(options, pointer, problems, crossings)
    if problems.total > before:
        return
    profile = options["profile"]
    points = profiles.polygon_points(profile)
    least = profile["center"][0] - profile["radius"] if points is None else min(x for x, _ in points)
    touching_circle = points is None and least < SMALLEST
    # A rectangle's edge on the axis may come out a rounding error beyond it.
    if least < -1e-9 or touching_circle:
        message = f"The profile reaches x = {least:g}, across or onto the axis."
        allowed = "x above 0 everywhere" if points is None else "x ≥ 0 everywhere"
        problems.add(child(pointer, "profile"), message, allowed)
