"""The operations that work on parts: transforms, features, patterns, booleans."""

from __future__ import annotations

from typing import Any

from schemaxis_server.providers.contract import Operation
from schemaxis_server.providers.geometry import schemas as s
from schemaxis_server.providers.geometry.descriptions import EASED, EXACT, SAME_FAMILY, SCOPE, document, node

_BLOCK = node("block", "box", {"length": 20, "width": 10, "height": 5})
_ONE_SOLID = "The solid to work on."


def transforms(version: str) -> tuple[Operation, ...]:
    def transform(
        name: str, title: str, purpose: str, members: s.Schema, example: dict[str, Any], *keywords: str
    ) -> Operation:
        return Operation(
            name=name,
            title=title,
            purpose=purpose,
            scope=f"{SCOPE}/transforms",
            min_inputs=1,
            max_inputs=1,
            options=s.options(members),
            input_purpose=_ONE_SOLID,
            keywords=keywords,
            example=document(version, _BLOCK, node("result", name, example, "block")),
            verification=EXACT,
        )

    origin = [0.0, 0.0, 0.0]
    return (
        transform(
            "translate",
            "Translate",
            "The input, moved by an offset.",
            {"offset": s.vector("How far along x, y and z.")},
            {"offset": [5, 0, 2.5]},
            *("move", "shift", "position", "place", "displace"),
        ),
        transform(
            "rotate",
            "Rotate",
            "The input, turned about an axis by the right-hand rule.",
            {
                "axis": s.direction("The direction of the axis."),
                "angle": {
                    "type": "number",
                    "minimum": -360,
                    "maximum": 360,
                    "unit": "deg",
                    "description": "How far, by the right-hand rule.",
                },
                "center": s.vector("A point on the axis.", origin),
            },
            {"axis": "z", "angle": 30},
            *("turn", "orient", "tilt", "spin"),
        ),
        transform(
            "mirror",
            "Mirror",
            "The mirror image of the input. The input itself is not kept; unite the two for a symmetric "
            "part.",
            {
                "plane": {
                    "enum": list(s.PLANES),
                    "description": "The mirror is parallel to this plane.",
                },
                "center": s.vector("A point on the mirror.", origin),
            },
            {"plane": "yz"},
            *("reflect", "flip", "symmetry", "reflection"),
        ),
        transform(
            "scale",
            "Scale",
            "The input, enlarged or reduced by the same factor in all directions.",
            {
                "factor": {
                    "type": "number",
                    "minimum": 1e-3,
                    "maximum": 1e3,
                    "description": "What each length is multiplied by.",
                },
                "center": s.vector("The point that stays in place.", origin),
            },
            {"factor": 1.5},
            *("resize", "enlarge", "shrink", "grow", "magnify"),
        ),
    )


def features(version: str) -> tuple[Operation, ...]:
    def feature(
        name: str, title: str, purpose: str, members: s.Schema, example: dict[str, Any], *keywords: str
    ) -> Operation:
        return Operation(
            name=name,
            title=title,
            purpose=purpose,
            scope=f"{SCOPE}/features",
            min_inputs=1,
            max_inputs=1,
            options=s.options(members),
            input_purpose=_ONE_SOLID,
            keywords=keywords,
            example=document(version, _BLOCK, node("result", name, example, "block")),
            verification=SAME_FAMILY if name == "shell" else EASED,
        )

    return (
        feature(
            "fillet",
            "Fillet",
            "The input with edges rounded. The radius must leave room: less than half of the shortest "
            "distance between two rounded edges.",
            {"radius": s.size("Radius of the rounding."), "edges": s.edges("Which edges.")},
            {"radius": 1, "edges": {"parallelTo": "z"}},
            *("round", "rounding", "rounded", "smooth", "blend", "radius"),
        ),
        feature(
            "chamfer",
            "Chamfer",
            "The input with edges cut off at equal distances on both sides.",
            {"distance": s.size("From the edge, on both of its faces."), "edges": s.edges("Which edges.")},
            {"distance": 1, "edges": {"onFace": "+z"}},
            *("bevel", "break edge", "deburr", "slant"),
        ),
        feature(
            "shell",
            "Shell",
            "The input hollowed out to walls of equal thickness, measured inwards, with faces left open.",
            {
                "thickness": s.size("Thickness of the walls, inwards."),
                "openFaces": s.faces("The faces to leave open."),
            },
            {"thickness": 1, "openFaces": ["+z"]},
            *("hollow", "thin wall", "container", "cavity", "tray", "enclosure", "offset"),
        ),
    )


