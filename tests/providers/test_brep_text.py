"""A damaged BREP file is caught at once: the kernel's reader would read parts of it for ever."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from schemaxis_server.providers.occt.brep_text import is_whole

from providers.drafting import box, document, node
from providers.hosts import Bench, Produced, failures


@pytest.fixture(scope="module")
def rounded(occt: Bench) -> Produced:
    return occt.produce(document(box("b", 9, 4, 3), node("f", "fillet", "b", radius=0.5)))


def test_what_the_kernel_writes_is_whole(rounded: Produced) -> None:
    assert is_whole(rounded.path("geometry/brep").read_bytes())


@pytest.mark.parametrize("share", [0, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95])
def test_a_file_that_breaks_off_is_refused_quickly(
    share: float, occt: Bench, rounded: Produced, tmp_path: Path
) -> None:
    whole = rounded.path("geometry/brep").read_bytes()
    (tmp_path / "f.brep").write_bytes(whole[: int(share * len(whole))])
    began = time.monotonic()
    caught = failures(occt.verify(rounded, files={"f.brep": tmp_path / "f.brep"}))
    assert [one.split()[0] for one in caught] == ["BREP"]
    assert time.monotonic() - began < 10


def test_any_lost_end_is_noticed(rounded: Produced) -> None:
    whole = rounded.path("geometry/brep").read_bytes().rstrip() + b"\n"
    assert is_whole(whole)
    assert not any(is_whole(whole[:-lost]) for lost in range(1, 200))


def test_words_that_are_none_of_the_format_are_noticed(rounded: Produced) -> None:
    whole = rounded.path("geometry/brep").read_bytes()
    dice = random.Random(1)
    for damage in (b"x", b"\0", b" nan ", b" inf ", b"1.2.3"):
        place = dice.randrange(len(whole) // 2, len(whole) - 100)
        assert not is_whole(whole[:place] + damage + whole[place:]), damage
