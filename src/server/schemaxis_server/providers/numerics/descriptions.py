"""What the descriptions of the numerics operations share: scope, words, short documents."""

from __future__ import annotations

from typing import Any

from schemaxis_server.providers.contract import JsonObject

SCOPE = "domain/numerics"

ONE_SERIES = "One series."
UNIFORM = (
    "x must increase in equal steps, to a thousandth of a step; resample first if it does not. "
    "All y must be finite."
)
INCREASING = "x must increase. All y must be finite."

VERIFICATION = (
    "The whole document is computed again from its source data by another formulation or engine; the published "
    "CSV, read by another parser, is compared sample by sample, and each quantity too, to 1e-9."
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


def tone(formula: str = "1 + 2*sin(2*pi*50*x) + 0.5*cos(2*pi*120*x)") -> tuple[dict[str, Any], ...]:
    """A second of two tones at 512 samples, to try an operation on."""
    return (
        node("time", "linspace", {"start": 0, "stop": 511 / 512, "count": 512}),
        node("signal", "expression", {"expression": formula}, "time"),
    )
