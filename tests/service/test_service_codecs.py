"""Jobs and moments as Protobuf: what the fast ways of filling a message must not lose."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st
from schemaxis_server.execution.records import FaultView, Goal, Job, JobState, NativeState, Progress
from schemaxis_server.rpc.codecs.common import timestamp
from schemaxis_server.rpc.codecs.job import job_message, job_response

MOMENT = datetime(2026, 3, 1, 12, 30, 15, 250_001, tzinfo=UTC)


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-9, minutes=30))])))
def test_a_moment_is_told_as_the_library_tells_it(moment: datetime) -> None:
    expected = Timestamp()
    expected.FromDatetime(moment)
    assert timestamp(moment) == expected


def job(**changes: object) -> Job:
    fields: dict[str, object] = {
        "job_id": "job_1",
        "plan_id": "plan_1",
        "task_id": "task_1",
        "revision": 3,
        "state": JobState.QUEUED,
        "create_time": MOMENT,
    }
    return Job(**(fields | changes))  # type: ignore[arg-type]


def test_every_field_of_a_job_is_told() -> None:
    message = job_message(
        job(
            state=JobState.FAILED,
            verified=True,
            goal=Goal.NOT_MET,
            native_state=NativeState.KILLED,
            progress=Progress(fraction=0.5, operation="body"),
            fault=FaultView(code="NATIVE_TIMEOUT", message="too long"),
            resource_ids=("res_1", "res_2"),
            last_sequence=9,
            start_time=MOMENT + timedelta(seconds=1),
            end_time=MOMENT + timedelta(seconds=2),
        )
    )
    told = {field.name for field, _ in message.ListFields()}
    assert told == {field.name for field in message.DESCRIPTOR.fields}
    assert message.create_time.ToDatetime(UTC) == MOMENT
    assert message.end_time.ToDatetime(UTC) - message.start_time.ToDatetime(UTC) == timedelta(seconds=1)
    assert list(message.resource_ids) == ["res_1", "res_2"]
    assert message.fault.code == "NATIVE_TIMEOUT"


@pytest.mark.parametrize("name", ["start_time", "end_time", "fault"])
def test_what_a_queued_job_does_not_have_is_not_told(name: str) -> None:
    assert not job_message(job()).HasField(name)  # type: ignore[arg-type]


def test_a_queued_job_tells_its_progress_of_nothing() -> None:
    assert job_message(job()).HasField("progress")


def test_both_ways_to_tell_a_job_agree() -> None:
    assert job_response(job(last_sequence=4)).job == job_message(job(last_sequence=4))
