"""Tests that need an engine which is installed with the system, not with the project."""

from __future__ import annotations

import os

import pytest
from schemaxis_server.providers.contract import Provider


def needs(provider: Provider) -> pytest.MarkDecorator:
    """Skip, with the reason, where the engine is missing; with SCHEMAXIS_REQUIRE_ENGINES=1 run all the same."""
    engine = provider.engine(None)
    missing = not engine.available and os.environ.get("SCHEMAXIS_REQUIRE_ENGINES") != "1"
    return pytest.mark.skipif(missing, reason=f"{engine.problem}; {engine.install}")
