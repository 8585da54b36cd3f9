"""The verifier host: the second formulation of the numerics vocabulary as reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemaxis_server.native.hostkit import Kit
from schemaxis_server.providers.numerics.judging import second_reference
from schemaxis_server.providers.numerics.verification import verify


def run(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """Verify every output; see the provider contract for the shapes of both dictionaries."""
    return verify(request, kit, second_reference)
