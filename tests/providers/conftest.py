"""One pair of Open CASCADE hosts for all test modules of the providers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from schemaxis_server.providers.freecad.provider import PROVIDER as FREECAD
from schemaxis_server.providers.occt.provider import PROVIDER
from schemaxis_server.providers.sheet.provider import PROVIDER as SHEET

from providers.hosts import Bench


@pytest.fixture(scope="session")
def occt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with Bench(PROVIDER, tmp_path_factory.mktemp("occt")) as bench:
        yield bench


@pytest.fixture(scope="session")
def sheet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with Bench(SHEET, tmp_path_factory.mktemp("sheet")) as bench:
        yield bench


@pytest.fixture(scope="session")
def freecad(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with Bench(FREECAD, tmp_path_factory.mktemp("freecad")) as bench:
        yield bench