def patterns(version: str) -> tuple[Operation, ...]:
    count = {
        "type": "integer",
        "minimum": 2,
        "maximum": s.MAX_COPIES,
        "description": "How many in all, the input among them.",
    }

    def pattern(
        name: str, title: str, purpose: str, members: s.Schema, nodes: list[dict[str, Any]], *keywords: str
    ) -> Operation:
        return Operation(
            name=name,
            title=title,
            purpose=purpose + " Copies that touch or overlap are united; separate ones stay separate solids.",
            scope=f"{SCOPE}/patterns",
            min_inputs=1,
            max_inputs=1,
            options=s.options(members),
            input_purpose="The solid to repeat.",
            keywords=keywords,
            example=document(version, *nodes),
            verification=EXACT,
        )

    pin = node("pin", "cylinder", {"radius": 2, "height": 6})
    return (
        pattern(
            "linearPattern",
            "Linear pattern",
            "The input repeated along a line at equal distances.",
            {
                "direction": s.direction("Where the copies go."),
                "spacing": s.size("From one copy to the next."),
                "count": count,
            },
            [pin, node("row", "linearPattern", {"direction": "x", "spacing": 10, "count": 4}, "pin")],
            *("array", "repeat", "row", "grid", "copies", "rectangular pattern"),
        ),
        pattern(
            "polarPattern",
            "Polar pattern",
            "The input repeated about an axis. Over 360 degrees the copies divide the turn equally; over "
            "less, the first and the last stand at its ends.",
            {
                "axis": s.direction("The direction of the axis.", "z"),
                "angle": s.angle("The whole turn that the copies fill.", 360),
                "count": count,
                "center": s.vector("A point on the axis.", [0.0, 0.0, 0.0]),
            },
            [
                pin,
                node("moved", "translate", {"offset": [12, 0, 0]}, "pin"),
                node("ring", "polarPattern", {"axis": "z", "angle": 360, "count": 6}, "moved"),
            ],
            *("circular pattern", "array", "bolt circle", "radial", "repeat", "copies"),
        ),
    )


def booleans(version: str) -> tuple[Operation, ...]:
    drill = node("drill", "cylinder", {"radius": 3, "height": 8})
    placed = node("placed", "translate", {"offset": [10, 5, 0]}, "drill")

    def boolean(name: str, title: str, purpose: str, inputs: str, *keywords: str) -> Operation:
        return Operation(
            name=name,
            title=title,
            purpose=purpose,
            scope=f"{SCOPE}/booleans",
            min_inputs=2,
            max_inputs=None,
            options=s.options({}),
            input_purpose=inputs,
            keywords=keywords,
            example=document(version, _BLOCK, drill, placed, node("result", name, None, "block", "placed")),
            verification=EXACT,
        )

    return (
        boolean(
            "union",
            "Union",
            "Everything that is in any of the inputs. Inputs that do not touch stay separate solids, and "
            "the result counts them.",
            "The solids to unite.",
            *("fuse", "join", "add", "merge", "combine", "unite", "sum"),
        ),
        boolean(
            "cut",
            "Cut",
            "The first input without the others: a hole, a pocket, a slot.",
            "First the solid to keep, then what is taken away.",
            *("subtract", "difference", "hole", "pocket", "remove", "drill", "slot", "minus", "bore"),
        ),
        boolean(
            "intersect",
            "Intersection",
            "Only what is in all of the inputs.",
            "The solids whose common part is wanted.",
            *("common", "intersection", "overlap", "and"),
        ),
    )
