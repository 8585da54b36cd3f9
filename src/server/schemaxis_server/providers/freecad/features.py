"""Fillets, chamfers and shells as FreeCAD's document objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.freecad import topology
from schemaxis_server.providers.freecad.drawing import Drawing, Failed, Object
from schemaxis_server.providers.freecad.selectors import select_edges, select_faces
from schemaxis_server.providers.freecad.topology import Shape

import Part  # isort: skip

Options = Mapping[str, Any]

_THINNER = 1e-6
"""Share by which a wall may be found thinner than it should be."""
_TOUCHES_MM = 1e-6


def fillet(drawing: Drawing, name: str, options: Options, inputs: Sequence[Object]) -> Object:
    """The input with edges rounded."""
    radius = options["radius"]
    advice = f"A radius of {radius:g} mm does not fit on these edges; use a smaller one or fewer edges."
    return _on_edges(drawing, "Part::Fillet", name, inputs[0], options["edges"], radius, advice)


def chamfer(drawing: Drawing, name: str, options: Options, inputs: Sequence[Object]) -> Object:
    """The input with edges cut off."""
    distance = options["distance"]
    advice = f"A distance of {distance:g} mm does not fit on these edges; use a smaller one or fewer edges."
    return _on_edges(drawing, "Part::Chamfer", name, inputs[0], options["edges"], distance, advice)


def _on_edges(
    drawing: Drawing, kind: str, name: str, source: Object, selector: Any, size: float, advice: str
) -> Object:
    edges = [(number, size, size) for number in select_edges(drawing.shape(source), selector)]
    return _made(drawing, advice, kind, name, Base=source, Edges=edges)


def shell(drawing: Drawing, name: str, options: Options, inputs: Sequence[Object]) -> Object:
    """The input hollowed out, its walls inwards."""
    source = inputs[0]
    solid = drawing.shape(source)
    if len(topology.solids(solid)) != 1:
        raise UnsupportedInput(
            "A shell needs one solid; unite the input's solids first, or shell each alone."
        )
    thickness = options["thickness"]
    advice = f"Walls of {thickness:g} mm do not fit; use a smaller thickness, or leave other faces open."
    opened = select_faces(solid, options["openFaces"])
    hollow = _made(
        drawing,
        advice,
        "Part::Thickness",
        name,
        Faces=(source, [f"Face{number}" for number in opened]),
        Value=-thickness,
        Mode="Skin",
        Join="Intersection",
        Intersection=False,
        SelfIntersection=False,
    )
    made = drawing.shape(hollow)
    # Walls thicker than the part come out as its outside grown, or unchanged.
    if not 0 < made.Volume < solid.Volume * (1 - 1e-9) or not _walls_hold(solid, made, opened, thickness):
        raise UnsupportedInput(advice)
    return hollow


def _walls_hold(solid: Shape, hollow: Shape, opened: Sequence[int], thickness: float) -> bool:
    """Whether the cavity keeps its distance from every face that is not open.

    The kernel turns a round face inside out when the walls are thicker than its radius, and what
    comes out is valid, smaller than the solid, and wrong.
    """
    cavity = solid.cut(hollow)
    if cavity.isNull():
        # Now and then the kernel cannot take the two apart, which share most of their faces.
        cavity = _inside(solid, hollow, opened)
    return all(
        face.distToShape(cavity)[0] >= thickness * (1 - _THINNER)
        for number, face in enumerate(solid.Faces, 1)
        if number not in opened
    )


def _inside(solid: Shape, hollow: Shape, opened: Sequence[int]) -> Shape:
    """The faces that the cavity has in common with its walls: what is new, but for the rims of openings."""
    openings = [solid.Faces[number - 1] for number in opened]
    new = (face for face in hollow.Faces if not any(face.isPartner(one) for one in solid.Faces))
    return Part.makeCompound([face for face in new if not any(_lies_on(face, one) for one in openings)])


def _lies_on(face: Shape, opening: Shape) -> bool:
    return all(corner.distToShape(opening)[0] < _TOUCHES_MM for corner in face.Vertexes)


def _made(drawing: Drawing, advice: str, kind: str, name: str, **properties: Any) -> Object:
    try:
        made = drawing.add(kind, name, **properties)
    except Failed as reason:
        raise UnsupportedInput(advice) from reason
    shape = drawing.shape(made)
    if not topology.solids(shape) or not shape.isValid():
        raise UnsupportedInput(advice)
    return made
