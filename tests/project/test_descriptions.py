"""What is described twice must agree: proto and catalogue, rules and the core's own defaults."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message
from schemaxis.bridge import prose
from schemaxis.v1 import fault_pb2, inspection_pb2, observation_pb2, options_pb2, resource_pb2, task_pb2
from schemaxis_server.execution import evidence, observation, resources, tasks
from schemaxis_server.execution.capabilities import DEFAULT_LIMIT
from schemaxis_server.execution.records import Budget
from schemaxis_server.faults import CATALOGUE

ROOT = Path(__file__).resolve().parents[2]


def rule(message: type[Message], field: str) -> options_pb2.FieldRule:
    found: options_pb2.FieldRule = (
        message.DESCRIPTOR.fields_by_name[field].GetOptions().Extensions[options_pb2.rule]
    )
    return found


def test_the_fault_enum_lists_the_catalogue() -> None:
    names = [name.removeprefix("FAULT_CODE_") for name in fault_pb2.FaultCode.DESCRIPTOR.values_by_name][1:]
    assert names == list(CATALOGUE)


def test_the_fault_enum_means_what_the_catalogue_means() -> None:
    for code, kind in CATALOGUE.items():
        assert prose.comment(f"schemaxis.v1.FaultCode.FAULT_CODE_{code}") == kind.meaning


@pytest.mark.parametrize("field", list(inspect.signature(Budget).parameters))
def test_the_budgets_defaults_agree(field: str) -> None:
    assert json.loads(rule(task_pb2.Budget, field).default_json) == getattr(Budget(), field)


@pytest.mark.parametrize(
    "request_type", [observation_pb2.ObserveRequest, inspection_pb2.InspectResourceRequest]
)
def test_the_windows_ranges_agree(request_type: type[Message]) -> None:
    limit, size = rule(request_type, "limit"), rule(request_type, "max_bytes")
    assert (int(limit.default_json), limit.minimum, limit.maximum) == (
        observation.DEFAULT_LIMIT,
        1,
        observation.MAX_LIMIT,
    )
    assert (int(size.default_json), size.minimum, size.maximum) == (
        observation.DEFAULT_MAX_BYTES,
        observation.MIN_MAX_BYTES,
        observation.MAX_MAX_BYTES,
    )


def test_the_sections_agree() -> None:
    listed = tuple(rule(observation_pb2.ObserveRequest, "section").choices)
    assert set(listed) == {*evidence.JOB_SECTIONS, *evidence.PLAN_SECTIONS}


@pytest.mark.parametrize(
    ("message", "field", "name", "value"),
    [
        (resource_pb2.ReadResourceRangeRequest, "length", "default_json", resources.DEFAULT_RANGE_BYTES),
        (resource_pb2.ReadResourceRangeRequest, "length", "maximum", resources.MAX_RANGE_BYTES),
        (resource_pb2.ReadResourceRequest, "chunk_bytes", "default_json", resources.DEFAULT_CHUNK_BYTES),
        (task_pb2.CreateTaskRequest, "objective", "max_length", tasks.MAX_OBJECTIVE_CHARACTERS),
        (task_pb2.CreateTaskRequest, "criteria", "max_length", tasks.MAX_CRITERIA),
    ],
)
def test_other_limits_agree(message: type[Message], field: str, name: str, value: Any) -> None:
    assert float(getattr(rule(message, field), name)) == value


def test_the_searchs_default_agrees() -> None:
    from schemaxis.v1 import capability_pb2

    assert int(rule(capability_pb2.SearchCapabilitiesRequest, "limit").default_json) == DEFAULT_LIMIT


def test_every_agent_method_has_a_bridge_name() -> None:
    descriptors = [
        service
        for path in (ROOT / "proto/schemaxis/v1").glob("*.proto")
        for service in __import__(
            f"schemaxis.v1.{path.stem}_pb2", fromlist=["DESCRIPTOR"]
        ).DESCRIPTOR.services_by_name.values()
    ]
    assert len(descriptors) >= 8
    for service in descriptors:
        for method in service.methods:
            options = method.GetOptions()
            if options.Extensions[options_pb2.agent_tool]:
                assert options.Extensions[options_pb2.json_method], method.full_name
