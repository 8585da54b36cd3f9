"""What the verifier host of any numerics provider does once it has a reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from schemaxis_server.native.hostkit import Kit
from schemaxis_server.providers.numerics.graph import Outcome
from schemaxis_server.providers.numerics.judging import NoReference, Reference, judge
from schemaxis_server.providers.plots import line

Recompute = Callable[[Mapping[str, Any], Mapping[str, str]], Reference]

_PURPOSE = (
    "Whether the data mean what they are taken to mean: units, calibration and sampling were not looked at."
)
_LOCAL = "whether a better fit lies elsewhere; the minimum next to the initial parameters was confirmed."
_SHARED = "Formulas are parsed by the same parser in both computations."


def verify(request: Mapping[str, Any], kit: Kit, recompute: Recompute) -> dict[str, Any]:
    """Verify every output; see the provider contract for the shapes of both dictionaries.

    ``recompute`` computes the document again from its source data and raises ``NoReference`` if it cannot:
    the one place where one engine or another comes in.
    """
    document = request["document"]
    kit.progress(0.1, "compute again")
    try:
        reference: Reference | str = recompute(document, request.get("bindings", {}))
    except NoReference as reason:
        reference = f"it could not be computed again: {reason}"[:400]
    kit.progress(0.6, "compare")
    found = judge(request, reference)
    pictures: list[dict[str, str]] = []
    warnings: list[str] = []
    if request.get("pictures", False):
        for place, (output, series) in enumerate(found.confirmed.items()):
            kit.progress(0.7 + 0.3 * place / len(found.confirmed), f"draw {output}")
            pictures += _draw(output, series, kit, warnings)
    filters = {node["filter"] for node in document["nodes"]}
    not_covered = [*found.not_covered]
    if "leastSquares" in filters:
        not_covered.append(f"leastSquares: {_LOCAL}")
    if filters & {"expression", "leastSquares"}:
        not_covered.append(_SHARED)
    return {
        "checks": found.checks,
        "notCovered": [*not_covered, _PURPOSE],
        "pictures": pictures,
        "warnings": warnings,
    }


def _draw(output: str, series: Outcome, kit: Kit, warnings: list[str]) -> list[dict[str, str]]:
    """A plot from the verified CSV; without one the result is as good."""
    pictures = []
    try:
        plot = line.Plot(output, series.x_name, series.y_name, (line.Curve("", series.x, series.y),))
        png, svg = line.draw(plot)
        for suffix, media_type, data in (("png", "image/png", png), ("svg", "image/svg+xml", svg)):
            name = f"{output}.{suffix}"
            (kit.publications / name).write_bytes(data)
            pictures.append(
                {
                    "name": name,
                    "file": f"publications/{name}",
                    "kind": f"picture/{suffix}",
                    "mediaType": media_type,
                    "operation": output,
                    "derivedFrom": f"{output}.csv",
                }
            )
    except Exception as reason:
        warnings.append(f"No plot of {output} could be drawn: {type(reason).__name__}: {reason}"[:300])
    return pictures
