"""Walks a shape in FreeCAD: its solids, edges and faces, and what they lie on."""

from __future__ import annotations

from typing import Any

from schemaxis_server.providers.freecad import application  # noqa: F401 - FreeCAD is found by it

import Part  # isort: skip

Shape = Any


def solids(shape: Shape) -> list[Shape]:
    """The solids of a shape."""
    return [] if shape.isNull() else list(shape.Solids)


def body(shape: Shape) -> Shape:
    """The solids alone: the only one as it is, several as one compound."""
    found = solids(shape)
    return found[0] if len(found) == 1 else Part.makeCompound(found)


def edges(shape: Shape) -> list[Shape]:
    """The distinct edges that have a length; poles and apexes are left out."""
    return [edge for edge in shape.Edges if not edge.Degenerated]


def sharp_edges(shape: Shape) -> list[tuple[int, Shape]]:
    """The edges of the part as one sees it, without the seams along which a round face meets itself.

    With the numbers, from 1, under which document objects know them.
    """
    seams = [edge for face in shape.Faces for edge in edges(face) if edge.isSeam(face)]
    return [
        (number, edge)
        for number, edge in enumerate(shape.Edges, 1)
        if not edge.Degenerated and not any(edge.isSame(seam) for seam in seams)
    ]


def curve(edge: Shape) -> Any:
    """What an edge lies on, or None for a curve that FreeCAD has no class for."""
    try:
        return edge.Curve
    except (TypeError, Part.OCCError):
        return None


def surface(face: Shape) -> Any:
    """What a face lies on, or None for a surface that FreeCAD has no class for."""
    try:
        return face.Surface
    except (TypeError, Part.OCCError):
        return None


def is_straight(edge: Shape) -> bool:
    return isinstance(curve(edge), Part.Line | Part.LineSegment)


def is_circular(edge: Shape) -> bool:
    return isinstance(curve(edge), Part.Circle | Part.ArcOfCircle)


def is_plane(face: Shape) -> bool:
    return isinstance(surface(face), Part.Plane)


def is_flat(shape: Shape) -> bool:
    """Whether every face is plane and every edge straight."""
    return all(is_plane(face) for face in shape.Faces) and all(is_straight(edge) for edge in edges(shape))
