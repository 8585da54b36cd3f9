"""What a node did that its author hardly meant: it is built as it was written, and a warning says so.

A tool that misses the part, an input that changes nothing, copies that coincide, a point that names
an edge far from it. Every answer here is either sure or not given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from OCP.Bnd import Bnd_Box
from OCP.BRepAlgoAPI import BRepAlgoAPI_Common, BRepAlgoAPI_Cut
from OCP.BRepBndLib import BRepBndLib
from OCP.BRepClass3d import BRepClass3d_SolidClassifier
from OCP.gp import gp_Pnt
from OCP.TopAbs import TopAbs_State

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.occt import measure, selectors
from schemaxis_server.providers.occt.failures import KERNEL_FAILURES
from schemaxis_server.providers.occt.measure import rough_volume, volume
from schemaxis_server.providers.occt.shapes import combined
from schemaxis_server.providers.occt.topology import Shape, Triple, solids, vertices

# Of the smaller of two volumes: what is less of one in the other comes from the kernel's tolerances.
_NOTHING = 1e-7
_TOLERANCE_MM = 1e-7
_CORNERS = 16
_UNTOLD: tuple[type[Exception], ...] = (*KERNEL_FAILURES, UnsupportedInput)
# Places in a box, as parts of its sides: its middle, then points that leave no large gap between them.
_SCATTERED = (
    (0.5, 0.5, 0.5),
    *(
        tuple((index * step + 0.5) % 1 for step in (0.8191725, 0.6710436, 0.5497005))
        for index in range(1, 64)
    ),
)
# Of the diagonal of the part: who points at an edge is seldom as far off.
_FAR = 0.02


def doubts(node: Mapping[str, Any], inputs: Sequence[Shape], shape: Shape) -> list[str]:
    """Sentences about a node that was built: ``inputs`` are the shapes that it took, ``shape`` the one it made."""
    try:
        return list(_found(node, inputs, shape))
    except _UNTOLD:
        # The node itself was built. Looking at it a second time must not cost the job.
        return []


def _found(node: Mapping[str, Any], inputs: Sequence[Shape], shape: Shape) -> Iterator[str]:
    operation, names = node["filter"], node["inputs"]
    if operation == "cut":
        for position in range(1, len(inputs)):
            yield from _missing(names, inputs, position)
    elif operation == "union":
        for position in _hidden(inputs):
            yield (
                f"its input {_input(names, position)} adds nothing, since it lies within the others. Move or "
                "resize it, or leave it out."
            )
    elif operation == "intersect":
        for position in _encompassing(inputs, shape):
            yield (
                f"its input {_input(names, position)} takes nothing away, since what the others have in common "
                "lies within it. Move or resize it, or leave it out."
            )
    elif operation in ("linearPattern", "polarPattern"):
        if _is_within(shape, inputs[0]):
            yield (
                f"all {node['options']['count']} copies coincide with {names[0]}. Move it away from the axis, "
                "or change the spacing or the angle."
            )
    elif operation in ("fillet", "chamfer"):
        yield from _astray(inputs[0], "edge", selectors.pointed_edges(inputs[0], node["options"]["edges"]))
    elif operation == "shell":
        yield from _astray(
            inputs[0], "face", selectors.pointed_faces(inputs[0], node["options"]["openFaces"])
        )


def _input(names: Sequence[str], position: int) -> str:
    return f"{names[position]} (inputs/{position})"


def _missing(names: Sequence[str], inputs: Sequence[Shape], position: int) -> Iterator[str]:
    """A tool that takes nothing from the part, or some of whose solids do not."""
    part, tool = inputs[0], inputs[position]
    pieces = solids(tool)
    idle = _outside(part, pieces)
    if not idle:
        return
    named = f"its tool {_input(names, position)}"
    if len(idle) == len(pieces):
        where = _placed(part, names[0], tool)
        yield f"{named} removes nothing from {names[0]}: it {where}. Move it, or leave it out."
    else:
        verb = "removes" if len(idle) == 1 else "remove"
        where = _placed(part, names[0], idle[0])
        yield (
            f"{len(idle)} of the {len(pieces)} solids of {named} {verb} nothing from {names[0]}: the first of "
            f"them {where}. Move it, or leave it out."
        )


def _outside(part: Shape, pieces: Sequence[Shape]) -> list[Shape]:
    """Those of the pieces that have no volume in common with the part."""
    around, body = _box(part), _Body(part)
    idle, unsure = [], []
    for piece in pieces:
        own = _box(piece)
        if own.IsOut(around):
            idle.append(piece)
        elif not _share_a_point(_Body(piece), body, own, around):
            unsure.append(piece)
    return [*idle, *_without_common_part(part, unsure)]


def _share_a_point(one: _Body, other: _Body, box: Any, other_box: Any) -> bool:
    """Whether a point is soon found inside both, which saves the far dearer boolean."""
    (low, high), (other_low, other_high) = _corners(box), _corners(other_box)
    points = _scattered(list(map(max, low, other_low)), list(map(min, high, other_high)))
    return any(one.holds(point) and other.holds(point) for point in points)


def _sticks_out(shape: Shape, others: Sequence[_Body]) -> bool:
    """Whether a point of a shape is soon found outside all others; again to save a boolean."""
    if any(all(other.excludes(corner) for other in others) for corner in vertices(shape)[:_CORNERS]):
        return True
    body, points = _Body(shape), _scattered(*_corners(_box(shape)))
    return any(body.holds(point) and all(other.excludes(point) for other in others) for point in points)


def _scattered(low: Sequence[float], high: Sequence[float]) -> Iterator[list[float]]:
    for parts in _SCATTERED:
        yield [a + part * (b - a) for a, b, part in zip(low, high, parts, strict=True)]


def _without_common_part(part: Shape, pieces: Sequence[Shape]) -> list[Shape]:
    """By the kernel's booleans, of which few are needed where most pieces fare alike."""
    if not pieces:
        return []
    least = min(map(rough_volume, [part, *pieces]))
    if rough_volume(combined(BRepAlgoAPI_Common(), [part], pieces)) <= _NOTHING * least:
        return list(pieces)
    if len(pieces) == 1:
        return []
    half = len(pieces) // 2
    return [*_without_common_part(part, pieces[:half]), *_without_common_part(part, pieces[half:])]


