"""Validation of requests by the rules that their protos carry.

A rule is compiled once a message type. Checking a request also writes defaults out and clamps
what only sizes a reply, so that a servicer reads plain values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from schemaxis.v1 import options_pb2

from schemaxis_server.faults import Fault

Checker = Callable[[Any, str], None]
"""Checks one field of a message; the text is the pointer of the message within the request."""

_NUMBERS = frozenset(
    {
        FieldDescriptor.CPPTYPE_INT32,
        FieldDescriptor.CPPTYPE_INT64,
        FieldDescriptor.CPPTYPE_UINT32,
        FieldDescriptor.CPPTYPE_UINT64,
        FieldDescriptor.CPPTYPE_DOUBLE,
        FieldDescriptor.CPPTYPE_FLOAT,
    }
)


def validate(request: Message) -> None:
    """Check a request against its rules; defaults are filled in and sizes clamped in place.

    Raises ``INVALID_REQUEST`` with the pointer of the first field that is wrong.
    """
    for check in _checkers(request.DESCRIPTOR):
        check(request, "")


@cache
def _checkers(descriptor: Descriptor) -> Sequence[Checker]:
    checkers: list[Checker] = []
    for field in descriptor.fields:
        rule = field.GetOptions().Extensions[options_pb2.rule]
        checkers.extend(_field_checkers(field, rule))
    return tuple(checkers)


def _field_checkers(field: FieldDescriptor, rule: options_pb2.FieldRule) -> list[Checker]:
    checkers: list[Checker] = []
    if rule.HasField("default_json"):
        checkers.append(_default(field.name, json.loads(rule.default_json)))
    if rule.required and not field.is_repeated:
        checkers.append(_required(field))
    if rule.HasField("min_length") or rule.HasField("max_length"):
        checkers.append(_length(field, rule))
    if rule.choices:
        checkers.append(_choice(field.name, tuple(rule.choices)))
    if field.cpp_type in _NUMBERS and not field.is_repeated and _bounded(rule):
        checkers.append(_range(field, rule))
    if field.enum_type is not None and not field.is_repeated:
        checkers.append(_known_enum(field.name, field.enum_type))
    if field.message_type is not None and not field.message_type.GetOptions().map_entry:
        checkers.append(_nested(field, field.message_type))
    return checkers


def _bounded(rule: options_pb2.FieldRule) -> bool:
    return any(rule.HasField(name) for name in ("minimum", "maximum", "exclusive_minimum"))


def _refuse(pointer: str, message: str, **details: Any) -> Fault:
    return Fault("INVALID_REQUEST", message, pointer, **details)


def _default(name: str, value: Any) -> Checker:
    def check(message: Any, at: str) -> None:
        if not message.HasField(name):
            setattr(message, name, value)

    return check


def _required(field: FieldDescriptor) -> Checker:
    name = field.name

    def check(message: Any, at: str) -> None:
        present = message.HasField(name) if field.has_presence else bool(getattr(message, name))
        if not present:
            raise _refuse(f"{at}/{name}", f"{name} is missing; give it.")

    return check


def _length(field: FieldDescriptor, rule: options_pb2.FieldRule) -> Checker:
    name = field.name
    low = rule.min_length if rule.HasField("min_length") else 0
    high = rule.max_length if rule.HasField("max_length") else 2**31
    unit = "entries" if field.is_repeated else "characters"
    presence = field.has_presence

    def check(message: Any, at: str) -> None:
        if presence and not message.HasField(name):
            return
        size = len(getattr(message, name))
        if low <= size <= high:
            return
        limits = f"at most {high}" if low == 0 else f"{low} to {high}" if high < 2**31 else f"at least {low}"
        raise _refuse(f"{at}/{name}", f"{name} has {size} {unit}; give {limits}.", minimum=low, maximum=high)

    return check


def _choice(name: str, choices: tuple[str, ...]) -> Checker:
    def check(message: Any, at: str) -> None:
        value = getattr(message, name)
        if value not in choices:
            raise _refuse(
                f"{at}/{name}",
                f"{name} is {value[:80]!r}; give one of {', '.join(choices)}.",
                choices=list(choices),
            )

    return check


def _range(field: FieldDescriptor, rule: options_pb2.FieldRule) -> Checker:
    name = field.name
    low = rule.minimum if rule.HasField("minimum") else float("-inf")
    above = rule.exclusive_minimum if rule.HasField("exclusive_minimum") else None
    high = rule.maximum if rule.HasField("maximum") else float("inf")
    presence = field.has_presence
    lower = f"above {above:g}" if above is not None else f"at least {low:g}"
    wanted = " and ".join(
        text
        for text, given in (
            (lower, low > float("-inf") or above is not None),
            (f"at most {high:g}", high < 1e308),
        )
        if given
    )
    details = {key: value for key, value in (("minimum", low), ("maximum", high)) if abs(value) < 1e308}
    if above is not None:
        details = {"exclusiveMinimum": above, **details}

    def check(message: Any, at: str) -> None:
        if presence and not message.HasField(name):
            return
        value = getattr(message, name)
        # Written so that NaN fails every comparison and is refused.
        if low <= value <= high and (above is None or value > above):
            return
        if rule.clamp:
            setattr(message, name, type(value)(min(max(value, low), high)))
            return
        raise _refuse(f"{at}/{name}", f"{name} is {value}; give {wanted}.", **details)

    return check


def _known_enum(name: str, enum: EnumDescriptor) -> Checker:
    names = [value.name for value in enum.values if value.number != 0]

    def check(message: Any, at: str) -> None:
        number = getattr(message, name)
        if number and number not in enum.values_by_number:
            raise _refuse(
                f"{at}/{name}", f"{name} has the unknown value {number}; give one of {', '.join(names)}."
            )

    return check


def _nested(field: FieldDescriptor, descriptor: Descriptor) -> Checker:
    name = field.name

    def check(message: Any, at: str) -> None:
        value = getattr(message, name)
        if field.is_repeated:
            for index, entry in enumerate(value):
                for nested in _checkers(descriptor):
                    nested(entry, f"{at}/{name}/{index}")
        elif message.HasField(name):
            for nested in _checkers(descriptor):
                nested(value, f"{at}/{name}")

    return check
