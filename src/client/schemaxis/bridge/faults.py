"""Faults on the bridge: its own, and those that a gRPC status carries."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from typing import Any

import grpc
from google.rpc import status_pb2

from schemaxis.bridge.text import quote
from schemaxis.v1 import fault_pb2

_DETAILS_KEY = "grpc-status-details-bin"
_RETRYABLE = frozenset({"SHUTTING_DOWN", "OVERLOADED"})

# What a status without details means: nobody but the transport made it.
_BARE_STATUS = {
    grpc.StatusCode.UNAVAILABLE: (
        "SHUTTING_DOWN",
        "The service cannot be reached; send the request again in a moment.",
    ),
    grpc.StatusCode.RESOURCE_EXHAUSTED: (
        "REQUEST_TOO_LARGE",
        "A message is over the transport's limit; ask for less at once.",
    ),
    grpc.StatusCode.UNIMPLEMENTED: (
        "UNKNOWN_METHOD",
        "The running service does not have this method; it is older than this bridge.",
    ),
    grpc.StatusCode.CANCELLED: ("CANCELLED", "The call was cancelled; send it again if it is still wanted."),
}


# What a call ends with when the server is killed or closes the connection.
_BROKEN = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED})


class BridgeFault(Exception):
    """A fault to answer with; ``details`` is the text of a JSON object."""

    def __init__(
        self,
        code: str,
        message: str,
        pointer: str = "",
        *,
        retryable: bool | None = None,
        details: str = "{}",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.pointer = pointer
        self.retryable = code in _RETRYABLE if retryable is None else retryable
        self.details = details

    def to_json(self) -> str:
        """The fault as the bridge writes it, one JSON object."""
        return (
            f'{{"code":{quote(self.code)},"message":{quote(self.message)},'
            f'"retryable":{"true" if self.retryable else "false"},'
            f'"pointer":{quote(self.pointer)},"details":{self.details}}}'
        )


def local_fault(code: str, message: str, pointer: str = "", **details: Any) -> BridgeFault:
    """A fault that the bridge itself raises; ``details`` are plain JSON values."""
    return BridgeFault(code, message, pointer, details=json.dumps(details, separators=(",", ":")))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that ``name`` was most likely meant to be, or None."""
    folded = {_fold(candidate): candidate for candidate in known}
    matches = difflib.get_close_matches(_fold(name[:200]), folded, n=1, cutoff=0.6)
    return folded[matches[0]] if matches else None


def _fold(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def fault_of_message(fault: fault_pb2.Fault) -> BridgeFault:
    """The fault that a Protobuf fault tells."""
    return BridgeFault(
        fault.code,
        fault.message,
        fault.pointer,
        retryable=fault.retryable,
        details=fault.details_json or "{}",
    )


def fault_of_status(error: grpc.RpcError) -> BridgeFault:
    """The fault in the details of a failed call, or one that says what the bare status means."""
    if (fault := _fault_in_details(error)) is not None:
        return fault_of_message(fault)
    code = error.code() if isinstance(error, grpc.Call | grpc.aio.AioRpcError) else grpc.StatusCode.UNKNOWN
    if code in _BARE_STATUS:
        return BridgeFault(*_BARE_STATUS[code])
    return local_fault(
        "INTERNAL",
        f"The call failed with status {code.name}; the service's log has the rest.",
        status=code.name,
    )


def is_broken(error: grpc.RpcError) -> bool:
    """Whether the connection failed, as opposed to the service having refused."""
    code = error.code() if isinstance(error, grpc.Call | grpc.aio.AioRpcError) else grpc.StatusCode.UNKNOWN
    return code in _BROKEN and _fault_in_details(error) is None


def _fault_in_details(error: grpc.RpcError) -> fault_pb2.Fault | None:
    if not isinstance(error, grpc.Call | grpc.aio.AioRpcError):
        return None
    for key, value in error.trailing_metadata() or ():
        if key != _DETAILS_KEY or not isinstance(value, bytes):
            continue
        for detail in status_pb2.Status.FromString(value).details:
            fault = fault_pb2.Fault()
            if detail.Unpack(fault):
                return fault
    return None
