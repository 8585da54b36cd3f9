"""Inspection: the text of a small file as it stands, or a refusal that says what it is not."""

from __future__ import annotations

import pytest
from schemaxis_server.execution import inspection
from schemaxis_server.faults import Fault


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (b"[NaN, 1.0000000000000000000001]", b'[{"$number":"NaN"},1.0000000000000000000001]'),
        (b'{"a": -Infinity, "b": Infinity}', b'{"a":{"$number":"-Infinity"},"b":{"$number":"Infinity"}}'),
        (b"[NaN, " + b"9" * 5000 + b"]", b'[{"$number":"NaN"},' + b"9" * 5000 + b"]"),
        (b"[NaN, 1e999, -0.0]", b'[{"$number":"NaN"},1e999,-0.0]'),
        (b'["NaN", "a \\" NaN", NaN]', b'["NaN","a \\" NaN",{"$number":"NaN"}]'),
        (b'{"NaN": [NaN,NaN]}', b'{"NaN":[{"$number":"NaN"},{"$number":"NaN"}]}'),
        (b'"\\ud83d\\ude00"', b'"\\ud83d\\ude00"'),
        (b"\xef\xbb\xbf 7 ", b"7"),
        (b"[" * 64 + b"]" * 64, b"[" * 64 + b"]" * 64),
        (b'["' + b"[" * 100 + b'"]', b'["' + b"[" * 100 + b'"]'),
    ],
)
def test_json_keeps_its_digits_and_spells_what_it_lacks(text: bytes, seen: bytes) -> None:
    assert inspection._json(text) == seen


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b'{"a":"\\ud800"}', "lone surrogate"),
        (b'{"\\udc00":1}', "lone surrogate"),
        (b'{"x":NaN,"a":"\\ud800\\u0041"}', "lone surrogate"),
        (b"[" * 65 + b"]" * 65, "64 levels"),
        (b"[" * 500_000, "64 levels"),
        (b"[NaN,]", "comma"),
        (b"[-NaN]", "malformed"),
        (b"{NaN:1}", "malformed"),
        (b"[1NaN]", "malformed"),
        (b'["NaN]', "malformed"),
        (b"", "truncated"),
        (b'["\xff"]', "byte 2 is not UTF-8"),
        (b'["\x01"]', "malformed"),
    ],
)
def test_what_is_no_json_is_refused(text: bytes, why: str) -> None:
    with pytest.raises(Fault, match=why) as refused:
        inspection._json(text)
    assert refused.value.code == "UNSUPPORTED_INSPECTION"
