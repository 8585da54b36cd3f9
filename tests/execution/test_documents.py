"""Authored JSON: what is read, what is refused and how, and what a digest depends on."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schemaxis_server.documents import MAX_DOCUMENT_BYTES, digest, parse_document
from schemaxis_server.faults import Fault

_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), children, max_size=4)
    ),
    max_leaves=20,
)


@given(_json)
def test_what_is_json_is_read_exactly(value: object) -> None:
    assert parse_document(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a":1,"a":2}', "stands twice"),
        ("9007199254740992", "2^53-1"),
        ("9" * 5000, "2^53-1"),
        ("1e999", "overflows"),
        ("-1e999", "overflows"),
        ("NaN", "$number"),
        ("[Infinity]", "$number"),
        ('"\\ud800"', "surrogate"),
        ('{"\\udc00":1}', "surrogate"),
        ("[" * 65 + "]" * 65, "deeper than 64"),
        ("[" * 100_000, "deeper than 64"),
        ('{"a":', "line 1"),
        ("", "line 1"),
        ("{} {}", "line 1"),
    ],
)
def test_what_is_not_i_json_is_refused_with_advice(text: str, said: str) -> None:
    with pytest.raises(Fault) as refused:
        parse_document(text)
    assert refused.value.code == "INVALID_DOCUMENT"
    assert said in refused.value.record.message


def test_the_limits_themselves_are_accepted() -> None:
    assert parse_document("9007199254740991") == 2**53 - 1
    assert parse_document("[" * 64 + "]" * 64)
    assert parse_document(f'"{"x" * (MAX_DOCUMENT_BYTES - 2)}"')
    with pytest.raises(Fault) as refused:
        parse_document(f'"{"x" * (MAX_DOCUMENT_BYTES - 1)}"')
    assert refused.value.code == "REQUEST_TOO_LARGE"


def test_a_digest_is_over_values_not_over_their_spelling() -> None:
    assert digest(parse_document('{"b":2.0,"a":[1e1,"\\u00e9"]}')) == digest(
        parse_document('{ "a": [10, "é"], "b": 2 }')
    )
    assert digest({"a": 1}) != digest({"a": 1.0000000000000002})