def _hidden(inputs: Sequence[Shape]) -> list[int]:
    """The inputs of a union that could all be left out together, the later of two equal ones first."""
    bodies = [_Body(shape) for shape in inputs]
    kept = list(range(len(inputs)))
    for position in reversed(range(len(inputs))):
        others = [other for other in kept if other != position]
        if not others or _sticks_out(inputs[position], [bodies[other] for other in others]):
            continue
        if _lies_within(inputs[position], [inputs[other] for other in others]):
            kept.remove(position)
    return [position for position in range(len(inputs)) if position not in kept]


def _lies_within(shape: Shape, others: Sequence[Shape]) -> bool:
    left = combined(BRepAlgoAPI_Cut(), [shape], others)
    return rough_volume(left) <= _NOTHING * rough_volume(shape)


def _encompassing(inputs: Sequence[Shape], result: Shape) -> list[int]:
    """The inputs of an intersection that could all be left out together."""
    common = [inputs[0]]
    for shape in inputs[1:-1]:
        common.append(combined(BRepAlgoAPI_Common(), [common[-1]], [shape]))
    found: list[int] = []
    later: Shape | None = None
    for position in reversed(range(len(inputs))):
        earlier = common[position - 1] if position else None
        others = _both(earlier, later)
        if others is not None and _is_within(others, inputs[position], result):
            found.insert(0, position)
        elif position:
            later = _both(inputs[position], later)
    return found


def _is_within(shape: Shape, around: Shape, common: Shape | None = None) -> bool:
    """Whether a shape lies within another one, by volume.

    ``common`` is what the two have in common. Without it ``around`` must be a part of the shape.
    """
    if _sticks_out(shape, [_Body(around)]):
        return False
    return volume(shape) <= volume(around if common is None else common) * (1 + _NOTHING)


def _both(one: Shape | None, other: Shape | None) -> Shape | None:
    if one is None or other is None:
        return other if one is None else one
    return combined(BRepAlgoAPI_Common(), [one], [other])


def _astray(part: Shape, kind: str, pointed: Sequence[selectors.Pointed]) -> Iterator[str]:
    """Points that name something far from them, or that name several things equally."""
    low, high = measure.bounds(part)
    diagonal = math.dist(low, high)
    for one in pointed:
        point = _point(one.point)
        if one.offset > _FAR * diagonal:
            yield (
                f"nearTo {point} of its {one.place} chose the {kind} at {_point(one.nearest)}, {one.offset:.4g} mm "
                f"away. Give a point on the {kind} that is meant."
            )
        elif one.rivals:
            yield (
                f"nearTo {point} of its {one.place} is equally near to {one.rivals + 1} {kind}s, and the "
                f"lowest was chosen. Give a point that lies on the meant {kind} alone, such as its middle."
            )


def _placed(part: Shape, name: str, tool: Shape) -> str:
    """Where a tool is that misses a part."""
    (low, high), (part_low, part_high) = measure.bounds(tool), measure.bounds(part)
    gaps = [
        (gap, sign + axis)
        for axis, a, b, c, d in zip("xyz", low, high, part_low, part_high, strict=True)
        for gap, sign in ((a - d, "+"), (c - b, "-"))
    ]
    gap, side = max(gaps)
    if gap > _TOLERANCE_MM:
        where = f"lies {gap:.4g} mm beyond it towards {side}"
    elif gap > -_TOLERANCE_MM:
        where = f"only touches it on its {side} side"
    else:
        where = "is beside it, though the boxes around the two overlap"
    return f"{where} (its box: {_spans(low, high)}; that of {name}: {_spans(part_low, part_high)})"


def _spans(low: Sequence[float], high: Sequence[float]) -> str:
    return ", ".join(f"{axis} {a:.4g} to {b:.4g}" for axis, a, b in zip("xyz", low, high, strict=True))


def _point(point: Sequence[float]) -> str:
    return "[" + ", ".join(f"{value:.4g}" for value in point) + "]"


def _box(shape: Shape) -> Any:
    box = Bnd_Box()
    BRepBndLib.Add_s(shape, box, False)
    return box


def _corners(box: Any) -> tuple[Triple, Triple]:
    return (
        (box.GetXMin(), box.GetYMin(), box.GetZMin()),
        (box.GetXMax(), box.GetYMax(), box.GetZMax()),
    )


class _Body:
    """Tells where points lie, each solid's faces sorted once."""

    def __init__(self, shape: Shape) -> None:
        self._solids = [BRepClass3d_SolidClassifier(solid) for solid in solids(shape)]

    def holds(self, point: Sequence[float]) -> bool:
        """Whether the point is inside, and not on a face."""
        return any(state == TopAbs_State.TopAbs_IN for state in self._states(point))

    def excludes(self, point: Sequence[float]) -> bool:
        """Whether the point is outside, and not on a face."""
        return all(state == TopAbs_State.TopAbs_OUT for state in self._states(point))

    def _states(self, point: Sequence[float]) -> Iterator[Any]:
        place = gp_Pnt(*point)
        for solid in self._solids:
            solid.Perform(place, _TOLERANCE_MM)
            yield solid.State()
