"""Reads and writes shapes: STEP, BREP, STL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from OCP.APIHeaderSection import APIHeaderSection_MakeHeader
from OCP.BRep import BRep_Builder
from OCP.BRepMesh import BRepMesh_IncrementalMesh
from OCP.BRepTools import BRepTools
from OCP.IFSelect import IFSelect_ReturnStatus
from OCP.Interface import Interface_Static
from OCP.StepBasic import StepBasic_Product
from OCP.STEPControl import STEPControl_Reader, STEPControl_StepModelType, STEPControl_Writer
from OCP.StlAPI import StlAPI_Writer
from OCP.TCollection import TCollection_HAsciiString
from OCP.TopoDS import TopoDS_Shape
from OCP.TopTools import TopTools_FormatVersion

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.geometry.deflection import ANGLES_RADIANS, OF_ALLOWED_VOLUME, mesh_deflection
from schemaxis_server.providers.occt import topology
from schemaxis_server.providers.occt.brep_text import is_whole
from schemaxis_server.providers.occt.measure import is_flat, meshed_volume, volume
from schemaxis_server.providers.occt.topology import Shape

_READ_AGAIN = 1e-6


def import_step(path: str) -> Shape:
    """The solids of a STEP file, in mm. Raises ``UnsupportedInput`` when it holds none."""
    shape = read_step(Path(path))
    solids = topology.solids(shape) if shape is not None else []
    if not solids:
        raise UnsupportedInput("The bound STEP file holds no solid; bind one that a verified job published.")
    return topology.compound(solids)


def read_step(path: Path) -> Shape | None:
    """The whole shape of a STEP file, in mm, or None when it cannot be read."""
    reader = STEPControl_Reader()
    if reader.ReadFile(str(path)) != IFSelect_ReturnStatus.IFSelect_RetDone:
        return None
    return reader.OneShape() if reader.TransferRoots() > 0 else None


def read_brep(path: Path) -> Shape | None:
    """The shape of a BREP file, or None when it cannot be read."""
    if not is_whole(path.read_bytes()):
        return None
    shape = TopoDS_Shape()
    read = BRepTools.Read_s(shape, str(path), BRep_Builder())
    return None if not read or shape.IsNull() else shape


def write_step(shape: Shape, path: Path, name: str, enclosed: float) -> None:
    """STEP AP214 in mm. Only the date in its header differs from one run to the next.

    The kernel reads a face that closes on itself (a sphere above all) now and then back as another
    one, with the curves on surfaces that the file carries or without them, seldom both. So the file
    is read again at once, its volume held against ``enclosed`` (mm^3), and written without those
    curves if need be. Raises ``UnsupportedInput`` when neither file holds the shape.
    """
    for with_curves in (1, 0):
        _write_step(shape, path, name, with_curves)
        if is_flat(shape):
            return
        again = read_step(path)
        if again is not None and abs(volume(again) - enclosed) <= _READ_AGAIN * enclosed:
            return
    raise UnsupportedInput(
        f"STEP cannot hold the shape of {name} faithfully; a cut through the pole or the seam of a round "
        "face is the usual cause. Turn or move one of the bodies slightly."
    )


def _write_step(shape: Shape, path: Path, name: str, with_curves: int) -> None:
    # The writer makes the parameters known, so that it comes first.
    writer = STEPControl_Writer()
    Interface_Static.SetIVal_s("write.surfacecurve.mode", with_curves)
    done = IFSelect_ReturnStatus.IFSelect_RetDone
    if writer.Transfer(shape, STEPControl_StepModelType.STEPControl_AsIs) != done:
        raise RuntimeError(f"the shape of {name} could not be translated to STEP")
    model = writer.Model()
    for index in range(1, model.NbEntities() + 1):
        entity = model.Value(index)
        if isinstance(entity, StepBasic_Product):
            # The kernel would number its products by how many the process has written.
            entity.SetId(TCollection_HAsciiString(name))
            entity.SetName(TCollection_HAsciiString(name))
    header = APIHeaderSection_MakeHeader(model)
    header.SetName(TCollection_HAsciiString(name))
    header.SetAuthorValue(1, TCollection_HAsciiString(""))
    header.SetOrganizationValue(1, TCollection_HAsciiString(""))
    header.SetOriginatingSystem(TCollection_HAsciiString("schemaxis"))
    header.SetAuthorisation(TCollection_HAsciiString(""))
    if writer.Write(str(path)) != done:
        raise RuntimeError(f"the STEP file of {name} could not be written")


def write_brep(shape: Shape, path: Path) -> None:
    """The kernel's own text format, without a mesh."""
    version = TopTools_FormatVersion.TopTools_FormatVersion_CURRENT
    if not BRepTools.Write_s(shape, str(path), False, False, version):
        raise RuntimeError(f"{path.name} could not be written")


def write_stl(shape: Shape, path: Path, measured: dict[str, Any]) -> None:
    """Binary STL of a shape whose measured result is given.

    The shape keeps the mesh, so measure it and write the other formats before. The mesher does not
    keep its distance inside of some round faces; where the enclosed volume shows that, the angle
    between triangles is halved. Raises ``UnsupportedInput`` when that does not help.
    """
    box = measured["boundingBox"]["value"]
    deflection = mesh_deflection(box["min"], box["max"])
    allowed = OF_ALLOWED_VOLUME * deflection * measured["area"]["value"]
    for angle in ANGLES_RADIANS:
        BRepTools.Clean_s(shape)
        BRepMesh_IncrementalMesh(shape, deflection, False, angle, False)
        if is_flat(shape) or abs(meshed_volume(shape) - measured["volume"]["value"]) <= allowed:
            break
    else:
        raise UnsupportedInput(
            f"No triangles follow the shape of {path.stem} closely; turn or move one of the bodies slightly."
        )
    writer = StlAPI_Writer()
    writer.ASCIIMode = False
    if not writer.Write(shape, str(path)):
        raise RuntimeError(f"{path.name} could not be written")
