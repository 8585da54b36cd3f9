"""The document rules that all providers share: every problem at once, each where it lies."""

from __future__ import annotations

import json
from typing import Any

import pytest
from schemaxis_server.faults import Fault
from schemaxis_server.providers.contract import JsonObject
from schemaxis_server.providers.occt.provider import PROVIDER, VERSION

from providers.drafting import box, document, node


def problems(authored: Any) -> list[dict[str, str]]:
    with pytest.raises(Fault) as refused:
        PROVIDER.plan(authored)
    record = refused.value.record
    assert record.code == "INVALID_DOCUMENT"
    listed: list[dict[str, str]] = record.details["problems"]
    assert record.details["total"] == len(listed)
    assert record.pointer == listed[0]["pointer"]
    return listed


def only(authored: Any) -> dict[str, str]:
    (problem,) = problems(authored)
    return problem


def test_all_problems_are_listed_at_once() -> None:
    authored = {
        "version": VERSION,
        "nodes": [
            {"id": "b", "filter": "boks", "options": {"length": 1}},
            {"id": "b", "filter": "box", "options": {"length": -1, "width": True, "hight": 3}},
            {"id": "u", "filter": "union", "inputs": ["b", "c"], "extra": 1},
        ],
        "output": "v",
        "name": "x",
    }
    found = {problem["pointer"]: problem for problem in problems(authored)}
    assert set(found) == {
        "/name",
        "/nodes/0/filter",
        "/nodes/1/id",
        "/nodes/1/options/length",
        "/nodes/1/options/width",
        "/nodes/1/options/hight",
        "/nodes/1/options/height",
        "/nodes/2/extra",
        "/nodes/2/inputs/1",
        "/output",
    }
    assert found["/nodes/0/filter"]["nearest"] == "box"
    assert found["/nodes/1/options/hight"]["nearest"] == "height"
    assert "mm" in found["/nodes/1/options/length"]["expected"]
    assert "true" in found["/nodes/1/options/width"]["message"]


@pytest.mark.parametrize("size", [0, -1, 1e-7, 1e9, float("inf"), float("nan"), 10**400])
def test_sizes_without_sense_are_refused(size: float) -> None:
    problem = only(document(box("b", size, 1, 1)))
    assert problem["pointer"] == "/nodes/0/options/length"
    assert "0.0001" in problem["expected"]
    assert "1e+06 mm" in problem["expected"]


@pytest.mark.parametrize("value", [True, None, "20", [20], {"value": 20}])
def test_types_are_not_bent(value: Any) -> None:
    assert only(document(box("b", value, 1, 1)))["pointer"] == "/nodes/0/options/length"


def test_whole_numbers_may_be_written_as_decimals() -> None:
    authored = document(
        box("b", 1, 1, 1), node("p", "linearPattern", "b", direction="x", spacing=2, count=3.0)
    )
    count = PROVIDER.plan(authored).document["nodes"][1]["options"]["count"]
    assert count == 3
    assert isinstance(count, int)


@pytest.mark.parametrize(
    ("wrong", "meant"), [("extrusion", "extrude"), ("pad", "extrude"), ("subtract", "cut"), ("fuse", "union")]
)
def test_the_words_of_the_field_lead_to_the_operation(wrong: str, meant: str) -> None:
    authored = {"version": VERSION, "nodes": [{"id": "a", "filter": wrong}], "output": "a"}
    assert problems(authored)[0]["nearest"] == meant


@pytest.mark.parametrize("name", ["", "1a", "a b", "a/b", "ü", "a" * 65, "a\n", None, 7, "../a", "a.b"])
def test_ids_are_plain(name: Any) -> None:
    authored = {"version": VERSION, "nodes": [{**box("x", 1, 1, 1), "id": name}], "output": "a"}
    assert "/nodes/0/id" in {problem["pointer"] for problem in problems(authored)}


