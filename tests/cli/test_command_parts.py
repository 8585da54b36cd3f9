"""Overrides and the way things are written."""

from __future__ import annotations

import math

import pytest
from schemaxis.bridge.text import parse, write
from schemaxis.cli.documents import override, request_with, version_of
from schemaxis.cli.main import UsageError
from schemaxis.cli.output import pretty, size, table, value


@pytest.mark.parametrize(
    ("assignment", "written"),
    [
        ("/a/1/b=7.50", '{"a":[1.0,{"b":7.50}],"c/d":1}'),
        ("/a/1/new=x y", '{"a":[1.0,{"b":2,"new":"x y"}],"c/d":1}'),
        ("/a/0=[1e999]", '{"a":[[1e999],{"b":2}],"c/d":1}'),
        ("/c~1d=null", '{"a":[1.0,{"b":2}],"c/d":null}'),
        ("/e=a=b", '{"a":[1.0,{"b":2}],"c/d":1,"e":"a=b"}'),
    ],
)
def test_override(assignment: str, written: str) -> None:
    assert write(override(parse('{"a":[1.0,{"b":2}],"c/d":1}'), assignment)) == written


@pytest.mark.parametrize("assignment", ["a=1", "/a", "/a/2=1", "/a/x=1", "/x/y=1", "/a/0/x=1", "/a/-1=1"])
def test_an_override_that_fits_nowhere(assignment: str) -> None:
    with pytest.raises(UsageError, match="--set"):
        override(parse('{"a":[1.0,{"b":2}]}'), assignment)


def test_a_document_reaches_the_request_as_it_was_written() -> None:
    document = parse('{"version":"v/1", "x":1.50}')
    assert version_of(document) == "v/1"
    assert request_with(document, task_id="t") == '{"task_id": "t","document":{"version":"v/1","x":1.50}}'
    assert version_of(parse('{"version":5}')) == version_of(parse("[]")) == ""


def test_pretty_keeps_every_number() -> None:
    assert pretty('{"a":1.50,"b":[1,2],"c":[{"d":1e999}],"e":{}}') == (
        '{\n  "a": 1.50,\n  "b": [1,2],\n  "c": [\n    {\n      "d": 1e999\n    }\n  ],\n  "e": {}\n}'
    )


def test_values_sizes_and_tables() -> None:
    assert value(999.9999999999998) == "1000"
    assert value({"min": [0.0, 1.5], "ok": True}) == "min 0 1.5, ok yes"
    assert value(math.nan) == "nan"
    assert [size(count) for count in (999, 1500, 2_000_000, 3 * 10**12)] == [
        "999 B",
        "1.5 kB",
        "2.0 MB",
        "3000.0 GB",
    ]
    assert table([("a", "bb"), ("ccc", "")], ("X", "Y")) == ["X    Y", "a    bb", "ccc"]
    assert table([]) == []
