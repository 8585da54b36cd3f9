"""The main study, line by line, through a real ``schemaxis agent`` that owns its server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from bridge.agent_process import AgentProcess

HEIGHT = 5
TERMINAL = {"succeeded", "failed", "cancelled", "interrupted"}


def box(height: float) -> dict[str, Any]:
    return {
        "version": "schemaxis.occt/1",
        "nodes": [{"id": "body", "filter": "box", "options": {"length": 20, "width": 10, "height": height}}],
        "output": "body",
    }


@pytest.fixture
def workspace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sx-") as directory:
        yield Path(directory) / "session"


@pytest.fixture
async def agent(workspace: Path) -> AsyncIterator[AgentProcess]:
    process = await AgentProcess.start(workspace)
    yield process
    await process.close()


def children_of(pid: int) -> list[int]:
    """The processes that ``pid`` started, from whichever thread."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for path in lists for child in path.read_text().split()]


class Study:
    """Asks one line after the other, with ids from the replies."""

    def __init__(self, agent: AgentProcess) -> None:
        self._agent = agent
        self._id = 0

    async def fault(self, method: str, **params: Any) -> Any:
        answer = await self._ask(method, params)
        assert answer["ok"] is False, answer
        return answer["fault"]

    async def result(self, method: str, **params: Any) -> Any:
        answer = await self._ask(method, params)
        assert answer["ok"] is True, answer
        return answer["result"]

    async def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._id += 1
        answer = await self._agent.ask(self._id, method, **params)
        assert answer["id"] == self._id
        return answer

    async def finished(self, job_id: str) -> Any:
        """Watch the job to its end; its status then."""
        self._agent.send("watch", "watch_job", job_id=job_id)
        sequences = []
        while "event" in (line := await self._agent.line()):
            sequences.append(line["event"]["sequence"])
        assert sequences == list(range(1, len(sequences) + 1))
        assert line["result"] == {"lastSequence": len(sequences), "reason": "terminal"}
        return await self.result("job", job_id=job_id)

    async def volume(self, job_id: str) -> float:
        observed = await self.result(
            "observe", job_id=job_id, section="result", pointer="/outputs/body/volume/value"
        )
        assert observed["mode"] == "value"
        return float(observed["value"])


async def test_from_a_document_to_a_verified_part_and_its_revision(agent: AgentProcess) -> None:
    study = Study(agent)
    listed = await study.result("methods")
    assert {"create_task", "plan", "execute", "watch_job"} <= {method["name"] for method in listed["methods"]}
    found = await study.result("capabilities.search", query="extrusion", scope="domain/geometry")
    assert found["matches"][0]["capability"]["capability"].endswith(".extrude")

    task = await study.result(
        "create_task",
        objective="Produce a 1500 mm3 box",
        allowed_providers=["occt"],
        budget={"maxAttempts": 2, "maxElapsedSeconds": 180},
        criteria=[{"pointer": "/outputs/body/volume", "operator": "equals", "value": 1500}],
    )
    task_id = task["taskId"]
    assert task["revision"] == 0

    first = await study.result("plan", task_id=task_id, expected_revision=0, document=box(HEIGHT))
    job = await study.result("execute", plan_id=first["planId"], expected_revision=1)
    first_job = job["jobId"]
    assert job["state"] in {"queued", "running"}
    assert (await study.result("job", job_id=first_job))["jobId"] == first_job
    done = await study.finished(first_job)
    assert (done["state"], done["verified"], done["goal"]) == ("succeeded", True, "not-met")
    verification = await study.result("observe", job_id=first_job, section="verification")
    assert verification["revision"]
    volume = await study.volume(first_job)
    assert volume == pytest.approx(1000, rel=1e-12)

    height = HEIGHT * 1500 / volume
    second = await study.result("plan", task_id=task_id, expected_revision=1, document=box(height))
    assert second["revision"] == 2
    stale = await study.fault("execute", plan_id=first["planId"], expected_revision=2)
    assert stale["code"] == "STALE_PLAN"
    assert (await study.fault("plan", task_id=task_id, expected_revision=1, document=box(1)))[
        "code"
    ] == "STALE_REVISION"
    job = await study.result("execute", plan_id=second["planId"], expected_revision=2)
    done = await study.finished(job["jobId"])
    assert (done["state"], done["verified"], done["goal"]) == ("succeeded", True, "met")
    assert await study.volume(job["jobId"]) == pytest.approx(1500, abs=1e-9)
    assert await study.volume(first_job) == pytest.approx(1000, rel=1e-12)

    fresh = await study.result("verify", job_id=job["jobId"])
    assert fresh["verified"] is True
    assert all(check["name"] and check["passed"] for check in fresh["checks"])
    assert fresh["notCovered"]

    third = await study.fault("execute", plan_id=second["planId"], expected_revision=2)
    assert third["code"] == "BUDGET_EXHAUSTED"
    assert (await study.result("task", task_id=task_id))["usage"]["attempts"] == 2


