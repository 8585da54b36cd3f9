"""What the objects of an FCStd must be for a document: their types, their sizes, and what feeds what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schemaxis_server.providers.freecad.fcstd import Entry, Value

Node = Mapping[str, Any]
Expected = dict[str, tuple[str, dict[str, Value]]]

_ENOUGH = 1e-12


def expected(nodes: Mapping[str, Node]) -> Expected:
    """Label → (type, properties) for each of the nodes that an output is made from."""
    wanted: Expected = {}
    for name, node in nodes.items():
        wanted |= _objects(name, node["filter"], node["options"], node["inputs"])
    return wanted


def differences(wanted: Expected, found: Mapping[str, Entry]) -> list[str]:
    """What is not as it should be, in words."""
    said = []
    for label, (kind, values) in wanted.items():
        entry = found.get(label)
        if entry is None:
            said.append(f"{label} is missing")
        elif entry.kind != kind:
            said.append(f"{label} is a {entry.kind}, not a {kind}")
        else:
            said += [
                f"{label}.{name} is {entry.values.get(name)}, not {value}"
                for name, value in values.items()
                if not _same(value, entry.values.get(name))
            ]
    return said


def _same(wanted: Value, found: Value | None) -> bool:
    if isinstance(wanted, float):
        # FreeCAD writes sixteen places after the point.
        return isinstance(found, float) and abs(wanted - found) <= _ENOUGH * max(abs(wanted), 1e-3)
    return wanted == found


def _objects(name: str, operation: str, options: Node, inputs: Sequence[str]) -> Expected:
    if operation in _SIZED:
        kind, sizes = _SIZED[operation]
        if operation == "cone" and options["radius1"] == options["radius2"]:
            kind, sizes = "Part::Cylinder", {"Radius": "radius1", "Height": "height"}
        return {name: (kind, {size: float(options[option]) for size, option in sizes.items()})}
    if operation in ("extrude", "revolve"):
        return _swept(name, operation, options)
    if operation in ("translate", "rotate"):
        return {name: ("App::Link", {"LinkedObject": inputs[0], "Scale": 1.0})}
    if operation == "scale":
        return {name: ("App::Link", {"LinkedObject": inputs[0], "Scale": float(options["factor"])})}
    if operation in _ON_SOURCE:
        kind, link = _ON_SOURCE[operation]
        return {name: (kind, {link: inputs[0]})}
    if operation == "shell":
        return {name: ("Part::Thickness", {"Faces": inputs[0], "Value": -float(options["thickness"])})}
    if operation in ("linearPattern", "polarPattern"):
        original, copies = f"original of {name}", f"copies of {name}"
        return {
            original: ("Part::Compound", {"Links": (inputs[0],)}),
            copies: ("App::Link", {"LinkedObject": original, "ElementCount": float(options["count"])}),
            name: ("Part::MultiFuse", {"Shapes": (copies,)}),
        }
    if operation == "union":
        if len(set(inputs)) == 1:
            return {name: ("App::Link", {"LinkedObject": inputs[0], "Scale": 1.0})}
        return {name: ("Part::MultiFuse", {"Shapes": tuple(inputs)})}
    if operation == "importSTEP":
        return {name: ("Part::Feature", {})}
    return _chain(name, {"cut": "Part::Cut", "intersect": "Part::Common"}[operation], inputs)


def _swept(name: str, operation: str, options: Node) -> Expected:
    profile = options["profile"]
    label = f"profile of {name}"
    outline: tuple[str, dict[str, Value]] = ("Part::Polygon", {})
    if profile["type"] == "circle":
        outline = ("Part::Circle", {"Radius": float(profile["radius"])})
    if operation == "extrude":
        return {
            label: outline,
            name: ("Part::Extrusion", {"Base": label, "LengthFwd": float(options["height"])}),
        }
    return {label: outline, name: ("Part::Revolution", {"Source": label, "Angle": float(options["angle"])})}


def _chain(name: str, kind: str, inputs: Sequence[str]) -> Expected:
    made: Expected = {}
    base = inputs[0]
    for index, tool in enumerate(inputs[1:], 1):
        label = name if index == len(inputs) - 1 else f"step {index} of {name}"
        made[label] = (kind, {"Base": base, "Tool": tool})
        base = label
    return made


_SIZED: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "box": ("Part::Box", {"Length": "length", "Width": "width", "Height": "height"}),
    "cylinder": ("Part::Cylinder", {"Radius": "radius", "Height": "height"}),
    "sphere": ("Part::Sphere", {"Radius": "radius"}),
    "cone": ("Part::Cone", {"Radius1": "radius1", "Radius2": "radius2", "Height": "height"}),
    "torus": ("Part::Torus", {"Radius1": "radius1", "Radius2": "radius2"}),
}

_ON_SOURCE: Mapping[str, tuple[str, str]] = {
    "mirror": ("Part::Mirroring", "Source"),
    "fillet": ("Part::Fillet", "Base"),
    "chamfer": ("Part::Chamfer", "Base"),
}
