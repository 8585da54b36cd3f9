"""What the descriptions of the geometry operations share: their scope, how they are verified, short documents."""

from __future__ import annotations

from typing import Any

from schemaxis_server.providers.contract import JsonObject

SCOPE = "domain/geometry"

EXACT = (
    "Volume, area, bounding box and centre against closed forms to 1e-9; flat-faced documents rebuilt by a "
    "second kernel to 1e-9, curved ones to the stated tolerance; STEP, BREP and STL read again."
)
SAME_FAMILY = (
    "No second kernel has this operation: the document is rebuilt in a fresh process by the same kernel "
    "family, a weak check; STEP, BREP and STL are read again."
)

EASED = (
    "On the edges along one axis of a box, on the upright edges of a prism (chamfers) and on all edges of a box "
    "(fillets): by closed forms and a second kernel, as are the parts made from it. On other edges the document "
    "is rebuilt in a fresh process by the same kernel family only, a weak check. STEP, BREP and STL are read again."
)


def node(name: str, operation: str, options: dict[str, Any] | None = None, *inputs: str) -> dict[str, Any]:
    node: dict[str, Any] = {"id": name, "filter": operation}
    if options is not None:
        node["options"] = options
    if inputs:
        node["inputs"] = list(inputs)
    return node


def document(version: str, *nodes: dict[str, Any]) -> JsonObject:
    return {"version": version, "nodes": list(nodes), "output": nodes[-1]["id"]}
