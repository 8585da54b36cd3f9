"""Short ways to write documents in tests."""

from __future__ import annotations

from typing import Any

from schemaxis_server.providers.occt.provider import VERSION


def node(name: str, operation: str, *inputs: str, **options: Any) -> dict[str, Any]:
    return {"id": name, "filter": operation, "options": options, "inputs": list(inputs)}


def document(*nodes: dict[str, Any], output: str | list[str] | None = None) -> dict[str, Any]:
    """The nodes, publishing the last one or what ``output`` names."""
    wanted = output or nodes[-1]["id"]
    key = "outputs" if isinstance(wanted, list) else "output"
    return {"version": VERSION, "nodes": list(nodes), key: wanted}


def box(name: str, length: float, width: float, height: float) -> dict[str, Any]:
    return node(name, "box", length=length, width=width, height=height)
