"""Reads the texts that are shown on the pages of a PDF as Calc writes it, with the standard library only.

It knows cross-reference tables, deflated streams, and fonts whose characters a ToUnicode map tells (ISO 32000-1: 7.3,
7.5.4, 9.4.3, 9.10.3); a PDF that is made otherwise is unreadable to it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

MAX_FILE_BYTES = 64 * 1024 * 1024
_MAX_STREAM_BYTES = 64 * 1024 * 1024
_MAX_OBJECTS = 200_000

_START = re.compile(rb"startxref\s+(\d+)\s+%%EOF\s*\Z")
_SECTION = re.compile(rb"xref\s+0\s+(\d+)\s*\n")
_HEAD = re.compile(rb"\s*\d+\s+\d+\s+obj\s*")
_LENGTH = re.compile(rb"/Length\s+(\d+)(\s+\d+\s+R)?")
_FONT = re.compile(rb"/(F\d+)\s+(\d+)\s+0\s+R")
_UNICODE = re.compile(rb"/ToUnicode\s+(\d+)\s+0\s+R")
_CONTENTS = re.compile(rb"/Contents\s+(\d+)\s+0\s+R")
_PAGE = re.compile(rb"/Type\s*/Page\b")
_MAPPED = re.compile(rb"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>")
_MAPS = re.compile(rb"beginbfchar(.*?)endbfchar", re.DOTALL)
_TOKEN = re.compile(rb"/(F\d+)\s+[-0-9.]+\s+Tf|<([0-9A-Fa-f\s]*)>|\b(BT|ET)\b")

Glyphs = Mapping[int, str]


class UnreadablePdf(Exception):
    """The file is no PDF, or one that this reader does not understand."""


def texts(path: Path) -> list[list[str]]:
    """The texts of each page, in the order in which they are drawn. Raises ``UnreadablePdf``, or ``OSError``."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise UnreadablePdf(f"the file has more than {MAX_FILE_BYTES} bytes")
    try:
        return _Reader(path.read_bytes()).pages()
    except (ValueError, KeyError, IndexError, zlib.error) as reason:
        raise UnreadablePdf(f"{type(reason).__name__}: {reason}"[:200]) from reason


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        if not data.startswith(b"%PDF-1."):
            raise UnreadablePdf("it does not begin as a PDF does")
        start = _START.search(data[-64:])
        if start is None:
            raise UnreadablePdf("it does not end as a PDF does")
        section = _SECTION.match(data, int(start[1]))
        if section is None or int(section[1]) > _MAX_OBJECTS:
            raise UnreadablePdf("it has no table of its objects")
        self._offsets = {}
        for number in range(int(section[1])):
            entry = data[section.end() + 20 * number :][:20]
            if entry[17:18] == b"n":
                self._offsets[number] = int(entry[:10])

    def pages(self) -> list[list[str]]:
        heads = {number: self._head(number) for number in self._offsets}
        fonts = {
            name: self._glyphs(int(number)) for head in heads.values() for name, number in _FONT.findall(head)
        }
        found = []
        for head in heads.values():
            if _PAGE.search(head):
                contents = _CONTENTS.search(head)
                if contents is None:
                    raise ValueError("a page shows nothing")
                found.append(list(_shown(self._stream(int(contents[1])), fonts)))
        if not found:
            raise ValueError("it has no pages")
        return found

    def _head(self, number: int) -> bytes:
        """An object up to its stream, or its end."""
        start = _HEAD.match(self._data, self._offsets[number])
        if start is None:
            raise ValueError(f"there is no object {number}")
        ends = [self._data.find(mark, start.end()) for mark in (b"stream", b"endobj")]
        return self._data[start.end() : min(end for end in ends if end >= 0)]

    def _stream(self, number: int) -> bytes:
        head = self._head(number)
        length = _LENGTH.search(head)
        if length is None or b"/FlateDecode" not in head:
            raise ValueError(f"object {number} is no deflated stream")
        count = int(self._head(int(length[1]))) if length[2] else int(length[1])
        start = self._data.index(b"stream", self._offsets[number]) + len(b"stream")
        start += 2 if self._data[start : start + 2] == b"\r\n" else 1
        inflater = zlib.decompressobj()
        content = inflater.decompress(self._data[start : start + count], _MAX_STREAM_BYTES)
        if not inflater.eof:
            raise ValueError(f"the stream of object {number} is not whole")
        return content

    def _glyphs(self, font: int) -> Glyphs:
        told = _UNICODE.search(self._head(font))
        if told is None:
            raise ValueError(f"the font {font} does not tell its characters")
        mapping = self._stream(int(told[1]))
        return {
            int(code, 16): bytes.fromhex(text.decode()).decode("utf-16-be")
            for block in _MAPS.findall(mapping)
            for code, text in _MAPPED.findall(block)
        }


def _shown(content: bytes, fonts: Mapping[bytes, Glyphs]) -> Iterator[str]:
    """What stands between BT and ET, each as one text."""
    glyphs: Glyphs = {}
    text = ""
    for font, codes, mark in _TOKEN.findall(content):
        if font:
            glyphs = fonts[font]
        elif mark == b"BT":
            text = ""
        elif mark == b"ET":
            if text:
                yield text
        else:
            text += "".join(glyphs[code] for code in bytes.fromhex(codes.decode()))
