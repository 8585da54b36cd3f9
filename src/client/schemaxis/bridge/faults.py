"""Faults on the bridge: its own, and those that a gRPC status carries."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from typing import Any

import grpc

from schemaxis._status import Refusal, fault_in
from schemaxis.bridge.text import quote
from schemaxis.v1 import fault_pb2

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


def fault_of_status(refusal: Refusal) -> BridgeFault:
    """The fault in the details of a failed call, or one that says what the bare status means."""
    if (fault := fault_in(refusal)) is not None:
        return fault_of_message(fault)
    code = refusal.code()
    if code in _BARE_STATUS:
        return BridgeFault(*_BARE_STATUS[code])
    return local_fault(
        "INTERNAL",
        f"The call failed with status {code.name}; the service's log has the rest.",
        status=code.name,
    )
