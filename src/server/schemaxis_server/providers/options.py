"""Checks a value against the subset of JSON Schema that providers describe options with.

A general validator answers "not valid under any of the given schemas"; an agent needs to know
which member is wrong and what was meant. The subset is small enough to interpret directly, which
also writes the defaults out and costs the service no import. A test holds it equal to
``jsonschema`` on what is accepted.

Understood: ``type`` (one name), ``enum``, ``const``, ``anyOf``, ``minimum``, ``maximum``,
``exclusiveMinimum``, ``exclusiveMaximum``, ``minLength``, ``maxLength``, ``pattern``, ``items``,
``minItems``, ``maxItems``, ``uniqueItems``, ``properties``, ``required``, ``minProperties``,
``additionalProperties`` (false), ``default``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from schemaxis_server.providers.problems import Problems, child, clip

Schema = Mapping[str, Any]

_TYPE_WORDS = {
    "number": "a number",
    "integer": "a whole number",
    "string": "a string",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


def resolve(value: Any, schema: Schema, pointer: str, problems: Problems) -> Any:
    """Check ``value`` and return it with the defaults written out.

    What is wrong goes to ``problems``; the returned value is then of no use.
    """
    if "anyOf" in schema:
        return _any_of(value, schema["anyOf"], pointer, problems)
    if "const" in schema or "enum" in schema:
        return _one_of(value, schema.get("enum", [schema.get("const")]), schema, pointer, problems)
    kind = schema["type"]
    if not _is(value, kind):
        problems.add(pointer, f"{_place(pointer)} is {_found(value)}.", describe(schema))
        return value
    if kind in ("number", "integer"):
        return _number(value, schema, pointer, problems)
    if kind == "string":
        return _string(value, schema, pointer, problems)
    if kind == "array":
        return _array(value, schema, pointer, problems)
    if kind == "object":
        return _object(value, schema, pointer, problems)
    return value


def describe(schema: Schema) -> str:
    """What a schema accepts, in words: ``a number > 0 and ≤ 1000000 mm``."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(describe(one) for one in schema["anyOf"]))
    if "const" in schema:
        return clip(schema["const"])
    if "enum" in schema:
        return "one of " + ", ".join(clip(one) for one in schema["enum"])
    words = _TYPE_WORDS[schema["type"]]
    if schema["type"] == "array":
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        count = f"{least}" if least == most else f"{least} to {most}" if most else f"at least {least}"
        return f"{words} of {count}, each {describe(schema['items'])}" if "items" in schema else words
    if schema["type"] == "object" and "properties" in schema:
        return f"{words} with {', '.join(schema['properties'])}"
    limits = [
        f"{sign} {schema[key]:g}"
        for key, sign in (
            ("exclusiveMinimum", ">"),
            ("minimum", "≥"),
            ("exclusiveMaximum", "<"),
            ("maximum", "≤"),
        )
        if key in schema
    ]
    unit = f" {schema['unit']}" if schema.get("unit") else ""
    return f"{words} {' and '.join(limits)}{unit}".replace("  ", " ").strip()


def _is(value: Any, kind: str) -> bool:
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "integer":
        return isinstance(value, int | float) and not isinstance(value, bool) and _is_whole(value)
    wanted: dict[str, type] = {
        "string": str,
        "boolean": bool,
        "array": list,
        "object": dict,
        "null": type(None),
    }
    return isinstance(value, wanted[kind])


def _is_whole(value: int | float) -> bool:
    return isinstance(value, int) or (math.isfinite(value) and value.is_integer())


def _place(pointer: str) -> str:
    return pointer.rsplit("/", 1)[-1] or "The document"


def _found(value: Any) -> str:
    if isinstance(value, bool | None):
        return clip(value)
    if isinstance(value, int | float):
        return f"the number {clip(value)}"
    if isinstance(value, str):
        return f"the string {clip(value)}"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    return "an object" if isinstance(value, dict) else "not JSON"


def _number(value: int | float, schema: Schema, pointer: str, problems: Problems) -> int | float:
    name = _place(pointer)
    if isinstance(value, float) and not math.isfinite(value):
        problems.add(pointer, f"{name} is not finite.", describe(schema))
    elif (
        value < schema.get("minimum", -math.inf)
        or value > schema.get("maximum", math.inf)
        or value <= schema.get("exclusiveMinimum", -math.inf)
        or value >= schema.get("exclusiveMaximum", math.inf)
    ):
        problems.add(pointer, f"{name} is {clip(value)}, outside its range.", describe(schema))
    elif schema["type"] == "integer":
        return int(value)
    return value


