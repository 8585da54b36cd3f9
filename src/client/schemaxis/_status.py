"""From a broken or refused call to one exception of the tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from schemaxis._codec.common import fault_exception
from schemaxis.errors import ConnectionLost, SchemaxisError, UnexpectedAnswer, WaitTimeout
from schemaxis.v1 import fault_pb2

DOMAIN = "schemaxis"
_DETAILS_KEY = "grpc-status-details-bin"

# What a call ends with when the server's process is killed, restarted or closes the socket.
_BROKEN = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED})


class Refusal(Protocol):
    """What the errors of both kinds of gRPC call have in common."""

    def code(self) -> grpc.StatusCode: ...

    def details(self) -> str | None: ...

    def trailing_metadata(self) -> Iterable[tuple[str, str | bytes]] | None: ...


def error_of(refusal: Refusal) -> SchemaxisError:
    """The exception that tells what ended a call."""
    fault = fault_in(refusal)
    if fault is not None:
        return fault_exception(fault)
    code, text = refusal.code(), refusal.details() or "no reason given"
    if code in _BROKEN:
        return ConnectionLost(
            f"The connection to the server broke ({text}): see that it runs, then look what took effect.",
            details={"status": code.name},
        )
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return WaitTimeout("The server did not answer in time: ask again, or allow more time.")
    return UnexpectedAnswer(
        f"The server answered {code.name} without a fault ({text}): use a client of the server's version.",
        details={"status": code.name},
    )


def fault_in(refusal: Refusal) -> fault_pb2.Fault | None:
    """The service's fault that ended a call, ``None`` where its details hold none or cannot be read."""
    for key, value in refusal.trailing_metadata() or ():
        if key == _DETAILS_KEY and isinstance(value, bytes):
            try:
                return _from_status(status_pb2.Status.FromString(value))
            except DecodeError:
                return None
    return None


def _from_status(status: status_pb2.Status) -> fault_pb2.Fault | None:
    fault, info = fault_pb2.Fault(), error_details_pb2.ErrorInfo()
    named: fault_pb2.Fault | None = None
    for detail in status.details:
        if detail.Unpack(fault):
            return fault
        if detail.Unpack(info) and info.domain == DOMAIN:
            named = fault_pb2.Fault(code=info.reason, message=status.message)
    return named
