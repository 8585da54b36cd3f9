"""The closed catalogue of faults and the one exception that carries them.

Every refusal and every failed job in schemaxis is a :class:`Fault`. ``CATALOGUE`` is the
single list of codes: the gRPC status, whether a retry can help, and what the caller does
next come from it, and ``docs/faults.md`` is generated from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One entry of the catalogue.

    ``status`` is the name of the gRPC status code; ``retryable`` says whether the cause may pass by
    itself, so that the same request may succeed later; ``next_step`` is the advice that the
    documentation prints and that a message without its own advice ends with.
    """

    code: str
    status: str
    retryable: bool
    meaning: str
    next_step: str


_KINDS = (
    FaultKind(
        "INVALID_REQUEST",
        "INVALID_ARGUMENT",
        False,
        "A field of the request is missing, of the wrong type or out of its range.",
        "Correct the field that `pointer` names; the method's description has every parameter with its range.",
    ),
    FaultKind(
        "UNKNOWN_METHOD",
        "UNIMPLEMENTED",
        False,
        "The bridge has no method of that name.",
        "Call `methods` for the list; `details.nearest` names the closest.",
    ),
    FaultKind(
        "REQUEST_TOO_LARGE",
        "RESOURCE_EXHAUSTED",
        False,
        "A line, a message or a document is over its limit.",
        "Send less than `details.limit` bytes.",
    ),
    FaultKind(
        "NOT_FOUND",
        "NOT_FOUND",
        False,
        "Nothing in this workspace has that id, name or pointer.",
        "List what is there and use an id from the answer.",
    ),
    FaultKind(
        "OUT_OF_RANGE",
        "OUT_OF_RANGE",
        False,
        "An offset or a cursor lies outside what exists.",
        "Use a position within the range in `details`.",
    ),
    FaultKind(
        "REQUEST_ID_REUSED",
        "ALREADY_EXISTS",
        False,
        "This request_id was used for another request.",
        "Use a fresh request_id, or repeat the first request unchanged.",
    ),
    FaultKind(
        "STALE_REVISION",
        "ABORTED",
        False,
        "expected_revision is not the present revision; nothing was changed.",
        "Read the present revision, look at what changed, and send it.",
    ),
    FaultKind(
        "STALE_PLAN",
        "FAILED_PRECONDITION",
        False,
        "The plan is no longer the current one, or planning again gave another digest.",
        "Plan again under the present revision and execute the new plan.",
    ),
    FaultKind(
        "INVALID_DOCUMENT",
        "INVALID_ARGUMENT",
        False,
        "The authored document has problems; each is listed with its pointer.",
        "Mend what `details.problems` lists and plan again.",
    ),
    FaultKind(
        "UNAUTHORISED_PROVIDER",
        "PERMISSION_DENIED",
        False,
        "The task does not allow this provider.",
        "Use an allowed provider, or ask the user for a new task that allows it.",
    ),
    FaultKind(
        "BUDGET_EXHAUSTED",
        "FAILED_PRECONDITION",
        False,
        "The task has no attempt left.",
        "Report what was reached; more attempts need a new task from the user.",
    ),
    FaultKind(
        "BUDGET_EXPIRED",
        "FAILED_PRECONDITION",
        False,
        "The task's execution time is used up.",
        "Report what was reached; more time needs a new task from the user.",
    ),
    FaultKind(
        "REPEATED_FAILURE",
        "FAILED_PRECONDITION",
        False,
        "The same plan failed in the same way as often as the task allows.",
        "Change the document; executing it unchanged is refused.",
    ),
    FaultKind(
        "MISSING_RUNTIME",
        "FAILED_PRECONDITION",
        False,
        "The engine of this provider is not installed or cannot start.",
        "Install what `details.install` names, or use another provider.",
    ),
    FaultKind(
        "UNSUPPORTED_INPUT",
        "INVALID_ARGUMENT",
        False,
        "The engine cannot work on this input.",
        "Change the input as the message says.",
    ),
    FaultKind(
        "NATIVE_FAILURE",
        "INTERNAL",
        False,
        "The engine failed, died, or wrote no valid result.",
        "Observe the job's `log` and `fault`, and change the document.",
    ),
    FaultKind(
        "NATIVE_TIMEOUT",
        "DEADLINE_EXCEEDED",
        False,
        "The engine ran longer than the attempt may.",
        "Simplify the document, or ask for a task with a larger max_attempt_seconds.",
    ),
    FaultKind(
        "VERIFICATION_FAILED",
        "DATA_LOSS",
        False,
        "An independent check did not confirm what the engine published.",
        "Observe `verification`; do not use the numbers of this job.",
    ),
    FaultKind(
        "CANCELLED",
        "CANCELLED",
        False,
        "The work was cancelled at a client's request.",
        "Execute again if it is still wanted.",
    ),
    FaultKind(
        "INTERRUPTED",
        "ABORTED",
        True,
        "The service stopped while the work ran; its native state is unknown.",
        "Execute the plan again if budget is left.",
    ),
    FaultKind(
        "NOT_VERIFIED",
        "FAILED_PRECONDITION",
        True,
        "The job has no verified result.",
        "Wait for the job to succeed, or use a job that did.",
    ),
    FaultKind(
        "RESOURCE_BLOCKED",
        "FAILED_PRECONDITION",
        False,
        "The resource was blocked when its job was invalidated.",
        "Execute again and use the new job's resources.",
    ),
    FaultKind(
        "RESOURCE_CORRUPT",
        "DATA_LOSS",
        False,
        "The stored bytes no longer match their receipt; the job was invalidated.",
        "Execute again and use the new job's resources.",
    ),
    FaultKind(
        "BINDING_MISMATCH",
        "FAILED_PRECONDITION",
        False,
        "A bound resource is not of a kind that the option accepts.",
        "Bind a resource of a kind in `details.accepts`.",
    ),
    FaultKind(
        "EVIDENCE_CHANGED",
        "ABORTED",
        False,
        "The evidence is no longer at that revision.",
        "Observe again from offset 0 without a revision.",
    ),
    FaultKind(
        "OBSERVATION_LIMIT",
        "RESOURCE_EXHAUSTED",
        False,
        "One scalar value is larger than max_bytes.",
        "Ask again with a larger max_bytes, or read the resource.",
    ),
    FaultKind(
        "UNSUPPORTED_INSPECTION",
        "FAILED_PRECONDITION",
        False,
        "Resources of this kind cannot be inspected.",
        "Read its bytes with `resource`.",
    ),
    FaultKind(
        "INSPECTION_LIMIT",
        "RESOURCE_EXHAUSTED",
        False,
        "The resource is too large to be inspected.",
        "Read its bytes with `resource`.",
    ),
    FaultKind(
        "WORKSPACE_LOCKED",
        "UNAVAILABLE",
        True,
        "Another service owns this workspace.",
        "Attach to the running service, or wait until it ends.",
    ),
    FaultKind(
        "WORKSPACE_CORRUPT",
        "DATA_LOSS",
        False,
        "Stored records are damaged and were set aside, or the workspace's files cannot be used; the rest is usable.",
        "Run `schemaxis doctor --deep` on the workspace.",
    ),
    FaultKind(
        "STORAGE_FULL",
        "RESOURCE_EXHAUSTED",
        True,
        "The workspace's file system has no room; nothing was changed.",
        "Free space or inodes and send the request again.",
    ),
    FaultKind(
        "OVERLOADED",
        "UNAVAILABLE",
        True,
        "The service has no room in a queue, no descriptor, or no turn at the database just now; nothing was changed.",
        "Send the request again after `details.retryAfterSeconds`.",
    ),
    FaultKind(
        "SHUTTING_DOWN",
        "UNAVAILABLE",
        True,
        "The service is stopping and takes no new work.",
        "Connect again when it is back.",
    ),
    FaultKind(
        "INTERNAL",
        "INTERNAL",
        False,
        "The service met a state it did not expect.",
        "Report the incident id; the service's log has the rest.",
    ),
)

CATALOGUE: Mapping[str, FaultKind] = {kind.code: kind for kind in _KINDS}


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """A fault as it is stored in a job or sent to a client.

    ``pointer`` is an RFC 6901 pointer into the document or the request, empty when the
    fault has no place. ``details`` is JSON. ``retry_helps`` is for a fault that knows better than
    its kind whether its cause may pass by itself.
    """

    code: str
    message: str
    pointer: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    retry_helps: bool | None = None

    @property
    def retryable(self) -> bool:
        return CATALOGUE[self.code].retryable if self.retry_helps is None else self.retry_helps


class Fault(Exception):
    """The domain exception: a refusal or a failure with a code of the catalogue.

    ``retryable`` is given where it does not follow from the code alone.
    """

    def __init__(
        self, code: str, message: str, pointer: str = "", *, retryable: bool | None = None, **details: Any
    ) -> None:
        if code not in CATALOGUE:
            raise ValueError(f"{code} is not in the fault catalogue")
        super().__init__(message)
        self.record = FaultRecord(code, message, pointer, details, retryable)

    @property
    def code(self) -> str:
        return self.record.code

    def __str__(self) -> str:
        return f"{self.record.code}: {self.record.message}"
