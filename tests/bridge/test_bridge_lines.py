"""Cutting bytes into lines, and envelopes into requests."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schemaxis.bridge.envelope import Refused, Request, parse_request
from schemaxis.bridge.lines import LineSplitter, Oversized


def cut(splitter: LineSplitter, *chunks: bytes) -> list[bytes | None]:
    """The lines of the chunks and of the end; None for an oversized one."""
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    lines += splitter.close()
    return [None if isinstance(line, Oversized) else line for line in lines]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\r\nb", [b"a", b"b"]),
        (b"a\rb\n", [b"a\rb"]),
        (b"\n\n", [b"", b""]),
        (b"", []),
        ("a\u2028b\u0085c\n".encode(), ["a\u2028b\u0085c".encode()]),
        (b"12345678\n", [b"12345678"]),
        (b"12345678\r\n", [b"12345678"]),
        (b"12345678\r", [b"12345678"]),
        (b"123456789\nx\n", [None, b"x"]),
        (b"1" * 100 + b"\nx\n", [None, b"x"]),
        (b"1" * 100, [None]),
        (b"123456789", [None]),
    ],
)
def test_lines_of_at_most_eight_bytes(data: bytes, lines: list[bytes | None]) -> None:
    assert cut(LineSplitter(8), data) == lines
    assert cut(LineSplitter(8), *(data[at : at + 1] for at in range(len(data)))) == lines


@given(st.binary(max_size=60).map(lambda data: data.replace(b"\x00", b"\n")), st.lists(st.integers(0, 60)))
def test_chunks_do_not_matter(data: bytes, cuts: list[int]) -> None:
    edges = sorted({0, len(data), *(edge for edge in cuts if edge <= len(data))})
    chunks = [data[start:stop] for start, stop in pairwise(edges)]
    assert cut(LineSplitter(8), *chunks) == cut(LineSplitter(8), data)


def test_an_oversized_line_is_told_at_once_and_held_by_nobody() -> None:
    splitter = LineSplitter(8)
    assert len(list(splitter.feed(b"1" * 100))) == 1
    assert list(splitter.feed(b"2" * 100)) == []
    assert list(splitter.feed(b"3\nok\n")) == [b"ok"]


@pytest.mark.parametrize(
    ("line", "id_text"),
    [
        (b'{"id":1,"method":"m"}', "1"),
        (b'{"id":"1","method":"m","params":null}', '"1"'),
        (b'{"id":"","method":"m"}', '""'),
        (b'{"id":0,"method":"m"}', "0"),
        (b'{"id":-5,"method":"m"}', "-5"),
        (b'\xef\xbb\xbf{"id":1,"method":"m"}', "1"),
        (b'\r \t{"id":\r1,"method":"m"}\r', "1"),
        (b'{"id":' + b"9" * 128 + b',"method":"m"}', "9" * 128),
        (b'{"id":"' + b"x" * 128 + b'","method":"m"}', '"' + "x" * 128 + '"'),
        ('{"id":"é\u2028","method":"m"}'.encode(), '"é\u2028"'),
        (b'{"id":"\\u0041\\ud800\\u0000","method":"m"}', '"A\\ud800\\u0000"'),
    ],
)
def test_ids(line: bytes, id_text: str) -> None:
    request = parse_request(line)
    assert isinstance(request, Request)
    assert request.id_text == id_text


@pytest.mark.parametrize("line", [b"", b"   ", b"\r", b"\t \r", b"\xef\xbb\xbf"])
def test_blank_lines_are_no_request(line: bytes) -> None:
    assert parse_request(line) is None


@pytest.mark.parametrize(
    ("line", "id_text", "pointer"),
    [
        (b'{"method":"m"}', "null", "/id"),
        (b'{"id":null,"method":"m"}', "null", "/id"),
        (b'{"id":1.5,"method":"m"}', "null", "/id"),
        (b'{"id":1.0,"method":"m"}', "null", "/id"),
        (b'{"id":1e3,"method":"m"}', "null", "/id"),
        (b'{"id":true,"method":"m"}', "null", "/id"),
        (b'{"id":{},"method":"m"}', "null", "/id"),
        (b'{"id":[1],"method":"m"}', "null", "/id"),
        (b'{"id":NaN,"method":"m"}', "null", "/id"),
        (b'{"id":1,"id":1,"method":"m"}', "null", "/id"),
        (b'{"id":"' + b"x" * 129 + b'","method":"m"}', "null", "/id"),
        (b'{"id":' + b"9" * 5000 + b',"method":"m"}', "null", "/id"),
        (b'{"id":3}', "3", "/method"),
        (b'{"id":3,"method":7}', "3", "/method"),
        (b'{"id":3,"method":null}', "3", "/method"),
        (b'{"id":3,"method":"m","params":[]}', "3", "/params"),
        (b'{"id":3,"method":"m","params":"x"}', "3", "/params"),
        (b'{"id":3,"method":"m","param":{}}', "3", "/param"),
        (b'{"id":3,"method":"m","jsonrpc":"2.0"}', "3", "/jsonrpc"),
        (b'{"id":3,"method":"m","method":"m"}', "3", "/method"),
        (b'{"id":3,"method":"m","params":{"a":[1,{"b":-Infinity}]}}', "3", "/params/a/1/b"),
        (b'{"id":3,"method":"m","params":{"a":NaN}}', "3", "/params/a"),
        (b"[]", "null", ""),
        (b'[{"id":1,"method":"m"}]', "null", ""),
        (b"5", "null", ""),
        (b'"x"', "null", ""),
        (b"{", "null", ""),
        (b'{"id":1,"method":"m"} x', "null", ""),
        (b'{"id":01,"method":"m"}', "null", ""),
        (b'{"id":1,"method":"a\x00b"}', "null", ""),
        (b'{"id":1,"method":"a\tb"}', "null", ""),
        (b'{"id":1,"method":"\xff"}', "null", ""),
        (b'{"id":1,"method":"\xed\xa0\x80"}', "null", ""),
        (b'{"id":1,"method":"\xc0\xaf"}', "null", ""),
        (b"{'id':1}", "null", ""),
    ],
)
def test_what_is_no_request_is_refused(line: bytes, id_text: str, pointer: str) -> None:
    with pytest.raises(Refused) as raised:
        parse_request(line)
    assert raised.value.id_text == id_text
    assert raised.value.fault.code == "INVALID_REQUEST"
    assert raised.value.fault.pointer == pointer


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
@pytest.mark.parametrize("closed", [True, False])
def test_a_request_too_deep_is_answered_under_its_id(opening: bytes, closed: bool) -> None:
    closing = b"]" if opening == b"[" else b"}"
    deep = opening * 100_000 + b"1" + closing * (100_000 if closed else 0)
    for line in (
        b'{"id":"x","method":"plan","params":{"document":' + deep + b"}}",
        b'{"params":{"id":7,"s":"\\"]\\"id\\":8"},"q":' + deep + b' ,"id" : "x"}',
    ):
        with pytest.raises(Refused) as raised:
            parse_request(line)
        assert "64 levels" in raised.value.fault.message
        if closed or line.startswith(b'{"id"'):
            assert raised.value.id_text == '"x"'


def test_a_deep_id_cannot_be_read() -> None:
    with pytest.raises(Refused) as raised:
        parse_request(b'{"id":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    assert raised.value.id_text == "null"


def test_a_document_may_nest_64_levels() -> None:
    def line(levels: int) -> bytes:
        document = b"[" * levels + b"]" * levels
        return b'{"id":1,"method":"plan","params":{"document":' + document + b"}}"

    assert parse_request(line(64)) is not None
    with pytest.raises(Refused):
        parse_request(line(65))


def test_brackets_in_text_do_not_count() -> None:
    assert parse_request(b'{"id":1,"method":"m","params":{"a":"' + b'[{\\"' * 200 + b'"}}') is not None


@pytest.mark.timeout(20)
@pytest.mark.parametrize("ending", [b"", b"\\", b'"'])
def test_text_made_to_be_slow_is_not(ending: bytes) -> None:
    with pytest.raises(Refused):
        parse_request(b"[" * 100 + b'"' + b'\\"' * 400_000 + ending)


@given(st.binary(max_size=80))
def test_no_bytes_break_the_parser(line: bytes) -> None:
    try:
        parse_request(line)
    except Refused as refused:
        refused.fault.to_json().encode()
