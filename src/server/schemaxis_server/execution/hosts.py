"""One run of a host, from its request to its validated result file.

An exit status proves nothing: success is a result file of the right shape.
"""

from __future__ import annotations

import asyncio
import errno
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from schemaxis_server.faults import Fault
from schemaxis_server.native.contract import End, HostProgram, Limits, Listener, Outcome, Run, Supervisor
from schemaxis_server.store.files import read_regular, storage_error, storage_fault

MAX_RESULT_BYTES = 4 * 1024 * 1024
_MAX_FAILURE_BYTES = 64 * 1024
_MAX_MESSAGE_CHARACTERS = 600


class Cancelled(Exception):
    """The run was stopped because its job is being cancelled."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """When an attempt must end, on the monotonic clock, and the fault that says so."""

    at: float
    code: str
    message: str

    def remaining(self) -> float:
        """Seconds left. Raises the fault when there are none."""
        left = self.at - time.monotonic()
        if left <= 0:
            raise self.fault()
        return left

    def fault(self) -> Fault:
        return Fault(self.code, self.message)


@dataclass(frozen=True, slots=True)
class HostRun:
    """What a run brought: its result as JSON text and as values, and the outcome."""

    text: bytes
    result: dict[str, Any]
    outcome: Outcome


class Hosts:
    """Runs host programs under the supervisor."""

    def __init__(self, supervisor: Supervisor, off_loop: Callable[..., Awaitable[Any]]) -> None:
        self._supervisor = supervisor
        self._off_loop = off_loop

    async def run(
        self,
        program: HostProgram,
        directory: Path,
        request: dict[str, Any],
        deadline: Deadline,
        listener: Listener,
        cancel: asyncio.Event,
    ) -> HostRun:
        """Give ``request`` to a host in a fresh ``directory`` and return its result.

        Raises :class:`Cancelled`, the deadline's fault, ``MISSING_RUNTIME``,
        ``UNSUPPORTED_INPUT`` and ``NATIVE_FAILURE``. When it returns or raises, no process of
        the run is left.
        """
        await self._off_loop(_prepare, program, directory, request)
        limits = Limits(deadline_seconds=deadline.remaining())
        outcome = await self._supervisor.run(Run(program, directory, limits), listener, cancel)
        if outcome.end is End.CANCELLED:
            raise Cancelled
        if outcome.end is End.DEADLINE:
            raise deadline.fault()
        if outcome.end is End.LOST:
            raise Fault(
                "NATIVE_FAILURE",
                f"The process of {program.name} vanished without a report ({outcome.error or 'killed from outside'}); "
                "execute again.",
            )
        if not outcome.tree_empty:
            raise Fault(
                "NATIVE_FAILURE",
                f"{program.name} left processes that could not be ended, so its result is not trusted; "
                "see the service's log.",
            )
        if outcome.signal is not None or outcome.exit_code != 0:
            raise await self._off_loop(_failure, program, directory, outcome)
        text, result = await self._off_loop(_result, program, directory)
        return HostRun(text, result, outcome)


def _prepare(program: HostProgram, directory: Path, request: dict[str, Any]) -> None:
    try:
        directory.mkdir(parents=True, mode=0o700)
        (directory / "request.json").write_bytes(msgspec.json.encode(request))
    except (FileExistsError, NotADirectoryError):
        if not directory.parent.parent.is_dir():
            raise
        # A verifier's directory lies in the producer's, which the engine could write to.
        raise Fault(
            "NATIVE_FAILURE",
            f"The engine left something where {program.name} is to work ({directory.name}), so nothing of it is "
            "trusted; observe the job's `log`.",
        ) from None
    except OSError as error:
        raise storage_fault(error, directory) from error


def _failure(program: HostProgram, directory: Path, outcome: Outcome) -> Fault:
    if outcome.signal is not None:
        name = (
            signal.Signals(outcome.signal).name
            if outcome.signal in set(signal.Signals)
            else str(outcome.signal)
        )
        return Fault(
            "NATIVE_FAILURE",
            f"{program.name} was ended by {name}; observe the job's `log` and change the document.",
            signal=name,
        )
    try:
        text = read_regular(directory / "failure.json", _MAX_FAILURE_BYTES)
        said = msgspec.json.decode(text, type=dict[str, Any])
    except (OSError, msgspec.DecodeError, RecursionError):
        said = {}
    message, pointer = (_text(said.get(name)) for name in ("message", "pointer"))
    message = message or f"{program.name} exited with {outcome.exit_code}"
    if said.get("code") == "STORAGE_FULL":
        return Fault(
            "STORAGE_FULL",
            f"{message.rstrip('.')}; free space or inodes on the workspace's file system and execute again.",
        )
    if said.get("code") == "UNSUPPORTED_INPUT":
        return Fault("UNSUPPORTED_INPUT", message, pointer)
    return Fault(
        "NATIVE_FAILURE",
        f"{message.rstrip('.')}; observe the job's `log` and change the document.",
        exitCode=outcome.exit_code,
    )


def _text(value: Any) -> str:
    return value[:_MAX_MESSAGE_CHARACTERS] if isinstance(value, str) else ""


def _result(program: HostProgram, directory: Path) -> tuple[bytes, dict[str, Any]]:
    path = directory / "result.json"
    try:
        text = read_regular(path, MAX_RESULT_BYTES)
        return text, msgspec.json.decode(text, type=dict[str, Any])
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise _no_result(program, f"its result file is larger than {MAX_RESULT_BYTES} bytes") from None
        fault = storage_error(error, path)
        raise (_no_result(program, "it wrote no result file") if fault is error else fault) from None
    except (msgspec.DecodeError, RecursionError):
        raise _no_result(program, "its result file is not a JSON object of finite doubles") from None


def _no_result(program: HostProgram, why: str) -> Fault:
    return Fault(
        "NATIVE_FAILURE",
        f"{program.name} ended without a valid result: {why}; observe the job's `log`.",
    )
