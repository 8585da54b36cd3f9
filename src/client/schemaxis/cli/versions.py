"""What this command is and speaks."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from schemaxis.bridge.methods import PROTOCOL
from schemaxis.v1 import workspace_pb2


def versions() -> str:
    """The package's version, then those of the protocols that it speaks, on one line."""
    try:
        package = version("schemaxis")
    except PackageNotFoundError:
        package = "from its source tree"
    return f"schemaxis {package} ({PROTOCOL}, gRPC {workspace_pb2.DESCRIPTOR.package})"
