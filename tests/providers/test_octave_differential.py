"""The same random documents in Octave and in NumPy, each judged by the other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from schemaxis_server.providers.contract import JsonObject
from schemaxis_server.providers.octave import session as octave
from schemaxis_server.providers.octave.provider import PROVIDER

from providers.engines import needs
from providers.hosts import Bench, Produced, Refused, failures, is_verified
from providers.numerics_bench import series
from providers.octave_bench import OctaveBench, ReverseBench
from providers.random_numerics import place_of_file, random_work

pytestmark = needs(PROVIDER)

_WHOLE = 200
_TENTH = 20


@pytest.fixture(scope="module")
def session() -> Iterator[octave.Session]:
    running = octave.start()
    yield running
    running.close()


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, session: octave.Session) -> OctaveBench:
    return OctaveBench(tmp_path_factory.mktemp("octave"), session)


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory, session: octave.Session) -> ReverseBench:
    return ReverseBench(tmp_path_factory.mktemp("numpy"), session)


def _made(bench: Bench, document: JsonObject, bindings: dict[str, str]) -> Produced | Refused:
    try:
        return bench.produce(document, bindings)
    except Refused as refused:
        return refused


def _compare(here: OctaveBench, there: ReverseBench, first: int, wanted: int) -> tuple[Counter[str], float]:
    """Compare until ``wanted`` documents ran; how often each operation did, and the greatest difference seen."""
    used: Counter[str] = Counter()
    furthest, ran, seed = 0.0, 0, first
    while ran < wanted:
        document, columns = random_work(seed)
        document["outputs"] = [node["id"] for node in document["nodes"]]
        bindings = {place_of_file(document): here.file(columns)} if columns else {}
        ours, theirs = (_made(bench, document, bindings) for bench in (here, there))
        seed += 1
        if isinstance(ours, Refused) != isinstance(theirs, Refused):
            refused, made = (ours, theirs) if isinstance(ours, Refused) else (theirs, ours)
            assert _is_rounding(refused, made, document), (seed - 1, refused)
        elif isinstance(ours, Refused) or isinstance(theirs, Refused):
            assert isinstance(ours, Refused)
            assert isinstance(theirs, Refused)
            assert ours.pointer == theirs.pointer, (seed - 1, ours.message, theirs.message)
        else:
            assert len(document["nodes"]) >= 3
            for bench, made in ((here, ours), (there, theirs)):
                report = bench.verify(made)
                assert is_verified(report), (seed - 1, type(bench).__name__, failures(report))
            furthest = max(furthest, _difference(ours, theirs, document))
            used.update(node["filter"] for node in document["nodes"])
            ran += 1
    return used, furthest


def _difference(ours: Produced, theirs: Produced, document: JsonObject) -> float:
    """The greatest difference of the samples, relative to the greatest of them and of those they come from."""
    furthest = 0.0
    for node in document["nodes"]:
        pairs = zip(series(ours, node["id"])[1], series(theirs, node["id"])[1], strict=True)
        apart = max((abs(a - b) for a, b in pairs if math.isfinite(a) or math.isfinite(b)), default=0.0)
        furthest = max(furthest, apart / (_scale(theirs, document, node["id"]) or 1.0))
    return furthest


def _scale(made: Produced, document: JsonObject, name: str) -> float:
    """The greatest y of a series and of those it comes from."""
    node = next(one for one in document["nodes"] if one["id"] == name)
    own = max((abs(y) for y in series(made, name)[1] if math.isfinite(y)), default=0.0)
    return max(own, *(_scale(made, document, source) for source in node.get("inputs", [])), 0.0)


def _is_rounding(refused: Any, made: Any, document: JsonObject) -> bool:
    """Whether what one engine refused is nothing but what rounding left, in which nobody can find anything."""
    node = document["nodes"][int(refused.pointer.split("/")[2])]
    (source,) = node["inputs"]
    largest = max(map(abs, series(made, source)[1]))
    return bool(largest < 1e-9 * _scale(made, document, source))


def test_random_documents_agree(here: OctaveBench, there: ReverseBench) -> None:
    used, furthest = _compare(here, there, 0, _TENTH)
    assert len(used) > 10
    assert furthest < 1e-9


@pytest.mark.campaign
def test_many_random_documents_agree(here: OctaveBench, there: ReverseBench) -> None:
    used, furthest = _compare(here, there, 5000, _WHOLE)
    names = [one.name for one in PROVIDER.manifest.operations]
    assert all(used[name] >= 5 for name in names), used
    assert furthest < 1e-9
