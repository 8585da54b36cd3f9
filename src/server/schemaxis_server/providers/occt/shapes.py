"""Builds one node's shape with Open CASCADE: primitives, sweeps, transforms, booleans, patterns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from OCP.BRepAlgoAPI import BRepAlgoAPI_Common, BRepAlgoAPI_Cut, BRepAlgoAPI_Fuse
from OCP.BRepBuilderAPI import (
    BRepBuilderAPI_MakeEdge,
    BRepBuilderAPI_MakeFace,
    BRepBuilderAPI_MakePolygon,
    BRepBuilderAPI_MakeWire,
    BRepBuilderAPI_Transform,
)
from OCP.BRepPrimAPI import (
    BRepPrimAPI_MakeBox,
    BRepPrimAPI_MakeCone,
    BRepPrimAPI_MakeCylinder,
    BRepPrimAPI_MakePrism,
    BRepPrimAPI_MakeRevol,
    BRepPrimAPI_MakeSphere,
    BRepPrimAPI_MakeTorus,
)
from OCP.collections import List_TopoDS_Shape
from OCP.gp import gp_Ax1, gp_Ax2, gp_Circ, gp_Dir, gp_Pln, gp_Pnt, gp_Trsf, gp_Vec
from OCP.ShapeUpgrade import ShapeUpgrade_UnifySameDomain

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.geometry.profiles import crossing_sides, polygon_points, signed_area
from schemaxis_server.providers.occt import exchange, features
from schemaxis_server.providers.occt.measure import is_valid
from schemaxis_server.providers.occt.topology import Shape, compound, solids

Options = Mapping[str, Any]

_UNIT = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_NORMAL = {"yz": (1.0, 0.0, 0.0), "xz": (0.0, 1.0, 0.0), "xy": (0.0, 0.0, 1.0)}


def build(operation: str, options: Options, inputs: Sequence[Shape], file: str | None) -> Shape:
    """The shape of one node. ``file`` is the path bound to its file option, if it has one.

    Raises ``UnsupportedInput`` without a pointer, or the kernel's own failure.
    """
    if operation == "importSTEP":
        if file is None:
            raise UnsupportedInput(
                "No file is bound to this importSTEP; bind a geometry/step resource to it."
            )
        return exchange.import_step(file)
    return _BUILDERS[operation](options, inputs)


def _box(options: Options, _: Sequence[Shape]) -> Shape:
    return BRepPrimAPI_MakeBox(options["length"], options["width"], options["height"]).Solid()


def _cylinder(options: Options, _: Sequence[Shape]) -> Shape:
    return BRepPrimAPI_MakeCylinder(options["radius"], options["height"]).Solid()


def _sphere(options: Options, _: Sequence[Shape]) -> Shape:
    return BRepPrimAPI_MakeSphere(options["radius"]).Solid()


def _cone(options: Options, _: Sequence[Shape]) -> Shape:
    if options["radius1"] == options["radius2"]:
        # The kernel has no cone without a slant.
        return BRepPrimAPI_MakeCylinder(options["radius1"], options["height"]).Solid()
    return BRepPrimAPI_MakeCone(options["radius1"], options["radius2"], options["height"]).Solid()


def _torus(options: Options, _: Sequence[Shape]) -> Shape:
    return BRepPrimAPI_MakeTorus(options["radius1"], options["radius2"]).Solid()


def _extrude(options: Options, _: Sequence[Shape]) -> Shape:
    face = _face(options["profile"], lambda x, y: gp_Pnt(x, y, 0), gp_Dir(0, 0, 1))
    return BRepPrimAPI_MakePrism(face, gp_Vec(0, 0, options["height"])).Shape()


def _revolve(options: Options, _: Sequence[Shape]) -> Shape:
    face = _face(options["profile"], lambda x, z: gp_Pnt(0.0 if abs(x) < 1e-9 else x, 0, z), gp_Dir(0, -1, 0))
    axis = gp_Ax1(gp_Pnt(0, 0, 0), gp_Dir(0, 0, 1))
    if options["angle"] == 360:
        return BRepPrimAPI_MakeRevol(face, axis).Shape()
    return BRepPrimAPI_MakeRevol(face, axis, math.radians(options["angle"])).Shape()


def _face(profile: Mapping[str, Any], place: Callable[[float, float], Any], normal: Any) -> Shape:
    """The plane face of a profile; ``place`` puts a point of its plane into space."""
    points = polygon_points(profile)
    if points is None:
        circle = gp_Circ(gp_Ax2(place(*profile["center"]), normal), profile["radius"])
        edge = BRepBuilderAPI_MakeEdge(circle).Edge()
        wire = BRepBuilderAPI_MakeWire(edge).Wire()
        origin = place(*profile["center"])
    else:
        if crossing_sides(points, len(points) ** 2) is not None:
            raise UnsupportedInput(
                "The profile crosses itself; list its corners in order around one outline."
            )
        if signed_area(points) < 0:
            points = points[::-1]
        polygon = BRepBuilderAPI_MakePolygon()
        for point in points:
            polygon.Add(place(*point))
        polygon.Close()
        wire = polygon.Wire()
        origin = place(*points[0])
    return BRepBuilderAPI_MakeFace(gp_Pln(origin, normal), wire, True).Face()


def _moved(shape: Shape, transform: Any, *, copy: bool = True) -> Shape:
    return BRepBuilderAPI_Transform(shape, transform, copy).Shape()


def _vector(value: str | Sequence[float]) -> tuple[float, float, float]:
    if isinstance(value, str):
        return _UNIT[value]
    length = math.hypot(*value)
    return (value[0] / length, value[1] / length, value[2] / length)


def _axis(direction: str | Sequence[float], center: Sequence[float]) -> Any:
    return gp_Ax1(gp_Pnt(*center), gp_Dir(*_vector(direction)))


def _translation(offset: Sequence[float]) -> Any:
    transform = gp_Trsf()
    transform.SetTranslation(gp_Vec(*offset))
    return transform


def _rotation(axis: Any, degrees: float) -> Any:
    transform = gp_Trsf()
    transform.SetRotation(axis, math.radians(degrees))
    return transform


def _translate(options: Options, inputs: Sequence[Shape]) -> Shape:
    return _moved(inputs[0], _translation(options["offset"]))


def _rotate(options: Options, inputs: Sequence[Shape]) -> Shape:
    return _moved(inputs[0], _rotation(_axis(options["axis"], options["center"]), options["angle"]))


def _mirror(options: Options, inputs: Sequence[Shape]) -> Shape:
    transform = gp_Trsf()
    transform.SetMirror(gp_Ax2(gp_Pnt(*options["center"]), gp_Dir(*_NORMAL[options["plane"]])))
    return _moved(inputs[0], transform)


def _scale(options: Options, inputs: Sequence[Shape]) -> Shape:
    transform = gp_Trsf()
    transform.SetScale(gp_Pnt(*options["center"]), options["factor"])
    return _moved(inputs[0], transform)


def _linear_pattern(options: Options, inputs: Sequence[Shape]) -> Shape:
    along = _vector(options["direction"])
    steps = [[options["spacing"] * index * part for part in along] for index in range(1, options["count"])]
    return _united([inputs[0], *(_moved(inputs[0], _translation(step)) for step in steps)])


def _polar_pattern(options: Options, inputs: Sequence[Shape]) -> Shape:
    axis = _axis(options["axis"], options["center"])
    count, angle = options["count"], options["angle"]
    step = angle / count if angle == 360 else angle / (count - 1)
    turned = (_moved(inputs[0], _rotation(axis, step * index)) for index in range(1, count))
    return _united([inputs[0], *turned])


def _shapes(shapes: Sequence[Shape]) -> Any:
    listed = List_TopoDS_Shape()
    for shape in shapes:
        listed.Append(shape)
    return listed


def _boolean(operation: Any, first: Sequence[Shape], others: Sequence[Shape]) -> Shape:
    return _tidied(combined(operation, first, others))


def combined(operation: Any, first: Sequence[Shape], others: Sequence[Shape]) -> Shape:
    """What a boolean of the kernel makes, as it comes. Leaves its inputs as they are.

    Raises ``UnsupportedInput``.
    """
    operation.SetArguments(_shapes(first))
    operation.SetTools(_shapes(others))
    operation.SetRunParallel(False)
    operation.SetNonDestructive(True)
    operation.Build()
    if not operation.IsDone():
        raise UnsupportedInput("The kernel cannot combine these shapes; move or resize one of them slightly.")
    return operation.Shape()


def _tidied(shape: Shape) -> Shape:
    """The solids alone, faces and edges that continue each other made one where that is sound."""
    joiner = ShapeUpgrade_UnifySameDomain(shape, True, True, False)
    joiner.Build()
    joined = joiner.Shape()
    sound = len(solids(joined)) == len(solids(shape)) and is_valid(joined)
    found = solids(joined if sound else shape)
    return compound(found)


def _united(shapes: Sequence[Shape]) -> Shape:
    return _boolean(BRepAlgoAPI_Fuse(), shapes[:1], shapes[1:])


def _union(_: Options, inputs: Sequence[Shape]) -> Shape:
    return _united(inputs)


def _cut(_: Options, inputs: Sequence[Shape]) -> Shape:
    left = _boolean(BRepAlgoAPI_Cut(), inputs[:1], inputs[1:])
    if not solids(left):
        raise UnsupportedInput(
            "The cut leaves nothing; the first input lies within the others. Check their order."
        )
    return left


def _intersect(_: Options, inputs: Sequence[Shape]) -> Shape:
    common = inputs[0]
    for other in inputs[1:]:
        # One at a time: the kernel's tools together mean their union.
        common = _boolean(BRepAlgoAPI_Common(), [common], [other])
        if not solids(common):
            raise UnsupportedInput("The inputs have no common part; move them so that they overlap.")
    return common


_BUILDERS: Mapping[str, Callable[[Options, Sequence[Shape]], Shape]] = {
    "box": _box,
    "cylinder": _cylinder,
    "sphere": _sphere,
    "cone": _cone,
    "torus": _torus,
    "extrude": _extrude,
    "revolve": _revolve,
    "translate": _translate,
    "rotate": _rotate,
    "mirror": _mirror,
    "scale": _scale,
    "fillet": features.fillet,
    "chamfer": features.chamfer,
    "shell": features.shell,
    "linearPattern": _linear_pattern,
    "polarPattern": _polar_pattern,
    "union": _union,
    "cut": _cut,
    "intersect": _intersect,
}
