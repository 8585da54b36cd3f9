"""A producer that lies is caught, and the report says for which operations how far."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from schemaxis_server.providers.geometry import checks

from providers.drafting import box, document, node
from providers.hosts import Bench, Produced, failures, is_verified


def _parts(length: float) -> dict[str, dict[str, Any]]:
    """Documents of every kind of verification, all with a block of this length."""
    block = box("b", length, 4, 3)
    drill = node("d", "cylinder", radius=1, height=9)
    placed = node("p", "translate", "d", offset=[2.5, 2, -1])
    hole = node("h", "cut", "b", "p")
    ball = node("s", "sphere", radius=3)
    tilted = node("t", "rotate", "b", axis=[1, 2, 3], angle=30, center=[1, 1, 1])
    return {
        "closed form": document(block),
        "closed form, moved": document(block, tilted, node("x", "scale", "t", factor=2)),
        "flat boolean": document(
            block, tilted, box("c", 2, 2, 2), node("x", "cut", "b", "c"), node("y", "union", "x", "t")
        ),
        "round hole": document(block, drill, placed, hole),
        "round boolean": document(block, ball, node("x", "union", "b", "s")),
        "fillet": document(block, node("f", "fillet", "b", radius=0.5, edges={"onFace": "+z"})),
        "chamfer": document(block, node("f", "chamfer", "b", distance=0.5)),
        "shell": document(block, node("f", "shell", "b", thickness=0.5)),
        "pattern": document(block, node("f", "linearPattern", "b", direction="y", spacing=6, count=3)),
    }


_KINDS = tuple(_parts(5))


@pytest.fixture(scope="module")
def honest(occt: Bench) -> Mapping[str, Produced]:
    return {name: occt.produce(part) for name, part in _parts(5).items()}


@pytest.fixture(scope="module")
def longer(occt: Bench) -> Mapping[str, Produced]:
    """The same parts made two millionths too long."""
    return {name: occt.produce(part) for name, part in _parts(5.00001).items()}


@pytest.mark.parametrize("kind", _KINDS)
def test_honest_work_is_verified(kind: str, occt: Bench, honest: Mapping[str, Produced]) -> None:
    report = occt.verify(honest[kind])
    assert is_verified(report), failures(report)


@pytest.mark.parametrize("kind", _KINDS)
def test_result_and_all_files_wrong_together(
    kind: str, occt: Bench, honest: Mapping[str, Produced], longer: Mapping[str, Produced]
) -> None:
    report = occt.verify(longer[kind], document=honest[kind].document)
    assert not is_verified(report)
    caught = failures(report)
    # The files agree with the result: what speaks against it is made from the document.
    assert all(one.startswith(("closed form", "second kernel", "same kernel family")) for one in caught), (
        caught
    )


@pytest.mark.parametrize("quantity", ["volume", "area", "boundingBox", "centerOfMass"])
@pytest.mark.parametrize("kind", _KINDS)
def test_result_alone_off_by_a_millionth(
    kind: str, quantity: str, occt: Bench, honest: Mapping[str, Produced]
) -> None:
    outputs = copy.deepcopy(honest[kind].result["outputs"])
    entry = next(iter(outputs.values()))[quantity]
    if quantity == "boundingBox":
        entry["value"]["max"][0] *= 1 + 1e-6
        entry["value"]["size"][0] = entry["value"]["max"][0] - entry["value"]["min"][0]
    elif quantity == "centerOfMass":
        entry["value"][0] *= 1 + 1e-6
    else:
        entry["value"] *= 1 + 1e-6
    caught = failures(occt.verify(honest[kind], outputs=outputs))
    assert any(one.startswith("STEP") for one in caught)
    assert any(one.startswith("BREP") for one in caught)


@pytest.mark.parametrize("suffix", ["step", "brep"])
@pytest.mark.parametrize("kind", _KINDS)
def test_right_result_with_the_file_of_another_job(
    kind: str, suffix: str, occt: Bench, honest: Mapping[str, Produced], longer: Mapping[str, Produced]
) -> None:
    name = next(one["name"] for one in honest[kind].result["publications"] if one["name"].endswith(suffix))
    other = longer[kind].path(f"geometry/{suffix}")
    caught = failures(occt.verify(honest[kind], files={name: other}))
    assert [one.split()[0] for one in caught] == [suffix.upper()]


def test_every_check_expects_what_should_be_and_observes_what_is_on_trial(
    occt: Bench, honest: Mapping[str, Produced], longer: Mapping[str, Produced]
) -> None:
    for kind in _KINDS:
        truth, lie = honest[kind].quantity("volume"), honest[kind].quantity("volume") * 1.01
        outputs = copy.deepcopy(honest[kind].result["outputs"])
        name, entry = next(iter(outputs.items()))
        entry["volume"]["value"] = lie
        for one in occt.verify(honest[kind], outputs=outputs)["checks"]:
            if one["name"].split()[0] in ("STEP", "BREP", "STL"):
                # The result is what the file should hold.
                assert one["expected"]["volume"] == lie, one
                assert one["observed"]["volume"] == pytest.approx(truth, rel=5e-3), one
            elif not one["name"].startswith("form"):
                assert one["expected"]["volume"] == pytest.approx(truth, rel=1e-5), one
                assert one["observed"]["volume"] == lie, one
        other = {f"{name}.{suffix}": longer[kind].path(f"geometry/{suffix}") for suffix in ("step", "brep")}
        wrong = [one for one in occt.verify(honest[kind], files=other)["checks"] if not one["passed"]]
        assert len(wrong) == 2
        for one in wrong:
            assert one["expected"]["volume"] == truth
            assert one["observed"]["volume"] == pytest.approx(longer[kind].quantity("volume"), rel=1e-9)


def test_every_check_says_whether_its_engine_is_independent(
    occt: Bench, honest: Mapping[str, Produced]
) -> None:
    begins = {
        "closed": checks.INDEPENDENT,
        "second": checks.INDEPENDENT,
        "STL": checks.INDEPENDENT,
        "same": checks.SAME_FAMILY,
        "STEP": checks.SAME_FAMILY,
        "BREP": checks.SAME_FAMILY,
        "form": checks.NO_KERNEL,
        "published": checks.NO_KERNEL,
    }
    seen = set()
    for kind in _KINDS:
        produced = honest[kind]
        for files in ({}, {one["name"]: Path() for one in produced.result["publications"]}):
            for one in occt.verify(produced, files=files)["checks"]:
                first = one["name"].split()[0]
                assert one["scope"].startswith(begins[first] + ": "), one
                seen.add(first)
    assert seen == set(begins)


def test_flags_and_counts_cannot_be_talked_up(occt: Bench, honest: Mapping[str, Produced]) -> None:
    for quantity, wrong in (("solids", 2), ("solids", True), ("valid", False), ("valid", 1), ("valid", None)):
        outputs = copy.deepcopy(honest["closed form"].result["outputs"])
        outputs["b"][quantity]["value"] = wrong
        assert not is_verified(occt.verify(honest["closed form"], outputs=outputs)), (quantity, wrong)


def test_units_cannot_be_swapped(occt: Bench, honest: Mapping[str, Produced]) -> None:
    outputs = copy.deepcopy(honest["closed form"].result["outputs"])
    outputs["b"]["volume"]["unit"] = "cm^3"
    assert not is_verified(occt.verify(honest["closed form"], outputs=outputs))


@pytest.mark.parametrize(
    "outputs", [{}, {"b": None}, {"b": 3}, {"b": {"volume": 60}}, {"b": {"volume": {"value": "60"}}}]
)
def test_malformed_results_fail_without_breaking_the_verifier(
    outputs: dict[str, Any], occt: Bench, honest: Mapping[str, Produced]
) -> None:
    assert not is_verified(occt.verify(honest["closed form"], outputs=outputs))


def test_an_open_mesh_is_caught(occt: Bench, honest: Mapping[str, Produced], tmp_path: Any) -> None:
    whole = honest["closed form"].path("geometry/stl").read_bytes()
    fewer = whole[:80] + (11).to_bytes(4, "little") + whole[84:-50]
    (tmp_path / "b.stl").write_bytes(fewer)
    (caught,) = failures(occt.verify(honest["closed form"], files={"b.stl": tmp_path / "b.stl"}))
    assert caught.startswith("STL")


def test_an_inside_out_mesh_is_caught(occt: Bench, honest: Mapping[str, Produced], tmp_path: Any) -> None:
    whole = bytearray(honest["closed form"].path("geometry/stl").read_bytes())
    for start in range(84, len(whole), 50):
        a, b = bytes(whole[start + 12 : start + 24]), bytes(whole[start + 24 : start + 36])
        whole[start + 12 : start + 24], whole[start + 24 : start + 36] = b, a
    (tmp_path / "b.stl").write_bytes(whole)
    assert failures(occt.verify(honest["closed form"], files={"b.stl": tmp_path / "b.stl"}))


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("fillet", "fillet of f"),
        ("chamfer", "chamfer of f"),
        ("shell", "shell of f"),
        ("round boolean", "round faces"),
    ],
)
def test_the_report_names_what_only_the_same_kernel_saw(
    kind: str, named: str, occt: Bench, honest: Mapping[str, Produced]
) -> None:
    report = occt.verify(honest[kind])
    assert any(named in said for said in report["notCovered"])
    assert any(check["name"].startswith("same kernel family") for check in report["checks"])


def test_what_formulas_cover_is_not_called_weak(occt: Bench, honest: Mapping[str, Produced]) -> None:
    report = occt.verify(honest["closed form"])
    assert not any(
        "same kernel family" in text
        for text in [*report["notCovered"], *(c["name"] for c in report["checks"])]
    )
