"""Everything that the client raises, in one tree.

::

    SchemaxisError                     code, message, retryable, pointer, details
    ├── FaultError                     the service refused, and said why
    │   ├── InvalidRequest             INVALID_REQUEST UNKNOWN_METHOD REQUEST_TOO_LARGE OUT_OF_RANGE
    │   │   │                          REQUEST_ID_REUSED UNSUPPORTED_INPUT BINDING_MISMATCH
    │   │   └── InvalidDocument        INVALID_DOCUMENT; lists its problems
    │   ├── NotFound                   NOT_FOUND
    │   ├── Stale                      STALE_REVISION STALE_PLAN EVIDENCE_CHANGED
    │   ├── Unauthorised               UNAUTHORISED_PROVIDER
    │   ├── BudgetSpent                BUDGET_EXHAUSTED BUDGET_EXPIRED REPEATED_FAILURE
    │   ├── EngineFault                MISSING_RUNTIME NATIVE_FAILURE NATIVE_TIMEOUT
    │   ├── Untrusted                  VERIFICATION_FAILED NOT_VERIFIED RESOURCE_BLOCKED RESOURCE_CORRUPT
    │   ├── Unobservable               OBSERVATION_LIMIT UNSUPPORTED_INSPECTION INSPECTION_LIMIT
    │   ├── Stopped                    CANCELLED INTERRUPTED
    │   ├── Unavailable                OVERLOADED SHUTTING_DOWN STORAGE_FULL WORKSPACE_LOCKED
    │   ├── ServiceFault               INTERNAL WORKSPACE_CORRUPT
    │   └── JobFailed                  a job that ended without success, with the job's own fault
    ├── JobUnfinished                  a result was asked for before there is one
    ├── WaitTimeout                    the time that the caller set is over (a TimeoutError too)
    ├── ConnectionLost                 the server went away and did not come back in time
    ├── ClientClosed                   the client was closed before or during the call
    ├── UnexpectedAnswer               the server answered outside the protocol
    ├── DownloadCorrupt                the bytes that arrived do not match their digest
    ├── DownloadBusy                   another download writes the same file
    ├── ServerNotRunning               nothing serves the workspace
    ├── ServerStartFailed              the server program ended or was silent before it was ready
    └── UnsafeSocket                   what lies at the socket's path must not be talked to

A code that this client does not know arrives as a plain :class:`FaultError`. The codes of the
lower half are the client's own; only ``ServerStartFailed`` carries a fault's code instead, such as
WORKSPACE_LOCKED, where the server program said why it did not start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from schemaxis.models import JobRecord


class SchemaxisError(Exception):
    """The root of the tree.

    ``code`` names the kind of error, ``message`` says what to do, ``retryable`` whether the same
    request may succeed later unchanged, ``pointer`` (RFC 6901) where in the request or document
    the trouble lies, empty when it has no place, and ``details`` holds facts, parsed from JSON.
    """

    local_code: ClassVar[str] = "CLIENT"
    local_retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        retryable: bool | None = None,
        pointer: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = self.local_code if code is None else code
        self.retryable = self.local_retryable if retryable is None else retryable
        self.pointer = pointer
        self.details: Mapping[str, Any] = {} if details is None else details

    def __str__(self) -> str:
        place = f" (at {self.pointer})" if self.pointer else ""
        return f"{self.code}: {self.message}{place}"


class FaultError(SchemaxisError):
    """The service refused the request, or the work failed; ``code`` is one of its fault codes."""

    codes: ClassVar[frozenset[str]] = frozenset()


class InvalidRequest(FaultError):
    """The request itself must be corrected."""

    codes = frozenset(
        {
            "INVALID_REQUEST",
            "UNKNOWN_METHOD",
            "REQUEST_TOO_LARGE",
            "OUT_OF_RANGE",
            "REQUEST_ID_REUSED",
            "UNSUPPORTED_INPUT",
            "BINDING_MISMATCH",
        }
    )


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """One problem of a document: where it lies, what is wrong, and what would have been right."""

    pointer: str
    message: str
    expected: str = ""
    nearest: str = ""


class InvalidDocument(InvalidRequest):
    """The authored document has problems; ``problems`` lists the first of them, ``total`` counts all."""

    codes = frozenset({"INVALID_DOCUMENT"})

    @property
    def problems(self) -> tuple[DocumentProblem, ...]:
        """The problems that fitted into the fault, in the service's order."""
        listed = self.details.get("problems")
        if not isinstance(listed, list):
            return ()
        return tuple(
            DocumentProblem(
                pointer=str(problem.get("pointer", "")),
                message=str(problem.get("message", "")),
                expected=str(problem.get("expected", "")),
                nearest=str(problem.get("nearest", "")),
            )
            for problem in listed
            if isinstance(problem, dict)
        )

    @property
    def total(self) -> int:
        """How many problems the document has in all."""
        total = self.details.get("total")
        return total if isinstance(total, int) else len(self.problems)

    def __str__(self) -> str:
        lines = [super().__str__()]
        lines += [f"  {problem.pointer or '/'}: {problem.message}" for problem in self.problems]
        if self.total > len(self.problems):
            lines.append(f"  and {self.total - len(self.problems)} more")
        return "\n".join(lines)


