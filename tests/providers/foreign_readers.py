"""Readers of STL and STEP that share no code with the product.

``stl_quantities`` is plain Python on the bytes. ``flat_step_quantities`` parses the STEP text itself and
integrates its plane faces, so that no CAD kernel is involved. Round STEP faces need a kernel: for those
``step_by_other_path`` reads with the document reader of Open CASCADE (not the one that the product uses),
meshes finely and integrates the triangles in plain Python.
"""

from __future__ import annotations

import itertools
import math
import re
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

Point = tuple[float, float, float]
Triangle = tuple[Point, Point, Point]
Quantities = tuple[float, Point, Point]
"""Volume, lowest and highest corner."""


def _cross(a: Point, b: Point) -> Point:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _dot(a: Point, b: Point) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def _from(a: Point, b: Point) -> Point:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def integrated(triangles: Sequence[Triangle]) -> Quantities:
    """Of a closed surface, by the divergence theorem."""
    points = [point for triangle in triangles for point in triangle]
    low = tuple(min(point[axis] for point in points) for axis in range(3))
    high = tuple(max(point[axis] for point in points) for axis in range(3))
    origin = points[0]
    volume = math.fsum(
        _dot(_from(a, origin), _cross(_from(b, origin), _from(c, origin))) / 6 for a, b, c in triangles
    )
    return volume, (low[0], low[1], low[2]), (high[0], high[1], high[2])


def stl_quantities(path: Path) -> Quantities:
    """Of a binary STL."""
    data = path.read_bytes()
    (count,) = struct.unpack_from("<I", data, 80)
    assert len(data) == 84 + 50 * count
    triangles: list[Triangle] = []
    for index in range(count):
        numbers = struct.unpack_from("<9f", data, 84 + 50 * index + 12)
        triangles.append((numbers[0:3], numbers[3:6], numbers[6:9]))
    return integrated(triangles)


_ENTITY = re.compile(r"#(\d+)\s*=\s*([A-Z0-9_]+)\s*\((.*?)\)\s*;", re.DOTALL)
_REFERENCE = re.compile(r"#(\d+)")


class _StepText:
    def __init__(self, text: str) -> None:
        self.entities = {int(number): (kind, body) for number, kind, body in _ENTITY.findall(text)}

    def references(self, number: int) -> list[int]:
        return [int(one) for one in _REFERENCE.findall(self.entities[number][1])]

    def all(self, kind: str) -> Iterable[int]:
        return (number for number, entity in self.entities.items() if entity[0] == kind)

    def point(self, vertex: int) -> Point:
        (cartesian,) = self.references(vertex)
        x, y, z = (
            float(one) for one in self.entities[cartesian][1].rsplit("(", 1)[1].split(")")[0].split(",")
        )
        return (x, y, z)

    def corners(self, loop: int) -> list[Point]:
        """The corners of an edge loop in its direction."""
        found = []
        for oriented in self.references(loop):
            (edge,) = self.references(oriented)
            first, second = self.references(edge)[:2]
            forward = self.entities[oriented][1].rstrip().endswith(".T.")
            found.append(self.point(first if forward else second))
        return found


def flat_step_quantities(path: Path) -> Quantities:
    """Of a STEP file whose faces are all plane and whose edges are all straight."""
    step = _StepText(path.read_text())
    kinds = {kind for kind, _ in step.entities.values()}
    assert not kinds & {
        "CYLINDRICAL_SURFACE",
        "SPHERICAL_SURFACE",
        "CONICAL_SURFACE",
        "TOROIDAL_SURFACE",
        "CIRCLE",
    }
    triangles: list[Triangle] = []
    for face in step.all("ADVANCED_FACE"):
        *bounds, surface = step.references(face)
        assert step.entities[surface][0] == "PLANE"
        for bound in bounds:
            (loop,) = step.references(bound)
            corners = step.corners(loop)
            if step.entities[bound][1].rstrip().endswith(".F."):
                corners.reverse()
            # A fan integrates any plane loop rightly, holes included, since they run the other way.
            triangles += [(corners[0], a, b) for a, b in itertools.pairwise(corners)]
    return integrated(triangles)


def step_by_other_path(path: Path, folder: Path) -> Quantities:
    """Of any STEP file, by the document reader and a fine mesh, which is written to ``folder``."""
    from OCP.BRepMesh import BRepMesh_IncrementalMesh
    from OCP.collections import Sequence_TDF_Label
    from OCP.STEPCAFControl import STEPCAFControl_Reader
    from OCP.StlAPI import StlAPI_Writer
    from OCP.TCollection import TCollection_ExtendedString
    from OCP.TDocStd import TDocStd_Document
    from OCP.XCAFDoc import XCAFDoc_DocumentTool

    document = TDocStd_Document(TCollection_ExtendedString("XmlXCAF"))
    reader = STEPCAFControl_Reader()
    reader.ReadFile(str(path))
    assert reader.Transfer(document)
    tool = XCAFDoc_DocumentTool.ShapeTool_s(document.Main())
    labels = Sequence_TDF_Label()
    tool.GetFreeShapes(labels)
    assert labels.Length() == 1
    shape = tool.GetShape_s(labels.Value(1))
    BRepMesh_IncrementalMesh(shape, 1e-2, False, 0.2, False)
    writer = StlAPI_Writer()
    writer.ASCIIMode = False
    assert writer.Write(shape, str(folder / "reread.stl"))
    return stl_quantities(folder / "reread.stl")
