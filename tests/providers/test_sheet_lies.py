"""A producer that lies about tables is caught: in the result, in one file, or in all of them alike."""

from __future__ import annotations

import copy
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from providers.hosts import Bench, Produced, failures, is_verified
from providers.sheet_bench import cells, document, node


def _documents(x: float) -> dict[str, dict[str, Any]]:
    """A document of every operation, all with one number that matters."""
    source = cells(["k", "x"], [["a", x], ["b", 2.5], ["a", 7.0], ["c", None]], last="B2")
    values = [{"name": one, "function": one, "column": "x"} for one in ("sum", "variance", "max")]
    model = cells(["n", "v"], [["p", 10.0], ["q", f"=1000-{x!r}*B2"], ["r", "=B2*B3"]])
    return {
        "cells": document(cells(["a", "b"], [[x, "=A2*3"], [1, "=B2+A3"]], t="B3")),
        "formulaColumn": document(source, node("o", "formulaColumn", "t", column="y", formula="=[@x]*2")),
        "aggregate": document(source, node("o", "aggregate", "t", groupBy=[], values=values)),
        "groups": document(source, node("o", "aggregate", "t", groupBy=["k"], values=values)),
        "sort": document(source, node("o", "sort", "t", by=[{"column": "x"}])),
        "filterRows": document(
            source, node("o", "filterRows", "t", conditions=[{"column": "x", "operator": "isNumber"}])
        ),
        "lookup": document(
            cells(["k"], [["a"], ["b"]], name="l"),
            source,
            node("o", "lookup", "l", "t", key="k", referenceKey="k", columns=["x"]),
        ),
        "goalSeek": document(
            model, node("o", "goalSeek", "t", cell="B2", goal="B4", target=9000, low=2, high=20)
        ),
        "chart": document(
            cells(["u", "v"], [[1, x], [2, 3]]), node("o", "chart", "t", kind="line", x="u", y=["v"])
        ),
    }


_KINDS = tuple(_documents(20.0))


@pytest.fixture(scope="module")
def honest(sheet: Bench) -> Mapping[str, Produced]:
    return {name: sheet.produce(one) for name, one in _documents(20.0).items()}


@pytest.fixture(scope="module")
def wrong(sheet: Bench) -> Mapping[str, Produced]:
    """The same with a number that is a billionth too large."""
    return {name: sheet.produce(one) for name, one in _documents(20.0 * (1 + 1e-9)).items()}


@pytest.mark.parametrize("kind", _KINDS)
def test_honest_work_is_verified(sheet: Bench, honest: Mapping[str, Produced], kind: str) -> None:
    report = sheet.verify(honest[kind], pictures=True)
    assert is_verified(report), failures(report)


@pytest.mark.parametrize("kind", _KINDS)
def test_result_and_all_files_wrong_together(
    sheet: Bench, honest: Mapping[str, Produced], wrong: Mapping[str, Produced], kind: str
) -> None:
    caught = failures(sheet.verify(wrong[kind], document=honest[kind].document))
    assert caught
    assert caught[0].startswith("CSV of")


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
@pytest.mark.parametrize("kind", _KINDS)
def test_the_file_of_another_job(
    sheet: Bench, honest: Mapping[str, Produced], wrong: Mapping[str, Produced], kind: str, suffix: str
) -> None:
    name = next(one["name"] for one in honest[kind].result["publications"] if one["name"].endswith(suffix))
    caught = failures(sheet.verify(honest[kind], files={name: wrong[kind].path(f"table/{suffix}")}))
    assert any(one.startswith(suffix.upper()) for one in caught)


