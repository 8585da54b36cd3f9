"""The comments of the protos, which generated code does not carry, by the full name they describe."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2

from schemaxis import v1

# Field numbers of descriptor.proto, which paths in a SourceCodeInfo consist of.
_FILE_PARTS = ((4, "message_type"), (5, "enum_type"), (6, "service"))
_PARTS = {
    "message_type": ((2, "field"), (3, "nested_type"), (4, "enum_type")),
    "nested_type": ((2, "field"), (3, "nested_type"), (4, "enum_type")),
    "enum_type": ((2, "value"),),
    "service": ((2, "method"),),
}


@cache
def descriptor_set() -> descriptor_pb2.FileDescriptorSet:
    """The shipped descriptor set with its comments."""
    path = Path(v1.__path__[0]) / "schemaxis.binpb"
    return descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes())


def proto_files() -> list[str]:
    """The names of the product's own proto files."""
    return [file.name for file in descriptor_set().file if file.package == v1.__name__]


def comment(full_name: str) -> str:
    """The comment above a service, method, message, field, enum or enum value, on one line; may be empty."""
    return _comments().get(full_name, "")


@cache
def _comments() -> dict[str, str]:
    comments: dict[str, str] = {}
    for file in descriptor_set().file:
        if file.package != v1.__name__:
            continue
        names = dict(_paths(file, file.package, (), _FILE_PARTS))
        for location in file.source_code_info.location:
            if location.leading_comments and (name := names.get(tuple(location.path))):
                comments[name] = " ".join(location.leading_comments.split())
    return comments


def _paths(
    owner: Any, prefix: str, path: tuple[int, ...], parts: tuple[tuple[int, str], ...]
) -> Iterator[tuple[tuple[int, ...], str]]:
    for number, attribute in parts:
        for index, part in enumerate(getattr(owner, attribute)):
            name, place = f"{prefix}.{part.name}", (*path, number, index)
            yield place, name
            yield from _paths(part, name, place, _PARTS.get(attribute, ()))
