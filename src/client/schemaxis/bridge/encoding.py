"""Replies: from Protobuf messages to JSON text, with evidence spliced in as the service sent it.

A plan is compiled for each message type once. Keys are lowerCamelCase; unset ``optional`` fields
are left out and all others are written; 64-bit integers are numbers; bytes are base64; an enum is
its short kebab case name; a number that JSON lacks is ``{"$number":…}``.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from schemaxis.bridge import fields
from schemaxis.bridge.fields import Kind
from schemaxis.bridge.text import quote

_Write = Callable[[Any], str]
# Of one field: the key with its colon, the field's name, how to write it, and whether to ask HasField.
_Member = tuple[str, str, _Write, bool]


def encode(message: Message) -> str:
    """The message as one JSON object without line breaks."""
    parts = []
    for key, name, write, may_be_unset in _plan(message.DESCRIPTOR):
        if not may_be_unset or message.HasField(name):
            parts.append(key + write(getattr(message, name)))
    return "{" + ",".join(parts) + "}"


def part_encoder(descriptor: Descriptor, name: str) -> Callable[[Message], str]:
    """What writes one field of such messages as JSON, or the whole message where ``name`` is empty."""
    if not name:
        return encode
    write = _field_writer(descriptor.fields_by_name[name])
    return lambda message: write(getattr(message, name))


def entry_encoder(descriptor: Descriptor, name: str) -> Callable[[Any], str]:
    """What writes one entry of a repeated field of this type as JSON."""
    return _value_writer(descriptor.fields_by_name[name])


@cache
def _plan(descriptor: Descriptor) -> tuple[_Member, ...]:
    return tuple(_member(field) for field in descriptor.fields)


def _member(field: FieldDescriptor) -> _Member:
    key = f'"{fields.camel_name(field)}":'
    write = _field_writer(field)
    # An unset time would read as 1970; every other unset value reads as its type's zero.
    if (
        fields.kind_of(field) is Kind.TIMESTAMP
        and not field.is_repeated
        and not fields.is_proto3_optional(field)
    ):
        return key, field.name, _timestamp_or_null, False
    return key, field.name, write, fields.is_proto3_optional(field)


def _field_writer(field: FieldDescriptor) -> _Write:
    if fields.is_map(field):
        entry = fields.message_type(field).fields_by_name
        return _map_writer(entry["key"], entry["value"])
    write = _value_writer(field)
    if not field.is_repeated:
        return write
    return lambda values: "[" + ",".join([write(value) for value in values]) + "]"


def _map_writer(key: FieldDescriptor, value: FieldDescriptor) -> _Write:
    write = _value_writer(value)
    name = _value_writer(key)

    def write_map(entries: Any) -> str:
        # A message map hands out entries only by key; a plain one too, so both are read alike.
        parts = [f"{_as_key(name(entry))}:{write(entries[entry])}" for entry in sorted(entries)]
        return "{" + ",".join(parts) + "}"

    return write_map


def _as_key(text: str) -> str:
    return text if text.startswith('"') else f'"{text}"'


def _value_writer(field: FieldDescriptor) -> _Write:
    match fields.kind_of(field):
        case Kind.BOOLEAN:
            return lambda value: "true" if value else "false"
        case Kind.INTEGER | Kind.INTEGER64:
            return str
        case Kind.NUMBER:
            return number
        case Kind.STRING:
            return quote
        case Kind.JSON:
            return _evidence
        case Kind.BYTES:
            return lambda value: f'"{base64.b64encode(value).decode("ascii")}"'
        case Kind.TIMESTAMP:
            return _timestamp
        case Kind.ENUM:
            return _enum_writer(field)
        case Kind.MESSAGE:
            return encode


def number(value: float) -> str:
    """A double as JSON: the shortest text that reads back to it, or ``{"$number":…}``."""
    if math.isfinite(value):
        return repr(value)
    if math.isnan(value):
        return '{"$number":"NaN"}'
    return '{"$number":"Infinity"}' if value > 0 else '{"$number":"-Infinity"}'


def _evidence(text: str) -> str:
    if not text:
        return "null"
    # Inside JSON text a line break can only stand between tokens, where a blank means the same.
    if "\n" in text or "\r" in text:
        return text.replace("\r", " ").replace("\n", " ")
    return text


def _timestamp(value: Any) -> str:
    return f'"{value.ToJsonString()}"'


def _timestamp_or_null(value: Any) -> str:
    return _timestamp(value) if value.seconds or value.nanos else "null"


def _enum_writer(field: FieldDescriptor) -> _Write:
    names = {value: json.dumps(name) for value, name in fields.enum_names(field.enum_type).items()}
    # A newer service may send a number that this bridge has no name for.
    return lambda value: names.get(value) or f'"{value}"'