def _rewritten(source: Path, target: Path, change: Callable[[bytes], bytes]) -> Path:
    """The workbook with its first sheet changed."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                changed = change(content)
                assert changed != content, "the change has to meet something"
                content = changed
            new.writestr(name, content)
    return target


@pytest.mark.parametrize(
    "change",
    [
        lambda xml: xml.replace(b"<f>A2*3</f>", b""),
        lambda xml: xml.replace(b"<f>A2*3</f>", b"<f>A2*3+0</f>"),
        lambda xml: xml.replace(b"<f>A2*3</f>", b"<f>A2+A2+A2</f>"),
        lambda xml: xml.replace(b"<f>A2*3</f>", b'<f>WEBSERVICE("http://x")</f>'),
        lambda xml: xml.replace(b"<v>60</v>", b"<v>60.00001</v>"),
        lambda xml: xml.replace(b"<v>20</v>", b"<v>20.00001</v>"),
        lambda xml: xml.replace(b'<c r="A3"', b'<c r="C3"'),
        lambda xml: xml.replace(b"</sheetData>", b'<row r="9"><c r="A9"><v>1</v></c></row></sheetData>'),
        lambda xml: xml.replace(b"<f>A2*3</f>", b'<f t="array" ref="B2:B2">A2*3</f>'),
        lambda xml: b"<!DOCTYPE x [<!ENTITY a 'b'>]>" + xml,
    ],
)
def test_a_workbook_with_anything_changed(
    sheet: Bench, honest: Mapping[str, Produced], tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    file = _rewritten(honest["cells"].path("table/xlsx"), tmp_path / "t.xlsx", change)
    caught = failures(sheet.verify(honest["cells"], files={"t.xlsx": file}))
    assert caught
    assert caught[0].startswith("XLSX of t")


@pytest.mark.parametrize(
    "change",
    [
        lambda csv: csv.replace(b"60", b"60.00001"),
        lambda csv: csv.replace(b"60", b"6_0"),
        lambda csv: csv.replace(b"60", b" 60"),
        lambda csv: csv.replace(b"60", b"=60"),
        lambda csv: csv.replace(b"60", b"#DIV/0!"),
        lambda csv: csv.replace(b"60", b""),
        lambda csv: csv.replace(b"a,b", b"a,c"),
        lambda csv: csv.replace(b"a,b\r\n", b""),
        lambda csv: csv + b"1,2\r\n",
        lambda csv: csv.replace(b"20,60", b"60,20"),
        lambda csv: csv.replace(b",", b";"),
        lambda csv: b"\xef\xbb\xbf" + csv,
        lambda csv: csv.replace(b"60", b'"60'),
    ],
)
def test_a_csv_with_anything_changed(
    sheet: Bench, honest: Mapping[str, Produced], tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    whole = honest["cells"].path("table/csv").read_bytes()
    changed = change(whole)
    assert changed != whole
    (tmp_path / "t.csv").write_bytes(changed)
    caught = failures(sheet.verify(honest["cells"], files={"t.csv": tmp_path / "t.csv"}))
    assert caught
    assert caught[0].startswith("CSV of t")


def test_an_error_cannot_be_passed_over(sheet: Bench) -> None:
    source = cells(["a", "b"], [[1, "=1/0"], [2, "=A3/2"]], q="B2")
    produced = sheet.produce(document(source))
    hidden = sheet.produce(document(cells(["a", "b"], [[1, "=0"], [2, "=A3/2"]], q="B2")))
    assert not is_verified(sheet.verify(hidden, document=produced.document))
    for quantity, value in (("errors", 0), ("values", {"q": 0}), ("values", {"q": None}), ("values", {})):
        outputs = copy.deepcopy(produced.result["outputs"])
        outputs["t"][quantity]["value"] = value
        (caught,) = failures(sheet.verify(produced, outputs=outputs))
        assert caught.startswith("result of t")


def test_rows_that_tie_cannot_change_places(sheet: Bench, tmp_path: Path) -> None:
    source = cells(["k", "n"], [["b", 1], ["a", 2], ["b", 3]])
    produced = sheet.produce(document(source, node("s", "sort", "t", by=[{"column": "k"}])))
    swapped = produced.path("table/csv").read_bytes().replace(b"b,1\r\nb,3", b"b,3\r\nb,1")
    (tmp_path / "s.csv").write_bytes(swapped)
    assert not is_verified(sheet.verify(produced, files={"s.csv": tmp_path / "s.csv"}))


def test_a_result_with_more_or_less_than_its_quantities(sheet: Bench, honest: Mapping[str, Produced]) -> None:
    for quantity, entry in (
        ("header", None),
        ("extra", {"value": 1, "unit": ""}),
        ("rows", {"value": 2, "unit": "mm"}),
        ("rows", {"value": True, "unit": ""}),
        ("header", {"value": ["a", "c"], "unit": ""}),
    ):
        outputs = copy.deepcopy(honest["cells"].result["outputs"])
        outputs["t"][quantity] = entry
        if entry is None:
            del outputs["t"][quantity]
        assert not is_verified(sheet.verify(honest["cells"], outputs=outputs))


def test_the_report_says_what_it_does_not_cover(sheet: Bench, honest: Mapping[str, Produced]) -> None:
    said = " ".join(sheet.verify(honest["chart"])["notCovered"])
    for part in ("filled down", "types of cells in a CSV", "picture", "#DIV/0!"):
        assert part in said
