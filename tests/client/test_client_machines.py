"""The pure parts: watches, patience, JSON, enumerations, faults."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
from typing import Any

import grpc
import pytest
from google.protobuf import any_pb2
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from hypothesis import given
from hypothesis import strategies as st
from schemaxis import _json, errors, models
from schemaxis._codec import common
from schemaxis._codec import jobs as job_codec
from schemaxis._codec import tasks as task_codec
from schemaxis._evidence import Look, whole_value
from schemaxis._retry import Patience
from schemaxis._status import error_of
from schemaxis._watch import WatchMachine
from schemaxis.errors import ConnectionLost, SchemaxisError, UnexpectedAnswer, WaitTimeout
from schemaxis.models import Criterion, EndReason, Goal, JobState, Observation, ObservationMode
from schemaxis.v1 import (
    capability_pb2,
    fault_pb2,
    job_pb2,
    observation_pb2,
    plan_pb2,
    resource_pb2,
    task_pb2,
    workspace_pb2,
)

from client.model_service import NOW, job_events


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def machine(clock: Clock, *, patience: float = 10.0, timeout: float | None = None) -> WatchMachine:
    return WatchMachine("job_1", 0, True, patience=Patience(patience, clock), clock=clock, timeout=timeout)


def frame(*events: job_pb2.JobEvent, end: tuple[int, int] | None = None) -> job_pb2.WatchJobResponse:
    made = job_pb2.WatchJobResponse(events=events)
    if end is not None:
        made.end.last_sequence = end[0]
        made.end.reason = end[1]  # type: ignore[assignment]  # a number of a newer server too
    return made


@given(
    total=st.integers(1, 12),
    cuts=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), max_size=8),
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=6),
)
def test_breaks_and_repetitions_change_nothing(
    total: int, cuts: list[tuple[int, int]], sizes: list[int]
) -> None:
    """Streams that are cut anywhere and begin too early still give every event once and in order."""
    events, clock = job_events(total), Clock()
    watch, seen = machine(clock), []
    for allowed, overlap in [*cuts, (total, 0)]:
        begin = max(watch.begin().after_sequence - overlap, 0)
        frames = []
        for number in range(12):
            size = sizes[number % len(sizes)]
            frames.append(frame(*events[begin : begin + size]))
            begin = min(begin + size, total)
        frames.append(frame(end=(total, job_pb2.END_REASON_TERMINAL)))
        for sent in frames[:allowed] if allowed < total else frames:
            seen += [event.sequence for event in watch.receive(sent)]
        if watch.finished:
            break
        watch.broke(None)
        clock.now += watch.pause()
    assert watch.end is EndReason.TERMINAL
    assert seen == list(range(1, total + 1))


def test_patience_counts_trouble_without_progress() -> None:
    clock = Clock()
    watch = machine(clock, patience=3.0)
    pauses = []

    def break_for_ever() -> None:
        while True:
            watch.broke(ConnectionLost("gone"))
            pauses.append(watch.pause())
            clock.now += pauses[-1]

    with pytest.raises(ConnectionLost):
        break_for_ever()
    assert sum(pauses) == pytest.approx(3.0)
    assert pauses[:4] == [0.02, 0.04, 0.08, 0.16]
    assert max(pauses) <= 1.0


def test_progress_renews_patience() -> None:
    clock = Clock()
    watch = machine(clock, patience=3.0)
    for _ in range(5):
        watch.broke(ConnectionLost("gone"))
        assert watch.pause() == 0.02
        clock.now += 2.9
        watch.receive(job_pb2.WatchJobResponse(heartbeat=job_pb2.Heartbeat()))


def test_events_before_a_drain_arrive_even_without_patience() -> None:
    watch = machine(Clock(), patience=0.0)
    last = frame(*job_events(3)[:2], end=(2, job_pb2.END_REASON_DRAINING))
    assert [event.sequence for event in watch.receive(last)] == [1, 2]
    assert watch.must_reopen
    with pytest.raises(ConnectionLost):
        watch.pause()


@pytest.mark.parametrize("reason", [job_pb2.END_REASON_UNSPECIFIED, 77])
def test_an_end_for_an_unknown_reason_is_no_end(reason: int) -> None:
    watch = machine(Clock())
    watch.receive(frame(*job_events(3)[:1], end=(1, reason)))
    assert not watch.finished
    assert watch.must_reopen
    assert watch.begin().after_sequence == 1


def test_an_end_that_skips_events_is_a_gap() -> None:
    watch = machine(Clock())
    watch.receive(frame(*job_events(5)[:2], end=(5, job_pb2.END_REASON_TERMINAL)))
    assert not watch.finished
    watch.begin()
    with pytest.raises(UnexpectedAnswer):
        watch.receive(frame(end=(5, job_pb2.END_REASON_TERMINAL)))


def test_an_unknown_payload_is_skipped_and_counted() -> None:
    known = job_events(3)
    unknown = job_pb2.JobEvent(sequence=2, time=NOW).SerializeToString() + b"\xa2\x06\x02hi"
    future = job_pb2.JobEvent.FromString(unknown)
    assert future.WhichOneof("payload") is None
    watch = machine(Clock())
    seen = watch.receive(frame(known[0], future, known[2], end=(3, job_pb2.END_REASON_TERMINAL)))
    assert [event.sequence for event in seen] == [1, 3]
    assert (watch.cursor, watch.finished) == (3, True)


def test_the_caller_s_time_bounds_pauses_and_streams() -> None:
    clock = Clock()
    watch = machine(clock, timeout=0.5)
    assert watch.remaining() == 0.5
    clock.now += 0.499
    watch.broke(ConnectionLost("gone"))
    assert watch.pause() == pytest.approx(0.001)
    clock.now += 0.002
    with pytest.raises(WaitTimeout):
        watch.pause()
    with pytest.raises(WaitTimeout, match="job_1"):
        watch.broke(WaitTimeout("the call's own"))


@pytest.mark.parametrize(
    ("kind", "descriptor"),
    [
        (JobState, job_pb2.JobState.DESCRIPTOR),
        (Goal, job_pb2.Goal.DESCRIPTOR),
        (models.NativeState, job_pb2.NativeState.DESCRIPTOR),
        (EndReason, job_pb2.EndReason.DESCRIPTOR),
        (models.CriterionOperator, task_pb2.CriterionOperator.DESCRIPTOR),
        (models.ResourceState, resource_pb2.ResourceState.DESCRIPTOR),
        (ObservationMode, observation_pb2.ObservationMode.DESCRIPTOR),
    ],
)
def test_enumerations_equal_those_of_the_protos(kind: type[models.OpenEnum], descriptor: Any) -> None:
    prefix = len(descriptor.values_by_number[0].name) - len("UNSPECIFIED")
    names = {value.name[prefix:] for value in descriptor.values if value.number}
    assert {member.name for member in kind} == names
    for value in descriptor.values[1:]:
        member = common.member(kind, descriptor, value.number)
        assert member.is_recognised
        assert common.number(member, descriptor) == value.number


def test_an_enumeration_goes_on_with_a_number_of_the_future() -> None:
    future = common.member(JobState, job_pb2.JobState.DESCRIPTOR, 99)
    assert isinstance(future, JobState)
    assert (str(future), future.is_recognised, future.is_terminal) == ("unrecognised-99", False, False)
    assert future not in list(JobState)
    assert pickle.loads(pickle.dumps(future)) == future
    assert copy.deepcopy(JobState.QUEUED) is JobState.QUEUED
    assert common.member(Goal, job_pb2.Goal.DESCRIPTOR, 0) == "unspecified"
    job = job_codec.job_record(job_pb2.Job.FromString(b"\x28\x63"))
    assert job.state == future
    with pytest.raises(ValueError, match="one of equals"):
        common.number(models.CriterionOperator.unrecognised(9), task_pb2.CriterionOperator.DESCRIPTOR)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (task_pb2.Task, models.TaskRecord),
        (task_pb2.Budget, models.Budget),
        (task_pb2.Usage, models.Usage),
        (task_pb2.Criterion, models.Criterion),
        (plan_pb2.Plan, models.PlanRecord),
        (plan_pb2.PlanProvider, models.PlanProvider),
        (plan_pb2.PlanOperation, models.PlanOperation),
        (plan_pb2.Binding, models.Binding),
        (job_pb2.Job, models.JobRecord),
        (job_pb2.Progress, models.Progress),
        (job_pb2.Check, models.Check),
        (job_pb2.Verification, models.Verification),
        (fault_pb2.Fault, models.Fault),
        (resource_pb2.Resource, models.ResourceRecord),
        (resource_pb2.Producer, models.Producer),
        (resource_pb2.Receipt, models.Receipt),
        (resource_pb2.Range, models.Range),
        (observation_pb2.Observation, models.Observation),
        (observation_pb2.ObservationMember, models.ObservationMember),
        (observation_pb2.ObservationPage, models.ObservationPage),
        (capability_pb2.CapabilitySummary, models.CapabilitySummary),
        (capability_pb2.CapabilityDescription, models.CapabilityDescription),
        (capability_pb2.CapabilityOption, models.CapabilityOption),
        (capability_pb2.CapabilityInputs, models.CapabilityInputs),
        (capability_pb2.CapabilityQuantity, models.CapabilityQuantity),
        (capability_pb2.CapabilityArtifact, models.CapabilityArtifact),
        (capability_pb2.CapabilityMatch, models.CapabilityMatch),
        (capability_pb2.GetCapabilitySchemaResponse, models.CapabilitySchema),
        (capability_pb2.BrowseCapabilitiesResponse, models.ScopeLevel),
        (workspace_pb2.Workspace, models.WorkspaceRecord),
        (workspace_pb2.EngineStatus, models.EngineStatus),
        (workspace_pb2.Limit, models.Limit),
        (workspace_pb2.Counts, models.Counts),
        (workspace_pb2.Sandbox, models.Sandbox),
        (workspace_pb2.Health, models.Health),
        (workspace_pb2.HostStatus, models.HostStatus),
    ],
)
def test_models_hold_every_field_of_their_message(message: type[Message], kind: type[Any]) -> None:
    sent = {field.name.removesuffix("_json") for field in message.DESCRIPTOR.fields}
    held = {field.name for field in dataclasses.fields(kind)}
    assert held - {"has_value", "has_default"} == sent


def test_every_payload_of_an_event_has_its_class() -> None:
    for field in job_pb2.JobEvent.DESCRIPTOR.oneofs_by_name["payload"].fields:
        event = job_pb2.JobEvent(sequence=7, time=NOW)
        getattr(event, field.name).SetInParent()
        found = job_codec.event(event)
        assert found is not None, field.name
        assert found.sequence == 7
        assert type(found) is not models.JobEvent


def test_every_fault_code_has_its_family() -> None:
    codes = [value.name.removeprefix("FAULT_CODE_") for value in fault_pb2.FaultCode.DESCRIPTOR.values][1:]
    for code in codes:
        error = errors.fault_error(code, "Do this.", False)
        assert type(error) is not errors.FaultError, code
        assert code in type(error).codes
        assert code in (errors.__doc__ or ""), "the drawing names every code"
    families = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    drawn = [kind for kind in families if issubclass(kind, SchemaxisError)]
    assert len(drawn) > 20
    for kind in drawn:
        assert kind.__name__ in (errors.__doc__ or ""), "the drawing names every class"


class Refused:
    """The end of a call with these details in its trailing metadata."""

    def __init__(self, *details: Message) -> None:
        packed = []
        for detail in details:
            packed.append(any_pb2.Any())
            packed[-1].Pack(detail)
        status = status_pb2.Status(code=9, message="Do this.", details=packed)
        self.metadata = [("grpc-status-details-bin", status.SerializeToString())]

    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.FAILED_PRECONDITION

    def details(self) -> str:
        return "Do this."

    def trailing_metadata(self) -> list[tuple[str, bytes]]:
        return self.metadata


def test_a_status_with_its_reason_alone_is_a_fault() -> None:
    foreign = error_details_pb2.ErrorInfo(domain="elsewhere", reason="NOT_FOUND")
    assert isinstance(error_of(Refused(foreign)), UnexpectedAnswer)
    ours = error_details_pb2.ErrorInfo(domain="schemaxis", reason="STALE_PLAN")
    error = error_of(Refused(foreign, ours))
    assert (type(error), error.code, error.message) == (errors.Stale, "STALE_PLAN", "Do this.")
    refused = Refused(ours)
    refused.metadata = [("grpc-status-details-bin", b"\xff\xff")]
    assert isinstance(error_of(refused), UnexpectedAnswer)


def test_a_document_s_problems_are_listed() -> None:
    problems = [{"pointer": f"/nodes/{n}", "message": "Unknown.", "nearest": "box"} for n in range(2)]
    error = errors.fault_error("INVALID_DOCUMENT", "Mend.", False, "", {"problems": problems, "total": 9})
    assert isinstance(error, errors.InvalidDocument)
    assert isinstance(error, errors.InvalidRequest)
    assert error.problems[1] == errors.DocumentProblem("/nodes/1", "Unknown.", "", "box")
    assert "/nodes/1: Unknown." in str(error)
    assert "and 7 more" in str(error)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(JSON)
def test_json_comes_back_as_it_went(value: Any) -> None:
    assert _json.parse(_json.render(value)) == value
    json.loads(_json.render(value), parse_constant=lambda name: pytest.fail(name))


def test_numbers_that_json_lacks() -> None:
    assert json.loads(_json.render([math.nan, math.inf, -math.inf])) == [
        {"$number": "NaN"},
        {"$number": "Infinity"},
        {"$number": "-Infinity"},
    ]
    assert math.isnan(_json.parse('{"$number":"NaN"}'))
    assert _json.parse('{"$number":"x"}') == {"$number": "x"}
    assert _json.parse('{"$number":"NaN","more":1}') == {"$number": "NaN", "more": 1}
    assert math.copysign(1, _json.parse("-0.0")) == -1


def test_numbers_of_other_libraries_are_taken_by_value() -> None:
    numpy = pytest.importorskip("numpy")
    assert _json.render([numpy.int64(3), numpy.float32(0.5), numpy.float64("nan")]) == (
        '[3,0.5,{"$number":"NaN"}]'
    )


def test_what_is_not_json_is_refused_with_its_place() -> None:
    with pytest.raises(TypeError, match=r"/nodes/1/a~1b"):
        _json.render({"nodes": [0, {"a/b": object()}]})
    with pytest.raises(TypeError, match="key 1"):
        _json.render({1: 2})
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match="contains itself"):
        _json.render(loop)
    deep: Any = 0
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="levels"):
        _json.render(deep)
    assert _json.render("\ud800") == '"\\ud800"', "the service says what is wrong with it"
    assert _json.document_text('{"a": 1e999}') == '{"a": 1e999}'


@pytest.mark.parametrize(
    "criterion",
    [
        Criterion.equals("/a", None),
        Criterion.equals("/a", {"b": [1, 2.5]}, tolerance=0.0, unit="mm"),
        Criterion.at_least("/a", 3),
        Criterion.at_most("/a", math.inf),
        Criterion.between("/a", 0.0, -0.0, tolerance=1e-9),
        Criterion.is_true("/a"),
    ],
)
def test_criteria_come_back_as_they_went(criterion: Criterion) -> None:
    message = task_codec.criterion_message(criterion)
    assert task_codec.criterion(message) == criterion
    assert message.HasField("value_json") == (criterion.operator in ("equals", "at-least", "at-most"))


def test_a_value_is_not_put_together_from_pieces_that_do_not_follow() -> None:
    looks = whole_value("")
    assert next(looks) == Look("", 0, None)
    member = models.ObservationMember("/a", "number", 1, 1, True)
    page = models.ObservationPage(0, 5, 9)
    with pytest.raises(UnexpectedAnswer):
        looks.send(Observation(ObservationMode.MEMBERS, None, (member,), page, "r", "object"))


def test_an_empty_list_among_members_stays_a_list() -> None:
    looks = whole_value("")
    next(looks)
    member = models.ObservationMember("/a", "array", 70_000, None, False)
    ask = looks.send(
        Observation(
            ObservationMode.MEMBERS, None, (member,), models.ObservationPage(0, None, 1), "r", "object"
        )
    )
    assert ask == Look("/a", 0, "r")
    with pytest.raises(StopIteration) as done:
        looks.send(
            Observation(ObservationMode.MEMBERS, None, (), models.ObservationPage(0, None, 0), "r", "array")
        )
    assert done.value.value == {"a": []}


@pytest.mark.parametrize(("kind", "value"), [("array", [1]), ("object", {"0": 1})])
def test_a_value_is_what_the_service_says_and_not_what_its_keys_look_like(kind: str, value: Any) -> None:
    looks = whole_value("")
    next(looks)
    member = models.ObservationMember("/0", "number", 1, 1, True)
    page = models.ObservationPage(0, None, 1)
    with pytest.raises(StopIteration) as done:
        looks.send(Observation(ObservationMode.MEMBERS, None, (member,), page, "r", kind))
    assert done.value.value == value


def test_members_without_a_type_are_no_value() -> None:
    looks = whole_value("")
    next(looks)
    with pytest.raises(UnexpectedAnswer):
        looks.send(Observation(ObservationMode.MEMBERS, None, (), models.ObservationPage(0, None, 0), "r"))
