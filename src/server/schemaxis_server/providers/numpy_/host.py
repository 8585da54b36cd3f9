"""The producer host: computes a document's series with NumPy and SciPy, measures and publishes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy

from schemaxis_server.native.hostkit import Kit
from schemaxis_server.native.worker import plain
from schemaxis_server.providers.numerics import graph, publishing
from schemaxis_server.providers.numpy_.measure import measure
from schemaxis_server.providers.numpy_.operations import OPERATIONS
from schemaxis_server.providers.order import unused_warnings


def run(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """Compute, measure and publish; see the provider contract for the shapes of both dictionaries."""
    document = request["document"]
    warnings = unused_warnings(document)
    steps = len(document["nodes"]) - len(warnings) + len(document["outputs"])
    found = graph.compute(
        document,
        request.get("bindings", {}),
        OPERATIONS,
        lambda done, what: kit.progress(done / steps, what),
        warnings.append,
    )
    results: dict[str, Any] = {}
    published: list[dict[str, str]] = []
    for index, name in enumerate(document["outputs"]):
        kit.progress((steps - len(document["outputs"]) + index) / steps, f"publish {name}")
        outcome = found[name]
        quantities = measure(outcome)
        results[name] = publishing.with_units(quantities)
        published += publishing.publish(
            name,
            (outcome.x_name, outcome.y_name),
            (outcome.x.tolist(), outcome.y.tolist()),
            quantities,
            kit.publications,
        )
    kit.progress(1.0, "done")
    return {"outputs": plain(results), "publications": published, "engine": engine(), "warnings": warnings}


def engine() -> dict[str, str]:
    """Name and versions of the packages."""
    return {"name": "NumPy and SciPy", "version": f"{np.__version__} and {scipy.__version__}"}
