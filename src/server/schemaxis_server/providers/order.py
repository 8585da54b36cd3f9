"""The execution order of a document's nodes, and which of them are needed. Standard library only: hosts import it too."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def execution_order(inputs: Mapping[str, Sequence[str]]) -> tuple[list[str], list[str]]:
    """Order nodes so that each comes after its inputs, otherwise as they were written.

    ``inputs`` maps each node's id to the ids that it takes, in the authored order. Returns
    the order and, when there is a cycle, the ids left over: those on a cycle or behind one.
    """
    place = {name: index for index, name in enumerate(inputs)}
    names = list(inputs)
    waiting = {name: len(set(taken)) for name, taken in inputs.items()}
    consumers: dict[str, list[str]] = {name: [] for name in inputs}
    for name, taken in inputs.items():
        for source in set(taken):
            consumers[source].append(name)
    ready = [place[name] for name, count in waiting.items() if count == 0]
    order: list[str] = []
    while ready:
        name = names[heapq.heappop(ready)]
        order.append(name)
        for consumer in consumers[name]:
            waiting[consumer] -= 1
            if waiting[consumer] == 0:
                heapq.heappush(ready, place[consumer])
    done = set(order)
    return order, [name for name in names if name not in done]


def needed(inputs: Mapping[str, Sequence[str]], outputs: Iterable[str]) -> set[str]:
    """The ids of the outputs and of all nodes that they are made from."""
    found: set[str] = set()
    waiting = list(outputs)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(inputs[name])
    return found


def unused_warnings(document: Mapping[str, Any]) -> list[str]:
    """A warning for each node of a resolved document that no output is made from.

    It is no error, since a draft may hold parts that are not in use yet; a producer leaves such
    nodes out and puts these into its ``warnings``.
    """
    nodes = document["nodes"]
    used = needed({node["id"]: node["inputs"] for node in nodes}, document["outputs"])
    return [
        f"/nodes/{place}: {node['id']} ({node['filter']}) was left out, since no output is made from it. Name it "
        "among the outputs or in the inputs of a node that is used, or remove it."
        for place, node in enumerate(nodes)
        if node["id"] not in used
    ]


def one_cycle(inputs: Mapping[str, Sequence[str]], left_over: Sequence[str]) -> list[str]:
    """One cycle among the nodes that could not be ordered: ids in the direction of flow."""
    among = set(left_over)
    path: list[str] = []
    seen: dict[str, int] = {}
    name = left_over[0]
    while name not in seen:
        seen[name] = len(path)
        path.append(name)
        name = next(source for source in inputs[name] if source in among)
    return list(reversed(path[seen[name] :]))
