"""Finding capabilities: what counts in a query, and what is told to somebody who found nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from schemaxis_server.execution.capabilities import Capabilities
from schemaxis_server.execution.engines import Engines
from schemaxis_server.faults import Fault
from schemaxis_server.providers.occt.provider import MANIFEST, PROVIDER
from schemaxis_server.providers.registry import Registry


class Second:
    """Another provider of the same vocabulary."""

    manifest = replace(MANIFEST, name="second", version="second/1")

    def __getattr__(self, name: str) -> Any:
        return getattr(PROVIDER, name)


def capabilities(*providers: Any) -> Capabilities:
    registry = Registry(providers)
    return Capabilities(registry, Engines(registry))


ONE, TWO = capabilities(PROVIDER), capabilities(PROVIDER, Second())


def names(query: str, within: Capabilities = ONE) -> list[str]:
    return [match.capability.name for match in within.search(query, limit=100)[0]]


@pytest.mark.parametrize(
    ("query", "plain"),
    [("please make me a box", "box"), ("how do I round an edge", "round edge"), ("the BOX with", "box")],
)
def test_fillers_change_nothing(query: str, plain: str) -> None:
    assert ONE.search(query) == ONE.search(plain)


def test_a_query_of_fillers_alone_still_counts() -> None:
    assert names("and")[0] == "occt.intersect"


@pytest.mark.parametrize("query", ["with", "modelling", "cascade", "must leave at the"])
def test_prose_that_all_capabilities_share_matches_none_by_itself(query: str) -> None:
    assert len(names(query)) < len(MANIFEST.operations) / 2


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("extrusion", "occt.extrude"),
        ("extrusoin", "occt.extrude"),
        ("round an edge", "occt.fillet"),
        ("bolt circle", "occt.polarPattern"),
        ("drill a hole", "occt.cut"),
    ],
)
def test_what_the_field_says_finds_the_operation(query: str, first: str) -> None:
    assert first in names(query)[:2]


def test_who_found_nothing_is_told_what_to_try() -> None:
    assert not names("fllt")
    advice = ONE.advice("a fllt")
    assert "occt.fillet" in advice
    assert "domain/geometry" in advice
    assert "'a'" not in advice
    assert "domain/geometry" in ONE.advice("qqqqqqq")


def test_who_looked_in_the_wrong_scope_is_told() -> None:
    assert ONE.search("fillet", "domain/geometry/primitives")[1] == 0
    advice = ONE.advice("fillet", "domain/geometry/primitives")
    assert "without the scope domain/geometry/primitives the search finds" in advice


@pytest.mark.parametrize("name", ["occt.fillet", "fillet"])
def test_the_filter_name_is_enough_where_one_provider_has_it(name: str) -> None:
    assert ONE.get(name).name == "occt.fillet"
    assert ONE.schema(name).version == "schemaxis.occt/1"


def refused(call: Any, *arguments: str) -> Any:
    with pytest.raises(Fault) as caught:
        call(*arguments)
    assert caught.value.code == "NOT_FOUND"
    return caught.value.record


def test_a_filter_name_of_several_providers_names_them_all() -> None:
    fault = refused(TWO.get, "fillet")
    assert fault.details["choices"] == ["occt.fillet", "second.fillet"]
    assert "occt.fillet, second.fillet" in fault.message


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("filet", "occt.fillet"),
        ("occt.filet", "occt.fillet"),
        ("Box", "occt.box"),
        ("bevel", "occt.chamfer"),
        ("import_step", "occt.importSTEP"),
        ("domain/geometry", None),
        ("zzz", None),
    ],
)
def test_an_unknown_capability_has_its_nearest(name: str, near: str | None) -> None:
    fault = refused(ONE.get, name)
    assert fault.details.get("nearest") == near
    assert (near or "browse") in fault.message


@pytest.mark.parametrize(
    ("scope", "near"),
    [
        ("geometry", "domain/geometry"),
        ("domain/geometri", "domain/geometry"),
        ("fillet", "domain/geometry/features"),
        ("occt.fillet", "domain/geometry/features"),
        ("zzz", None),
    ],
)
def test_an_unknown_scope_has_its_nearest(scope: str, near: str | None) -> None:
    for fault in (refused(ONE.browse, scope), refused(ONE.search, "box", scope)):
        assert (fault.pointer, fault.details.get("nearest")) == ("/scope", near)
        assert "domain/geometry" in fault.message