def _string(value: str, schema: Schema, pointer: str, problems: Problems) -> str:
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", math.inf)
    if not shortest <= len(value) <= longest:
        problems.add(
            pointer, f"{_place(pointer)} has {len(value)} characters.", f"{shortest} to {longest} characters"
        )
    elif "pattern" in schema and re.search(schema["pattern"], value) is None:
        problems.add(
            pointer, f"{_place(pointer)} is {clip(value)}.", f"a string that matches {schema['pattern']}"
        )
    return value


def _one_of(value: Any, allowed: Sequence[Any], schema: Schema, pointer: str, problems: Problems) -> Any:
    for one in allowed:
        # `==` alone would take true for 1.
        if one == value and isinstance(one, bool) == isinstance(value, bool):
            return value
    names = [one for one in allowed if isinstance(one, str)]
    problems.add(
        pointer, f"{_place(pointer)} is {_found(value)}.", describe(schema), given=value, names=names
    )
    return value


def _array(value: list[Any], schema: Schema, pointer: str, problems: Problems) -> list[Any]:
    least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
    if not least <= len(value) <= most:
        problems.add(pointer, f"{_place(pointer)} has {len(value)} members.", describe(schema))
        return value
    resolved = [
        resolve(member, schema["items"], child(pointer, index), problems)
        for index, member in enumerate(value)
    ]
    if schema.get("uniqueItems") and any(member in value[:index] for index, member in enumerate(value)):
        problems.add(pointer, f"{_place(pointer)} names something twice.", "members that all differ")
    return resolved


def _object(value: dict[str, Any], schema: Schema, pointer: str, problems: Problems) -> dict[str, Any]:
    properties: Mapping[str, Schema] = schema.get("properties", {})
    unknown = [name for name in value if name not in properties]
    for name in unknown:
        problems.add(
            child(pointer, name) if isinstance(name, str) else pointer,
            f"{clip(name)} is no known name here.",
            "one of " + ", ".join(properties) if properties else "no members",
            given=name,
            names=properties,
        )
    if len(value) < schema.get("minProperties", 0):
        problems.add(pointer, f"{_place(pointer)} is empty.", describe(schema))
    required = schema.get("required", ())
    resolved: dict[str, Any] = {}
    for name, member in properties.items():
        if name in value:
            resolved[name] = resolve(value[name], member, child(pointer, name), problems)
        elif name in required:
            problems.add(child(pointer, name), f"{name} is missing.", describe(member))
        elif "default" in member:
            resolved[name] = member["default"]
    return resolved


def _any_of(value: Any, alternatives: Sequence[Schema], pointer: str, problems: Problems) -> Any:
    """The first alternative without a problem, or the problems of the one that was meant."""
    tried: list[tuple[Schema, Problems]] = []
    for alternative in alternatives:
        found = problems.branch()
        resolved = resolve(value, alternative, pointer, found)
        if not found.total:
            return resolved
        tried.append((alternative, found))
    meant = [pair for pair in tried if "type" in pair[0] and _is(value, pair[0]["type"])]
    tagged = [pair for pair in meant if _tag(pair[0]) is not None]
    if tagged and isinstance(value, dict):
        wanted = [pair for pair in tagged if pair[0]["properties"]["type"]["const"] == value.get("type")]
        if not wanted:
            tags = [pair[0]["properties"]["type"]["const"] for pair in tagged]
            given = value.get("type")
            message = f"type is {_found(given)}." if "type" in value else "type is missing."
            problems.add(
                child(pointer, "type"), message, f"one of {', '.join(tags)}", given=given, names=tags
            )
            return value
        meant = wanted
    if len(meant) == 1:
        problems.take(meant[0][1])
        return value
    names = [
        one for alternative in alternatives for one in alternative.get("enum", ()) if isinstance(one, str)
    ]
    expected = " or ".join(dict.fromkeys(describe(one) for one in alternatives))
    problems.add(pointer, f"{_place(pointer)} is {_found(value)}.", expected, given=value, names=names)
    return value


def _tag(schema: Schema) -> Any:
    return schema.get("properties", {}).get("type", {}).get("const")
