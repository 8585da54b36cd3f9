"""The host program in which Octave verifies what NumPy and SciPy computed. Imports no engine."""

from __future__ import annotations

from schemaxis_server.native.contract import HostProgram
from schemaxis_server.providers.contract import Engine
from schemaxis_server.providers.octave.session import PROGRAM_VARIABLE

_FOLDER = "schemaxis_server.providers.octave"


def environment(engine: Engine) -> dict[str, str]:
    """What tells a host which Octave to start."""
    return {PROGRAM_VARIABLE: engine.path} if engine.path else {}


def verifier(engine: Engine) -> HostProgram:
    """The verifier of the provider ``numpy`` where there is this Octave."""
    return HostProgram(
        name="numpy-verifier",
        entry=f"{_FOLDER}.verifier:run_of_numpy",
        preload=(f"{_FOLDER}.verifier", "schemaxis_server.providers.numpy_.warm_verifier"),
        environment=environment(engine),
        ahead=f"{_FOLDER}.session:start_if_possible",
    )
