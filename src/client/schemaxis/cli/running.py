"""``schemaxis run``: a document from plan to verified result."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemaxis.cli.documents import override, read_document, request_with, version_of
from schemaxis.cli.jobs import cancelled, job_lines
from schemaxis.cli.main import Exit, UsageError, discard_output
from schemaxis.cli.output import complain, note, print_lines, table, wrapped
from schemaxis.cli.pictures import PICTURE, pictures_of, show_inline
from schemaxis.cli.progress import Progress
from schemaxis.cli.report import passed_checks, resource_lines, verification_lines
from schemaxis.cli.resources import check_directory, save_all
from schemaxis.cli.service import Service, run_with
from schemaxis.cli.tasks import check_task_options, task_for
from schemaxis.cli.workspaces import command, creatable

_PREVIEW = "picture/preview"
# A report of a job with many outputs is still read from its beginning.
_MOST_PICTURES = 4


def run(arguments: argparse.Namespace) -> int:
    """Plan, execute, watch and show; 0 only for a verified result that meets the criteria."""
    document = read_document(arguments.document)
    for assignment in arguments.overrides:
        document = override(document, assignment)
    bindings = _bindings(arguments.bindings)
    check_task_options(arguments)
    if arguments.output_directory is not None:
        check_directory(arguments.output_directory)

    running = _Run(arguments)

    async def work(service: Service) -> int:
        return await running.perform(service, document, bindings)

    try:
        return run_with(creatable(arguments), work, json_faults=arguments.json)
    except KeyboardInterrupt:
        running.say_interrupted()
        raise


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


@dataclass
class _Outcome:
    """What there is to show. ``refused`` says why nothing was saved."""

    status: Any
    resources: list[Any]
    saved: list[Path]
    refused: UsageError | None
    fresh: Any


class _Run:
    """One run, and what to say of it when it is interrupted."""

    _service: Service

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._job_id = ""
        self._told = False

    async def perform(self, service: Service, document: Any, bindings: dict[str, str]) -> int:
        """Everything from the plan to the report; the exit code."""
        self._service = service
        task, plan = await self._planned(document, bindings)
        status = await self._executed(plan)
        outcome = await self._collected(status)
        try:
            await self._show(outcome)
            sys.stdout.flush()
        except BrokenPipeError:
            # Whoever read the report has seen enough; the work still has its outcome.
            discard_output()
        return self._code(outcome, task)

    def _say(self, line: str) -> None:
        if not self._arguments.quiet:
            note(line)

    def _shows(self, job_id: str) -> str:
        return f"{command(self._arguments, f'job {job_id}')} shows it."

    def say_interrupted(self) -> None:
        """Say what the interruption met, unless that was said when it came."""
        if self._told:
            return
        if self._job_id:
            note(f"Interrupted; {self._job_id} had ended. {self._shows(self._job_id)}")
        else:
            note("Interrupted before anything was executed.")

    async def _planned(self, document: Any, bindings: dict[str, str]) -> tuple[Any, Any]:
        task = await task_for(self._service, self._arguments, version_of(document))
        request = request_with(
            document, task_id=task["taskId"], expected_revision=task["revision"], bindings=bindings
        )
        plan = json.loads(await self._service.call_text("plan", request))
        self._say(f"{task['taskId']}  {plan['planId']}")
        return task, plan

    async def _executed(self, plan: Any) -> Any:
        """The job's status once it is terminal. Interrupted, it cancels the job first and says how it ended."""
        params = {"plan_id": plan["planId"], "expected_revision": plan["revision"]}
        # An interruption must not lose sight of a job that is being started.
        starting = asyncio.ensure_future(self._service.call("execute", **params))
        progress = Progress(sys.stderr, quiet=self._arguments.quiet)
        try:
            job_id = (await asyncio.shield(starting))["jobId"]
            self._say(job_id)
            async with progress.moving():
                await self._followed(job_id, progress)
        except asyncio.CancelledError:
            await self._cancelled((await starting)["jobId"])
            raise
        self._job_id = job_id
        return await self._service.call("job", job_id=job_id)

    async def _followed(self, job_id: str, progress: Progress) -> None:
        stream = self._service.stream("watch_job", json.dumps({"job_id": job_id}))
        async with aclosing(stream.events()) as events:
            async for event in events:
                progress.see(json.loads(event))

    async def _cancelled(self, job_id: str) -> None:
        self._told = True
        note(f"Interrupted; cancelling {job_id} …")
        status = await cancelled(self._service, job_id)
        if status["state"] == "succeeded":
            note(f"{job_id} had already succeeded. {self._shows(job_id)}")
        else:
            note(f"{job_id} is {status['state']}; nothing was published. {self._shows(job_id)}")

    async def _collected(self, status: Any) -> _Outcome:
        job_id = status["jobId"]
        found = await self._service.listed("list_resources", "resources", 500, job_id=job_id)
        saved: list[Path] = []
        refused = None
        directory = self._arguments.output_directory
        if directory is not None and found:
            resources = [one async for one in self._service.client.resources.list(job_id)]
            way = f"{command(self._arguments, f'read {job_id} -o DIR')} saves elsewhere, with --force over them."
            try:
                saved = await save_all(resources[::-1], directory, force=self._arguments.force, way=way)
            except UsageError as error:
                refused = error
        fresh = None
        if self._arguments.verify and status["verified"]:
            self._say("Verifying afresh …")
            fresh = await self._service.call("verify", job_id=job_id)
        return _Outcome(status, found, saved, refused, fresh)

    async def _show(self, outcome: _Outcome) -> None:
        if self._arguments.json:
            await self._show_json(outcome)
        else:
            print_lines(*await job_lines(self._service, outcome.status))
            print_lines(*self._rest(outcome))
            await self._draw(outcome)
        if outcome.refused is not None:
            complain(str(outcome.refused))

    async def _draw(self, outcome: _Outcome) -> None:
        """The pictures themselves, where the terminal shows them."""
        if not any(one["mediaType"].startswith(PICTURE) for one in outcome.resources):
            return
        job_id = outcome.status["jobId"]
        pictures = pictures_of([one async for one in self._service.client.resources.list(job_id)][::-1])
        shown = await show_inline(pictures[:_MOST_PICTURES])
        if shown and len(pictures) > _MOST_PICTURES:
            way = command(self._arguments, f"show {job_id}")
            print_lines(*wrapped(f"{way} shows all {len(pictures)} pictures."))

    async def _show_json(self, outcome: _Outcome) -> None:
        from schemaxis import _json

        document: dict[str, Any] = {"job": outcome.status, "resources": outcome.resources}
        if outcome.status["state"] == "succeeded":
            handle = await self._service.client.jobs.get(outcome.status["jobId"])
            for section in ("result", "criteria", "verification"):
                document[section] = await handle.evidence(section)
        if outcome.fresh is not None:
            document["freshVerification"] = outcome.fresh
        document["saved"] = [str(path.absolute()) for path in outcome.saved]
        print_lines(_json.render(document))

    def _code(self, outcome: _Outcome, task: Any) -> int:
        status = outcome.status
        succeeded = status["state"] == "succeeded" and (outcome.fresh is None or outcome.fresh["verified"])
        if not succeeded or (task["criteria"] and status["goal"] != "met"):
            return Exit.FAILED
        return Exit.DONE if outcome.refused is None else Exit.USAGE

    def _rest(self, outcome: _Outcome) -> list[str]:
        lines: list[str] = []
        if outcome.fresh is not None:
            if outcome.fresh["verified"]:
                lines += ["", f"Verified afresh: {passed_checks(outcome.fresh)}"]
            else:
                lines += ["", "Verified afresh, and refused", *verification_lines(outcome.fresh)]
        if outcome.saved:
            kinds = [one["kind"] for one in reversed(outcome.resources)]
            rows = [(str(path), kind) for path, kind in zip(outcome.saved, kinds, strict=True)]
            lines += ["", "Saved", *table(rows, indent=2)]
        elif outcome.resources:
            lines += ["", *resource_lines(outcome.resources)]
            if outcome.refused is None:
                lines += ["", *wrapped(self._way_to_save(outcome))]
        return lines

    def _way_to_save(self, outcome: _Outcome) -> str:
        everything = command(self._arguments, f"read {outcome.status['jobId']} -o DIR") + " saves all of them"
        for one in outcome.resources:
            if one["kind"] == _PREVIEW:
                preview = command(self._arguments, f"read {one['resourceId']}")
                return f"{everything}, {preview} the preview."
        return f"{everything}."
