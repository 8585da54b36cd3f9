"""``schemaxis run``: a document from plan to verified result."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

from schemaxis.cli.documents import override, read_document, request_with, version_of
from schemaxis.cli.jobs import cancelled, job_lines
from schemaxis.cli.main import Exit, UsageError
from schemaxis.cli.output import note, print_lines
from schemaxis.cli.report import resource_lines, verification_lines
from schemaxis.cli.resources import save_all
from schemaxis.cli.service import Service, run_with

_CLEAR_LINE = "\r\x1b[K"


def run(arguments: argparse.Namespace) -> int:
    """Plan, execute, watch and show; 0 only for a verified result."""
    document = read_document(arguments.document)
    for assignment in arguments.overrides:
        document = override(document, assignment)
    bindings = _bindings(arguments.bindings)
    objective = arguments.objective or f"Run {arguments.document}"

    async def work(service: Service) -> int:
        job = await _execute(service, objective, document, bindings)
        status = await _followed(service, job["jobId"])
        found = await service.listed("list_resources", "resources", 500, job_id=job["jobId"])
        saved = await _saved(service, job["jobId"], arguments.output_directory)
        fresh = await _verified(service, job["jobId"]) if arguments.verify else None
        if arguments.json:
            await _print_json(service, status, found, saved, fresh)
        else:
            print_lines(*await job_lines(service, status))
            _print_rest(found, saved, fresh)
        succeeded = status["state"] == "succeeded" and (fresh is None or fresh["verified"])
        return Exit.DONE if succeeded else Exit.FAILED

    return run_with(arguments.workspace, work, json_faults=arguments.json)


async def _execute(service: Service, objective: str, document: Any, bindings: dict[str, str]) -> Any:
    engines = (await service.call("workspace"))["engines"]
    version = version_of(document)
    # A version that nobody knows is left to the planner, which says which there are.
    providers = [one["provider"] for one in engines if one["documentVersion"] == version] or [
        one["provider"] for one in engines
    ]
    task = await service.call("create_task", objective=objective, allowed_providers=providers)
    request = request_with(document, task_id=task["taskId"], expected_revision=0, bindings=bindings)
    plan = json.loads(await service.call_text("plan", request))
    note(f"{task['taskId']}  {plan['planId']}")
    return await service.call("execute", plan_id=plan["planId"], expected_revision=plan["revision"])


def _bindings(assignments: list[str]) -> dict[str, str]:
    bindings = {}
    for assignment in assignments:
        pointer, separator, resource = assignment.partition("=")
        if not separator or not pointer.startswith("/"):
            raise UsageError(
                f"--bind {assignment}: write a pointer and a resource, as in /nodes/0/options/file=res_…"
            )
        bindings[pointer] = resource
    return bindings


async def _followed(service: Service, job_id: str) -> Any:
    """Show progress until the job is terminal; its status then. Interrupted, it cancels the job first."""
    progress = _Progress(job_id)
    stream = service.stream("watch_job", json.dumps({"job_id": job_id}))
    try:
        async with aclosing(stream.events()) as events:
            async for event in events:
                progress.show(json.loads(event))
    except asyncio.CancelledError:
        progress.clear()
        note(f"Cancelling {job_id} …")
        await cancelled(service, job_id)
        raise
    progress.clear()
    return await service.call("job", job_id=job_id)


class _Progress:
    """One line that changes in place on a terminal, and one line a state elsewhere."""

    def __init__(self, job_id: str) -> None:
        self._job_id = job_id
        self._live = sys.stderr.isatty()
        self._state = "queued"

    def show(self, event: Any) -> None:
        operation = ""
        match event:
            case {"stateChanged": {"state": state}}:
                self._state = state
            case {"progress": {"operation": operation}}:
                pass
            case _:
                return
        if self._live:
            sys.stderr.write(f"{_CLEAR_LINE}{self._job_id}  {self._state}  {operation}"[:200])
            sys.stderr.flush()
        elif not operation and "stateChanged" in event:
            note(f"{self._job_id}  {self._state}")

    def clear(self) -> None:
        if self._live:
            sys.stderr.write(_CLEAR_LINE)
            sys.stderr.flush()


async def _saved(service: Service, job_id: str, directory: Path | None) -> list[Path]:
    if directory is None:
        return []
    found = [resource async for resource in service.client.resources.list(job_id)]
    return await save_all(reversed(found), directory)


async def _verified(service: Service, job_id: str) -> Any:
    note("Verifying afresh …")
    return await service.call("verify", job_id=job_id)


async def _print_json(service: Service, status: Any, found: Any, saved: list[Path], fresh: Any) -> None:
    from schemaxis import _json

    document: dict[str, Any] = {"job": status, "resources": found}
    if status["state"] == "succeeded":
        handle = await service.client.jobs.get(status["jobId"])
        for section in ("result", "criteria", "verification"):
            document[section] = await handle.evidence(section)
    if fresh is not None:
        document["freshVerification"] = fresh
    document["saved"] = [str(path) for path in saved]
    print_lines(_json.render(document))


def _print_rest(found: Any, saved: list[Path], fresh: Any) -> None:
    if fresh is not None:
        if fresh["verified"]:
            print_lines("", f"Verified afresh: {len(fresh['checks'])} checks passed")
        else:
            print_lines("", "Verified afresh, and refused", *verification_lines(fresh))
    if saved:
        print_lines("", "Saved", *(f"  {path}" for path in saved))
    elif found:
        print_lines("", *resource_lines(found))
