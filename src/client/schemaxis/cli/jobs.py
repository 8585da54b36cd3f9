"""``schemaxis jobs``, ``job``, ``watch`` and ``cancel``."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from schemaxis.cli import report
from schemaxis.cli.faults import fault_lines
from schemaxis.cli.main import Exit
from schemaxis.cli.output import age, clean, clock, note, print_lines, seconds_between, size, table, wrapped
from schemaxis.cli.service import Service, run_with
from schemaxis.cli.workspaces import command, existing

TERMINAL = frozenset({"succeeded", "failed", "cancelled", "interrupted", "invalidated"})
# Verifications that are read at the same time for a list.
_AT_ONCE = 16


def jobs(arguments: argparse.Namespace) -> int:
    """List jobs, newest first."""

    async def work(service: Service) -> int:
        of_task = {"task_id": arguments.task} if arguments.task else {}
        found = await service.listed("list_jobs", "jobs", arguments.limit, **of_task)
        if arguments.json:
            print_lines(json.dumps(found, ensure_ascii=False, separators=(",", ":")))
            return Exit.DONE
        if not found:
            print_lines("No jobs yet; `schemaxis run DOCUMENT` makes one.")
            return Exit.DONE
        rows = [
            (
                job["jobId"],
                job["state"],
                goal,
                age(job["createTime"]),
                seconds_between(job.get("startTime"), job.get("endTime")),
                verified,
            )
            for job, (goal, verified) in zip(found, await _standings(service, found), strict=True)
        ]
        print_lines(*table(rows, ("JOB", "STATE", "GOAL", "AGE", "TOOK", "VERIFIED")))
        if any(job["verified"] for job in found):
            way = command(arguments, "job JOB")
            print_lines(
                "", *wrapped(f"Verified: checks passed, points that no check covers; {way} tells them.")
            )
        return Exit.DONE

    return run_with(existing(arguments), work, json_faults=arguments.json)


async def _standings(service: Service, found: Sequence[Any]) -> list[tuple[str, str]]:
    """Each job's goal in a word, and what stands behind its ``verified``."""
    turn = asyncio.Semaphore(_AT_ONCE)

    async def standing(job: Any) -> tuple[str, str]:
        if not job["verified"]:
            return "-", ""
        async with turn:
            handle = await service.client.jobs.get(job["jobId"])
            goal = job["goal"]
            if goal == "unknown" and not await handle.evidence("criteria"):
                goal = "none"
            return goal, report.strength(await handle.evidence("verification"))

    return await asyncio.gather(*map(standing, found))


def job(arguments: argparse.Namespace) -> int:
    """Show one job; with ``--json`` its small status as it is."""

    async def work(service: Service) -> int:
        text = await service.call_text("job", json.dumps({"job_id": arguments.job}))
        if arguments.json:
            print_lines(text)
        else:
            print_lines(*await job_lines(service, json.loads(text)))
        return Exit.DONE

    return run_with(existing(arguments), work, json_faults=arguments.json)


async def job_lines(service: Service, status: Any) -> list[str]:
    """The job with its evidence, as far as it has any."""
    lines = [f"{status['jobId']}: {report.state_line(status)}"]
    if status["state"] not in TERMINAL:
        progress = status["progress"]
        return [*lines, f"{progress['fraction']:.0%} {clean(progress['operation'])}".rstrip()]
    if "fault" in status:
        lines += fault_lines(status["fault"])
    if status["state"] != "succeeded":
        return lines
    handle = await service.client.jobs.get(status["jobId"])
    lines += ["", *report.result_lines(await handle.evidence("result")), ""]
    if criteria := await handle.evidence("criteria"):
        lines += [f"Goal: {status['goal']}", *report.criteria_lines(criteria), ""]
    else:
        lines += ["Goal: its task has no criteria", ""]
    return lines + report.verification_lines(await handle.evidence("verification"))


def watch(arguments: argparse.Namespace) -> int:
    """Print events as they come; with ``--json`` one a line, then the end."""

    async def work(service: Service) -> int:
        params = {
            "job_id": arguments.job,
            "after_sequence": arguments.after,
            "follow": not arguments.no_follow,
        }
        stream = service.stream("watch_job", json.dumps(params))
        try:
            async with aclosing(stream.events()) as events:
                async for event in events:
                    print_lines(*([event] if arguments.json else event_lines(json.loads(event))))
                    sys.stdout.flush()
        except asyncio.CancelledError:
            way = command(arguments, f"cancel {arguments.job}")
            note(f"Stopped watching; that does not stop {arguments.job}, {way} does.")
            raise
        if arguments.json:
            print_lines(stream.result)
        return Exit.DONE

    return run_with(existing(arguments), work, json_faults=arguments.json)


def event_lines(event: Any) -> list[str]:
    """One event: a line, or more for log output and faults, the further ones under the first."""
    first, *rest = _what_happened(event)
    start = f"{event['sequence']:>5}  {clock(event['time'])[11:]}  "
    return [start + first, *(" " * len(start) + line for line in rest)]


def _what_happened(event: Any) -> list[str]:
    match event:
        case {"stateChanged": {"state": state}}:
            return [str(state)]
        case {"progress": {"fraction": fraction, "operation": operation}}:
            return [f"{fraction:.0%} {clean(operation)}".rstrip()]
        case {"log": log}:
            lines = [f"{log['stream']}: {clean(line)}" for line in log["lines"]]
            return lines + (["(lines after these were dropped)"] if log["truncated"] else []) or [""]
        case {"resourcePublished": one}:
            name = clean(one["name"])
            return [f"published {name}, {one['kind']}, {size(one['sizeBytes'])}, {one['resourceId']}"]
        case {"check": check}:
            outcome = "passed" if check["passed"] else "FAILED"
            return [clean(f"{outcome}: {check['name']} ({check['engine']})")]
        case {"terminal": terminal}:
            faults = fault_lines(terminal["fault"]) if "fault" in terminal else []
            return [report.state_line(terminal), *faults]
        case {"invalidated": {"fault": fault}}:
            return ["invalidated", *fault_lines(fault)]
    return ["something that this version does not know"]


def cancel(arguments: argparse.Namespace) -> int:
    """Ask the job to stop, wait until it is terminal, and show how it ended."""

    async def work(service: Service) -> int:
        try:
            status = await cancelled(service, arguments.job)
        except asyncio.CancelledError:
            note(
                f"Stopped waiting; {arguments.job} was asked to stop. `schemaxis job {arguments.job}` tells."
            )
            raise
        if arguments.json:
            print_lines(json.dumps(status, ensure_ascii=False, separators=(",", ":")))
        else:
            print_lines(f"{status['jobId']}: {report.state_line(status)}")
        return Exit.DONE

    return run_with(existing(arguments), work, json_faults=arguments.json)


async def cancelled(service: Service, job_id: str) -> Any:
    """Cancel the job and wait; its status once it is terminal."""
    status = await service.call("cancel", job_id=job_id)
    if status["state"] in TERMINAL:
        return status
    params = {"job_id": job_id, "after_sequence": status["lastSequence"]}
    stream = service.stream("watch_job", json.dumps(params))
    async with aclosing(stream.events()) as events:
        async for _ in events:
            pass
    return await service.call("job", job_id=job_id)
