"""The sections of retained evidence that can be observed, as JSON text."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from schemaxis_server.execution.jobs import Jobs
from schemaxis_server.execution.ledger import evidence
from schemaxis_server.execution.observation import Observation, Window, observe
from schemaxis_server.execution.planning import OffLoop, Plans
from schemaxis_server.execution.records import Job, Plan
from schemaxis_server.execution.resources import Resources
from schemaxis_server.faults import Fault
from schemaxis_server.store.database import Database
from schemaxis_server.store.files import read_regular

JOB_SECTIONS = (
    "summary",
    "document",
    "plan",
    "result",
    "verification",
    "criteria",
    "operations",
    "resources",
    "log",
    "fault",
)
PLAN_SECTIONS = ("document", "plan", "bindings", "providers")

_NOTHING_VERIFIED = {
    "verified": False,
    "checks": [],
    "notCovered": ["Nothing was verified, since the job did not get that far."],
}
_STREAMS = ("stdout", "stderr")
_MAX_LOG_BYTES = 16 * 1024 * 1024
"""Twice what a run's output is captured to."""

_plan_file = msgspec.json.Decoder(dict[str, msgspec.Raw])
_encode = msgspec.json.encode


class Evidence:
    """Answers ``observe`` for jobs and plans."""

    def __init__(
        self,
        database: Database,
        directory: Path,
        jobs: Jobs,
        plans: Plans,
        resources: Resources,
        off_loop: OffLoop,
    ) -> None:
        self._database = database
        self._directory = directory
        self._jobs = jobs
        self._plans = plans
        self._resources = resources
        self._off_loop = off_loop

    async def observe(
        self, section: str, window: Window, job_id: str | None = None, plan_id: str | None = None
    ) -> Observation:
        """A section of exactly one job or plan, within the window.

        Raises ``INVALID_REQUEST``, ``NOT_FOUND``, ``NOT_VERIFIED`` for the result of a job
        that has not ended, and the faults of :func:`observe`.
        """
        if (job_id is None) == (plan_id is None):
            raise Fault("INVALID_REQUEST", "Give exactly one of job_id and plan_id.", "/job_id")
        window.check()
        if job_id is not None:
            text = await self._of_job(job_id, section)
        else:
            text = await self._of_plan(plan_id or "", section)
        observation: Observation = await self._off_loop(observe, text, window)
        return observation

    async def _of_plan(self, plan_id: str, section: str) -> bytes:
        plan = self._plans.get(plan_id)
        if section not in PLAN_SECTIONS:
            raise _no_section("plan", section, PLAN_SECTIONS)
        return await self._plan_section(plan, section)

    async def _plan_section(self, plan: Plan, section: str) -> bytes:
        if section == "bindings":
            return _encode(plan.bindings)
        if section == "providers":
            return _encode(plan.providers)
        file = _plan_file.decode(await self._plans.file_bytes(plan))
        return bytes(file["document"]) if section == "document" else _plan_view(plan, bytes(file["resolved"]))

    async def _of_job(self, job_id: str, section: str) -> bytes:
        job = self._jobs.get(job_id)
        if section not in JOB_SECTIONS:
            raise _no_section("job", section, JOB_SECTIONS)
        match section:
            case "summary":
                return _encode(job)
            case "fault":
                return _encode(job.fault)
            case "document" | "plan":
                return await self._plan_section(self._plans.get(job.plan_id), section)
            case "resources":
                return _encode(await self._resources.of_job(job))
            case "log":
                return await self._log(job)
        return await self._kept(job, section)

    async def _kept(self, job: Job, section: str) -> bytes:
        """A section that is written with the job's end."""
        kept = await self._database.scan(lambda connection: evidence(connection, job.job_id, section))
        if kept is not None:
            return kept
        if not job.state.terminal:
            raise Fault(
                "NOT_VERIFIED",
                f"The job is {job.state}; its {section} is there when it has ended. Ask for the job again, or watch it.",
                "/section",
                state=job.state.value,
            )
        empty: dict[str, Any] = {
            "result": {"partial": True, "outputs": {}},
            "verification": _NOTHING_VERIFIED,
            "criteria": [],
            "operations": [],
        }
        return _encode(empty[section])

    async def _log(self, job: Job) -> bytes:
        plan = self._plans.get(job.plan_id)
        text: bytes = await self._off_loop(
            _read_logs, self._directory / job.job_id, [one.operation_id for one in plan.operations]
        )
        return text


def _plan_view(plan: Plan, resolved: bytes) -> bytes:
    view = msgspec.to_builtins(replace(plan, file_sha256=""))
    del view["fileSha256"]
    return _encode({**view, "resolvedDocument": msgspec.Raw(resolved)})


def _read_logs(directory: Path, operations: list[str]) -> bytes:
    """The captured output of each operation and its verifier; what was not captured is absent."""
    logs = {}
    for operation in operations:
        places = {operation: directory / operation, f"{operation}.verify": directory / operation / "verify"}
        for name, place in places.items():
            found = {stream: _lines(place / f"{stream}.log") for stream in _STREAMS}
            if any(lines is not None for lines in found.values()):
                logs[name] = {stream: lines or [] for stream, lines in found.items()}
    return _encode(logs)


def _lines(path: Path) -> list[str] | None:
    try:
        return read_regular(path, _MAX_LOG_BYTES).decode("utf-8", "replace").splitlines()
    except OSError as error:
        # The engine can write to it too, beyond what the service captures.
        return [f"{path.name} is {error.strerror} and not shown"] if error.errno == errno.EFBIG else None


def _no_section(thing: str, section: str, sections: tuple[str, ...]) -> Fault:
    return Fault(
        "INVALID_REQUEST",
        f"A {thing} has no section {section[:80]!r}; ask for one of {', '.join(sections)}.",
        "/section",
        choices=list(sections),
    )
