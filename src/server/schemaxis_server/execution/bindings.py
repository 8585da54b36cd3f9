"""Bindings: verified resources put into a document's file options.

A binding is resolved before planning. The resource's kind must be one that the option
accepts; its bytes are checked at planning, before dispatch and after execution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from schemaxis_server.execution.records import Binding, Resource
from schemaxis_server.execution.resources import Resources
from schemaxis_server.faults import Fault
from schemaxis_server.providers.contract import Provider
from schemaxis_server.providers.problems import Problems

MAX_BINDINGS = 64


@dataclass(frozen=True, slots=True)
class FileOption:
    """A place of a document that takes a file: only a binding can fill it."""

    pointer: str
    node: str
    option: str
    accepts: tuple[str, ...]


def file_options(document: Any, provider: Provider) -> Iterator[FileOption]:
    """The file options of a document that has passed planning."""
    operations = {operation.name: operation for operation in provider.manifest.operations}
    for index, node in enumerate(document["nodes"]):
        for option, accepts in operations[node["filter"]].file_options.items():
            yield FileOption(f"/nodes/{index}/options/{option}", node["id"], option, accepts)


async def bind(
    document: Any, provider: Provider, bindings: Mapping[str, str], resources: Resources
) -> tuple[Binding, ...]:
    """Check the bindings of a planned document and return their records, by pointer.

    Raises ``INVALID_REQUEST`` for a pointer that is no file option, ``INVALID_DOCUMENT`` for a
    file option that nothing is bound to, ``BINDING_MISMATCH`` for a kind that the option
    does not accept, and the faults of a resource that cannot be used.
    """
    if len(bindings) > MAX_BINDINGS:
        raise Fault("INVALID_REQUEST", f"Give at most {MAX_BINDINGS} bindings.", "/bindings")
    options = {option.pointer: option for option in file_options(document, provider)}
    for pointer in bindings:
        if pointer not in options:
            places = ", ".join(options) or "none"
            raise Fault(
                "INVALID_REQUEST",
                f"The binding {pointer[:200]!r} is no file option of the document; its file options: {places}.",
                "/bindings",
            )
    if unbound := [option for pointer, option in options.items() if pointer not in bindings]:
        raise _unbound(unbound)
    records = []
    for pointer, option in options.items():
        resource = await _checked(bindings[pointer], resources)
        if resource.kind not in option.accepts:
            raise Fault(
                "BINDING_MISMATCH",
                f"{pointer} accepts {', '.join(option.accepts)}, and the resource is {resource.kind}; "
                "bind one of an accepted kind.",
                "/bindings",
                accepts=list(option.accepts),
                kind=resource.kind,
            )
        records.append(
            Binding(
                pointer=pointer, resource_id=resource.resource_id, kind=resource.kind, sha256=resource.sha256
            )
        )
    return tuple(records)


async def bound_paths(bindings: Iterable[Binding], resources: Resources) -> dict[str, str]:
    """The file of each binding by pointer, its bytes checked just now.

    Raises ``BINDING_MISMATCH`` if the resource is no longer what was planned with.
    """
    paths = {}
    for binding in bindings:
        resource = await _checked(binding.resource_id, resources)
        if resource.sha256 != binding.sha256:
            raise Fault(
                "BINDING_MISMATCH", "The bound resource is no longer what was planned with; plan again."
            )
        paths[binding.pointer] = str(resources.path(resource))
    return paths


def in_resolved(paths: Mapping[str, str], document: Any, resolved: Any, provider: Provider) -> dict[str, str]:
    """The same paths under the pointers of the resolved document, whose nodes are reordered."""
    places = {node["id"]: index for index, node in enumerate(resolved["nodes"])}
    return {
        f"/nodes/{places[option.node]}/options/{option.option}": paths[option.pointer]
        for option in file_options(document, provider)
    }


async def _checked(resource_id: str, resources: Resources) -> Resource:
    resource = resources.get(resource_id)
    await resources.verify(resource)
    return resource


def _unbound(options: Iterable[FileOption]) -> Fault:
    problems = Problems()
    for option in options:
        problems.add(
            option.pointer,
            f"{option.option} takes a bound resource; pass bindings with {option.pointer!r} and its resource id.",
            f"a {' or '.join(option.accepts)} resource",
        )
    return problems.fault()