def test_nodes_run_after_their_inputs_and_stay_where_they_are() -> None:
    authored = document(
        node("u", "union", "m", "b"),
        node("m", "translate", "b", offset=[1, 0, 0]),
        box("b", 1, 1, 1),
        output="u",
    )
    resolved = PROVIDER.plan(authored)
    assert resolved.operations == ("b", "m", "u")
    assert [one["id"] for one in resolved.document["nodes"]] == ["u", "m", "b"]
    assert resolved.outputs == ("u",)


def test_order_among_free_nodes_is_the_authored_one() -> None:
    names = [f"n{index}" for index in (3, 1, 2, 0)]
    authored = document(*(box(name, 1, 1, 1) for name in names), node("u", "union", *names))
    assert PROVIDER.plan(authored).operations == (*names, "u")


def test_a_cycle_is_shown() -> None:
    authored = document(
        box("b", 1, 1, 1), node("p", "union", "b", "q"), node("q", "scale", "p", factor=2), output="q"
    )
    problem = only(authored)
    assert problem["pointer"] in ("/nodes/1/inputs", "/nodes/2/inputs")
    assert "p → q → p" in problem["message"] or "q → p → q" in problem["message"]


def test_a_node_that_feeds_itself_is_a_cycle() -> None:
    assert only(document(node("s", "scale", "s", factor=2)))["pointer"] == "/nodes/0/inputs"


@pytest.mark.parametrize("inputs", [[], ["b", "b"], ["b", "c"]])
def test_counts_of_inputs_are_kept(inputs: list[str]) -> None:
    authored = document(box("b", 1, 1, 1), box("c", 1, 1, 1), node("s", "scale", *inputs, factor=2))
    assert only(authored)["pointer"] == "/nodes/2/inputs"


@pytest.mark.parametrize(
    ("outputs", "pointer"),
    [
        ({}, "/output"),
        ({"output": "b", "outputs": ["b"]}, "/outputs"),
        ({"outputs": []}, "/outputs"),
        ({"outputs": "b"}, "/outputs"),
        ({"outputs": ["b", "b"]}, "/outputs/1"),
        ({"outputs": ["b", "x"]}, "/outputs/1"),
        ({"output": None}, "/output"),
        ({"output": "B"}, "/output"),
    ],
)
def test_outputs_are_named_once_and_exist(outputs: JsonObject, pointer: str) -> None:
    assert only({"version": VERSION, "nodes": [box("b", 1, 1, 1)], **outputs})["pointer"] == pointer


def test_another_providers_version_is_refused() -> None:
    problem = only({**document(box("b", 1, 1, 1)), "version": "schemaxis.octt/1"})
    assert problem["pointer"] == "/version"
    assert problem["nearest"] == VERSION


def test_many_problems_are_counted_and_the_first_ones_listed() -> None:
    authored = document(*(box(f"b{index}", -1, -1, -1) for index in range(900)), output="b0")
    with pytest.raises(Fault) as refused:
        PROVIDER.plan(authored)
    details = refused.value.record.details
    assert details["total"] == 2700
    assert 5 < len(details["problems"]) < 40
    assert len(json.dumps(details)) < 3.5 * 1024


def _profile(points: list[list[float]], operation: str = "extrude") -> dict[str, Any]:
    options: dict[str, Any] = {"profile": points}
    return document(node("e", operation, **options, **({"height": 1} if operation == "extrude" else {})))


@pytest.mark.parametrize(
    ("points", "pointer"),
    [
        ([[0, 0], [2, 2], [2, 0], [0, 2]], "/nodes/0/options/profile/0"),
        ([[0, 0], [4, 0], [4, 4], [2, 0], [0, 4]], "/nodes/0/options/profile/0"),
        ([[0, 0], [4, 0], [2, 0], [2, 2]], "/nodes/0/options/profile/0"),
        ([[0, 0], [1, 0], [1, 0], [0, 1]], "/nodes/0/options/profile/1"),
        ([[0, 0], [1, 1], [2, 2]], "/nodes/0/options/profile"),
        ([[0, 0], [1, 1]], "/nodes/0/options/profile"),
        ([[0, 0], [1, 0], [0, "1"]], "/nodes/0/options/profile/2/1"),
    ],
)
def test_profiles_that_are_no_outline_are_refused(points: list[list[float]], pointer: str) -> None:
    assert only(_profile(points))["pointer"] == pointer


