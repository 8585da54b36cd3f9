"""The operations that start a part: primitives, sweeps, imports."""

from __future__ import annotations

from typing import Any

from schemaxis_server.providers.contract import Operation
from schemaxis_server.providers.geometry import schemas as s
from schemaxis_server.providers.geometry.descriptions import EXACT, SAME_FAMILY, SCOPE, document, node


def primitives(version: str) -> tuple[Operation, ...]:
    def primitive(
        name: str, title: str, purpose: str, members: s.Schema, example: dict[str, Any], *keywords: str
    ) -> Operation:
        return Operation(
            name=name,
            title=title,
            purpose=purpose,
            scope=f"{SCOPE}/primitives",
            min_inputs=0,
            max_inputs=0,
            options=s.options(members),
            keywords=keywords,
            example=document(version, node("body", name, example)),
            verification=EXACT,
        )

    return (
        primitive(
            "box",
            "Box",
            "A rectangular block with one corner at the origin, growing along +x, +y and +z.",
            {
                "length": s.size("Extent along x."),
                "width": s.size("Extent along y."),
                "height": s.size("Extent along z."),
            },
            {"length": 20, "width": 10, "height": 5},
            *("block", "cuboid", "cube", "plate", "slab", "brick", "rectangular"),
        ),
        primitive(
            "cylinder",
            "Cylinder",
            "A round bar on the z axis, from z = 0 up to its height.",
            {"radius": s.size("Radius."), "height": s.size("Extent along z.")},
            {"radius": 4, "height": 12},
            *("rod", "disc", "disk", "shaft", "pin", "peg", "round", "hole", "drill", "bore", "tube"),
        ),
        primitive(
            "sphere",
            "Sphere",
            "A ball with its centre at the origin.",
            {"radius": s.size("Radius.")},
            {"radius": 5},
            *("ball", "globe", "round"),
        ),
        primitive(
            "cone",
            "Cone",
            "A cone or a truncated cone on the z axis, from z = 0 up to its height. Radii may be equal or "
            "one of them 0, not both 0.",
            {
                "radius1": s.size_or_zero("Radius at z = 0; 0 for a tip there."),
                "radius2": s.size_or_zero("Radius at the top; 0 for a tip there."),
                "height": s.size("Extent along z."),
            },
            {"radius1": 6, "radius2": 2, "height": 8},
            *("frustum", "taper", "funnel", "countersink", "tip"),
        ),
        primitive(
            "torus",
            "Torus",
            "A ring about the z axis with its centre at the origin.",
            {
                "radius1": s.size("From the centre of the ring to the centre of its tube."),
                "radius2": s.size("Radius of the tube, less than radius1."),
            },
            {"radius1": 10, "radius2": 2},
            *("ring", "donut", "doughnut", "o-ring", "toroid"),
        ),
    )


def sweeps(version: str) -> tuple[Operation, ...]:
    return (
        Operation(
            name="extrude",
            title="Extrusion",
            purpose="A closed profile in the xy plane, pulled straight along +z from z = 0 up to its height.",
            scope=f"{SCOPE}/sweeps",
            min_inputs=0,
            max_inputs=0,
            options=s.options(
                {
                    "profile": s.profile("The cross-section, in the xy plane.", "xy"),
                    "height": s.size("Extent along z."),
                }
            ),
            keywords=(
                "extrusion",
                "pad",
                "boss",
                "prism",
                "pull",
                "protrusion",
                "sweep",
                "linear sweep",
                "sketch",
            ),
            example=document(
                version,
                node(
                    "bracket",
                    "extrude",
                    {"profile": [[0, 0], [30, 0], [30, 6], [6, 6], [6, 20], [0, 20]], "height": 12},
                ),
            ),
            verification=EXACT,
        ),
        Operation(
            name="revolve",
            title="Revolution",
            purpose="A closed profile in the xz plane, turned about the z axis. Points of the profile are [x, z] "
            "with x ≥ 0: the distance from the axis, then the height. It starts at +x and turns towards +y.",
            scope=f"{SCOPE}/sweeps",
            min_inputs=0,
            max_inputs=0,
            options=s.options(
                {
                    "profile": s.profile("The section, in the xz plane at x ≥ 0.", "xz"),
                    "angle": s.angle("How far it turns.", 360),
                }
            ),
            keywords=(
                "revolution",
                "lathe",
                "turn",
                "turned",
                "rotational sweep",
                "spin",
                "axisymmetric",
                "shaft",
            ),
            example=document(
                version,
                node(
                    "pulley",
                    "revolve",
                    {"profile": [[4, 0], [15, 0], [12, 4], [15, 8], [4, 8]], "angle": 360},
                ),
            ),
            verification=EXACT,
        ),
    )


def import_step(version: str) -> Operation:
    return Operation(
        name="importSTEP",
        title="Import STEP",
        purpose="The solids of a STEP file that an earlier, verified job published. Leave file null and bind a "
        "geometry/step resource to it when planning.",
        scope=f"{SCOPE}/exchange",
        min_inputs=0,
        max_inputs=0,
        options=s.options(
            {
                "file": {
                    "type": "null",
                    "default": None,
                    "description": "Null in the document; a binding names the resource.",
                }
            }
        ),
        keywords=("import", "load", "read", "open", "stp", "step", "reuse", "exchange"),
        example=document(version, node("part", "importSTEP", {"file": None})),
        file_options={"file": ("geometry/step",)},
        verification=SAME_FAMILY,
    )
