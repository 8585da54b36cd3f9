"""Imported by a warm host before a job arrives: goes once through what a job uses.

The first call of some functions of NumPy and SciPy in a process costs milliseconds of set-up; a
process forked from this one has them behind it.
"""

from __future__ import annotations

from schemaxis_server.providers.numerics import graph
from schemaxis_server.providers.numpy_.measure import measure
from schemaxis_server.providers.numpy_.operations import OPERATIONS
from schemaxis_server.providers.numpy_.provider import PROVIDER


def rehearse() -> None:
    """Compute every operation's example that needs no file."""
    for operation in PROVIDER.manifest.operations:
        if not operation.file_options:
            document = PROVIDER.plan(operation.example).document
            for outcome in graph.compute(document, {}, OPERATIONS).values():
                measure(outcome)


rehearse()
