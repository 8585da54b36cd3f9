"""An FCStd that is not the part of the result, or not the model of the document, is caught."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from schemaxis_server.providers.freecad import fcstd
from schemaxis_server.providers.freecad.provider import PROVIDER, VERSION
from schemaxis_server.providers.geometry import checks

from providers.drafting import box, document, node
from providers.engines import needs
from providers.hosts import Bench, Produced, failures, is_verified

pytestmark = needs(PROVIDER)


def _part(length: float) -> dict[str, Any]:
    nodes = [
        box("b", length, 4, 3),
        node("d", "cylinder", radius=1, height=9),
        node("p", "translate", "d", offset=[2, 2, -1]),
        node("h", "cut", "b", "p"),
        node("f", "fillet", "h", radius=0.2, edges={"parallelTo": "z"}),
        node("t", "rotate", "f", axis=[1, 2, 3], angle=20),
    ]
    return {**document(*nodes), "version": VERSION}


@pytest.fixture(scope="module")
def honest(freecad: Bench) -> Produced:
    return freecad.produce(_part(5))


@pytest.fixture(scope="module")
def longer(freecad: Bench) -> Produced:
    """The same part, two millionths too long."""
    return freecad.produce(_part(5.00001))


def _altered(source: Path, target: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """The same zip with each member changed, or left out."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return target


def _caught(freecad: Bench, produced: Produced, file: Path) -> list[str]:
    name = next(one["name"] for one in produced.result["publications"] if one["kind"] == "geometry/fcstd")
    return [one.split(" of ")[0] for one in failures(freecad.verify(produced, files={name: file}))]


def test_honest_work_is_verified(freecad: Bench, honest: Produced, tmp_path: Path) -> None:
    report = freecad.verify(honest)
    assert is_verified(report), failures(report)
    same = _altered(honest.path("geometry/fcstd"), tmp_path / "t.FCStd", lambda name, content: content)
    assert _caught(freecad, honest, same) == []


def test_the_model_of_another_job(freecad: Bench, honest: Produced, longer: Produced) -> None:
    assert _caught(freecad, honest, longer.path("geometry/fcstd")) == ["FCSTD", "objects in the FCStd"]


def test_the_right_model_with_the_shapes_of_another_job(
    freecad: Bench, honest: Produced, longer: Produced, tmp_path: Path
) -> None:
    with zipfile.ZipFile(longer.path("geometry/fcstd")) as other:
        shapes = {name: other.read(name) for name in other.namelist() if name.endswith(".brp")}
    mixed = _altered(
        honest.path("geometry/fcstd"),
        tmp_path / "t.FCStd",
        lambda name, content: shapes.get(name, content),
    )
    assert _caught(freecad, honest, mixed) == ["FCSTD"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'<Float value="5.0000000000000000"/>', b'<Float value="5.0000050000000000"/>'),
        (b'type="Part::Cylinder"', b'type="Part::Cone"'),
        (b'<Link value="b"/>', b'<Link value="d"/>'),
        (b'<String value="h"/>', b'<String value="x"/>'),
    ],
)
def test_the_right_shapes_in_another_model(
    old: bytes, new: bytes, freecad: Bench, honest: Produced, tmp_path: Path
) -> None:
    def change(name: str, content: bytes) -> bytes:
        if name != "Document.xml":
            return content
        assert old in content
        return content.replace(old, new)

    file = _altered(honest.path("geometry/fcstd"), tmp_path / "t.FCStd", change)
    assert _caught(freecad, honest, file) == ["objects in the FCStd"]


@pytest.mark.parametrize("lost", ["Document.xml", ".brp"])
def test_a_zip_that_lacks_a_part(lost: str, freecad: Bench, honest: Produced, tmp_path: Path) -> None:
    file = _altered(
        honest.path("geometry/fcstd"),
        tmp_path / "t.FCStd",
        lambda name, content: None if name.endswith(lost) else content,
    )
    assert "FCSTD" in _caught(freecad, honest, file)


def test_hostile_documents_are_refused(tmp_path: Path) -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><Document>&b;</Document>'
    for text in (b"", b"<Document", bomb, b"\0" * 99, b"<Document/>" + b" " * 10):
        with zipfile.ZipFile(tmp_path / "x.FCStd", "w") as archive:
            archive.writestr("Document.xml", text)
        if text.startswith(b"<Document/>"):
            assert fcstd.objects(tmp_path / "x.FCStd") == {}
        else:
            with pytest.raises(fcstd.UnreadableError):
                fcstd.objects(tmp_path / "x.FCStd")


def test_what_unpacks_beyond_measure_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcstd, "_DOCUMENT_BYTES", 1000)
    with zipfile.ZipFile(tmp_path / "x.FCStd", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Document.xml", b"<Document>" + b" " * 100_000 + b"</Document>")
    with pytest.raises(fcstd.UnreadableError, match="more than 1000 bytes"):
        fcstd.objects(tmp_path / "x.FCStd")


def test_a_number_off_by_a_millionth_is_caught_wherever_it_is(freecad: Bench, honest: Produced) -> None:
    for quantity in ("volume", "area"):
        result = honest.result["outputs"]["t"]
        entry = result[quantity]
        wrong = {"t": {**result, quantity: {**entry, "value": entry["value"] * (1 + 1e-6)}}}
        caught = {one.split(" of ")[0] for one in failures(freecad.verify(honest, outputs=wrong))}
        assert caught >= {"STEP", "BREP", "FCSTD"}


def test_each_check_says_how_far_its_engine_depends_on_freecads(freecad: Bench, honest: Produced) -> None:
    report = freecad.verify(honest)
    begins = {
        "second": checks.INDEPENDENT,
        "closed": checks.INDEPENDENT,
        "STL": checks.INDEPENDENT,
        "same": checks.SAME_FAMILY,
        "STEP": checks.SAME_FAMILY,
        "BREP": checks.SAME_FAMILY,
        "FCSTD": checks.SAME_FAMILY,
        "form": checks.NO_KERNEL,
        "objects": checks.NO_KERNEL,
    }
    for one in report["checks"]:
        assert one["scope"].startswith(begins[one["name"].split()[0]] + ": "), one
        # Never FreeCAD itself, which would be its own judge.
        assert "FreeCAD" not in one["engine"]
    assert any("recomputes the FCStd" in said for said in report["notCovered"])
    assert any("fillet of f by an independent kernel" in said for said in report["notCovered"])
