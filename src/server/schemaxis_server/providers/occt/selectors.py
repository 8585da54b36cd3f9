"""Finds the edges and faces that a selector of a document means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from OCP.BRepBuilderAPI import BRepBuilderAPI_MakeVertex
from OCP.BRepExtrema import BRepExtrema_DistShapeShape
from OCP.GeomAbs import GeomAbs_CurveType, GeomAbs_SurfaceType
from OCP.gp import gp_Pnt
from OCP.TopAbs import TopAbs_Orientation

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.geometry.choice import TIED_MM, nearest
from schemaxis_server.providers.occt import topology
from schemaxis_server.providers.occt.topology import Shape

# Directions agree within this angle's sine, places within this part of the largest coordinate.
_ALIGNED = 1e-7
_LEVEL = 1e-7
_AXIS = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True, slots=True)
class Pointed:
    """What a ``nearTo`` came to: lengths in mm.

    ``place`` is the selector's place below the node. ``nearest`` is the point of what was chosen that
    lies nearest, ``offset`` how far off that is, ``rivals`` how many others lie as near.
    """

    place: str
    point: Sequence[float]
    nearest: tuple[float, float, float]
    offset: float
    rivals: int


def select_edges(shape: Shape, selector: Any) -> list[Shape]:
    """The edges of ``shape`` that ``selector`` means, each once, in the shape's order."""
    candidates = topology.sharp_edges(shape)
    if selector == "all":
        if not candidates:
            raise UnsupportedInput("The shape is round all over and has no edge; work on one that has.")
        return candidates
    chosen: list[Shape] = []
    for one in selector if isinstance(selector, list) else [selector]:
        matching = _narrowed(shape, candidates, one)
        if not matching:
            raise UnsupportedInput(
                f"The selector {_shown(one)} finds no edge; the shape has {_inventory(candidates)}."
            )
        chosen.extend(edge for edge in matching if not any(edge.IsSame(other) for other in chosen))
    return chosen


def select_faces(shape: Shape, selectors: Sequence[Any]) -> list[Shape]:
    """The faces of ``shape`` that the selectors mean, each once."""
    chosen: list[Shape] = []
    for one in selectors:
        found = (
            [outermost_face(shape, one)]
            if isinstance(one, str)
            else [_nearest(topology.faces(shape), one["nearTo"])]
        )
        chosen.extend(face for face in found if not any(face.IsSame(other) for other in chosen))
    return chosen


def outermost_face(shape: Shape, side: str) -> Shape:
    """The flat face that looks towards ``side`` (such as ``+z``) and lies furthest there."""
    axis, sign = _AXIS[side[1]], 1.0 if side[0] == "+" else -1.0
    facing_there: list[Shape] = []
    reaches: list[float] = []
    for face in topology.faces(shape):
        surface = topology.surface(face)
        if surface.GetType() != GeomAbs_SurfaceType.GeomAbs_Plane:
            continue
        plane = surface.Plane()
        normal = plane.Axis().Direction()
        facing = (normal.X(), normal.Y(), normal.Z())[axis] * sign
        if not plane.Direct():
            facing = -facing
        if face.Orientation() == TopAbs_Orientation.TopAbs_REVERSED:
            facing = -facing
        if facing < 1 - _ALIGNED:
            continue
        place = plane.Location()
        facing_there.append(face)
        reaches.append((place.X(), place.Y(), place.Z())[axis] * sign)
    if not facing_there:
        raise UnsupportedInput(
            f"No flat face looks towards {side}; choose another side or the face near to a point (nearTo)."
        )
    return facing_there[
        nearest([-reach for reach in reaches], lambda one: topology.middle(facing_there[one]))
    ]


