"""Fillets, chamfers and shells with Open CASCADE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from OCP.BRepAlgoAPI import BRepAlgoAPI_Cut
from OCP.BRepExtrema import BRepExtrema_DistShapeShape
from OCP.BRepFilletAPI import BRepFilletAPI_MakeChamfer, BRepFilletAPI_MakeFillet
from OCP.BRepOffset import BRepOffset_Mode
from OCP.BRepOffsetAPI import BRepOffsetAPI_MakeThickSolid
from OCP.collections import List_TopoDS_Shape
from OCP.GeomAbs import GeomAbs_JoinType

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.occt.failures import KERNEL_FAILURES
from schemaxis_server.providers.occt.measure import is_valid, rough_volume
from schemaxis_server.providers.occt.selectors import select_edges, select_faces
from schemaxis_server.providers.occt.topology import Shape, faces, solids

Options = Mapping[str, Any]

_SHELL_TOLERANCE = 1e-5
_THINNER = 1e-6
"""Share by which a wall may be found thinner than it should be."""


def fillet(options: Options, inputs: Sequence[Shape]) -> Shape:
    """The input with edges rounded."""
    edges = select_edges(inputs[0], options["edges"])
    maker = BRepFilletAPI_MakeFillet(inputs[0])
    for edge in edges:
        maker.Add(options["radius"], edge)
    advice = (
        f"A radius of {options['radius']:g} mm does not fit on these edges; use a smaller one or fewer edges."
    )
    return _made(maker, advice)


def chamfer(options: Options, inputs: Sequence[Shape]) -> Shape:
    """The input with edges cut off."""
    edges = select_edges(inputs[0], options["edges"])
    maker = BRepFilletAPI_MakeChamfer(inputs[0])
    for edge in edges:
        maker.Add(options["distance"], edge)
    advice = (
        f"A distance of {options['distance']:g} mm does not fit on these edges; use a smaller one or fewer "
        "edges."
    )
    return _made(maker, advice)


def shell(options: Options, inputs: Sequence[Shape]) -> Shape:
    """The input hollowed out, its walls inwards."""
    if len(solids(inputs[0])) != 1:
        raise UnsupportedInput(
            "A shell needs one solid; unite the input's solids first, or shell each alone."
        )
    opened = select_faces(inputs[0], options["openFaces"])
    openings = List_TopoDS_Shape()
    for face in opened:
        openings.Append(face)
    maker = BRepOffsetAPI_MakeThickSolid()
    advice = f"Walls of {options['thickness']:g} mm do not fit; use a smaller thickness, or leave other faces open."
    try:
        maker.MakeThickSolidByJoin(
            inputs[0],
            openings,
            -options["thickness"],
            _SHELL_TOLERANCE,
            BRepOffset_Mode.BRepOffset_Skin,
            False,
            False,
            GeomAbs_JoinType.GeomAbs_Intersection,
        )
    except KERNEL_FAILURES as reason:
        raise UnsupportedInput(advice) from reason
    hollow = _made(maker, advice)
    # Walls thicker than the part come out as its outside grown, or unchanged.
    if not 0 < rough_volume(hollow) < rough_volume(inputs[0]) * (1 - 1e-9):
        raise UnsupportedInput(advice)
    if not _walls_hold(inputs[0], hollow, opened, options["thickness"]):
        raise UnsupportedInput(advice)
    return hollow


def _walls_hold(solid: Shape, hollow: Shape, opened: Sequence[Shape], thickness: float) -> bool:
    """Whether the cavity keeps its distance from every face that is not open.

    The kernel turns a round face inside out when the walls are thicker than its radius, and what
    comes out is valid, smaller than the solid, and wrong.
    """
    maker = BRepAlgoAPI_Cut(solid, hollow)
    if not maker.IsDone():
        return False
    cavity = maker.Shape()
    for face in faces(solid):
        if not any(face.IsSame(one) for one in opened):
            gap = BRepExtrema_DistShapeShape(face, cavity)
            if not gap.IsDone() or gap.Value() < thickness * (1 - _THINNER):
                return False
    return True


def _made(maker: Any, advice: str) -> Shape:
    try:
        maker.Build()
        done = maker.IsDone()
        shape = maker.Shape() if done else None
    except KERNEL_FAILURES as reason:
        raise UnsupportedInput(advice) from reason
    if shape is None or not solids(shape) or not is_valid(shape):
        raise UnsupportedInput(advice)
    return shape
