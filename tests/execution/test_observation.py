"""Bounded observation: exact values, whole paging, and never more bytes than asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schemaxis_server.execution.observation import Mode, Observation, Window, observe
from schemaxis_server.faults import Fault


def as_bridge_writes(seen: Observation) -> bytes:
    """The bridge's ``result`` for an observation, at its longest."""
    parts = [f'"mode":"{seen.mode}"'.encode()]
    if seen.type is not None:
        parts.append(f'"type":"{seen.type}"'.encode())
    if seen.value is not None:
        parts.append(b'"value":' + seen.value)
    members = []
    for member in seen.members:
        text = (
            f'{{"pointer":{json.dumps(member.pointer)},"type":"{member.type}","sizeBytes":{member.size_bytes}'
        ).encode()
        members.append(text + (b"" if member.value is None else b',"value":' + member.value) + b"}")
    parts.append(b'"members":[' + b",".join(members) + b"]")
    if seen.page is not None:
        following = "" if seen.page.next_offset is None else f'"nextOffset":{seen.page.next_offset},'
        parts.append(f'"page":{{"offset":{seen.page.offset},{following}"total":{seen.page.total}}}'.encode())
    parts.append(f'"revision":"{seen.revision}"'.encode())
    return b"{" + b",".join(parts) + b"}"


def read_all(evidence: bytes, pointer: str, max_bytes: int) -> Any:
    """The value at ``pointer``, put together from as many observations as it takes."""
    window = Window(pointer, max_bytes=max_bytes)
    seen = observe(evidence, window)
    assert len(as_bridge_writes(seen)) <= max_bytes
    if seen.mode is Mode.VALUE:
        assert seen.value is not None
        return json.loads(seen.value)
    children: list[tuple[str, Any]] = []
    while True:
        assert seen.page is not None
        for member in seen.members:
            value = (
                read_all(evidence, member.pointer, max_bytes)
                if member.value is None
                else json.loads(member.value)
            )
            children.append((member.pointer.rpartition("/")[2], value))
        if seen.page.next_offset is None:
            break
        seen = observe(
            evidence, Window(pointer, seen.page.next_offset, 100, max_bytes, revision=seen.revision)
        )
        assert len(as_bridge_writes(seen)) <= max_bytes
    assert len(children) == seen.page.total
    if seen.type == "array":
        return [value for _, value in children]
    return {name.replace("~1", "/").replace("~0", "~"): value for name, value in children}


_evidence = st.recursive(
    st.integers() | st.booleans() | st.none() | st.text(max_size=60),
    lambda children: (
        st.lists(children, min_size=1, max_size=30)
        | st.dictionaries(
            st.text(st.characters(min_codepoint=65), min_size=1, max_size=40) | st.sampled_from("0123"),
            children,
            min_size=1,
            max_size=30,
        )
    ),
    max_leaves=300,
)


@settings(max_examples=60, deadline=None)
@given(_evidence, st.integers(2048, 9000))
def test_paging_returns_everything_within_the_bytes_asked_for(value: Any, max_bytes: int) -> None:
    evidence = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    assert read_all(evidence, "", max_bytes) == json.loads(evidence)


@pytest.mark.parametrize("value", [["x" * 600] * 9, {str(index): "x" * 600 for index in range(9)}])
def test_an_object_with_numbers_for_keys_is_no_array(value: Any) -> None:
    assert observe(json.dumps(value).encode(), Window(max_bytes=2048)).mode is Mode.MEMBERS
    assert read_all(json.dumps(value).encode(), "", 2048) == value


def test_numbers_keep_their_digits() -> None:
    evidence = b'{"a": 1.50, "b": [12345678901234567890123, 1e999, -0, 0.1000]}'
    seen = observe(evidence, Window())
    assert seen.value == b'{"a":1.50,"b":[12345678901234567890123,1e999,-0,0.1000]}'
    assert observe(evidence, Window("/b/0")).value == b"12345678901234567890123"


def test_a_value_of_exactly_max_bytes_fits_and_one_more_does_not() -> None:
    overhead = len(as_bridge_writes(Observation(Mode.VALUE, "0" * 64, b"")))
    fits = json.dumps("x" * (2048 - overhead - 2)).encode()
    assert len(as_bridge_writes(observe(fits, Window(max_bytes=2048)))) == 2048
    with pytest.raises(Fault) as refused:
        observe(fits[:-1] + b'x"', Window(max_bytes=2048))
    assert refused.value.code == "OBSERVATION_LIMIT"
    assert refused.value.record.details["neededBytes"] == 2049


def test_a_revision_that_no_longer_holds_is_told() -> None:
    revision = observe(b"[1]", Window()).revision
    assert observe(b"[1]", Window(revision=revision)).value == b"[1]"
    with pytest.raises(Fault) as refused:
        observe(b"[2]", Window(revision=revision))
    assert refused.value.code == "EVIDENCE_CHANGED"


@pytest.mark.parametrize(
    ("window", "code"),
    [
        (Window("/a/b"), "NOT_FOUND"),
        (Window("/list/2"), "NOT_FOUND"),
        (Window("/list/01"), "NOT_FOUND"),
        (Window("/list/-"), "NOT_FOUND"),
        (Window("/scalar/x"), "NOT_FOUND"),
        (Window("a"), "INVALID_REQUEST"),
        (Window("/~2"), "INVALID_REQUEST"),
        (Window("/list", offset=3), "OUT_OF_RANGE"),
        (Window("/scalar", offset=1), "OUT_OF_RANGE"),
        (Window(limit=0), "INVALID_REQUEST"),
        (Window(limit=101), "INVALID_REQUEST"),
        (Window(max_bytes=2047), "INVALID_REQUEST"),
        (Window(max_bytes=65_537), "INVALID_REQUEST"),
        (Window(offset=-1), "INVALID_REQUEST"),
    ],
)
def test_a_window_outside_the_evidence_is_refused(window: Window, code: str) -> None:
    with pytest.raises(Fault) as refused:
        observe(b'{"a":{},"list":[1,2],"scalar":7}', window)
    assert refused.value.code == code


def test_an_offset_at_the_end_is_an_empty_last_page() -> None:
    seen = observe(b"[1,2]", Window(offset=2))
    assert seen.members == ()
    assert seen.page is not None
    assert seen.page.next_offset is None


def test_a_pointer_with_escapes_finds_its_member() -> None:
    assert observe(b'{"a/b":{"~":5}}', Window("/a~1b/~0")).value == b"5"