def _narrowed(shape: Shape, candidates: list[Shape], selector: Mapping[str, Any]) -> list[Shape]:
    left = candidates
    if "parallelTo" in selector:
        left = [edge for edge in left if _is_along(edge, _AXIS[selector["parallelTo"]])]
    if "curve" in selector:
        wanted = {
            "line": GeomAbs_CurveType.GeomAbs_Line,
            "circle": GeomAbs_CurveType.GeomAbs_Circle,
        }[selector["curve"]]
        left = [edge for edge in left if topology.curve(edge).GetType() == wanted]
    if "onFace" in selector:
        border = topology.edges(outermost_face(shape, selector["onFace"]))
        left = [edge for edge in left if any(edge.IsSame(other) for other in border)]
    if "nearTo" in selector and left:
        left = [_nearest(left, selector["nearTo"])]
    return left


def pointed_edges(shape: Shape, selector: Any) -> list[Pointed]:
    """What each ``nearTo`` of an edge selector came to, on a shape where it selects."""
    if selector == "all":
        return []
    many = isinstance(selector, list)
    edges = topology.sharp_edges(shape)
    return [
        _pointed(
            _narrowed(shape, edges, {key: value for key, value in one.items() if key != "nearTo"}),
            one["nearTo"],
            f"options/edges/{index}" if many else "options/edges",
            _edge_offset,
        )
        for index, one in enumerate(selector if many else [selector])
        if "nearTo" in one
    ]


def pointed_faces(shape: Shape, selectors: Sequence[Any]) -> list[Pointed]:
    """What each ``nearTo`` among face selectors came to."""
    faces = topology.faces(shape)
    return [
        _pointed(faces, one["nearTo"], f"options/openFaces/{index}", lambda _, way: way.Value())
        for index, one in enumerate(selectors)
        if not isinstance(one, str)
    ]


def _pointed(
    candidates: Sequence[Shape], point: Sequence[float], place: str, offset: Callable[[Shape, Any], float]
) -> Pointed:
    ways = [_way(point, shape) for shape in candidates]
    best = nearest([way.Value() for way in ways], lambda one: topology.middle(candidates[one]))
    reach = min(way.Value() for way in ways) + TIED_MM
    end = ways[best].PointOnShape2(1)
    return Pointed(
        place=place,
        point=point,
        nearest=(end.X(), end.Y(), end.Z()),
        offset=offset(candidates[best], ways[best]),
        rivals=sum(way.Value() <= reach for way in ways) - 1,
    )


def _edge_offset(edge: Shape, way: Any) -> float:
    """How far a point is from naming an edge. A circle is named by its middle, too."""
    offset = float(way.Value())
    curve = topology.curve(edge)
    if curve.GetType() == GeomAbs_CurveType.GeomAbs_Circle:
        offset = min(offset, float(curve.Circle().Location().Distance(way.PointOnShape1(1))))
    return offset


def _is_along(edge: Shape, axis: int) -> bool:
    curve = topology.curve(edge)
    if curve.GetType() != GeomAbs_CurveType.GeomAbs_Line:
        return False
    direction = curve.Line().Direction()
    return bool(abs((direction.X(), direction.Y(), direction.Z())[axis]) > 1 - _ALIGNED)


def _nearest(shapes: Sequence[Shape], point: Sequence[float]) -> Shape:
    distances = [_way(point, shape).Value() for shape in shapes]
    return shapes[nearest(distances, lambda one: topology.middle(shapes[one]))]


def _way(point: Sequence[float], shape: Shape) -> Any:
    """The shortest way from a point to a shape."""
    return BRepExtrema_DistShapeShape(BRepBuilderAPI_MakeVertex(gp_Pnt(*point)).Vertex(), shape)


def _shown(selector: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in selector.items())


def _inventory(candidates: Sequence[Shape]) -> str:
    along = {name: sum(_is_along(edge, axis) for edge in candidates) for name, axis in _AXIS.items()}
    circles = sum(topology.curve(edge).GetType() == GeomAbs_CurveType.GeomAbs_Circle for edge in candidates)
    parts = [f"{count} along {name}" for name, count in along.items()]
    return f"{len(candidates)} edges: {', '.join(parts)}, {circles} circular"
