"""The provider contract, kept by NumPy and SciPy."""

from __future__ import annotations

from typing import Any

from schemaxis_server.providers.numpy_.provider import PROVIDER, VERSION

from providers.contract_suite import ProviderContract


def _measured(amplitude: float) -> dict[str, Any]:
    formula = f"{amplitude}*exp(-0.7*x) + 0.05*sin(9*x) + 0.3"
    initial = [{"name": "a", "value": 1}, {"name": "k", "value": 1}]
    return {
        "version": VERSION,
        "nodes": [
            {"id": "time", "filter": "linspace", "options": {"start": 0.5, "stop": 6, "count": 120}},
            {"id": "data", "filter": "expression", "options": {"expression": formula}, "inputs": ["time"]},
            {"id": "middle", "filter": "statistics", "options": {"from": 1, "to": 5}, "inputs": ["data"]},
            {
                "id": "fit",
                "filter": "leastSquares",
                "options": {"model": "a*exp(-k*x)", "initial": initial},
                "inputs": ["data"],
            },
        ],
        "outputs": ["middle", "fit"],
    }


class TestNumpy(ProviderContract):
    provider = PROVIDER
    lookalikes = (_measured(2), _measured(2.000001))
