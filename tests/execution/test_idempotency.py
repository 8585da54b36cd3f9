"""A request's digest: the same for the same meaning, whatever numbers it has."""

from __future__ import annotations

from typing import Any

from schemaxis_server.execution.idempotency import digest_of

NUMBERS: list[Any] = [
    0,
    1,
    True,
    2**53 - 1,
    2**53,
    2**53 + 1,
    2**63 - 1,
    -(2**53),
    1.5,
    float("nan"),
    float("inf"),
    -float("inf"),
    None,
]


def test_every_number_has_a_digest_of_its_own() -> None:
    digests = {digest_of({"plan": "p", "revision": number}) for number in NUMBERS}
    assert len(digests) == len(NUMBERS)
    assert digests == {digest_of({"revision": number, "plan": "p"}) for number in NUMBERS}


def test_numbers_inside_count() -> None:
    def nested(number: Any) -> str:
        return digest_of({"criteria": [{"low": number, "name": "n"}], "pair": (number, 1)})

    assert len({nested(number) for number in NUMBERS}) == len(NUMBERS)
    assert nested(float("nan")) == nested(float("nan"))


def test_a_digest_is_what_it_was_when_it_was_stored() -> None:
    request = {"plan": "plan_1", "revision": 7, "providers": ["occt"], "budget": {"maxAttempts": 5}}
    assert digest_of(request) == "50051141483e335e013aed65b1cd1e8735c717a67371c7cfd39faef12f973f40"
