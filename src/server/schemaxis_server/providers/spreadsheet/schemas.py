"""The option schemas of the spreadsheet vocabulary."""

from __future__ import annotations

from typing import Any

from schemaxis_server.providers.spreadsheet import limits
from schemaxis_server.providers.spreadsheet.formulas.tokens import MAX_CHARACTERS

Schema = dict[str, Any]

CELL_PATTERN = r"^[A-Za-z]{1,3}[1-9][0-9]{0,6}$"
LARGEST = 1e300

STATISTICS = (
    "sum",
    "average",
    "min",
    "max",
    "median",
    "standardDeviation",
    "variance",
    "count",
    "countAll",
)
COMPARISONS = ("equals", "notEquals", "less", "lessOrEqual", "greater", "greaterOrEqual")
TEXT_TESTS = ("contains", "startsWith", "endsWith")
STATE_TESTS = ("isBlank", "isNotBlank", "isNumber", "isText", "isError")


def options(properties: dict[str, Schema]) -> Schema:
    """An options object; what has no default must be given."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name, schema in properties.items() if "default" not in schema],
        "additionalProperties": False,
    }


def item(properties: dict[str, Schema]) -> Schema:
    """A member of a list, an object like the options."""
    return options(properties)


def name(description: str) -> Schema:
    """A column's name, or a name to be given."""
    return {
        "type": "string",
        "minLength": 1,
        "maxLength": limits.MAX_NAME,
        "pattern": r"^[^\x00-\x1f\x7f-\x9f]*\S[^\x00-\x1f\x7f-\x9f]*$",
        "description": description,
    }


def names(description: str, least: int = 0, most: int = 64) -> Schema:
    schema: Schema = {
        "type": "array",
        "items": name("A column's name."),
        "minItems": least,
        "maxItems": most,
        "uniqueItems": True,
        "description": description,
    }
    return schema if least else {**schema, "default": []}


def text(description: str, default: str | None = None, longest: int = limits.MAX_NAME) -> Schema:
    schema: Schema = {"type": "string", "maxLength": longest, "description": description}
    return schema if default is None else {**schema, "default": default}


def number(description: str) -> Schema:
    return {"type": "number", "minimum": -LARGEST, "maximum": LARGEST, "description": description}


def choice(description: str, among: tuple[str, ...], default: str | None = None) -> Schema:
    schema: Schema = {"enum": list(among), "description": description}
    return schema if default is None else {**schema, "default": default}


def formula(description: str) -> Schema:
    return {
        "type": "string",
        "minLength": 2,
        "maxLength": MAX_CHARACTERS,
        "pattern": "^=",
        "description": description,
    }


def cell(description: str) -> Schema:
    return {"type": "string", "pattern": CELL_PATTERN, "description": description}


def file(kinds: str) -> Schema:
    return {
        "type": "null",
        "default": None,
        "description": f"Null in the document; a binding names the resource when planning. It takes {kinds}.",
    }


def grid(description: str) -> Schema:
    """Rows of cells as an author writes them."""
    content = {
        "anyOf": [
            {"type": "number", "minimum": -LARGEST, "maximum": LARGEST},
            {"type": "string", "maxLength": limits.MAX_TEXT},
            {"type": "boolean"},
            {"type": "null"},
            {
                "type": "object",
                "properties": {
                    "text": {"type": "string", "maxLength": limits.MAX_TEXT, "description": "The text."}
                },
                "required": ["text"],
                "additionalProperties": False,
            },
        ]
    }
    return {
        "type": "array",
        "items": {"type": "array", "items": content, "maxItems": limits.MAX_AUTHORED_COLUMNS},
        "minItems": 1,
        "maxItems": limits.MAX_AUTHORED_ROWS,
        "description": description,
    }


def listed(description: str, member: Schema, least: int = 1, most: int = 64) -> Schema:
    schema: Schema = {
        "type": "array",
        "items": member,
        "minItems": least,
        "maxItems": most,
        "description": description,
    }
    return schema if least else {**schema, "default": []}
