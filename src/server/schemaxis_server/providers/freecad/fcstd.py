"""Reads FCStd files without FreeCAD: a zip of an XML document and of the shapes of its objects.

It runs in the verifier, on bytes that are on trial: every size is bounded. Standard library only.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

_DOCUMENT = "Document.xml"
_DOCUMENT_BYTES = 64 * 1024 * 1024
_SHAPE_BYTES = 512 * 1024 * 1024

Value = float | str | tuple[str, ...]


class UnreadableError(RuntimeError):
    """The file is no FCStd, or holds no such object; the text says which."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An object of the document.

    ``kind`` is its FreeCAD type. ``values`` are its properties that are numbers, and those that lead to
    other objects, by these objects' labels. ``shape`` is the file of its shape in the zip, if it has one.
    """

    kind: str
    values: Mapping[str, Value]
    shape: str


def objects(path: Path) -> dict[str, Entry]:
    """The objects of a file by their labels. Raises :class:`UnreadableError`."""
    text = _member(path, _DOCUMENT, _DOCUMENT_BYTES)
    if b"<!DOCTYPE" in text:
        # FreeCAD declares nothing, and what is declared can be made to grow without bounds.
        raise UnreadableError("its Document.xml declares a document type")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314, RUF100 - without declarations there is nothing to expand
    except ElementTree.ParseError as reason:
        raise UnreadableError(f"its Document.xml is no XML ({reason})") from reason
    kinds = {one.get("name", ""): one.get("type", "") for one in root.iterfind("Objects/Object")}
    found = {
        one.get("name", ""): {each.get("name", ""): each for each in one.iterfind("Properties/Property")}
        for one in root.iterfind("ObjectData/Object")
    }
    labels = {name: _text(properties.get("Label")) for name, properties in found.items()}
    entries = {
        labels[name]: Entry(kinds.get(name, ""), _values(properties, labels), _shape(properties))
        for name, properties in found.items()
    }
    if len(entries) != len(found):
        raise UnreadableError("two of its objects have the same label")
    return entries


def extract(path: Path, name: str, target: Path) -> None:
    """Copy a shape out of the zip. Raises :class:`UnreadableError`."""
    target.write_bytes(_member(path, name, _SHAPE_BYTES))


def _member(path: Path, name: str, most: int) -> bytes:
    try:
        with zipfile.ZipFile(path) as archive, archive.open(name) as file:
            data = file.read(most + 1)
    except KeyError:
        raise UnreadableError(f"it has no {name}") from None
    except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as reason:
        raise UnreadableError(f"it is no sound zip ({type(reason).__name__}: {reason})"[:200]) from reason
    if len(data) > most:
        raise UnreadableError(f"its {name} has more than {most} bytes")
    return data


def _text(member: ElementTree.Element | None) -> str:
    value = member.find("String") if member is not None else None
    return value.get("value", "") if value is not None else ""


def _shape(properties: Mapping[str, ElementTree.Element]) -> str:
    member = properties.get("Shape")
    part = member.find("Part") if member is not None else None
    return part.get("file", "") if part is not None else ""


def _values(properties: Mapping[str, ElementTree.Element], labels: Mapping[str, str]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for name, member in properties.items():
        first = next(iter(member), None)
        if first is None:
            continue
        if first.tag in ("Float", "Integer"):
            try:
                values[name] = float(first.get("value", ""))
            except ValueError:
                continue
        elif first.tag in ("Link", "LinkSub", "XLink"):
            target = first.get("name") or first.get("value") or ""
            values[name] = labels.get(target, "")
        elif first.tag == "LinkList":
            values[name] = tuple(labels.get(one.get("value", ""), "") for one in first.iterfind("Link"))
    return values
