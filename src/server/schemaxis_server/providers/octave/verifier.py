"""The verifier hosts: NumPy and SciPy for what Octave computed, Octave for what NumPy and SciPy did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemaxis_server.native.hostkit import Kit, UnsupportedInput
from schemaxis_server.providers.numerics.judging import NoReference, Reference, second_reference
from schemaxis_server.providers.numerics.verification import verify
from schemaxis_server.providers.octave import session as octave
from schemaxis_server.providers.octave.operations import operations
from schemaxis_server.providers.octave.reference import by_numpy, by_operations

_INSTEAD = "Octave could not compute it again, a second formulation did"


def run(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """Verify every output; see the provider contract for the shapes of both dictionaries."""
    return verify(request, kit, by_numpy)


def run_of_numpy(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """The same for the provider ``numpy``. Where Octave itself fails, the second formulation judges."""
    failed: list[str] = []

    def recompute(document: Mapping[str, Any], bindings: Mapping[str, str]) -> Reference:
        try:
            with octave.at_work(kit) as session:
                engine = f"GNU Octave {session.version}"
                return by_operations(document, bindings, operations(session), engine)
        except NoReference as reason:
            # What takes Octave too many steps says nothing against a result.
            refused = reason.__cause__
            if not (isinstance(refused, UnsupportedInput) and refused.pointer.endswith("/options/stop")):
                raise
            failed.append(f"{_INSTEAD}: {reason}"[:400])
        except (octave.OctaveFailed, OSError) as reason:
            failed.append(f"{_INSTEAD}: {reason}"[:400])
        return second_reference(document, bindings)

    report = verify(request, kit, recompute)
    report["warnings"] += failed
    return report
