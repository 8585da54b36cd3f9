"""Random documents against plain Python: Calc publishes what the formulas say, and it is verified."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from schemaxis_server.providers.calc.provider import PROVIDER, VERSION

from providers.engines import needs
from providers.hosts import Bench, failures, is_verified
from providers.random_sheets import Failure, draft

pytestmark = needs(PROVIDER)

_SEEDS = 300


@pytest.fixture(scope="module")
def calc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with Bench(PROVIDER, tmp_path_factory.mktemp("calc")) as bench:
        yield bench


def _fits(text: str, expected: Any, room: float) -> bool:
    if isinstance(expected, Failure):
        # Calc tells wrong arguments apart in its own way, but never a missing value from others.
        others = ("#DIV/0!", "#NUM!", "#VALUE!")
        return text == "#N/A" if expected.code == "#N/A" else text in others
    if expected is None:
        return text == ""
    if isinstance(expected, bool):
        return bool(text == str(expected).upper())
    if isinstance(expected, str):
        return bool(text == expected)
    if not math.isfinite(expected):
        return text == "#NUM!"
    return abs(float(text) - float(expected)) <= max(1e-12 * abs(float(expected)), room)


def _check(bench: Bench, seed: int) -> None:
    wanted = draft(VERSION, seed)
    produced = bench.produce(wanted.document)
    with Path(produced.path("table/csv")).open(newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    assert names == wanted.columns
    assert len(rows) == len(wanted.rows)
    sizes = [abs(one) for row in wanted.rows for one in row if isinstance(one, float) and math.isfinite(one)]
    # What cancels leaves the rounding of what it cancelled from.
    room = 1e-13 * max(sizes, default=0.0)
    for row, expected in zip(rows, wanted.rows, strict=True):
        for text, one in zip(row, expected, strict=True):
            assert _fits(text, one, room), (wanted.document, row, expected)
    report = bench.verify(produced)
    assert is_verified(report), (failures(report), wanted.document)


@pytest.mark.parametrize("seed", range(5, _SEEDS, 20))
def test_a_random_document_gives_what_python_gives(calc: Bench, seed: int) -> None:
    _check(calc, seed)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(_SEEDS))
def test_every_random_document_gives_what_python_gives(calc: Bench, seed: int) -> None:
    _check(calc, seed)