async def test_a_published_file_is_read_in_ranges(agent: AgentProcess) -> None:
    study = Study(agent)
    task = await study.result("create_task", objective="A box", allowed_providers=["occt"])
    plan = await study.result("plan", task_id=task["taskId"], expected_revision=0, document=box(5))
    job = await study.result("execute", plan_id=plan["planId"], expected_revision=1)
    done = await study.finished(job["jobId"])
    for resource_id in done["resourceIds"]:
        resource = await study.result("get_resource", resource_id=resource_id)
        read = await study.result("resource", resource_id=resource_id)
        assert (read["sizeBytes"], read["sha256"]) == (resource["sizeBytes"], resource["sha256"])


async def test_documents_that_are_no_i_json_are_named(agent: AgentProcess) -> None:
    study = Study(agent)
    task = await study.result("create_task", objective="A box", allowed_providers=["occt"])
    head = f'{{"id":"d","method":"plan","params":{{"task_id":"{task["taskId"]}","expected_revision":0,"document":'
    for document, code in (
        ('{"a":1e999}', "INVALID_DOCUMENT"),
        ('{"a":1,"a":2}', "INVALID_DOCUMENT"),
        ('{"a":' + "9" * 5000 + "}", "INVALID_DOCUMENT"),
        ('{"a":"\\ud800"}', "INVALID_DOCUMENT"),
        ('"{}"', "INVALID_DOCUMENT"),
        ('{"a":NaN}', "INVALID_REQUEST"),
        ("[" * 65 + "]" * 65, "INVALID_REQUEST"),
        ("null", "INVALID_REQUEST"),
    ):
        agent.write(f"{head}{document}}}}}\n".encode())
        answer = await agent.line()
        assert (answer["id"], answer["ok"], answer["fault"]["code"]) == ("d", False, code), document


async def test_the_end_of_input_cancels_and_closes_the_workspace(workspace: Path) -> None:
    agent = await AgentProcess.start(workspace)
    study = Study(agent)
    task = await study.result("create_task", objective="A box", allowed_providers=["occt"])
    plan = await study.result("plan", task_id=task["taskId"], expected_revision=0, document=box(5))
    agent.send("e", "execute", plan_id=plan["planId"], expected_revision=1)
    agent.end_input()
    (answer,) = await agent.rest()
    assert answer["id"] == "e"
    assert await agent.exit_code() == 0

    again = await AgentProcess.start(workspace)
    job = (await again.ask(1, "job", job_id=answer["result"]["jobId"]))["result"]
    # It may have been faster than its cancellation, but nothing is left undecided.
    assert job["state"] in {"cancelled", "succeeded"}
    await again.close()


async def test_two_agents_share_the_server_of_the_first(workspace: Path) -> None:
    owner = await AgentProcess.start(workspace)
    assert (await owner.ask(1, "list_jobs"))["ok"] is True
    guest = await AgentProcess.start(workspace)
    made = await guest.ask(1, "create_task", objective="A box", allowed_providers=["occt"])
    task_id = made["result"]["taskId"]
    assert (await owner.ask(2, "task", task_id=task_id))["result"]["taskId"] == task_id
    await guest.close()
    assert (await owner.ask(3, "task", task_id=task_id))["ok"] is True
    await owner.close()


async def test_a_killed_server_is_started_again(workspace: Path) -> None:
    agent = await AgentProcess.start(workspace)
    assert (await agent.ask(1, "list_jobs"))["ok"] is True
    for child in children_of(agent.pid):
        os.kill(child, signal.SIGKILL)
    while not (answer := await agent.ask("again", "list_jobs"))["ok"]:
        assert answer["fault"]["retryable"] is True, answer
        await asyncio.sleep(0)
    await agent.close()
    assert json.loads(agent.stderr.splitlines()[-1])["message"] == "stopped"


async def test_a_killed_agent_takes_its_server_with_it(workspace: Path) -> None:
    agent = await AgentProcess.start(workspace)
    assert (await agent.ask(1, "list_jobs"))["ok"] is True
    (server,) = children_of(agent.pid)
    os.kill(agent.pid, signal.SIGKILL)
    handle = os.pidfd_open(server)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(handle, ended.set)
    async with asyncio.timeout(20):
        await ended.wait()
    loop.remove_reader(handle)
    os.close(handle)
    await agent.close()
    successor = await AgentProcess.start(workspace)
    assert (await successor.ask(1, "list_jobs"))["ok"] is True
    await successor.close()
