"""The provider contract, kept by FreeCAD."""

from __future__ import annotations

from typing import Any

from schemaxis_server.providers.freecad.provider import PROVIDER, VERSION

from providers.contract_suite import ProviderContract
from providers.engines import needs

pytestmark = needs(PROVIDER)


def _box(length: float) -> dict[str, Any]:
    options = {"length": length, "width": 4, "height": 3}
    return {
        "version": VERSION,
        "nodes": [{"id": "body", "filter": "box", "options": options}],
        "output": "body",
    }


class TestFreecad(ProviderContract):
    provider = PROVIDER
    # Far apart enough for single precision: an STL holds no more.
    lookalikes = (_box(5), _box(5.001))
