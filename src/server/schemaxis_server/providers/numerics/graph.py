"""Walks a document's nodes with one engine's operations. Standard library only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.numerics.schemas import MAX_SAMPLES, MAX_SAMPLES_IN_ALL
from schemaxis_server.providers.order import execution_order, needed


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a node gives: a series, as one-dimensional arrays of doubles, and what else was found.

    Three that only a check needs: ``reach`` is, for each coefficient, how far y moves at most per unit of it;
    ``slack`` how exactly the search for it ends; ``size`` the size of what the residual is a difference of.
    """

    x: Any
    y: Any
    x_name: str
    y_name: str
    coefficients: Sequence[float] | None = None
    residual: float | None = None
    statistics: Mapping[str, float] | None = None
    reach: Sequence[float] | None = None
    slack: Sequence[float] | None = None
    size: float = 0.0


@dataclass(frozen=True, slots=True)
class Work:
    """One node as an operation sees it. ``file`` is the bound file, ``sources`` are the inputs' ids."""

    options: Mapping[str, Any]
    inputs: Sequence[Outcome]
    sources: Sequence[str]
    file: str | None
    warn: Callable[[str], None]


Operation = Callable[[Work], Outcome]


def compute(
    document: Mapping[str, Any],
    bindings: Mapping[str, str],
    operations: Mapping[str, Operation],
    progress: Callable[[int, str], None] = lambda done, what: None,
    warn: Callable[[str], None] = lambda text: None,
) -> dict[str, Outcome]:
    """The outcome of every node that an output needs, by id, in execution order.

    ``progress(nodes done, what comes next)`` is called before each. An ``UnsupportedInput`` of an
    operation has a pointer relative to its node; it leaves here with the whole one.
    """
    nodes = {node["id"]: (place, node) for place, node in enumerate(document["nodes"])}
    inputs_of = {name: node["inputs"] for name, (_, node) in nodes.items()}
    used = needed(inputs_of, document["outputs"])
    found: dict[str, Outcome] = {}
    samples = 0
    for name in execution_order(inputs_of)[0]:
        if name not in used:
            continue
        place, node = nodes[name]
        pointer = f"/nodes/{place}"
        title = f"{name} ({node['filter']})"
        progress(len(found), f"{node['filter']} {name}")

        def say(text: str, before: str = f"{pointer}: {title}") -> None:
            warn(f"{before}: {text}")

        work = Work(
            node["options"],
            [found[source] for source in node["inputs"]],
            node["inputs"],
            bindings.get(f"{pointer}/options/file"),
            say,
        )
        try:
            found[name] = operations[node["filter"]](work)
        except UnsupportedInput as reason:
            raise UnsupportedInput(f"{title}: {reason.message}", pointer + reason.pointer) from reason
        count = len(found[name].y)
        samples += count
        if count > MAX_SAMPLES:
            raise UnsupportedInput(f"{title} has {count} samples, and {MAX_SAMPLES} are the most.", pointer)
        if samples > MAX_SAMPLES_IN_ALL:
            raise UnsupportedInput(
                f"The nodes up to {name} have {samples} samples, and {MAX_SAMPLES_IN_ALL} are the most in all.",
                pointer,
            )
    return found
