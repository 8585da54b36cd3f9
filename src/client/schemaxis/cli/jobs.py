"""``schemaxis jobs``, ``job``, ``watch`` and ``cancel``."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import aclosing
from typing import Any

from schemaxis.cli import report
from schemaxis.cli.main import Exit
from schemaxis.cli.output import clock, print_lines, seconds_between, size, table
from schemaxis.cli.service import Service, run_with

TERMINAL = frozenset({"succeeded", "failed", "cancelled", "interrupted", "invalidated"})


def jobs(arguments: argparse.Namespace) -> int:
    """List jobs, newest first."""

    async def work(service: Service) -> int:
        of_task = {"task_id": arguments.task} if arguments.task else {}
        found = await service.listed("list_jobs", "jobs", arguments.limit, **of_task)
        if arguments.json:
            print_lines(json.dumps(found, ensure_ascii=False, separators=(",", ":")))
            return Exit.DONE
        rows = [
            (
                job["jobId"],
                job["state"],
                "verified" if job["verified"] else "",
                job["goal"] if job["goal"] != "unknown" else "",
                clock(job["createTime"]),
                seconds_between(job.get("startTime"), job.get("endTime")),
            )
            for job in found
        ]
        headers = ("JOB", "STATE", "", "GOAL", "CREATED", "TOOK")
        print_lines(*(table(rows, headers) if rows else ["No jobs yet."]))
        return Exit.DONE

    return run_with(arguments.workspace, work, json_faults=arguments.json)


def job(arguments: argparse.Namespace) -> int:
    """Show one job; with ``--json`` its small status as it is."""

    async def work(service: Service) -> int:
        text = await service.call_text("job", json.dumps({"job_id": arguments.job}))
        if arguments.json:
            print_lines(text)
        else:
            print_lines(*await job_lines(service, json.loads(text)))
        return Exit.DONE

    return run_with(arguments.workspace, work, json_faults=arguments.json)


async def job_lines(service: Service, status: Any) -> list[str]:
    """The job with its evidence, as far as it has any."""
    lines = [f"{status['jobId']}: {report.state_line(status)}"]
    if status["state"] not in TERMINAL:
        progress = status["progress"]
        return [*lines, f"{progress['fraction']:.0%} {progress['operation']}"]
    if "fault" in status:
        lines += report.fault_lines(status["fault"])
    if status["state"] != "succeeded":
        return lines
    handle = await service.client.jobs.get(status["jobId"])
    lines += ["", *report.result_lines(await handle.evidence("result"))]
    if criteria := await handle.evidence("criteria"):
        lines += ["", f"Goal {status['goal']}", *report.criteria_lines(criteria)]
    return [*lines, "", *report.verification_lines(await handle.evidence("verification"))]


def watch(arguments: argparse.Namespace) -> int:
    """Print events as they come; with ``--json`` one a line, then the end."""

    async def work(service: Service) -> int:
        params = {
            "job_id": arguments.job,
            "after_sequence": arguments.after,
            "follow": not arguments.no_follow,
        }
        stream = service.stream("watch_job", json.dumps(params))
        async with aclosing(stream.events()) as events:
            async for event in events:
                print_lines(event if arguments.json else event_line(json.loads(event)))
                sys.stdout.flush()
        if arguments.json:
            print_lines(stream.result)
        return Exit.DONE

    return run_with(arguments.workspace, work, json_faults=arguments.json)


def event_line(event: Any) -> str:
    """One event in a line (or, for log output, one line each)."""
    return f"{event['sequence']:>5}  {clock(event['time'])[11:]}  {_what_happened(event)}"


def _what_happened(event: Any) -> str:
    match event:
        case {"stateChanged": {"state": state}}:
            return str(state)
        case {"progress": {"fraction": fraction, "operation": operation}}:
            return f"{fraction:.0%} {operation}".rstrip()
        case {"log": log}:
            dropped = " (lines after these were dropped)" if log["truncated"] else ""
            return "\n".join(f"{log['stream']}: {line}" for line in log["lines"]) + dropped
        case {"resourcePublished": one}:
            return f"published {one['name']}, {one['kind']}, {size(one['sizeBytes'])}, {one['resourceId']}"
        case {"check": check}:
            return f"{'passed' if check['passed'] else 'FAILED'}: {check['name']} ({check['engine']})"
        case {"terminal": terminal}:
            return (
                " ".join([report.state_line(terminal), *report.fault_lines(terminal["fault"])])
                if ("fault" in terminal)
                else report.state_line(terminal)
            )
        case {"invalidated": {"fault": fault}}:
            return " ".join(["invalidated", *report.fault_lines(fault)])
    return "something that this version does not know"


def cancel(arguments: argparse.Namespace) -> int:
    """Ask the job to stop, wait until it is terminal, and show how it ended."""

    async def work(service: Service) -> int:
        status = await cancelled(service, arguments.job)
        if arguments.json:
            print_lines(json.dumps(status, ensure_ascii=False, separators=(",", ":")))
        else:
            print_lines(f"{status['jobId']}: {report.state_line(status)}")
        return Exit.DONE

    return run_with(arguments.workspace, work, json_faults=arguments.json)


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
