"""Reads and writes shapes with FreeCAD: STEP, BREP, STL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.freecad import topology
from schemaxis_server.providers.freecad.integrals import integrate
from schemaxis_server.providers.freecad.topology import Shape
from schemaxis_server.providers.geometry.deflection import ANGLES_RADIANS, OF_ALLOWED_VOLUME, mesh_deflection

import MeshPart  # isort: skip
import Part  # isort: skip

_READ_AGAIN = 1e-6
_PRODUCT = re.compile(rb"PRODUCT\('[^']*',\s*'[^']*'")
_FILE_NAME = re.compile(rb"FILE_NAME\('[^']*'")


def import_step(path: str) -> Shape:
    """The solids of a STEP file, in mm. Raises ``UnsupportedInput`` when it holds none."""
    shape = read_step(Path(path))
    if shape is None or not topology.solids(shape):
        raise UnsupportedInput("The bound STEP file holds no solid; bind one that a verified job published.")
    return topology.body(shape)


def read_step(path: Path) -> Shape | None:
    """The whole shape of a STEP file, in mm, or None when it cannot be read."""
    # FreeCAD tells by its name what a file is.
    named = path
    if path.suffix.lower() not in (".step", ".stp"):
        named = Path("tmp", "bound.step").absolute()
        named.parent.mkdir(exist_ok=True)
        named.unlink(missing_ok=True)
        named.symlink_to(path.absolute())
    try:
        shape = Part.read(str(named))
    except (RuntimeError, OSError):
        return None
    return None if shape.isNull() else shape


def write_step(shape: Shape, path: Path, name: str, enclosed: float) -> None:
    """STEP AP214 in mm. Only the date in its header differs from one run to the next.

    The kernel reads a face that closes on itself now and then back as another one, with the curves on
    surfaces that the file carries or without them, seldom both. So the file is read again at once, its
    volume held against ``enclosed`` (mm^3), and written without those curves if need be. Raises
    ``UnsupportedInput`` when neither file holds the shape.
    """
    for with_curves in (1, 0):
        Part.setStaticValue("write.surfacecurve.mode", with_curves)
        shape.exportStep(str(path))
        _name(path, name)
        if topology.is_flat(shape):
            return
        again = read_step(path)
        if again is not None and abs(integrate(again).volume - enclosed) <= _READ_AGAIN * enclosed:
            return
    raise UnsupportedInput(
        f"STEP cannot hold the shape of {name} faithfully; a cut through the pole or the seam of a round "
        "face is the usual cause. Turn or move one of the bodies slightly."
    )


def _name(path: Path, name: str) -> None:
    """Name the product, which the kernel would number by how many the process has written."""
    said = name.encode()
    text = _PRODUCT.sub(b"PRODUCT('%b','%b'" % (said, said), path.read_bytes())
    path.write_bytes(_FILE_NAME.sub(b"FILE_NAME('%b'" % said, text, count=1))


def write_brep(shape: Shape, path: Path) -> None:
    """The kernel's own text format. Write it before the shape is meshed."""
    shape.exportBrep(str(path))


def write_stl(shape: Shape, path: Path, measured: dict[str, Any]) -> None:
    """Binary STL of a shape whose measured result is given.

    The shape keeps the mesh, so write the other formats before. The mesher does not keep its distance
    inside of some round faces; where the enclosed volume shows that, the angle between triangles is
    halved. Raises ``UnsupportedInput`` when that does not help.
    """
    box = measured["boundingBox"]["value"]
    deflection = mesh_deflection(box["min"], box["max"])
    allowed = OF_ALLOWED_VOLUME * deflection * measured["area"]["value"]
    flat = topology.is_flat(shape)
    middle = [(low + high) / 2 for low, high in zip(box["min"], box["max"], strict=True)]
    for angle in ANGLES_RADIANS:
        mesh = MeshPart.meshFromShape(
            Shape=shape, LinearDeflection=deflection, AngularDeflection=angle, Relative=False
        )
        vertices, triangles = mesh.Topology
        if not _is_closed(triangles):
            # Neighbouring faces may place the points of their common edge a rounding error apart.
            mesh.removeDuplicatedPoints()
            vertices, triangles = mesh.Topology
        if _is_closed(triangles) and (
            flat or abs(_enclosed(vertices, triangles, middle) - measured["volume"]["value"]) <= allowed
        ):
            break
    else:
        raise UnsupportedInput(
            f"No triangles follow the shape of {path.stem} closely; turn or move one of the bodies slightly."
        )
    mesh.write(str(path))


def _is_closed(triangles: Sequence[tuple[int, int, int]]) -> bool:
    """Whether every edge is run through as often one way as the other."""
    balance: dict[tuple[int, int], int] = {}
    for a, b, c in triangles:
        for start, end in ((a, b), (b, c), (c, a)):
            if start < end:
                balance[start, end] = balance.get((start, end), 0) + 1
            elif end < start:
                balance[end, start] = balance.get((end, start), 0) - 1
    return not any(balance.values())


def _enclosed(vertices: Any, triangles: Sequence[tuple[int, int, int]], middle: Sequence[float]) -> float:
    """The volume in mm^3 that a mesh encloses; FreeCAD's own is summed in single precision."""
    points = [(one.x - middle[0], one.y - middle[1], one.z - middle[2]) for one in vertices]
    total = 0.0
    for i, j, k in triangles:
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = points[i], points[j], points[k]
        total += ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    return total / 6
