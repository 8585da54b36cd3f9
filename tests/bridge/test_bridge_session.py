"""A real ``schemaxis agent`` process, attached to a scripted service."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest
from schemaxis.v1 import job_pb2

from bridge.agent_process import AgentProcess
from bridge.scripted_service import BREAK, HANG, ScriptedService, end, events, heartbeat

GOLDEN = Path(__file__).parent / "golden"
MEBIBYTE = 1024 * 1024


async def faulty(agent: AgentProcess, line: bytes) -> dict[str, object]:
    """Send a line that must be refused; its answer's fault, after a check that the session goes on."""
    agent.write(line + b"\n")
    answer = await agent.line()
    assert answer["ok"] is False
    agent.send("next", "stop", request="nobody")
    assert await agent.line() == {"id": "next", "ok": True, "result": {"stopped": False}}
    return {"id": answer["id"], **answer["fault"]}


async def test_golden_frames(agent: AgentProcess, service: ScriptedService) -> None:
    service.watches = [[events(1), heartbeat(), end(1)]]
    service.evidence = '{"volume":{"value":1500.0000000000002,"unit":"mm^3"},"big":12345678901234567890}'
    lines = (GOLDEN / "session.jsonl").read_bytes().splitlines(keepends=True)
    for line in lines:
        direction, frame = line[:2], line[2:]
        if direction == b"> ":
            agent.write(frame)
        else:
            assert await agent.raw() == frame


@pytest.mark.parametrize(
    ("line", "identity", "code"),
    [
        (b'{"id":1,"method":"\xff"}', None, "INVALID_REQUEST"),
        (b'{"id":1,"method":"methods","params":{"x":"\x00"}}', None, "INVALID_REQUEST"),
        (b'{"id":1,"method":"nothing.like.it"}', 1, "UNKNOWN_METHOD"),
        (b'{"id":1,"method":"\\ud800"}', 1, "UNKNOWN_METHOD"),
        (b'{"id":1.5,"method":"methods"}', None, "INVALID_REQUEST"),
        (b'{"id":true,"method":"methods"}', None, "INVALID_REQUEST"),
        (b'{"id":null,"method":"methods"}', None, "INVALID_REQUEST"),
        (b'{"id":{},"method":"methods"}', None, "INVALID_REQUEST"),
        (b'[{"id":1,"method":"methods"},{"id":2,"method":"methods"}]', None, "INVALID_REQUEST"),
        (b'{"id":"a","method":"methods","params":{"x":1}}', "a", "INVALID_REQUEST"),
        (b'{"id":"a","method":"plan","params":{"document":' + b"[" * 100_000 + b"}", "a", "INVALID_REQUEST"),
        (b'{"id":"a","method":"stop"}', "a", "INVALID_REQUEST"),
        (b'{"id":"a","method":"create_task","params":{"objective":NaN}}', "a", "INVALID_REQUEST"),
        (b'{"id":"a","method":"create_task","params":{"objektive":"x"}}', "a", "INVALID_REQUEST"),
        (b"x" * (MEBIBYTE + 1), None, "REQUEST_TOO_LARGE"),
        (b"x" * (5 * MEBIBYTE), None, "REQUEST_TOO_LARGE"),
    ],
)
async def test_a_bad_line_gets_a_fault_and_the_session_goes_on(
    agent: AgentProcess, line: bytes, identity: object, code: str
) -> None:
    fault = await faulty(agent, line)
    assert fault["id"] == identity
    assert fault["code"] == code
    assert set(fault) == {"id", "code", "message", "retryable", "pointer", "details"}


async def test_an_unknown_method_names_the_nearest(agent: AgentProcess) -> None:
    answer = await agent.ask(1, "capabilities_search")
    assert answer["fault"]["details"] == {"nearest": "capabilities.search"}


async def test_white_space_of_every_kind(agent: AgentProcess) -> None:
    agent.write(b'\xef\xbb\xbf{"id":1,"method":"stop","params":{"request":9}}\r\n')
    agent.write(b'\n \r\n\t\n{"id":2,\r"method":"stop","params":{"request":9}}\n')
    agent.write('{"id":"\u2028","method":"stop","params":{"request":9}}\n'.encode())
    assert [(await agent.line())["id"] for _ in range(3)] == [1, 2, "\u2028"]


async def test_the_last_line_needs_no_newline(agent: AgentProcess) -> None:
    agent.write(b'{"id":1,"method":"create_task","params":{"objective":"x"}}')
    agent.end_input()
    assert [line["id"] for line in await agent.rest()] == [1]
    assert await agent.exit_code() == 0


