"""JSON to messages: names, strict types, exact documents, and refusals that point at the place."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor
from hypothesis import given
from hypothesis import strategies as st
from schemaxis.bridge.decoding import decode
from schemaxis.bridge.faults import BridgeFault
from schemaxis.bridge.text import parse
from schemaxis.v1 import job_pb2, observation_pb2, plan_pb2, resource_pb2, task_pb2

TASK = task_pb2.CreateTaskRequest.DESCRIPTOR
PLAN = plan_pb2.CreatePlanRequest.DESCRIPTOR
CRITERION = task_pb2.Criterion.DESCRIPTOR
BUDGET = task_pb2.Budget.DESCRIPTOR
WATCH = job_pb2.WatchJobRequest.DESCRIPTOR
RANGE = resource_pb2.Range.DESCRIPTOR
EVENT = job_pb2.JobEvent.DESCRIPTOR


def read(descriptor: Descriptor, text: str) -> Any:
    return decode(descriptor, parse(text))


def refusal(descriptor: Descriptor, text: str) -> BridgeFault:
    with pytest.raises(BridgeFault) as raised:
        read(descriptor, text)
    assert raised.value.code == "INVALID_REQUEST"
    return raised.value


@pytest.mark.parametrize(
    "text",
    [
        '{"max_attempts":2,"max_elapsed_seconds":180}',
        '{"maxAttempts":2,"maxElapsedSeconds":1.8e2}',
        '{"max_attempts":2.0,"maxElapsedSeconds":180.0,"max_attempt_seconds":null}',
    ],
)
def test_both_spellings_and_null_as_absent(text: str) -> None:
    assert read(BUDGET, text) == task_pb2.Budget(max_attempts=2, max_elapsed_seconds=180)


@pytest.mark.parametrize(
    ("text", "pointer", "said"),
    [
        ('{"max_attempts":2,"maxAttempts":2}', "/maxAttempts", "give one"),
        ('{"max_attempts":2,"max_attempts":3}', "/max_attempts", "twice"),
        ('{"max_attempts":null,"maxAttempts":2}', "/maxAttempts", "give one"),
        ('{"max_atempts":2}', "/max_atempts", "did you mean max_attempts?"),
        ('{"zzz":2}', "/zzz", "use max_attempts, max_repeated_failures"),
        ('{"a/b~c":2}', "/a~1b~0c", "no parameter"),
        ('{"max_attempts":true}', "/max_attempts", "an integer"),
        ('{"max_attempts":"2"}', "/max_attempts", "not a string"),
        ('{"max_attempts":1.5}', "/max_attempts", "an integer"),
        ('{"max_attempts":1e999}', "/max_attempts", "an integer"),
        ('{"max_attempts":1e99999999999999999999}', "/max_attempts", "an integer"),
        ('{"max_attempts":2147483648}', "/max_attempts", "from -2147483648 to 2147483647"),
        ('{"max_attempts":' + "9" * 5000 + "}", "/max_attempts", "an integer"),
        ('{"max_elapsed_seconds":1e999}', "/max_elapsed_seconds", "a double can hold"),
        ('{"max_elapsed_seconds":' + "9" * 5000 + "}", "/max_elapsed_seconds", "a double can hold"),
        ('{"max_elapsed_seconds":"1"}', "/max_elapsed_seconds", "a number"),
        ('{"max_elapsed_seconds":true}', "/max_elapsed_seconds", "a number"),
        ('{"max_elapsed_seconds":{"$number":"nan"}}', "/max_elapsed_seconds", "a number"),
        ("[]", "", "an object"),
    ],
)
def test_refusals_point_at_the_place(text: str, pointer: str, said: str) -> None:
    fault = refusal(BUDGET, text)
    assert fault.pointer == pointer
    assert said in fault.message
    json.loads(fault.to_json())


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ('{"objective":5}', "/objective"),
        ('{"objective":"\\ud800"}', "/objective"),
        ('{"allowed_providers":"occt"}', "/allowed_providers"),
        ('{"allowed_providers":["occt",null]}', "/allowed_providers/1"),
        ('{"allowedProviders":[["occt"]]}', "/allowedProviders/0"),
        ('{"budget":[]}', "/budget"),
        ('{"criteria":[{"operator":"equals"},{"operator":"like"}]}', "/criteria/1/operator"),
        ('{"criteria":[{"operator":1}]}', "/criteria/0/operator"),
        ('{"criteria":[{"operator":"unspecified"}]}', "/criteria/0/operator"),
    ],
)
def test_nested_pointers_use_the_callers_keys(text: str, pointer: str) -> None:
    assert refusal(TASK, text).pointer == pointer


@pytest.mark.parametrize(
    "name",
    [
        "at-least",
        "at_least",
        "AT_LEAST",
        "At-Least",
        "CRITERION_OPERATOR_AT_LEAST",
        "criterion-operator-at-least",
    ],
)
def test_enum_spellings(name: str) -> None:
    assert read(CRITERION, json.dumps({"operator": name})).operator == task_pb2.CRITERION_OPERATOR_AT_LEAST


def test_a_wrong_enum_names_the_nearest() -> None:
    fault = refusal(CRITERION, '{"operator":"equal"}')
    assert json.loads(fault.details)["nearest"] == "equals"


@pytest.mark.parametrize("text", ["7", '"7"', "7.0", "70e-1"])
def test_a_64_bit_integer_may_be_a_string(text: str) -> None:
    assert read(WATCH, f'{{"after_sequence":{text}}}').after_sequence == 7


@pytest.mark.parametrize(
    "text", ['"7.0"', '" 7"', '""', '"\u0667"', "9223372036854775808", '"9223372036854775808"']
)
def test_no_other_string_is_an_integer(text: str) -> None:
    assert refusal(WATCH, f'{{"after_sequence":{text}}}').pointer == "/after_sequence"


def test_the_largest_64_bit_integer_is_exact() -> None:
    assert read(WATCH, '{"after_sequence":9223372036854775807}').after_sequence == 2**63 - 1


@pytest.mark.parametrize(("name", "value"), [("Infinity", math.inf), ("-Infinity", -math.inf)])
def test_numbers_that_json_lacks(name: str, value: float) -> None:
    assert read(CRITERION, json.dumps({"low": {"$number": name}})).low == value
    assert math.isnan(read(CRITERION, '{"low":{"$number":"NaN"}}').low)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (
            '{ "b" : 1.50 ,\t"a" : [ 1e999 , -0 , 12345678901234567890.10 ] }',
            '{"b":1.50,"a":[1e999,-0,12345678901234567890.10]}',
        ),
        ('{"a":1,"a":2}', '{"a":1,"a":2}'),
        ('{"snake_key":{"x":null}}', '{"snake_key":{"x":null}}'),
        ('"\\ud800 \\u0000 é \u2028"', '"\\ud800 \\u0000 é \u2028"'),
        ("9" * 5000, "9" * 5000),
        ("true", "true"),
    ],
)
def test_a_document_arrives_as_it_was_written(written: str, kept: str) -> None:
    assert read(PLAN, f'{{"document":{written}}}').document_json == kept


def test_a_json_field_has_no_other_name() -> None:
    assert refusal(PLAN, '{"document_json":"{}"}').pointer == "/document_json"


def test_map_keys_keep_their_case() -> None:
    message = read(PLAN, '{"bindings":{"/nodes/0/some_file":"res_1"}}')
    assert dict(message.bindings) == {"/nodes/0/some_file": "res_1"}
    assert refusal(PLAN, '{"bindings":{"/a":"x","/a":"y"}}').pointer == "/bindings/~1a"
    assert refusal(PLAN, '{"bindings":{"/a":null}}').pointer == "/bindings/~1a"


def test_bytes_times_and_oneofs() -> None:
    assert read(RANGE, '{"data":"AAEC"}').data == b"\x00\x01\x02"
    assert refusal(RANGE, '{"data":"AAE"}').pointer == "/data"
    assert (
        read(EVENT, '{"time":"2026-05-01T14:00:00.5+02:00"}').time.ToJsonString()
        == "2026-05-01T12:00:00.500Z"
    )
    for wrong in ('"yesterday"', '"2026-05-01"', "5", '"2026-13-01T00:00:00Z"'):
        assert refusal(EVENT, f'{{"time":{wrong}}}').pointer == "/time"
    assert "exclude each other" in refusal(EVENT, '{"log":{},"terminal":{}}').message


_json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=20,
)


@given(_json_values)
def test_any_document_keeps_its_value(value: Any) -> None:
    text = json.dumps(value, indent=1)
    kept = read(plan_pb2.CreatePlanRequest.DESCRIPTOR, f'{{"document":{text}}}').document_json
    if value is None:
        assert kept == ""
        return
    assert json.loads(kept) == value
    kept.encode()


@given(st.text(max_size=30), _json_values)
def test_whatever_is_sent_is_read_or_refused(key: str, value: Any) -> None:
    text = json.dumps({key: value, "limit": value, "section": value})
    try:
        read(observation_pb2.ObserveRequest.DESCRIPTOR, text)
    except BridgeFault as fault:
        json.loads(fault.to_json())
        fault.to_json().encode()
