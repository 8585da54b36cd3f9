"""Finds the edges and faces that a selector of a document means, by the numbers that FreeCAD gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.freecad import topology
from schemaxis_server.providers.freecad.topology import Shape
from schemaxis_server.providers.geometry.choice import nearest

import FreeCAD  # isort: skip
import Part  # isort: skip

# Directions agree within this angle's sine.
_ALIGNED = 1e-7
_AXIS = {"x": 0, "y": 1, "z": 2}

Numbered = tuple[int, Shape]


def select_edges(shape: Shape, selector: Any) -> list[int]:
    """The numbers of the edges that ``selector`` means, each once, in the shape's order within a selector."""
    candidates = topology.sharp_edges(shape)
    if selector == "all":
        if not candidates:
            raise UnsupportedInput("The shape is round all over and has no edge; work on one that has.")
        return [number for number, _ in candidates]
    chosen: list[int] = []
    for one in selector if isinstance(selector, list) else [selector]:
        matching = _narrowed(shape, candidates, one)
        if not matching:
            raise UnsupportedInput(
                f"The selector {_shown(one)} finds no edge; the shape has {_inventory(candidates)}."
            )
        chosen.extend(number for number, _ in matching if number not in chosen)
    return chosen


def select_faces(shape: Shape, selectors: Sequence[Any]) -> list[int]:
    """The numbers of the faces that the selectors mean, each once."""
    candidates = list(enumerate(shape.Faces, 1))
    chosen: list[int] = []
    for one in selectors:
        number, _ = (
            _outermost_face(candidates, one) if isinstance(one, str) else _nearest(candidates, one["nearTo"])
        )
        if number not in chosen:
            chosen.append(number)
    return chosen


def _outermost_face(candidates: Sequence[Numbered], side: str) -> Numbered:
    """The flat face that looks towards ``side`` (such as ``+z``) and lies furthest there."""
    axis, sign = _AXIS[side[1]], 1.0 if side[0] == "+" else -1.0
    # The normal of the face, not of its plane: it looks out of the solid.
    facing = [
        one
        for one in candidates
        if topology.is_plane(one[1]) and one[1].normalAt(0, 0)[axis] * sign >= 1 - _ALIGNED
    ]
    if not facing:
        raise UnsupportedInput(
            f"No flat face looks towards {side}; choose another side or the face near to a point (nearTo)."
        )
    reaches = [topology.surface(face).Position[axis] * sign for _, face in facing]
    return facing[nearest([-reach for reach in reaches], lambda one: _middle(facing[one][1]))]


def _narrowed(shape: Shape, candidates: list[Numbered], selector: Mapping[str, Any]) -> list[Numbered]:
    left = candidates
    if "parallelTo" in selector:
        left = [one for one in left if _is_along(one[1], _AXIS[selector["parallelTo"]])]
    if "curve" in selector:
        fits = topology.is_straight if selector["curve"] == "line" else topology.is_circular
        left = [one for one in left if fits(one[1])]
    if "onFace" in selector:
        _, face = _outermost_face(list(enumerate(shape.Faces, 1)), selector["onFace"])
        border = face.Edges
        left = [one for one in left if any(one[1].isSame(other) for other in border)]
    if "nearTo" in selector and left:
        left = [_nearest(left, selector["nearTo"])]
    return left


def _is_along(edge: Shape, axis: int) -> bool:
    if not topology.is_straight(edge):
        return False
    return bool(abs(topology.curve(edge).Direction[axis]) > 1 - _ALIGNED)


def _nearest(candidates: Sequence[Numbered], point: Sequence[float]) -> Numbered:
    vertex = Part.Vertex(FreeCAD.Vector(*point))
    distances = [vertex.distToShape(shape)[0] for _, shape in candidates]
    return candidates[nearest(distances, lambda one: _middle(candidates[one][1]))]


def _middle(shape: Shape) -> list[float]:
    """The centroid of an edge's line or of a face's area."""
    return list(shape.CenterOfMass)


def _shown(selector: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in selector.items())


def _inventory(candidates: Sequence[Numbered]) -> str:
    along = {name: sum(_is_along(edge, axis) for _, edge in candidates) for name, axis in _AXIS.items()}
    circles = sum(topology.is_circular(edge) for _, edge in candidates)
    parts = [f"{count} along {name}" for name, count in along.items()]
    return f"{len(candidates)} edges: {', '.join(parts)}, {circles} circular"
