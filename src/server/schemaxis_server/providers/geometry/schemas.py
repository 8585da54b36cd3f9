"""The option schemas of the geometry vocabulary: lengths, directions, profiles, selectors.

Lengths are in mm and angles in degrees throughout. Sizes lie between 1e-4 mm and 1e6 mm: below,
a kernel's own tolerance of 1e-7 mm is no longer small; above, a double no longer holds it.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

SMALLEST = 1e-4
LARGEST = 1e6
MAX_POINTS = 500
MAX_COPIES = 200

AXES = ("x", "y", "z")
SIDES = ("+x", "-x", "+y", "-y", "+z", "-z")
PLANES = ("xy", "yz", "xz")


def size(description: str) -> Schema:
    """A length that must be there and above nothing."""
    return {
        "type": "number",
        "minimum": SMALLEST,
        "maximum": LARGEST,
        "unit": "mm",
        "description": description,
    }


def size_or_zero(description: str) -> Schema:
    return {**size(description), "minimum": 0}


def angle(description: str, default: float | None = None) -> Schema:
    """An opening: above 0, at most a full turn."""
    schema: Schema = {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": 360,
        "unit": "deg",
        "description": description,
    }
    return schema if default is None else {**schema, "default": default}


def vector(description: str, default: list[float] | None = None, length: int = 3) -> Schema:
    """A point or an offset in mm."""
    schema: Schema = {
        "type": "array",
        "items": {"type": "number", "minimum": -LARGEST, "maximum": LARGEST},
        "minItems": length,
        "maxItems": length,
        "unit": "mm",
        "description": description,
    }
    return schema if default is None else {**schema, "default": default}


def direction(description: str, default: str | None = None) -> Schema:
    """An axis by name, or any vector but zero; only its direction counts."""
    schema: Schema = {
        "anyOf": [
            {"enum": list(AXES)},
            {
                "type": "array",
                "items": {"type": "number", "minimum": -LARGEST, "maximum": LARGEST},
                "minItems": 3,
                "maxItems": 3,
            },
        ],
        "description": f"{description} One of x, y, z, or a vector [x, y, z] that is not zero.",
    }
    return schema if default is None else {**schema, "default": default}


def profile(description: str, plane: str) -> Schema:
    """A closed plane figure: a polygon, a rectangle or a circle."""
    points = {
        "type": "array",
        "items": vector(f"A corner in the {plane} plane.", length=2),
        "minItems": 3,
        "maxItems": MAX_POINTS,
        "description": "The corners in order, either way round; the last is joined to the first. "
        "No side may cross or touch another.",
    }
    center = vector(f"The centre in the {plane} plane.", [0, 0], length=2)
    return {
        "anyOf": [
            _tagged("polygon", {"points": points}, ["points"]),
            _tagged(
                "rectangle",
                {
                    "width": size(f"Extent along {plane[0]}."),
                    "height": size(f"Extent along {plane[1]}."),
                    "center": center,
                },
                ["width", "height"],
            ),
            _tagged("circle", {"radius": size("Radius."), "center": center}, ["radius"]),
            {**points, "description": "Short for a polygon with these points."},
        ],
        "description": f"{description} Either an object with type polygon, rectangle or circle, or just the "
        "list of a polygon's points.",
    }


def _tagged(tag: str, members: Schema, required: list[str]) -> Schema:
    return {
        "type": "object",
        "properties": {"type": {"const": tag}, **members},
        "required": ["type", *required],
        "additionalProperties": False,
    }


_NEAR = vector(
    "The one nearest to this point [x, y, z]; of several as near, the one whose middle is lowest in x, then in y, "
    "then in z."
)

_EDGE_FILTER: Schema = {
    "type": "object",
    "properties": {
        "parallelTo": {"enum": list(AXES), "description": "Straight edges along this axis."},
        "onFace": {
            "enum": list(SIDES),
            "description": "Edges of the flat face that lies outermost on this side.",
        },
        "curve": {"enum": ["line", "circle"], "description": "Straight edges, or circles and their arcs."},
        "nearTo": _NEAR,
    },
    "minProperties": 1,
    "additionalProperties": False,
}


def edges(description: str) -> Schema:
    """Which edges a feature works on."""
    return {
        "anyOf": [
            {"enum": ["all"]},
            _EDGE_FILTER,
            {"type": "array", "items": _EDGE_FILTER, "minItems": 1, "maxItems": 64},
        ],
        "default": "all",
        "description": f"{description} all, or a selector such as "
        '{"parallelTo": "z"}, {"onFace": "+z"}, {"curve": "circle"}, {"nearTo": [10, 0, 5]}. Several keys '
        "in one selector narrow it; a list of selectors takes the edges of each.",
    }


def faces(description: str) -> Schema:
    """Which faces a feature works on."""
    return {
        "type": "array",
        "items": {
            "anyOf": [
                {"enum": list(SIDES)},
                {
                    "type": "object",
                    "properties": {"nearTo": _NEAR},
                    "required": ["nearTo"],
                    "additionalProperties": False,
                },
            ]
        },
        "minItems": 1,
        "maxItems": 32,
        "default": ["+z"],
        "description": f"{description} Each is a side (+x, -x, +y, -y, +z, -z: the flat face that lies "
        f"outermost "
        'there) or {"nearTo": [x, y, z]}.',
    }


def options(members: Schema) -> Schema:
    """The options object: a member without a default must be given."""
    return {
        "type": "object",
        "properties": members,
        "required": [name for name, schema in members.items() if "default" not in schema],
        "additionalProperties": False,
    }
