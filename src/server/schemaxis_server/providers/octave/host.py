"""The producer host: walks a document's nodes with an Octave, measures and publishes. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemaxis_server.native.hostkit import Kit
from schemaxis_server.native.worker import plain
from schemaxis_server.providers.numerics import graph, publishing
from schemaxis_server.providers.octave import session as octave
from schemaxis_server.providers.octave.operations import measure, operations
from schemaxis_server.providers.order import unused_warnings

ENGINE = "GNU Octave"


def run(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """Compute, measure and publish; see the provider contract for the shapes of both dictionaries."""
    with octave.at_work(kit) as session:
        return produce(request, kit, session)


def produce(request: Mapping[str, Any], kit: Kit, session: octave.Session) -> dict[str, Any]:
    """The same with an Octave that is there already."""
    document = request["document"]
    warnings = unused_warnings(document)
    steps = len(document["nodes"]) - len(warnings) + len(document["outputs"])
    found = graph.compute(
        document,
        request.get("bindings", {}),
        operations(session),
        lambda done, what: kit.progress(done / steps, what),
        warnings.append,
    )
    results: dict[str, Any] = {}
    published: list[dict[str, str]] = []
    for index, name in enumerate(document["outputs"]):
        kit.progress((steps - len(document["outputs"]) + index) / steps, f"publish {name}")
        outcome = found[name]
        quantities = measure(session, outcome)
        results[name] = publishing.with_units(quantities)
        published += publishing.publish(
            name,
            (outcome.x_name, outcome.y_name),
            (outcome.x.tolist(), outcome.y.tolist()),
            quantities,
            kit.publications,
        )
    kit.progress(1.0, "done")
    engine = {"name": ENGINE, "version": session.version}
    return {"outputs": plain(results), "publications": published, "engine": engine, "warnings": warnings}
