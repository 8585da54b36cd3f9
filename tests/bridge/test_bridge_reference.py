"""What ``methods`` tells: every method of the descriptors, complete, and no larger than it must be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from schemaxis.bridge import prose
from schemaxis.bridge.faults import BridgeFault
from schemaxis.bridge.methods import find_method, load_methods
from schemaxis.bridge.reference import describe_method, describe_methods
from schemaxis.v1 import options_pb2

MAX_BYTES = 24_000


@pytest.fixture(scope="module")
def listed() -> Any:
    return json.loads(describe_methods(load_methods()))


def described(listed: Any, name: str) -> dict[str, Any]:
    (method,) = [method for method in listed["methods"] if method["name"] == name]
    return {parameter["name"]: parameter for parameter in method["parameters"]}


def test_every_method_of_the_protos_is_listed_with_prose(listed: Any) -> None:
    in_protos = {
        method.options.Extensions[options_pb2.json_method]
        for file in prose.descriptor_set().file
        for service in file.service
        for method in service.method
    } - {""}
    assert {method["name"] for method in listed["methods"]} == in_protos | {"methods", "stop"}
    for method in listed["methods"]:
        assert method["purpose"]
        assert all(parameter["purpose"] for parameter in method["parameters"]), method["name"]


def test_rules_are_told(listed: Any) -> None:
    observe = described(listed, "observe")
    assert (observe["max_bytes"]["default"], observe["max_bytes"]["maximum"]) == (8192, 65536)
    assert observe["section"]["required"] is True
    assert "verification" in observe["section"]["choices"]
    assert described(listed, "resource")["length"]["clamped"] is True
    assert described(listed, "plan")["document"]["type"] == "any JSON"
    assert described(listed, "plan")["bindings"]["type"] == "object of string to string"
    criterion = {field["name"]: field for field in listed["types"]["Criterion"]["fields"]}
    assert criterion["operator"]["choices"] == ["equals", "at-least", "at-most", "between", "is-true"]
    assert "cancellation-requested" in listed["types"]["Job"]
    assert "Heartbeat" not in listed["types"]


def test_every_type_that_is_named_is_described(listed: Any) -> None:
    text = json.dumps(listed["methods"])
    for name in (
        "Task",
        "Budget",
        "Criterion",
        "Plan",
        "Job",
        "JobEvent",
        "WatchEnd",
        "Observation",
        "Range",
    ):
        assert name in text or name in json.dumps(listed["types"])
        assert name in listed["types"]


def test_it_is_one_short_line(listed: Any) -> None:
    text = describe_methods(load_methods())
    assert "\n" not in text
    assert len(text.encode()) < MAX_BYTES


def test_one_method_comes_with_the_meaning_of_every_field() -> None:
    one = json.loads(describe_method(load_methods(), "watch_job"))
    (method,) = one["methods"]
    assert (method["streaming"], method["event"], method["result"]) == (True, "JobEvent", "WatchEnd")
    assert one["types"]["WatchEnd"]["reason"].startswith("terminal | tail | draining. ")


def test_one_method_comes_without_what_holds_for_all() -> None:
    plan = json.loads(describe_method(load_methods(), "plan"))
    assert set(plan) == {"protocol", "methods", "faults", "types"}
    watch = json.loads(describe_method(load_methods(), "watch_job"))
    (convention,) = watch["conventions"]
    assert "event" in convention


def test_each_method_lists_its_faults_and_one_method_their_meaning(listed: Any) -> None:
    faults = {method["name"]: method.get("faults", []) for method in listed["methods"]}
    assert {"NOT_FOUND", "STALE_REVISION", "INVALID_DOCUMENT", "UNAUTHORISED_PROVIDER"} <= set(faults["plan"])
    assert {"BUDGET_EXHAUSTED", "REPEATED_FAILURE", "STALE_PLAN"} <= set(faults["execute"])
    assert "NOT_VERIFIED" in faults["observe"]
    assert "faults" not in next(one for one in listed["methods"] if one["name"] == "workspace")
    everywhere = set(listed["faultsOfAnyMethod"])
    assert {"INVALID_REQUEST", "INTERNAL"} <= everywhere
    assert all(everywhere.isdisjoint(codes) for codes in faults.values())
    meanings = json.loads(describe_method(load_methods(), "execute"))["faults"]
    assert set(meanings) == everywhere | set(faults["execute"])
    assert meanings["STALE_REVISION"].startswith("expected_revision is not the present revision")


def test_what_the_session_answers_itself_is_described_too() -> None:
    (stop,) = json.loads(describe_method(load_methods(), "stop"))["methods"]
    assert stop["parameters"][0]["name"] == "request"


@pytest.mark.parametrize("name", ["exekute", "", "x" * 200])
def test_the_description_of_an_unknown_method_is_refused(name: str) -> None:
    with pytest.raises(BridgeFault) as raised:
        describe_method(load_methods(), name)
    assert raised.value.code == "UNKNOWN_METHOD"


def test_what_an_agent_must_know_of_a_verdict_is_told(listed: Any) -> None:
    (observe,) = json.loads(describe_method(load_methods(), "observe"))["methods"]
    section = next(one for one in observe["parameters"] if one["name"] == "section")
    assert '"partial": true' in section["purpose"]
    assert "/outputs/body/volume" in json.dumps(listed["types"]["Criterion"])
    job = json.loads(describe_method(load_methods(), "job"))["types"]["Job"]
    assert "Unknown: there are no criteria" in job["goal"]
    verify = json.loads(describe_method(load_methods(), "verify"))["types"]["Verification"]
    assert "may still be wrong" in verify["notCovered"]
    assert "another machine" in json.loads(describe_method(load_methods(), "plan"))["types"]["Plan"]["digest"]


@pytest.mark.parametrize(
    ("name", "close"),
    [("createTask", "create_task"), ("capabilities/search", "capabilities.search"), ("%", None)],
)
def test_an_unknown_method(name: str, close: str | None) -> None:
    with pytest.raises(BridgeFault) as raised:
        find_method(load_methods(), name)
    assert raised.value.code == "UNKNOWN_METHOD"
    assert json.loads(raised.value.details).get("nearest") == close
