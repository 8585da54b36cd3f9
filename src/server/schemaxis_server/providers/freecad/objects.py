"""FreeCAD's document objects for the nodes of a document: what a person edits when the FCStd is opened.

Each node becomes one object that bears its id as label, and where need be others that it uses, labelled
``<part> of <id>``. Moves and scales are links with a placement, patterns links with several, so that
everything follows when a parameter is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.freecad import features, topology
from schemaxis_server.providers.freecad.drawing import Drawing, Object, rotation, unit, vector
from schemaxis_server.providers.freecad.exchange import import_step
from schemaxis_server.providers.geometry.profiles import crossing_sides, polygon_points, signed_area

import FreeCAD  # isort: skip

Options = Mapping[str, Any]

_NORMAL = {"yz": (1.0, 0.0, 0.0), "xz": (0.0, 1.0, 0.0), "xy": (0.0, 0.0, 1.0)}
_ON_AXIS = 1e-9


def build(
    drawing: Drawing, name: str, operation: str, options: Options, inputs: Sequence[Object], file: str | None
) -> Object:
    """The object of one node. ``file`` is the path bound to its file option, if it has one.

    Raises ``UnsupportedInput`` without a pointer, or FreeCAD's own failure.
    """
    if operation == "importSTEP":
        if file is None:
            raise UnsupportedInput(
                "No file is bound to this importSTEP; bind a geometry/step resource to it."
            )
        return drawing.add("Part::Feature", name, Shape=import_step(file))
    return _BUILDERS[operation](drawing, name, options, inputs)


def _box(drawing: Drawing, name: str, options: Options, _: Sequence[Object]) -> Object:
    sizes = {"Length": options["length"], "Width": options["width"], "Height": options["height"]}
    return drawing.add("Part::Box", name, **sizes)


def _cylinder(drawing: Drawing, name: str, options: Options, _: Sequence[Object]) -> Object:
    return drawing.add("Part::Cylinder", name, Radius=options["radius"], Height=options["height"])


def _sphere(drawing: Drawing, name: str, options: Options, _: Sequence[Object]) -> Object:
    return drawing.add("Part::Sphere", name, Radius=options["radius"])


def _cone(drawing: Drawing, name: str, options: Options, _: Sequence[Object]) -> Object:
    if options["radius1"] == options["radius2"]:
        # FreeCAD has no cone without a slant.
        return drawing.add("Part::Cylinder", name, Radius=options["radius1"], Height=options["height"])
    sizes = {"Radius1": options["radius1"], "Radius2": options["radius2"], "Height": options["height"]}
    return drawing.add("Part::Cone", name, **sizes)


def _torus(drawing: Drawing, name: str, options: Options, _: Sequence[Object]) -> Object:
    return drawing.add("Part::Torus", name, Radius1=options["radius1"], Radius2=options["radius2"])


def _extrude(drawing: Drawing, name: str, options: Options, _: Sequence[Object]) -> Object:
    profile = _profile(drawing, name, options["profile"], lambda x, y: (x, y, 0.0), rotation("x", 0))
    return drawing.add(
        "Part::Extrusion",
        name,
        Base=profile,
        DirMode="Custom",
        Dir=vector((0, 0, 1)),
        LengthFwd=options["height"],
        Solid=True,
    )


def _revolve(drawing: Drawing, name: str, options: Options, _: Sequence[Object]) -> Object:
    def place(x: float, z: float) -> tuple[float, float, float]:
        return (0.0 if abs(x) < _ON_AXIS else x, 0.0, z)

    profile = _profile(drawing, name, options["profile"], place, rotation("x", 90))
    return drawing.add(
        "Part::Revolution",
        name,
        Source=profile,
        Axis=vector((0, 0, 1)),
        Base=vector((0, 0, 0)),
        Angle=options["angle"],
        Solid=True,
    )


def _profile(
    drawing: Drawing,
    name: str,
    profile: Mapping[str, Any],
    place: Callable[[float, float], tuple[float, float, float]],
    turned: Any,
) -> Object:
    """The outline of a profile. ``place`` puts a point of its plane into space, as ``turned`` does a circle."""
    label = f"profile of {name}"
    points = polygon_points(profile)
    if points is None:
        placement = FreeCAD.Placement(vector(place(*profile["center"])), turned)
        return drawing.add("Part::Circle", label, Radius=profile["radius"], Placement=placement)
    if crossing_sides(points, len(points) ** 2) is not None:
        raise UnsupportedInput("The profile crosses itself; list its corners in order around one outline.")
    if signed_area(points) < 0:
        points = points[::-1]
    return drawing.add("Part::Polygon", label, Nodes=[vector(place(*point)) for point in points], Close=True)


def _linked(drawing: Drawing, name: str, source: Object, placement: Any, scale: float = 1.0) -> Object:
    return drawing.add(
        "App::Link", name, LinkedObject=source, LinkTransform=True, Scale=scale, Placement=placement
    )


def _translate(drawing: Drawing, name: str, options: Options, inputs: Sequence[Object]) -> Object:
    return _linked(drawing, name, inputs[0], FreeCAD.Placement(vector(options["offset"]), rotation("x", 0)))


def _rotate(drawing: Drawing, name: str, options: Options, inputs: Sequence[Object]) -> Object:
    return _linked(drawing, name, inputs[0], _turn(options["axis"], options["angle"], options["center"]))


def _turn(axis: str | Sequence[float], degrees: float, center: Sequence[float]) -> Any:
    return FreeCAD.Placement(vector((0, 0, 0)), rotation(axis, degrees), vector(center))


def _mirror(drawing: Drawing, name: str, options: Options, inputs: Sequence[Object]) -> Object:
    normal = _NORMAL[options["plane"]]
    return drawing.add(
        "Part::Mirroring", name, Source=inputs[0], Base=vector(options["center"]), Normal=vector(normal)
    )


def _scale(drawing: Drawing, name: str, options: Options, inputs: Sequence[Object]) -> Object:
    factor = options["factor"]
    # A link scales about the origin; what the centre loses by that is given back.
    back = vector([(1 - factor) * one for one in options["center"]])
    return _linked(drawing, name, inputs[0], FreeCAD.Placement(back, rotation("x", 0)), factor)


def _linear_pattern(drawing: Drawing, name: str, options: Options, inputs: Sequence[Object]) -> Object:
    along = unit(options["direction"])
    steps = (options["spacing"] * index for index in range(options["count"]))
    places = (FreeCAD.Placement(vector([step * part for part in along]), rotation("x", 0)) for step in steps)
    return _pattern(drawing, name, inputs[0], places)


def _polar_pattern(drawing: Drawing, name: str, options: Options, inputs: Sequence[Object]) -> Object:
    count, angle = options["count"], options["angle"]
    step = angle / count if angle == 360 else angle / (count - 1)
    places = (_turn(options["axis"], step * index, options["center"]) for index in range(count))
    return _pattern(drawing, name, inputs[0], places)


def _pattern(drawing: Drawing, name: str, source: Object, placements: Iterator[Any]) -> Object:
    places = list(placements)
    # A link with elements applies the placement of what it links to twice; that of a compound is none.
    original = drawing.add("Part::Compound", f"original of {name}", Links=[source])
    copies = drawing.add(
        "App::Link",
        f"copies of {name}",
        LinkedObject=original,
        ShowElement=False,
        ElementCount=len(places),
        PlacementList=places,
    )
    # Of a single compound FreeCAD unites the members.
    return drawing.combine("Part::MultiFuse", name, Shapes=[copies])


def _union(drawing: Drawing, name: str, _: Options, inputs: Sequence[Object]) -> Object:
    if len(set(inputs)) == 1:
        return _linked(drawing, name, inputs[0], FreeCAD.Placement())
    return drawing.combine("Part::MultiFuse", name, Shapes=list(inputs))


def _cut(drawing: Drawing, name: str, _: Options, inputs: Sequence[Object]) -> Object:
    return _chain(
        drawing,
        "Part::Cut",
        name,
        inputs,
        "The cut leaves nothing; the first input lies within the others. Check their order.",
    )


def _intersect(drawing: Drawing, name: str, _: Options, inputs: Sequence[Object]) -> Object:
    return _chain(
        drawing,
        "Part::Common",
        name,
        inputs,
        "The inputs have no common part; move them so that they overlap.",
    )


def _chain(drawing: Drawing, kind: str, name: str, inputs: Sequence[Object], nothing: str) -> Object:
    """A boolean of two, one input after the other: FreeCAD's own of several means another thing."""
    made = inputs[0]
    for index, other in enumerate(inputs[1:], 1):
        last = index == len(inputs) - 1
        label = name if last else f"step {index} of {name}"
        made = drawing.combine(kind, label, Base=made, Tool=other)
        if not topology.solids(drawing.shape(made)):
            raise UnsupportedInput(nothing)
    return made


_BUILDERS: Mapping[str, Callable[[Drawing, str, Options, Sequence[Object]], Object]] = {
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
