"""The JSON Schema 2020-12 of a provider's documents, made from its manifest."""

from __future__ import annotations

from typing import Any

from schemaxis_server.faults import Fault
from schemaxis_server.providers.contract import JsonObject, Manifest, Operation
from schemaxis_server.providers.document import ID_PATTERN, MAX_INPUTS, MAX_NODES, MAX_OUTPUTS
from schemaxis_server.providers.problems import nearest

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ID = {"type": "string", "pattern": ID_PATTERN}


def document_schema(manifest: Manifest) -> JsonObject:
    """The schema of a whole document. What spans nodes (unique ids, cycles) planning checks."""
    return {
        "$schema": _DIALECT,
        "$id": f"urn:schemaxis:{manifest.version}",
        "title": manifest.title,
        "description": manifest.summary,
        "type": "object",
        "properties": {
            "version": {"const": manifest.version},
            "nodes": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_NODES,
                "items": {"anyOf": [{"$ref": f"#/$defs/{one.name}"} for one in manifest.operations]},
            },
            "output": {**_ID, "description": "The id of the node to publish."},
            "outputs": {
                "type": "array",
                "items": _ID,
                "minItems": 1,
                "maxItems": MAX_OUTPUTS,
                "uniqueItems": True,
                "description": "The ids of the nodes to publish, instead of output.",
            },
        },
        "required": ["version", "nodes"],
        "oneOf": [{"required": ["output"]}, {"required": ["outputs"]}],
        "additionalProperties": False,
        "$defs": {one.name: _node(one) for one in manifest.operations},
    }


def operation_schema(manifest: Manifest, name: str) -> JsonObject:
    """The schema of one operation's node. Raises ``Fault("NOT_FOUND")`` for an unknown name."""
    for operation in manifest.operations:
        if operation.name == name:
            return {
                "$schema": _DIALECT,
                "$id": f"urn:schemaxis:{manifest.version}:{name}",
                **_node(operation),
            }
    near = nearest(name, [one.name for one in manifest.operations])
    raise Fault("NOT_FOUND", f"{manifest.name} has no such operation; browse its operations.", nearest=near)


def _node(operation: Operation) -> dict[str, Any]:
    most = MAX_INPUTS if operation.max_inputs is None else operation.max_inputs
    required = ["id", "filter"]
    if operation.options.get("required"):
        required.append("options")
    if operation.min_inputs:
        required.append("inputs")
    return {
        "title": operation.title,
        "description": operation.purpose,
        "type": "object",
        "properties": {
            "id": {**_ID, "description": "A name for the result of this node, unique in the document."},
            "filter": {"const": operation.name},
            "options": operation.options,
            "inputs": {
                "type": "array",
                "items": _ID,
                "minItems": operation.min_inputs,
                "maxItems": most,
                "description": operation.input_purpose or "It takes no input.",
            },
        },
        "required": required,
        "additionalProperties": False,
    }
