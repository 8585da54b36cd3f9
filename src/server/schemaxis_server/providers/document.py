"""The document rules that every provider shares: a graph of nodes, checked whole.

A document is ``{"version", "nodes": [{"id", "filter", "options", "inputs"}], "output" | "outputs"}``.
:func:`resolve` finds every problem at once and answers with the defaults written out. Nodes keep
their authored places, so that a pointer means the same in the authored and the resolved document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from schemaxis_server.providers import options as option_rules
from schemaxis_server.providers.contract import Manifest, Operation, ResolvedDocument
from schemaxis_server.providers.order import execution_order, one_cycle
from schemaxis_server.providers.problems import Problems, child, clip

MAX_NODES = 1000
MAX_INPUTS = 256
MAX_OUTPUTS = 32
ID_PATTERN = "^[A-Za-z][A-Za-z0-9_-]{0,63}$"

DOCUMENT_KEYS = ("version", "nodes", "output", "outputs")
NODE_KEYS = ("id", "filter", "options", "inputs")
_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}\Z")
_ID_WORDS = "a letter, then up to 63 letters, digits, - or _"

Rule = Callable[[dict[str, Any], str, Problems], None]
"""A rule beyond the schema: ``rule(options, pointer of the options, problems)``; it may rewrite options."""


def resolve(document: Any, manifest: Manifest, rules: Mapping[str, Rule] | None = None) -> ResolvedDocument:
    """Check and resolve an authored document.

    ``rules`` maps an operation's name to its rule beyond the schema, which is called only with
    options that fit the schema. Raises ``Fault("INVALID_DOCUMENT")`` with all problems.
    """
    problems = Problems()
    if not isinstance(document, Mapping):
        problems.add("", f"The document is {clip(document)}.", "an object with version, nodes and output")
        raise problems.fault()
    _no_unknown_keys(document, DOCUMENT_KEYS, "", problems)
    _version(document, manifest, problems)
    nodes = _nodes(document, manifest, rules or {}, problems)
    if "nodes" in document and isinstance(document["nodes"], list):
        _graph(nodes, problems)
    outputs = _outputs(document, [node["id"] for node in nodes if node["id"] is not None], problems)
    if problems.total:
        raise problems.fault()
    order, _ = execution_order({node["id"]: node["inputs"] for node in nodes})
    resolved = {"version": manifest.version, "nodes": nodes, "outputs": outputs}
    return ResolvedDocument(resolved, tuple(order), tuple(outputs))


def _no_unknown_keys(
    value: Mapping[Any, Any], known: Sequence[str], pointer: str, problems: Problems
) -> None:
    for key in value:
        if key not in known:
            place = child(pointer, key) if isinstance(key, str) else pointer
            expected = "only " + ", ".join(known)
            problems.add(place, f"{clip(key)} is no known key here.", expected, given=key, names=known)


def _version(document: Mapping[str, Any], manifest: Manifest, problems: Problems) -> None:
    if "version" not in document:
        problems.add("/version", "version is missing.", clip(manifest.version))
    elif document["version"] != manifest.version:
        given = document["version"]
        message = f"version is {clip(given)}."
        problems.add("/version", message, clip(manifest.version), given=given, names=[manifest.version])


def _nodes(
    document: Mapping[str, Any], manifest: Manifest, rules: Mapping[str, Rule], problems: Problems
) -> list[dict[str, Any]]:
    """Every node that is an object, resolved as far as it goes; a bad id is None."""
    authored = document.get("nodes")
    expected = f"an array of 1 to {MAX_NODES} nodes"
    if not isinstance(authored, list):
        found = f"nodes is {clip(authored)}." if "nodes" in document else "nodes is missing."
        problems.add("/nodes", found, expected)
        return []
    if not 1 <= len(authored) <= MAX_NODES:
        problems.add("/nodes", f"nodes has {len(authored)} members.", expected)
        return []
    operations = {operation.name: operation for operation in manifest.operations}
    first_use: dict[str, int] = {}
    nodes: list[dict[str, Any]] = []
    for index, node in enumerate(authored):
        pointer = child("/nodes", index)
        if not isinstance(node, Mapping):
            problems.add(pointer, f"The node is {clip(node)}.", "an object with id, filter, options, inputs")
            nodes.append({"id": None, "filter": None, "options": {}, "inputs": []})
            continue
        _no_unknown_keys(node, NODE_KEYS, pointer, problems)
        name = _id(node, pointer, first_use, index, problems)
        operation = _operation(node, pointer, operations, problems)
        options = _options(node, operation, rules, pointer, problems)
        inputs = _inputs(node, operation, pointer, problems)
        nodes.append(
            {"id": name, "filter": operation and operation.name, "options": options, "inputs": inputs}
        )
    return nodes


def _id(
    node: Mapping[str, Any], pointer: str, first_use: dict[str, int], index: int, problems: Problems
) -> str | None:
    place = child(pointer, "id")
    name = node.get("id")
    if not isinstance(name, str) or not _ID.match(name):
        problems.add(place, f"id is {clip(name)}." if "id" in node else "id is missing.", _ID_WORDS)
        return None
    if name in first_use:
        message = f"The id {clip(name)} is already used by node {first_use[name]}."
        problems.add(place, message, "an id that no other node has")
        return None
    first_use[name] = index
    return name


def _operation(
    node: Mapping[str, Any], pointer: str, operations: Mapping[str, Operation], problems: Problems
) -> Operation | None:
    name = node.get("filter")
    if isinstance(name, str) and name in operations:
        return operations[name]
    place = child(pointer, "filter")
    if "filter" not in node:
        problems.add(place, "filter is missing.", "one of " + ", ".join(operations))
        return None
    synonyms = {word: operation.name for operation in operations.values() for word in operation.keywords}
    # The other words of the field lead to the operation that they mean.
    meant = synonyms.get(name.casefold(), name) if isinstance(name, str) else name
    message = f"filter is {clip(name)}, no operation of this provider."
    problems.add(place, message, "one of " + ", ".join(operations), given=meant, names=operations)
    return None


def _options(
    node: Mapping[str, Any],
    operation: Operation | None,
    rules: Mapping[str, Rule],
    pointer: str,
    problems: Problems,
) -> Any:
    place = child(pointer, "options")
    given = node.get("options", {})
    if operation is None:
        if not isinstance(given, dict):
            problems.add(place, f"options is {clip(given)}.", "an object")
        return {}
    branch = problems.branch()
    resolved = option_rules.resolve(given, operation.options, place, branch)
    if not branch.total and operation.name in rules:
        rules[operation.name](resolved, place, branch)
    problems.take(branch)
    return resolved


def _inputs(
    node: Mapping[str, Any], operation: Operation | None, pointer: str, problems: Problems
) -> list[str]:
    place = child(pointer, "inputs")
    given = node.get("inputs", [])
    if not isinstance(given, list):
        problems.add(place, f"inputs is {clip(given)}.", "an array of node ids")
        return []
    if len(given) > MAX_INPUTS:
        problems.add(place, f"inputs has {len(given)} members.", f"at most {MAX_INPUTS}")
        return []
    if operation is not None:
        least, most = operation.min_inputs, operation.max_inputs
        if len(given) < least or (most is not None and len(given) > most):
            count = (
                f"{least}" if least == most else f"at least {least}" if most is None else f"{least} to {most}"
            )
            message = f"{operation.name} has {len(given)} inputs."
            problems.add(place, message, f"{count} ({operation.input_purpose or 'it takes no input'})")
    return given


def _graph(nodes: list[dict[str, Any]], problems: Problems) -> None:
    """Every input is the id of a node, and no node comes, by way of others, before itself."""
    known = {node["id"]: index for index, node in enumerate(nodes) if node["id"] is not None}
    sound: dict[str, list[str]] = {name: [] for name in known}
    for index, node in enumerate(nodes):
        for position, source in enumerate(node["inputs"]):
            place = f"/nodes/{index}/inputs/{position}"
            if not isinstance(source, str) or source not in known:
                message = f"The input {clip(source)} is no node's id."
                problems.add(place, message, "the id of a node of this document", given=source, names=known)
            elif node["id"] is not None:
                sound[node["id"]].append(source)
    _, left_over = execution_order(sound)
    if left_over:
        cycle = one_cycle(sound, left_over)
        shown = " → ".join([*cycle[:8], *(["…"] if len(cycle) > 8 else []), cycle[0]])
        place = f"/nodes/{known[cycle[0]]}/inputs"
        problems.add(place, f"These nodes feed each other in a circle: {shown}.", "inputs without a cycle")


def _outputs(document: Mapping[str, Any], ids: Sequence[str], problems: Problems) -> list[str]:
    if "output" in document and "outputs" in document:
        problems.add("/outputs", "Both output and outputs are given.", "exactly one of output and outputs")
        return []
    if "output" in document:
        named: list[Any] = [document["output"]]
        places = ["/output"]
    elif "outputs" in document:
        given = document["outputs"]
        if not isinstance(given, list) or not 1 <= len(given) <= MAX_OUTPUTS:
            problems.add("/outputs", f"outputs is {clip(given)}.", f"an array of 1 to {MAX_OUTPUTS} node ids")
            return []
        named = given
        places = [f"/outputs/{index}" for index in range(len(given))]
    else:
        problems.add(
            "/output", "Neither output nor outputs is given.", "output, the id of the node to publish"
        )
        return []
    known = set(ids)
    seen: set[str] = set()
    for name, place in zip(named, places, strict=True):
        if not isinstance(name, str) or name not in known:
            message = f"The output {clip(name)} is no node's id."
            problems.add(place, message, "the id of a node of this document", given=name, names=ids)
        elif name in seen:
            problems.add(place, f"The output {clip(name)} is named twice.", "ids that all differ")
        else:
            seen.add(name)
    return named
