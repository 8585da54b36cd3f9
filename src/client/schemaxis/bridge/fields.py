"""What a message field is on the bridge: its names and its kind, read off the descriptor once."""

from __future__ import annotations

from enum import Enum, auto
from functools import cache
from typing import Any

from google.protobuf import timestamp_pb2
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from schemaxis.v1 import options_pb2

_TIMESTAMP = timestamp_pb2.Timestamp.DESCRIPTOR.full_name


class Kind(Enum):
    """How a single value of a field stands in JSON."""

    BOOLEAN = auto()
    INTEGER = auto()
    INTEGER64 = auto()
    NUMBER = auto()
    STRING = auto()
    JSON = auto()
    BYTES = auto()
    ENUM = auto()
    TIMESTAMP = auto()
    MESSAGE = auto()


_KINDS = {
    FieldDescriptor.TYPE_BOOL: Kind.BOOLEAN,
    FieldDescriptor.TYPE_INT32: Kind.INTEGER,
    FieldDescriptor.TYPE_SINT32: Kind.INTEGER,
    FieldDescriptor.TYPE_SFIXED32: Kind.INTEGER,
    FieldDescriptor.TYPE_UINT32: Kind.INTEGER,
    FieldDescriptor.TYPE_FIXED32: Kind.INTEGER,
    FieldDescriptor.TYPE_INT64: Kind.INTEGER64,
    FieldDescriptor.TYPE_SINT64: Kind.INTEGER64,
    FieldDescriptor.TYPE_SFIXED64: Kind.INTEGER64,
    FieldDescriptor.TYPE_UINT64: Kind.INTEGER64,
    FieldDescriptor.TYPE_FIXED64: Kind.INTEGER64,
    FieldDescriptor.TYPE_DOUBLE: Kind.NUMBER,
    FieldDescriptor.TYPE_FLOAT: Kind.NUMBER,
    FieldDescriptor.TYPE_BYTES: Kind.BYTES,
    FieldDescriptor.TYPE_ENUM: Kind.ENUM,
}


def kind_of(field: FieldDescriptor) -> Kind:
    """The kind of the field's single value (of an entry, where the field is repeated)."""
    if field.message_type is not None:
        return Kind.TIMESTAMP if field.message_type.full_name == _TIMESTAMP else Kind.MESSAGE
    if field.type == FieldDescriptor.TYPE_STRING:
        return Kind.JSON if is_json_text(field) else Kind.STRING
    return _KINDS[field.type]


def is_json_text(field: FieldDescriptor) -> bool:
    """Whether the field is a string that holds JSON text."""
    return bool(field.GetOptions().Extensions[options_pb2.json_text])


def is_map(field: FieldDescriptor) -> bool:
    """Whether the field is a map."""
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def message_type(field: FieldDescriptor) -> Descriptor:
    """The type of a message field."""
    assert field.message_type is not None
    return field.message_type


def is_proto3_optional(field: FieldDescriptor) -> bool:
    """Whether the field is left out when it is unset: marked ``optional``, or a member of a ``oneof``."""
    return field.containing_oneof is not None


def rule_of(field: FieldDescriptor) -> options_pb2.FieldRule:
    """What the field accepts, as the service checks it."""
    rule: options_pb2.FieldRule = field.GetOptions().Extensions[options_pb2.rule]
    return rule


def snake_name(field: FieldDescriptor) -> str:
    """The field's name in a request: snake case, a JSON field without its ``_json``."""
    name: str = field.name
    return name.removesuffix("_json") if is_json_text(field) else name


def camel_name(field: FieldDescriptor) -> str:
    """The field's name in a reply: lowerCamelCase, a JSON field without its ``_json``."""
    return camel(snake_name(field))


def camel(snake: str) -> str:
    """A snake case name in lowerCamelCase."""
    first, *rest = snake.split("_")
    return first + "".join(word.capitalize() for word in rest)


@cache
def _enum_prefix(enum: EnumDescriptor) -> str:
    words: list[str] = []
    for character in enum.name:
        if character.isupper():
            words.append("")
        words[-1] += character.upper()
    return "_".join(words) + "_"


@cache
def enum_names(enum: Any) -> dict[int, str]:
    """The short lower kebab case name of each number of an enum."""
    prefix = _enum_prefix(enum)
    return {value.number: value.name.removeprefix(prefix).lower().replace("_", "-") for value in enum.values}


@cache
def enum_numbers(enum: Any) -> dict[str, int]:
    """The number of each accepted spelling, folded to upper snake case; the zero value is not accepted."""
    prefix = _enum_prefix(enum)
    numbers: dict[str, int] = {}
    for value in enum.values:
        if value.number != 0:
            numbers[value.name] = value.number
            numbers[value.name.removeprefix(prefix)] = value.number
    return numbers
