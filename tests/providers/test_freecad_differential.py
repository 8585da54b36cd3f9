"""The same document gives the same numbers from FreeCAD and from occt, which have other releases of one kernel."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from schemaxis_server.providers.freecad.provider import PROVIDER, VERSION
from schemaxis_server.providers.occt.provider import VERSION as OCCT

from providers.engines import needs
from providers.hosts import Bench, Produced, Refused, failures, is_verified
from providers.random_documents import random_document
from providers.random_features import random_feature

pytestmark = needs(PROVIDER)

_QUANTITIES = ("volume", "area", "boundingBox", "centerOfMass", "solids", "valid")
_EXACT = 1e-9
# Where round faces meet in a spline, each release places it within its own tolerance of 1e-7 mm. Over 700
# documents that moved volume and area by up to 9e-9 and bounds by up to 2e-9.
_SPLINES = 1e-7

Draw = Callable[[str, int], dict[str, Any]]


def _both(authored: dict[str, Any], freecad: Bench, occt: Bench) -> tuple[Produced, Produced] | None:
    """The document made by either, or None when both refuse it at the same place."""
    made: list[Produced | Refused] = []
    for bench, version in ((freecad, VERSION), (occt, OCCT)):
        try:
            made.append(bench.produce({**authored, "version": version}))
        except Refused as refused:
            made.append(refused)
    one, other = made
    if isinstance(one, Refused) or isinstance(other, Refused):
        assert isinstance(one, Refused) == isinstance(other, Refused), made
        assert isinstance(one, Refused)
        assert isinstance(other, Refused)
        assert one.pointer == other.pointer
        return None
    return one, other


def _agree(one: Produced, other: Produced) -> None:
    splines = b"B_SPLINE_CURVE" in one.path("geometry/step").read_bytes()
    part = _SPLINES if splines else _EXACT
    reach = max(map(abs, _numbers(other.quantity("boundingBox"))))
    for quantity in _QUANTITIES:
        mine, theirs = one.quantity(quantity), other.quantity(quantity)
        if quantity in ("solids", "valid"):
            assert mine == theirs
        elif quantity in ("volume", "area"):
            assert mine == pytest.approx(theirs, rel=part), quantity
        else:
            away = max(abs(a - b) for a, b in zip(_numbers(mine), _numbers(theirs), strict=True))
            assert away <= part * reach, quantity


def _numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [one for name in sorted(value) for one in _numbers(value[name])]
    if isinstance(value, list):
        return [one for member in value for one in _numbers(member)]
    return [value]


def _compare(draw: Draw, seeds: Iterable[int], freecad: Bench, occt: Bench) -> Counter[str]:
    """How often each operation was in a document that both built."""
    used: Counter[str] = Counter()
    for seed in seeds:
        authored = draw(VERSION, seed)
        made = _both(authored, freecad, occt)
        if made is not None:
            try:
                _agree(*made)
                report = freecad.verify(made[0])
                assert is_verified(report), failures(report)
            except AssertionError as reason:
                raise AssertionError(f"{draw.__name__}, seed {seed}: {reason}") from reason
            used.update({one["filter"] for one in authored["nodes"]})
    return used


@pytest.mark.parametrize("draw", [random_document, random_feature])
def test_random_parts_are_the_same(draw: Draw, freecad: Bench, occt: Bench) -> None:
    assert sum(_compare(draw, range(1000, 1010), freecad, occt).values()) > 20


@pytest.mark.campaign
def test_many_random_parts_are_the_same(freecad: Bench, occt: Bench) -> None:
    used = _compare(random_document, range(100), freecad, occt)
    used += _compare(random_feature, range(100), freecad, occt)
    operations = {one.name for one in PROVIDER.manifest.operations} - {"importSTEP"}
    assert {name: used[name] for name in operations if used[name] < 5} == {}


@pytest.mark.parametrize("seed", [3, 7])
def test_either_imports_what_the_other_exports(seed: int, freecad: Bench, occt: Bench) -> None:
    made = _both(random_document(VERSION, seed), freecad, occt)
    assert made is not None
    nodes = [{"id": "part", "filter": "importSTEP", "options": {}}]
    for source, bench, version in ((made[1], freecad, VERSION), (made[0], occt, OCCT)):
        bound = {"/nodes/0/options/file": str(source.path("geometry/step"))}
        again = bench.produce({"version": version, "nodes": nodes, "output": "part"}, bound)
        _agree(again, source)
        assert is_verified(bench.verify(again))


def test_numbers_differ_where_parts_do(freecad: Bench, occt: Bench) -> None:
    """The comparison itself sees a millionth."""
    size = {"length": 5, "width": 4, "height": 3}
    nodes = [{"id": "b", "filter": "box", "options": size}]
    longer = [{"id": "b", "filter": "box", "options": {**size, "length": 5 * (1 + 1e-6)}}]
    one = freecad.produce({"version": VERSION, "nodes": nodes, "output": "b"})
    other = occt.produce({"version": OCCT, "nodes": longer, "output": "b"})
    with pytest.raises(AssertionError):
        _agree(one, other)


_TIES: dict[str, tuple[str, dict[str, Any], float]] = {
    # Each with the volume that the choice of the lowest of those as near leaves.
    "a corner of a block": (
        "chamfer",
        {"distance": 1, "edges": {"nearTo": [0, 0, 0]}},
        # Along z: its middle has x and y of 0. That of the edges along x and y lies further in x or y.
        1000 - 0.5 * 5,
    ),
    "the middle of a block": (
        "shell",
        {"thickness": 1, "openFaces": [{"nearTo": [10, 5, 2.5]}]},
        # Between the bottom and the top, the bottom.
        1000 - 18 * 8 * 4,
    ),
}


@pytest.mark.parametrize("name", _TIES)
def test_of_several_as_near_the_lowest_is_chosen(name: str, freecad: Bench, occt: Bench) -> None:
    operation, options, volume = _TIES[name]
    nodes = [
        {"id": "b", "filter": "box", "options": {"length": 20, "width": 10, "height": 5}},
        {"id": "r", "filter": operation, "options": options, "inputs": ["b"]},
    ]
    made = _both({"nodes": nodes, "output": "r"}, freecad, occt)
    assert made is not None
    assert all(math.isclose(one.quantity("volume"), volume, rel_tol=1e-9) for one in made)
    _agree(*made)


def test_documents_that_differ_in_order_alone_are_the_same(freecad: Bench) -> None:
    authored = random_feature(VERSION, 1003)
    turned = {**authored, "nodes": authored["nodes"][::-1]}
    one, other = freecad.produce(authored), freecad.produce(turned)
    assert one.result["outputs"] == other.result["outputs"]