async def test_a_line_of_one_mebibyte_is_served(agent: AgentProcess, service: ScriptedService) -> None:
    head, tail = b'{"id":1,"method":"plan","params":{"task_id":"t","document":"', b'"}}'
    agent.write(head + b"x" * (MEBIBYTE - len(head) - len(tail)) + tail + b"\n")
    assert (await agent.line())["ok"] is True
    assert len(service.requests[0].document_json) == MEBIBYTE - len(head) - len(tail) + 2


async def test_faults_of_the_service_pass_unchanged(agent: AgentProcess) -> None:
    answer = await agent.ask("t", "task", task_id="task_9")
    assert answer == {
        "id": "t",
        "ok": False,
        "fault": {
            "code": "NOT_FOUND",
            "message": "There is no such task; list them.",
            "retryable": False,
            "pointer": "/task_id",
            "details": {"nearest": "task_1", "huge": 2**70},
        },
    }


async def test_a_method_that_the_service_lacks(agent: AgentProcess) -> None:
    assert (await agent.ask(1, "workspace"))["fault"]["code"] == "UNKNOWN_METHOD"


async def test_a_fault_that_cannot_be_read_is_answered(agent: AgentProcess) -> None:
    answer = await agent.ask(1, "get_plan", plan_id="p")
    assert (answer["id"], answer["fault"]["code"]) == (1, "INTERNAL")
    assert answer["fault"]["details"] == {"status": "FAILED_PRECONDITION"}
    assert (await agent.ask(1, "job", job_id="j"))["ok"] is True, "the id is free again"


async def test_a_long_verify_blocks_nothing_and_ids_differ_by_type(
    agent: AgentProcess, service: ScriptedService
) -> None:
    agent.send(1, "verify", job_id="job_1")
    await service.verify_entered.wait()
    again = await agent.ask(1, "job", job_id="job_1")
    assert (again["id"], again["fault"]["pointer"]) == (1, "/id")
    assert (await agent.ask("1", "job", job_id="job_1"))["result"]["state"] == "running"
    service.verify_may_end.set()
    assert (await agent.line())["result"]["verified"] is True
    assert (await agent.ask(1, "job", job_id="job_1"))["ok"] is True


async def test_requests_start_in_the_order_of_their_lines(
    agent: AgentProcess, service: ScriptedService
) -> None:
    agent.write(
        b"".join(
            b'{"id":%d,"method":"execute","params":{"plan_id":"p"}}\n'
            b'{"id":%d,"method":"list_jobs"}\n'
            b'{"id":%d,"method":"watch_job","params":{"job_id":"j"}}\n' % (at, at + 1, at + 2)
            for at in range(0, 300, 3)
        )
    )
    answers = [await agent.line() for _ in range(300)]
    assert sorted(answer["id"] for answer in answers) == list(range(300))
    assert service.calls[:300] == ["ExecutePlan", "ListJobs", "WatchJob"] * 100
    service.cancelled.clear()


async def test_a_broken_watch_resumes_behind_the_last_event(
    agent: AgentProcess, service: ScriptedService
) -> None:
    service.watches = [
        [events(3, 4), BREAK],
        [BREAK],
        [events(4, 5), heartbeat()],
        [events(6), end(6, job_pb2.END_REASON_DRAINING)],
    ]
    agent.send("w", "watch_job", job_id="job_1", after_sequence="2")
    sequences = [(await agent.line())["event"]["sequence"] for _ in range(4)]
    assert sequences == [3, 4, 5, 6]
    assert await agent.line() == {
        "id": "w",
        "ok": True,
        "result": {"lastSequence": 6, "reason": "draining"},
    }
    assert service.watch_after == [2, 4, 4, 5]


async def test_stop_ends_a_stream_and_both_are_answered(
    agent: AgentProcess, service: ScriptedService
) -> None:
    service.watches = [[events(1), HANG]]
    agent.send(1, "watch_job", job_id="job_1")
    assert (await agent.line())["event"]["sequence"] == 1
    agent.send(2, "verify", job_id="job_1")
    refused = await agent.ask(3, "stop", request=2)
    assert refused["fault"]["pointer"] == "/request"
    assert (await agent.ask(4, "stop", request="1"))["result"] == {"stopped": False}
    agent.send(5, "stop", request=1)
    answers = {answer["id"]: answer for answer in [await agent.line(), await agent.line()]}
    assert answers[5]["result"] == {"stopped": True}
    assert answers[1]["fault"]["code"] == "CANCELLED"
    await asyncio.wait_for(service.watch_left.wait(), 10)
    service.verify_may_end.set()
    assert (await agent.line())["id"] == 2


async def test_a_stream_stopped_by_the_very_next_line_is_answered(agent: AgentProcess) -> None:
    agent.write(
        b'{"id":1,"method":"watch_job","params":{"job_id":"j"}}\n{"id":2,"method":"stop","params":{"request":1}}\n'
    )
    assert {(await agent.line())["id"], (await agent.line())["id"]} == {1, 2}