def test_short_profiles_are_written_out() -> None:
    closed: list[list[float]] = [[0, 0], [1, 0], [0, 1], [0, 0]]
    options = PROVIDER.plan(_profile(closed)).document["nodes"][0]["options"]
    assert options["profile"] == {"type": "polygon", "points": closed[:3]}


def test_a_turned_profile_stays_on_its_side_of_the_axis() -> None:
    problem = only(_profile([[-1, 0], [2, 0], [2, 2]], "revolve"))
    assert problem["pointer"] == "/nodes/0/options/profile"
    assert "axis" in problem["message"]


@pytest.mark.parametrize(
    ("operation", "options", "pointer"),
    [
        ("cone", {"radius1": 0, "radius2": 0, "height": 1}, "radius1"),
        ("cone", {"radius1": 1e-5, "radius2": 1, "height": 1}, "radius1"),
        ("torus", {"radius1": 2, "radius2": 2}, "radius2"),
        ("extrude", {"profile": {"type": "ring"}, "height": 1}, "profile/type"),
        ("extrude", {"profile": {"type": "circle", "radius": 0}, "height": 1}, "profile/radius"),
        ("revolve", {"profile": [[1, 0], [2, 0], [2, 1]], "angle": 0}, "angle"),
    ],
)
def test_rules_of_single_operations(operation: str, options: JsonObject, pointer: str) -> None:
    assert only(document(node("a", operation, **options)))["pointer"] == f"/nodes/0/options/{pointer}"


@pytest.mark.parametrize(
    ("operation", "options", "pointer"),
    [
        ("rotate", {"axis": [0, 0, 0], "angle": 1}, "axis"),
        ("rotate", {"axis": "w", "angle": 1}, "axis"),
        ("fillet", {"radius": 1, "edges": "al"}, "edges"),
        ("fillet", {"radius": 1, "edges": {}}, "edges"),
        ("fillet", {"radius": 1, "edges": {"paralelTo": "z"}}, "edges/paralelTo"),
        ("fillet", {"radius": 1, "edges": {"parallelTo": "w"}}, "edges/parallelTo"),
        ("shell", {"thickness": 1, "openFaces": []}, "openFaces"),
        ("shell", {"thickness": 1, "openFaces": ["z"]}, "openFaces/0"),
        ("linearPattern", {"direction": "x", "spacing": 1, "count": 1}, "count"),
        ("linearPattern", {"direction": "x", "spacing": 1, "count": 2.5}, "count"),
        ("linearPattern", {"direction": "x", "spacing": 1, "count": 10**6}, "count"),
    ],
)
def test_options_of_features(operation: str, options: JsonObject, pointer: str) -> None:
    authored = document(box("b", 5, 5, 5), node("a", operation, "b", **options))
    assert only(authored)["pointer"] == f"/nodes/1/options/{pointer}"


def test_a_file_is_never_named_in_a_document() -> None:
    assert only(document(node("a", "importSTEP", file="/etc/passwd")))["pointer"] == "/nodes/0/options/file"


def test_a_document_is_resolved_whole() -> None:
    options = {"length": 20, "width": 10, "height": 5}
    authored = {
        "version": VERSION,
        "nodes": [{"id": "body", "filter": "box", "options": options}],
        "output": "body",
    }
    assert PROVIDER.plan(authored).document == {
        "version": VERSION,
        "nodes": [{"id": "body", "filter": "box", "options": options, "inputs": []}],
        "outputs": ["body"],
    }
