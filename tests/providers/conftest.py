"""One pair of Open CASCADE hosts for all test modules of the providers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from schemaxis_server.providers.occt.provider import PROVIDER

from providers.hosts import Bench


@pytest.fixture(scope="session")
def occt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with Bench(PROVIDER, tmp_path_factory.mktemp("occt")) as bench:
        yield bench
