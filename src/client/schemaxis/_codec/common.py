"""What every noun needs: times, enumerations, optional JSON and faults."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.timestamp_pb2 import Timestamp

from schemaxis import _json
from schemaxis.errors import FaultError, fault_error
from schemaxis.models import Fault, OpenEnum
from schemaxis.v1 import fault_pb2

E = TypeVar("E", bound=OpenEnum)


def time(stamp: Timestamp) -> datetime:
    """An aware time in UTC."""
    return stamp.ToDatetime(tzinfo=UTC)


@cache
def _members(kind: type[E], descriptor: EnumDescriptor) -> Mapping[int, E]:
    prefix = len(descriptor.values_by_number[0].name) - len("UNSPECIFIED")
    names = {
        value.number: value.name[prefix:].lower().replace("_", "-")
        for value in descriptor.values
        if value.number
    }
    return {number: kind(name) for number, name in names.items()}


def member(kind: type[E], descriptor: EnumDescriptor, number: int) -> E:
    """The member for a number; one from the future becomes an unrecognised member."""
    known = _members(kind, descriptor).get(number)
    return kind.unrecognised(number) if known is None else known


def number(value: OpenEnum, descriptor: EnumDescriptor) -> int:
    """The number of a member. Raises ``ValueError`` for one that cannot be sent."""
    for found, known in _members(type(value), descriptor).items():
        if known == value:
            return found
    raise ValueError(f"{value} is not one of {', '.join(type(value))}")


def details(fault: fault_pb2.Fault) -> Mapping[str, Any]:
    """The details of a fault; what cannot be parsed is kept as text, so that no fault is lost."""
    if not fault.HasField("details_json"):
        return {}
    try:
        parsed = _json.parse(fault.details_json)
    except ValueError:
        return {"text": fault.details_json}
    return parsed if isinstance(parsed, dict) else {"value": parsed}


def fault_record(fault: fault_pb2.Fault) -> Fault:
    return Fault(fault.code, fault.message, fault.retryable, fault.pointer, details(fault))


def fault_exception(fault: fault_pb2.Fault) -> FaultError:
    return fault_error(fault.code, fault.message, fault.retryable, fault.pointer, details(fault))