async def test_too_many_streams_are_refused_not_queued(agent: AgentProcess, service: ScriptedService) -> None:
    service.watches = [[HANG]] * 65
    for identity in range(65):
        agent.send(identity, "watch_job", job_id="j")
    answer = await agent.line()
    assert (answer["id"], answer["fault"]["code"], answer["fault"]["retryable"]) == (64, "OVERLOADED", True)
    for identity in range(64):
        agent.send(f"stop {identity}", "stop", request=identity)
    assert len([await agent.line() for _ in range(128)]) == 128


async def test_end_of_input_answers_everything_and_cancels_what_it_started(
    agent: AgentProcess, service: ScriptedService
) -> None:
    service.watches = [[HANG], [end(0)]]
    agent.send("e", "execute", plan_id="p")
    agent.send("w", "watch_job", job_id="job_1")
    agent.send("v", "verify", job_id="job_of_others")
    await asyncio.wait_for(service.hung.wait(), 10)
    agent.end_input()
    await asyncio.wait_for(service.cancelled["job_1"].wait(), 10)
    service.verify_may_end.set()
    answers = {line["id"]: line for line in await agent.rest()}
    assert answers["e"]["ok"] is True
    assert answers["v"]["ok"] is True
    assert answers["w"]["fault"]["code"] == "SHUTTING_DOWN"
    assert await agent.exit_code() == 0
    assert service.calls.count("CancelJob") == 1


async def test_a_job_whose_end_was_watched_is_not_cancelled(
    agent: AgentProcess, service: ScriptedService
) -> None:
    service.watches = [[events(1), end(1)]]
    assert (await agent.ask("e", "execute", plan_id="p"))["ok"] is True
    agent.send("w", "watch_job", job_id="job_1")
    assert [(await agent.line())["id"] for _ in range(2)] == ["w", "w"]
    agent.end_input()
    assert await agent.rest() == []
    assert "CancelJob" not in service.calls


async def test_five_megabytes_arrive_whole_at_a_slow_reader(
    workspace: Path, service: ScriptedService
) -> None:
    count = 5 * MEBIBYTE // len(service.range_data)
    requests = b"".join(
        b'{"id":%d,"method":"resource","params":{"resource_id":"r"}}\n' % identity
        for identity in range(count)
    )
    read_end, write_end = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *AgentProcess.command(workspace), stdin=asyncio.subprocess.PIPE, stdout=write_end
    )
    os.close(write_end)
    assert process.stdin is not None
    process.stdin.write(requests)
    process.stdin.close()
    received = bytearray()
    while chunk := await asyncio.to_thread(os.read, read_end, 4096):
        received += chunk
    os.close(read_end)
    answers = [json.loads(line) for line in received.splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(count))
    assert {answer["result"]["sizeBytes"] for answer in answers} == {2**53 + 1}
    assert await process.wait() == 0


async def test_a_closed_output_ends_the_session(workspace: Path, service: ScriptedService) -> None:
    read_end, write_end = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *AgentProcess.command(workspace),
        stdin=asyncio.subprocess.PIPE,
        stdout=write_end,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(write_end)
    os.close(read_end)
    assert process.stdin is not None
    process.stdin.write(b'{"id":1,"method":"execute","params":{"plan_id":"p"}}\n')
    _, said = await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == 0
    assert b"Traceback" not in said


async def test_nothing_but_the_protocol_reaches_the_output(workspace: Path, service: ScriptedService) -> None:
    noisy = (
        "import os, sys; from schemaxis.bridge import methods; real = methods.load_methods\n"
        "def load(): print('from a library'); os.write(1, b'from C\\n'); return real()\n"
        "import schemaxis.bridge.agent as agent; agent.load_methods = load\n"
        f"from pathlib import Path; sys.exit(agent.run_agent(Path({str(workspace)!r})))"
    )
    process = await asyncio.create_subprocess_exec(
        AgentProcess.command(workspace)[0],
        "-c",
        noisy,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, said = await process.communicate(b'{"id":1,"method":"stop","params":{"request":1}}\n')
    assert [json.loads(line)["id"] for line in out.splitlines()] == [1]
    assert b"from a library" in said
    assert b"from C" in said


async def test_a_signal_ends_the_session_like_the_end_of_input(
    agent: AgentProcess, service: ScriptedService
) -> None:
    assert (await agent.ask("e", "execute", plan_id="p"))["ok"] is True
    agent.terminate()
    assert await agent.rest() == []
    assert await agent.exit_code() == 128 + 15
    assert service.cancelled["job_1"].is_set()
