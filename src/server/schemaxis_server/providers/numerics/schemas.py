"""The option schemas that the numerics operations share, and their limits."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

LARGEST = 1e100
MAX_SAMPLES = 200_000
MAX_SAMPLES_IN_ALL = 5_000_000
MAX_EXPRESSION_INPUTS = 8
MAX_POINTS = 10_000
MAX_WINDOW = 9_999
MAX_PEAKS = 1_000
MAX_DEGREE = 12
MAX_PARAMETERS = 10
MAX_EQUATIONS = 50
MAX_ODE_SAMPLES = 5_000


def number(description: str, default: float | None = None, **limits: float) -> Schema:
    schema: Schema = {
        "type": "number",
        "minimum": -LARGEST,
        "maximum": LARGEST,
        **limits,
        "description": description,
    }
    return schema if default is None else {**schema, "default": default}


def number_or_null(description: str, **limits: float) -> Schema:
    """A number that may be left out, which null says."""
    return {
        "anyOf": [{"type": "number", "minimum": -LARGEST, "maximum": LARGEST, **limits}, {"type": "null"}],
        "default": None,
        "description": description,
    }


def positive(description: str) -> Schema:
    return {"type": "number", "exclusiveMinimum": 0, "maximum": LARGEST, "description": description}


def whole(description: str, least: int, most: int, default: int | None = None) -> Schema:
    schema: Schema = {"type": "integer", "minimum": least, "maximum": most, "description": description}
    return schema if default is None else {**schema, "default": default}


def choice(description: str, *names: str) -> Schema:
    """One of some names, the first by default."""
    return {"enum": list(names), "default": names[0], "description": description}


def options(members: Schema) -> Schema:
    """The options object: a member without a default must be given."""
    return {
        "type": "object",
        "properties": members,
        "required": [name for name, schema in members.items() if "default" not in schema],
        "additionalProperties": False,
    }