class NotFound(FaultError):
    """Nothing in the workspace has that id, name or pointer."""

    codes = frozenset({"NOT_FOUND"})


class Stale(FaultError):
    """The request was made against a state that is no longer the present one; nothing was changed."""

    codes = frozenset({"STALE_REVISION", "STALE_PLAN", "EVIDENCE_CHANGED"})


class Unauthorised(FaultError):
    """The user did not authorise this."""

    codes = frozenset({"UNAUTHORISED_PROVIDER"})


class BudgetSpent(FaultError):
    """The task's budget does not allow another attempt."""

    codes = frozenset({"BUDGET_EXHAUSTED", "BUDGET_EXPIRED", "REPEATED_FAILURE"})


class EngineFault(FaultError):
    """The engine is missing, failed, or took too long."""

    codes = frozenset({"MISSING_RUNTIME", "NATIVE_FAILURE", "NATIVE_TIMEOUT"})


class Untrusted(FaultError):
    """There is no verified result behind what was asked for."""

    codes = frozenset({"VERIFICATION_FAILED", "NOT_VERIFIED", "RESOURCE_BLOCKED", "RESOURCE_CORRUPT"})


class Unobservable(FaultError):
    """The evidence cannot be looked at in this way or within this size."""

    codes = frozenset({"OBSERVATION_LIMIT", "UNSUPPORTED_INSPECTION", "INSPECTION_LIMIT"})


class Stopped(FaultError):
    """The work was cancelled, or interrupted by the end of the service."""

    codes = frozenset({"CANCELLED", "INTERRUPTED"})


class Unavailable(FaultError):
    """The service cannot take the request now; the same request may succeed later."""

    codes = frozenset({"OVERLOADED", "SHUTTING_DOWN", "STORAGE_FULL", "WORKSPACE_LOCKED"})


class ServiceFault(FaultError):
    """The service met damage or a state that it did not expect; its log has the rest."""

    codes = frozenset({"INTERNAL", "WORKSPACE_CORRUPT"})


class JobFailed(FaultError):
    """A job ended without success. ``job`` is its record; code, pointer and details are its fault's."""

    def __init__(self, job: JobRecord) -> None:
        fault = job.fault
        super().__init__(
            fault.message if fault else f"Job {job.job_id} ended as {job.state}; observe its fault section.",
            code=fault.code if fault else str(job.state).upper(),
            retryable=fault.retryable if fault else False,
            pointer=fault.pointer if fault else "",
            details=fault.details if fault else None,
        )
        self.job = job


class JobUnfinished(SchemaxisError):
    """The job has no result yet; wait for it first."""

    local_code = "JOB_UNFINISHED"
    local_retryable = True


class WaitTimeout(SchemaxisError, TimeoutError):
    """The time that the caller allowed is over; the work itself goes on."""

    local_code = "WAIT_TIMEOUT"
    local_retryable = True


class ConnectionLost(SchemaxisError):
    """The server went away in mid-call and did not come back within the client's patience.

    Whether a call that changes something took effect is not known.
    """

    local_code = "CONNECTION_LOST"
    local_retryable = True


class ClientClosed(SchemaxisError):
    """The client was closed before or during the call; connect again."""

    local_code = "CLIENT_CLOSED"


class UnexpectedAnswer(SchemaxisError):
    """The server answered in a way that the protocol does not allow."""

    local_code = "UNEXPECTED_ANSWER"


class DownloadCorrupt(SchemaxisError):
    """The bytes that arrived do not have the resource's digest; nothing was kept."""

    local_code = "DOWNLOAD_CORRUPT"
    local_retryable = True


class DownloadBusy(SchemaxisError):
    """Another download writes the same file at this moment."""

    local_code = "DOWNLOAD_BUSY"
    local_retryable = True


class ServerNotRunning(SchemaxisError):
    """Nothing serves the workspace."""

    local_code = "SERVER_NOT_RUNNING"
    local_retryable = True


class ServerStartFailed(SchemaxisError):
    """The server program ended, or stayed silent, before it was ready.

    When it said why, ``code`` and ``details`` are those of its fault.
    """

    local_code = "SERVER_START_FAILED"


class UnsafeSocket(SchemaxisError):
    """What lies at the socket's path is no socket, or belongs to another user."""

    local_code = "UNSAFE_SOCKET"


def _by_code() -> dict[str, type[FaultError]]:
    table: dict[str, type[FaultError]] = {}
    pending: list[type[FaultError]] = [FaultError]
    while pending:
        family = pending.pop()
        pending += family.__subclasses__()
        table |= dict.fromkeys(family.codes, family)
    return table


_FAMILIES: Mapping[str, type[FaultError]] = _by_code()


def fault_error(
    code: str, message: str, retryable: bool, pointer: str = "", details: Mapping[str, Any] | None = None
) -> FaultError:
    """The exception for a fault of the service: the family of its code, or a plain :class:`FaultError`."""
    family = _FAMILIES.get(code, FaultError)
    return family(message, code=code, retryable=retryable, pointer=pointer, details=details)
