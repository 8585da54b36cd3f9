"""Imported by a warm verifier before a job arrives: goes once through what a verification uses."""

from __future__ import annotations

from schemaxis_server.providers.numerics.judging import second_reference
from schemaxis_server.providers.numerics.second.measure import measure
from schemaxis_server.providers.numpy_.provider import PROVIDER
from schemaxis_server.providers.plots import line


def rehearse() -> None:
    """Compute every operation's example that needs no file, and draw one."""
    for operation in PROVIDER.manifest.operations:
        if not operation.file_options:
            document = PROVIDER.plan(operation.example).document
            for outcome in second_reference(document, {}).outcomes.values():
                measure(outcome)
    plot = line.Plot("rehearsal", "x", "y", (line.Curve("", [0.0, 1.0, 2.0], [0.0, 1.0, 0.5]),))
    line.draw(plot)


rehearse()
