"""The geometry vocabulary: what every CAD provider offers under the same names.

Conventions, stated once and repeated where an agent reads them: right-handed axes, lengths in
mm, angles in degrees; a box has a corner at the origin and grows along +x, +y, +z; round
primitives stand on the z axis; extrusions start in the xy plane and grow along +z; revolved
profiles lie in the xz plane.
"""

from __future__ import annotations

from typing import Any

from schemaxis_server.providers.contract import ArtifactKind, JsonObject, Operation, Quantity
from schemaxis_server.providers.geometry import schemas as s

SCOPE = "domain/geometry"

QUANTITIES = (
    Quantity("volume", "mm^3", "The enclosed volume."),
    Quantity("area", "mm^2", "The area of all faces."),
    Quantity("boundingBox", "mm", "min, max and size along x, y, z of the tight axis-aligned box."),
    Quantity("centerOfMass", "mm", "The centroid [x, y, z] at uniform density."),
    Quantity("solids", "", "The number of separate solids."),
    Quantity("valid", "", "Whether the kernel's own check of the shape passed."),
)

PUBLISHES = (
    ArtifactKind("geometry/step", "model/step", "The exact solid as STEP AP214, for other CAD programs."),
    ArtifactKind(
        "geometry/stl", "model/stl", "The triangulated surface as binary STL, for printing and viewing."
    ),
    ArtifactKind("geometry/brep", "model/x-brep", "The exact solid in the kernel's own text format."),
)

_EXACT = (
    "Volume, area, bounding box and centre against closed forms to 1e-9; flat-faced documents rebuilt by "
    "a second "
    "kernel to 1e-9, curved ones to the stated tolerance; STEP, BREP and STL read again."
)
_SAME_FAMILY = (
    "No second kernel has this operation: the document is rebuilt in a fresh process by the same kernel "
    "family, "
    "a weak check; STEP, BREP and STL are read again."
)


def operations(version: str) -> tuple[Operation, ...]:
    """The vocabulary with examples that say ``version``."""
    return (
        *_primitives(version),
        *_sweeps(version),
        _import_step(version),
        *_transforms(version),
        *_features(version),
        *_patterns(version),
        *_booleans(version),
    )


def _node(name: str, operation: str, options: dict[str, Any] | None = None, *inputs: str) -> dict[str, Any]:
    node: dict[str, Any] = {"id": name, "filter": operation}
    if options is not None:
        node["options"] = options
    if inputs:
        node["inputs"] = list(inputs)
    return node


def _document(version: str, *nodes: dict[str, Any]) -> JsonObject:
    return {"version": version, "nodes": list(nodes), "output": nodes[-1]["id"]}


_BLOCK = _node("block", "box", {"length": 20, "width": 10, "height": 5})
_ONE_SOLID = "The solid to work on."


def _primitives(version: str) -> tuple[Operation, ...]:
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
            example=_document(version, _node("body", name, example)),
            verification=_EXACT,
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
            "one of "
            "them 0, not both 0.",
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


def _sweeps(version: str) -> tuple[Operation, ...]:
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
            example=_document(
                version,
                _node(
                    "bracket",
                    "extrude",
                    {"profile": [[0, 0], [30, 0], [30, 6], [6, 6], [6, 20], [0, 20]], "height": 12},
                ),
            ),
            verification=_EXACT,
        ),
        Operation(
            name="revolve",
            title="Revolution",
            purpose="A closed profile in the xz plane, turned about the z axis. Points of the profile are "
            "[x, z] "
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
            example=_document(
                version,
                _node(
                    "pulley",
                    "revolve",
                    {"profile": [[4, 0], [15, 0], [12, 4], [15, 8], [4, 8]], "angle": 360},
                ),
            ),
            verification=_EXACT,
        ),
    )


def _import_step(version: str) -> Operation:
    return Operation(
        name="importSTEP",
        title="Import STEP",
        purpose="The solids of a STEP file that an earlier, verified job published. Leave file null and "
        "bind a "
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
        example=_document(version, _node("part", "importSTEP", {"file": None})),
        file_options={"file": ("geometry/step",)},
        verification=_SAME_FAMILY,
    )


def _transforms(version: str) -> tuple[Operation, ...]:
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
            example=_document(version, _BLOCK, _node("result", name, example, "block")),
            verification=_EXACT,
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


def _features(version: str) -> tuple[Operation, ...]:
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
            example=_document(version, _BLOCK, _node("result", name, example, "block")),
            verification=_SAME_FAMILY,
        )

    return (
        feature(
            "fillet",
            "Fillet",
            "The input with edges rounded. The radius must leave room: less than half of the shortest "
            "distance "
            "between two rounded edges.",
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


def _patterns(version: str) -> tuple[Operation, ...]:
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
            example=_document(version, *nodes),
            verification=_EXACT,
        )

    pin = _node("pin", "cylinder", {"radius": 2, "height": 6})
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
            [pin, _node("row", "linearPattern", {"direction": "x", "spacing": 10, "count": 4}, "pin")],
            *("array", "repeat", "row", "grid", "copies", "rectangular pattern"),
        ),
        pattern(
            "polarPattern",
            "Polar pattern",
            "The input repeated about an axis. Over 360 degrees the copies divide the turn equally; over "
            "less, the "
            "first and the last stand at its ends.",
            {
                "axis": s.direction("The direction of the axis.", "z"),
                "angle": s.angle("The whole turn that the copies fill.", 360),
                "count": count,
                "center": s.vector("A point on the axis.", [0.0, 0.0, 0.0]),
            },
            [
                pin,
                _node("moved", "translate", {"offset": [12, 0, 0]}, "pin"),
                _node("ring", "polarPattern", {"axis": "z", "angle": 360, "count": 6}, "moved"),
            ],
            *("circular pattern", "array", "bolt circle", "radial", "repeat", "copies"),
        ),
    )


def _booleans(version: str) -> tuple[Operation, ...]:
    drill = _node("drill", "cylinder", {"radius": 3, "height": 8})
    placed = _node("placed", "translate", {"offset": [10, 5, 0]}, "drill")

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
            example=_document(version, _BLOCK, drill, placed, _node("result", name, None, "block", "placed")),
            verification=_EXACT,
        )

    return (
        boolean(
            "union",
            "Union",
            "Everything that is in any of the inputs. Inputs that do not touch stay separate solids, and the "
            "result counts them.",
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
