"""Walks a shape: its sub-shapes, and the kinds of surface and curve they lie on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from OCP.BRep import BRep_Builder, BRep_Tool
from OCP.BRepAdaptor import BRepAdaptor_Curve, BRepAdaptor_Surface
from OCP.BRepGProp import BRepGProp
from OCP.collections import IndexedMap_TopoDS_Shape_TopTools_ShapeMapHasher
from OCP.GProp import GProp_GProps
from OCP.TopAbs import TopAbs_ShapeEnum
from OCP.TopExp import TopExp, TopExp_Explorer
from OCP.TopoDS import TopoDS, TopoDS_Compound

Shape = Any
Triple = tuple[float, float, float]


def _distinct(shape: Shape, kind: Any) -> list[Shape]:
    mapped = IndexedMap_TopoDS_Shape_TopTools_ShapeMapHasher()
    TopExp.MapShapes_s(shape, kind, mapped)
    return [mapped.FindKey(index) for index in range(1, mapped.Extent() + 1)]


def solids(shape: Shape) -> list[Shape]:
    """The solids of a shape, each as often as it occurs."""
    found = []
    explorer = TopExp_Explorer(shape, TopAbs_ShapeEnum.TopAbs_SOLID)
    while explorer.More():
        found.append(explorer.Current())
        explorer.Next()
    return found


def edges(shape: Shape) -> list[Shape]:
    """The distinct edges that have a length; poles and apexes are left out."""
    found = (TopoDS.Edge(edge) for edge in _distinct(shape, TopAbs_ShapeEnum.TopAbs_EDGE))
    return [edge for edge in found if not BRep_Tool.Degenerated_s(edge)]


def sharp_edges(shape: Shape) -> list[Shape]:
    """The edges of the part as one sees it: without the seams, along which a round face meets itself."""
    seams = [edge for face in faces(shape) for edge in edges(face) if BRep_Tool.IsClosed_s(edge, face)]
    return [edge for edge in edges(shape) if not any(edge.IsSame(seam) for seam in seams)]


def faces(shape: Shape) -> list[Shape]:
    """The distinct faces."""
    return [TopoDS.Face(face) for face in _distinct(shape, TopAbs_ShapeEnum.TopAbs_FACE)]


def vertices(shape: Shape) -> list[Triple]:
    """Where the distinct vertices are."""
    points = (BRep_Tool.Pnt_s(TopoDS.Vertex(one)) for one in _distinct(shape, TopAbs_ShapeEnum.TopAbs_VERTEX))
    return [(point.X(), point.Y(), point.Z()) for point in points]


def curve(edge: Shape) -> Any:
    return BRepAdaptor_Curve(edge)


def surface(face: Shape) -> Any:
    return BRepAdaptor_Surface(face, True)


def middle(shape: Shape) -> Triple:
    """The centroid of an edge's line or of a face's area."""
    found = GProp_GProps()
    if shape.ShapeType() == TopAbs_ShapeEnum.TopAbs_EDGE:
        BRepGProp.LinearProperties_s(shape, found)
    else:
        BRepGProp.SurfaceProperties_s(shape, found)
    center = found.CentreOfMass()
    return (center.X(), center.Y(), center.Z())


def compound(shapes: Sequence[Shape]) -> Shape:
    """Several shapes as one; a single one stays as it is, none make an empty one."""
    if len(shapes) == 1:
        return shapes[0]
    together = TopoDS_Compound()
    builder = BRep_Builder()
    builder.MakeCompound(together)
    for shape in shapes:
        builder.Add(together, shape)
    return together
