"""The provider contract, kept by LibreOffice Calc."""

from __future__ import annotations

from typing import Any

from schemaxis_server.providers.calc.provider import PROVIDER, VERSION

from providers.contract_suite import ProviderContract
from providers.engines import needs

pytestmark = needs(PROVIDER)


def _budget(rent: float) -> dict[str, Any]:
    rows = [[1, rent], [2, 312.5], [None, "=SUM(B2:B3)"], [3, "=B2/B4"]]
    names = [{"name": "total", "cell": "B4"}, {"name": "share", "cell": "B5"}]
    options = {"columns": ["item", "cost"], "rows": rows, "names": names}
    return {
        "version": VERSION,
        "nodes": [{"id": "t", "filter": "cells", "options": options}],
        "output": "t",
    }


class TestCalc(ProviderContract):
    provider = PROVIDER
    # The readCSV example takes every column for numbers, so that its file has to hold none but these.
    lookalikes = (_budget(900.0), _budget(900.0000001))
