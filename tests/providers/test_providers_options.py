"""The option rules accept exactly what ``jsonschema`` accepts, and write the defaults out."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schemaxis_server.providers.contract import Operation
from schemaxis_server.providers.occt.provider import PROVIDER
from schemaxis_server.providers.options import describe, resolve
from schemaxis_server.providers.problems import Problems

_OPERATIONS = PROVIDER.manifest.operations
_VALIDATORS = {one.name: jsonschema.Draft202012Validator(dict(one.options)) for one in _OPERATIONS}

_WORDS = st.sampled_from(
    ["x", "y", "z", "+z", "-x", "all", "xy", "yz", "polygon", "rectangle", "circle", "line", "w", ""]
)
_NUMBERS = st.one_of(
    st.integers(-3, 400),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1e-4, 1e-5, 1e6, 1e7, 360, 360.5, 2.0, 2.5]),
)
_SCALARS = st.one_of(st.none(), st.booleans(), _NUMBERS, _WORDS)
_POINTS = st.lists(st.lists(_NUMBERS, min_size=1, max_size=4), min_size=1, max_size=5)
_TAGGED = st.fixed_dictionaries(
    {"type": _WORDS},
    optional={
        "points": _POINTS,
        "radius": _NUMBERS,
        "width": _NUMBERS,
        "height": _NUMBERS,
        "center": _POINTS,
    },
)
_SELECTORS = st.dictionaries(
    st.sampled_from(["parallelTo", "onFace", "curve", "nearTo", "other"]),
    st.one_of(_WORDS, st.lists(_NUMBERS)),
    max_size=2,
)
_VALUES = st.one_of(
    _SCALARS, st.lists(_SCALARS, max_size=4), _POINTS, _TAGGED, _SELECTORS, st.lists(_SELECTORS, max_size=3)
)


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_the_same_is_accepted_as_by_a_general_validator(data: st.DataObject) -> None:
    operation = data.draw(st.sampled_from(_OPERATIONS))
    names = [*operation.options["properties"], "other"]
    example = next(node for node in operation.example["nodes"] if node["filter"] == operation.name)
    options = dict(example.get("options", {}))
    for name in data.draw(st.lists(st.sampled_from(names), max_size=2)):
        options[name] = data.draw(_VALUES)
    problems = Problems()
    resolved = resolve(options, operation.options, "", problems)
    assert (problems.total == 0) == _VALIDATORS[operation.name].is_valid(options)
    if not problems.total:
        assert set(resolved) == set(operation.options["properties"])


@pytest.mark.parametrize("value", [None, 3, "x", [], [1]])
def test_options_must_be_an_object(value: Any) -> None:
    problems = Problems()
    resolve(value, _OPERATIONS[0].options, "/options", problems)
    assert [problem.pointer for problem in problems.kept] == ["/options"]


@pytest.mark.parametrize("operation", _OPERATIONS, ids=lambda one: str(one.name))
def test_every_option_can_be_put_in_words(operation: Operation) -> None:
    for schema in operation.options["properties"].values():
        assert describe(schema)


def test_the_alternative_that_was_meant_is_explained() -> None:
    extrude = next(one for one in _OPERATIONS if one.name == "extrude")
    problems = Problems()
    profile = {"type": "rectangle", "width": 2, "hieght": 3}
    resolve({"profile": profile, "height": 1}, extrude.options, "/options", problems)
    found = {problem.pointer: problem.nearest for problem in problems.kept}
    assert found == {"/options/profile/hieght": "height", "/options/profile/height": ""}


def test_a_pointer_escapes_what_json_pointers_escape() -> None:
    problems = Problems()
    resolve({"a/b~c": 1}, {"type": "object", "properties": {}}, "", problems)
    assert problems.kept[0].pointer == "/a~1b~0c"
