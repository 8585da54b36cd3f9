"""Messages to JSON: what is written and left out, exact evidence, and the round trip."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from google.protobuf import timestamp_pb2
from hypothesis import given
from hypothesis import strategies as st
from schemaxis.bridge.decoding import decode
from schemaxis.bridge.encoding import encode, number, part_encoder
from schemaxis.bridge.text import parse
from schemaxis.v1 import fault_pb2, job_pb2, observation_pb2, plan_pb2, resource_pb2, task_pb2


def test_unset_optional_fields_are_left_out_and_all_others_written() -> None:
    written = encode(job_pb2.Job(job_id="job_1", state=job_pb2.JOB_STATE_CANCELLATION_REQUESTED))
    assert written == (
        '{"jobId":"job_1","planId":"","taskId":"","revision":0,"state":"cancellation-requested",'
        '"verified":false,"goal":"unspecified","nativeState":"unspecified",'
        '"progress":{"fraction":0.0,"operation":""},"resourceIds":[],"lastSequence":0,"createTime":null}'
    )


def test_an_optional_field_that_is_set_to_zero_is_written() -> None:
    assert encode(task_pb2.Budget(max_attempts=0)) == '{"maxAttempts":0}'
    assert encode(job_pb2.WatchJobRequest(follow=False)) == '{"jobId":"","afterSequence":0,"follow":false}'


def test_64_bit_integers_bytes_and_times() -> None:
    page = observation_pb2.ObservationPage(offset=2**63 - 1, next_offset=2**53 + 1)
    assert encode(page) == '{"offset":9223372036854775807,"nextOffset":9007199254740993,"total":0}'
    read_range = resource_pb2.Range(data=b"\x00\xff")
    assert '"data":"AP8="' in encode(read_range)
    event = job_pb2.JobEvent(time=timestamp_pb2.Timestamp(seconds=1_777_636_800, nanos=500_000_000))
    assert encode(event) == '{"sequence":0,"time":"2026-05-01T12:00:00.500Z"}'


def test_evidence_is_spliced_as_it_came() -> None:
    text = '{"a":1.50,"b":12345678901234567890123,"c":1e999,"a":"\\ud800","snake_key":-0}'
    check = job_pb2.Check(name="n", expected_json=text)
    assert f'"expected":{text}}}' in encode(check)


def test_line_breaks_in_evidence_do_not_break_the_line() -> None:
    written = encode(job_pb2.Check(expected_json='{\r\n "a": "\\n"\n}'))
    assert "\n" not in written
    assert "\r" not in written
    assert json.loads(written)["expected"] == {"a": "\n"}


def test_text_with_awkward_characters_stays_one_line_of_utf8() -> None:
    line = encode(job_pb2.LogLines(lines=['a\nb\r\u2028\x00\x1f\x7f"\\ é 𝄞']))
    assert len(line.encode().splitlines()) == 1
    assert json.loads(line)["lines"] == ['a\nb\r\u2028\x00\x1f\x7f"\\ é 𝄞']


def test_an_enum_number_of_a_newer_service_does_not_stop_the_bridge() -> None:
    job = job_pb2.Job.FromString(b"\x28\x63")
    assert '"state":"99"' in encode(job)


def test_maps_keep_their_keys() -> None:
    request = plan_pb2.CreatePlanRequest(bindings={"/b_c": "2", "/a": "1"}, document_json="{}")
    assert '"document":{}' in encode(request)
    assert '"bindings":{"/a":"1","/b_c":"2"}' in encode(request)


def test_a_faults_details_are_json() -> None:
    fault = fault_pb2.Fault(code="X", details_json='{"total":3}')
    assert encode(fault) == '{"code":"X","message":"","retryable":false,"pointer":"","details":{"total":3}}'


def test_a_result_is_one_field_or_the_whole() -> None:
    response = job_pb2.ListJobsResponse(next_page_token="t")
    assert part_encoder(response.DESCRIPTOR, "")(response) == '{"jobs":[],"nextPageToken":"t"}'
    assert part_encoder(response.DESCRIPTOR, "next_page_token")(response) == '"t"'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, '{"$number":"NaN"}'),
        (math.inf, '{"$number":"Infinity"}'),
        (-math.inf, '{"$number":"-Infinity"}'),
        (-0.0, "-0.0"),
        (5e-324, "5e-324"),
        (1e22, "1e+22"),
    ],
)
def test_doubles(value: float, text: str) -> None:
    assert number(value) == text


_text = st.text(st.characters(exclude_categories=["Cs"]))
_double = st.floats(allow_nan=False)
_criteria = st.builds(
    task_pb2.Criterion,
    pointer=_text,
    operator=st.sampled_from([number for number in task_pb2.CriterionOperator.values() if number]),
    value_json=st.none() | _double.filter(math.isfinite).map(repr),
    low=st.none() | _double,
    tolerance=st.none() | _double,
    unit=st.none() | _text,
)
_requests = st.builds(
    task_pb2.CreateTaskRequest,
    objective=_text,
    allowed_providers=st.lists(_text, max_size=3),
    criteria=st.lists(_criteria, max_size=3),
    budget=st.builds(
        task_pb2.Budget,
        max_attempts=st.none() | st.integers(-(2**31), 2**31 - 1),
        max_elapsed_seconds=st.none() | _double,
    ),
    request_id=st.none() | _text,
)


@given(_requests)
def test_what_is_written_reads_back(message: Any) -> None:
    line = encode(message)
    assert "\n" not in line
    assert decode(message.DESCRIPTOR, parse(line)) == message


_plans = st.builds(
    plan_pb2.CreatePlanRequest,
    bindings=st.dictionaries(_text, _text, max_size=4),
    expected_revision=st.none() | st.integers(-(2**63), 2**63 - 1),
)


@given(_plans)
def test_maps_and_64_bit_integers_read_back(message: Any) -> None:
    message.document_json = '{"a":[1.0,2]}'
    assert decode(message.DESCRIPTOR, parse(encode(message))) == message
