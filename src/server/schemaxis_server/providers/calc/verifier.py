"""The verifier host: judges what Calc published from the document and the bytes, with two embedded engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from schemaxis_server.native.hostkit import Kit
from schemaxis_server.providers.calc import agreement, ods_reader, pdf_check
from schemaxis_server.providers.calc.agreement import Room
from schemaxis_server.providers.calc.kinds import ODS, PDF, PUBLISHED, suffixes
from schemaxis_server.providers.calc.reopened import Reopened, calculators
from schemaxis_server.providers.sheet.second_engine import CannotCalculate, Formualizer, engine
from schemaxis_server.providers.spreadsheet import comparison, xlsx_reader
from schemaxis_server.providers.spreadsheet.comparison import Differences, failed, figures
from schemaxis_server.providers.spreadsheet.operations import cell_name
from schemaxis_server.providers.spreadsheet.picture import draw
from schemaxis_server.providers.spreadsheet.second_formulation import RELATIVE
from schemaxis_server.providers.spreadsheet.table import Formula, Sheet, workbook
from schemaxis_server.providers.spreadsheet.values import NO_NUMBER, CellError, Value, is_number
from schemaxis_server.providers.spreadsheet.verification import Report
from schemaxis_server.providers.spreadsheet.vocabulary import XLSX
from schemaxis_server.providers.spreadsheet.xlsx_reader import ReadSheet

NOT_COVERED = (
    "Whether the tables and formulas say what was meant.",
    "How formulas are parsed, columns found by name and formulas filled down: producer and verifier share it.",
    "The types of cells in a CSV, which has none: a text of digits reads like a number.",
    "The look of XLSX, ODS and PDF: widths, number formats, fonts, page breaks.",
    "The ODS calculated again by another engine, since none here reads it: its formulas and numbers are compared with "
    "those of the document and of the verified CSV.",
    "Which error a wrong argument gives: #NUM!, #VALUE! and #REF!, which engines tell apart in different ways.",
)
_LONG_TEXTS = "In the PDF, texts other than short ones of printable ASCII, which a page may break or cut."
_CHART = "The picture of a chart beyond its data, which are those of the verified CSV; how Calc draws it in its files."


def run(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """Verify every output; see the provider contract for the shapes of both dictionaries."""
    document = request["document"]
    report = CalcReport(request, Formualizer(), " ".join(engine().values()), (CannotCalculate,))
    pictures: list[dict[str, str]] = []
    warnings: list[str] = []
    charts = {node["id"]: node for node in document["nodes"] if node["filter"] == "chart"}
    for index, output in enumerate(document["outputs"]):
        kit.progress(index / len(document["outputs"]), f"verify {output}")
        cells = report.judge(output)
        if cells is not None and output in charts and request.get("pictures", False):
            pictures += draw(charts[output], cells, kit, warnings)
    report.judge_files()
    not_covered = [*NOT_COVERED, _LONG_TEXTS, *([_CHART] if charts else [])]
    return {"checks": report.checks, "notCovered": not_covered, "pictures": pictures, "warnings": warnings}


class CalcReport(Report):
    """The checks of a spreadsheet provider, and those of what only Calc publishes."""

    tolerance = agreement.TOLERANCE
    _lenient = False

    def agree(self, one: Value, other: Value, room: float = 0.0) -> bool:
        return agreement.alike(one, other, room)

    def judge(self, output: str) -> list[list[Value]] | None:
        cells = super().judge(output)
        layout = self._layout(output, cells)
        self._ods(output, layout, cells)
        self._pdf(output, layout, cells)
        return cells

    def judge_files(self) -> None:
        """Exactly the files that each output is to have, and no other."""
        wanted = {
            (output, PUBLISHED[suffix].kind)
            for output in self.document["outputs"]
            for suffix in (suffixes(self._tables[output]) if output in self._tables else PUBLISHED)
        }
        if set(self.published) != wanted or self.count != len(wanted):
            found = ", ".join(f"{kind} of {output}" for output, kind in sorted(self.published)) or "nothing"
            scope = "The files that each output is to have, and nothing else."
            self.checks.append(
                failed(
                    "published files", scope, "schemaxis", f"{len(wanted)} files", f"{self.count}: {found}"
                )
            )

    def _layout(self, output: str, cells: list[list[Value]] | None) -> list[Sheet] | None:
        """The workbook that the document asks for; None if its CSV was not verified."""
        table = self._tables.get(output)
        return None if table is None or cells is None else workbook(self._solved(output, table, cells))

    def _csv(self, output: str) -> list[list[Value]] | None:
        cells = super()._csv(output)
        if cells is None and output in self._tables and not self._lenient:
            # What rounding may do takes several calculations to find out, and is seldom needed.
            strict = self.checks.pop()
            self._lenient = True
            cells = super()._csv(output)
            self._lenient = False
            if cells is None:
                self.checks[-1] = strict
        return cells

    def _room(self, output: str) -> Mapping[tuple[int, int], float]:
        room = dict(super()._room(output))
        if self._lenient:
            try:
                found = self._rounding(output)
            except self._refusals:
                return room
            for (row, column), size in found.items():
                room[row - 2, column - 1] = max(size, room.get((row - 2, column - 1), 0.0))
        return room

    def _rounding(self, output: str) -> Room:
        """The room of the output's cells, or of the cells that they were taken from as values."""
        table = self._tables[output]
        if table.formulas:
            return agreement.room_of(workbook(table), self._engine)[0]
        taken = self._rounded_values()
        return {
            (row, column): taken[name, value]
            for row, contents in enumerate(table.rows, 2)
            for column, (name, value) in enumerate(zip(table.columns, contents, strict=True), 1)
            if is_number(value) and (name, value) in taken
        }

    def _rounded_values(self) -> Mapping[tuple[str, Value], float]:
        """Numbers that formulas of the document gave and that rounding moves, by column and value."""
        found: dict[tuple[str, Value], float] = {}
        for table in self._tables.values():
            if not table.formulas or table.sources:
                continue
            for (row, column), size in agreement.room_of(workbook(table), self._engine)[0].items():
                value = table.rows[row - 2][column - 1]
                if is_number(value) and size > RELATIVE * abs(value):
                    found[table.columns[column - 1], value] = size
        return found

    def _xlsx(self, output: str, cells: list[list[Value]] | None) -> None:
        scope = "The published workbook's cells as they stand in it against the verified CSV, its formulas against the "
        scope += "document's."
        layout = self._layout(output, cells)
        read = self._stands(output, XLSX.kind, "XLSX", scope, layout, cells, xlsx_reader.read)
        if read is not None and layout is not None:
            for again in calculators():
                self._reopened(output, self.published[output, XLSX.kind], layout, read, again)

    def _ods(self, output: str, layout: list[Sheet] | None, cells: list[list[Value]] | None) -> None:
        scope = "The values and formulas that stand in the XML of the published ODS against the verified CSV and the "
        scope += "document."
        charts: list[ods_reader.ReadChart] = []

        def sheets(path: Path) -> list[ReadSheet]:
            book = ods_reader.read(path)
            charts.extend(book.charts)
            return book.sheets

        read = self._stands(output, ODS.kind, "ODS", scope, layout, cells, sheets)
        if read is not None and cells is not None:
            self._chart(output, charts, cells)

    def _stands(
        self,
        output: str,
        kind: str,
        label: str,
        scope: str,
        layout: list[Sheet] | None,
        cells: list[list[Value]] | None,
        read: Callable[[Path], list[ReadSheet]],
    ) -> list[ReadSheet] | None:
        """What stands in a workbook's file, if it is what should."""
        name = f"{label} of {output}"
        path = self.published.get((output, kind))
        if path is None or layout is None:
            missing = "none published" if path is None else "no verified CSV to compare with"
            self.checks.append(failed(name, scope, "schemaxis", f"a file {label}", missing))
            return None
        try:
            sheets = read(path)
        except (OSError, xlsx_reader.Unreadable) as reason:
            self.checks.append(failed(name, scope, "schemaxis", f"a readable {label}", str(reason)))
            return None
        differences = Differences()
        names = [sheet.name for sheet in layout]
        if [sheet.name for sheet in sheets] != names:
            differences.add("sheets", names, [sheet.name for sheet in sheets])
        else:
            for index, (sheet, found) in enumerate(zip(layout, sheets, strict=True)):
                _compare_sheet(sheet, found, cells if index == 0 else None, differences)
        meant = sum(isinstance(one, Formula) for sheet in layout for row in sheet.rows for one in row)
        errors = _error_constants(layout)
        expected = {"formulas": meant, "sheets": len(layout)}
        observed = {"formulas": sum(len(sheet.formulas) for sheet in sheets) - errors, "sheets": len(sheets)}
        tolerance = f"{agreement.DIGITS:g} of each number (15 digits, 20 decimals); all else exactly"
        self.checks.append(
            comparison.check(name, scope, "schemaxis", differences, expected, observed, tolerance)
        )
        return None if differences.count else sheets

    def _reopened(
        self,
        output: str,
        path: Path,
        layout: Sequence[Sheet],
        sheets: Sequence[ReadSheet],
        again: Reopened,
    ) -> None:
        name = f"XLSX of {output} recalculated by {again.name}"
        scope = "The published workbook opened and calculated again by an engine other than Calc; the values that it "
        scope += "was published with are observed."
        extents = [(sheet.name, len(sheet.rows), max(map(len, sheet.rows))) for sheet in layout]
        try:
            values = again.recalculated(path, extents)
            differences = self._compared(sheets, values, [{} for _ in sheets])
            if differences.count:
                differences = self._compared(sheets, values, agreement.room_of_file(layout, self._engine))
        except (*again.refusals, *self._refusals) as reason:
            self.checks.append(
                failed(name, scope, again.title, "a workbook", f"{type(reason).__name__}: {reason}")
            )
            return
        observed = [
            [read.values.get((row, column)) for column in range(1, len(contents) + 1)]
            for read, cells in zip(sheets, values, strict=True)
            for row, contents in enumerate(cells, 1)
        ]
        calculated = [row for cells in values for row in cells]
        tolerance = self.tolerance + "; also what the digits of the file's own numbers change"
        self.checks.append(
            comparison.check(
                name, scope, again.title, differences, figures(calculated), figures(observed), tolerance
            )
        )

    def _compared(
        self, sheets: Sequence[ReadSheet], values: Sequence[list[list[Value]]], rooms: Sequence[Room]
    ) -> Differences:
        """The values that were calculated again against those that stand in the file."""
        differences = Differences()
        for read, contents, room in zip(sheets, values, rooms, strict=True):
            for row, expected in enumerate(contents, 1):
                for column, one in enumerate(expected, 1):
                    other = read.values.get((row, column))
                    if not self.agree(_no_blank(one), _no_blank(other), room.get((row, column), 0.0)):
                        differences.add(f"{read.name}!{cell_name(row - 2, column - 1)}", one, other)
        return differences

    def _chart(
        self, output: str, charts: Sequence[ods_reader.ReadChart], cells: Sequence[Sequence[Value]]
    ) -> None:
        """The chart in the ODS: there, with the series of the document and the numbers of the CSV."""
        node = self._nodes[output]
        name = f"chart in the ODS of {output}"
        scope = "The chart's kind, title, ranges and numbers in the XML of the published ODS against the document and "
        scope += "the verified CSV."
        if node["filter"] != "chart":
            if charts:
                self.checks.append(failed(name, scope, "schemaxis", "no chart", f"{len(charts)} charts"))
            return
        if len(charts) != 1:
            self.checks.append(failed(name, scope, "schemaxis", "one chart", f"{len(charts)} charts"))
            return
        differences = Differences()
        wanted = _wanted_chart(node, cells)
        drawn = charts[0]
        for what in ("kind", "title", "x", "series"):
            if getattr(wanted, what) != getattr(drawn, what):
                differences.add(what, str(getattr(wanted, what)), str(getattr(drawn, what)))
        if len(wanted.numbers) != len(drawn.numbers):
            differences.add("points", len(wanted.numbers), len(drawn.numbers))
        for index, (meant, shown) in enumerate(zip(wanted.numbers, drawn.numbers, strict=False)):
            for place, value in enumerate(meant):
                seen = shown[place] if place < len(shown) else None
                if not _same_sample(value, seen):
                    differences.add(cell_name(index, place), value, seen)
        expected = {"points": len(wanted.numbers), "series": len(wanted.series)}
        observed = {"points": len(drawn.numbers), "series": len(drawn.series)}
        self.checks.append(
            comparison.check(
                name, scope, "schemaxis", differences, expected, observed, f"{agreement.DIGITS:g}"
            )
        )

    def _pdf(self, output: str, layout: list[Sheet] | None, cells: list[list[Value]] | None) -> None:
        name = f"PDF of {output}"
        scope = "The numbers, booleans, errors and short texts that the published PDF shows against the verified CSV and "
        scope += "the document's workbook; a number to the digits that are shown."
        path = self.published.get((output, PDF.kind))
        if path is None:
            if output in self._tables and "pdf" in suffixes(self._tables[output]):
                self.checks.append(failed(name, scope, "schemaxis", "a file PDF", "none published"))
            return
        if layout is None or cells is None:
            self.checks.append(failed(name, scope, "schemaxis", "a verified CSV", "none"))
            return
        try:
            shown = self._engine.calculate(layout)
        except self._refusals as reason:
            self.checks.append(failed(name, scope, self._name, "the workbook calculated again", str(reason)))
            return
        shown[0][1:] = cells
        self.checks.append(
            pdf_check.check(name, scope, path, shown, drawn=self._nodes[output]["filter"] == "chart")
        )


def _compare_sheet(
    sheet: Sheet, read: ReadSheet, cells: list[list[Value]] | None, differences: Differences
) -> None:
    """The cells of one sheet: constants as laid out, calculated ones of the first sheet as in the CSV."""
    places = set()
    for row, contents in enumerate(sheet.rows, 1):
        for column, content in enumerate(contents, 1):
            place = row, column
            places.add(place)
            where = f"{sheet.name}!{cell_name(row - 2, column - 1)}"
            formula, value = read.formulas.get(place), read.values.get(place)
            wrong = None if isinstance(content, Formula) else _error_of(content)
            if wrong is not None:
                # An error that stands in a cell is written as a formula which gives it.
                code = CellError((formula or "").removeprefix("="))
                if not agreement.alike(wrong, code):
                    differences.add(where, f"={wrong.code}", formula)
            elif not _same_formula(content.text if isinstance(content, Formula) else None, formula):
                differences.add(
                    where, content.text if isinstance(content, Formula) else "no formula", formula
                )
            wanted = cells[row - 2][column - 1] if cells is not None and row > 1 else content
            if not isinstance(wanted, Formula) and not _is_written(wanted, value):
                differences.add(where, wanted, value)
    for place in {*read.values, *read.formulas} - places:
        if place in read.formulas or _no_blank(read.values[place]) is not None:
            differences.add(f"{sheet.name}!{cell_name(place[0] - 2, place[1] - 1)}", None, read.values[place])


def _error_of(content: Value) -> CellError | None:
    """The error that a cell holds instead of its value; NaN and the infinities are #NUM! in a spreadsheet."""
    if is_number(content) and not _is_finite(content):
        return NO_NUMBER
    return content if isinstance(content, CellError) else None


def _error_constants(layout: Sequence[Sheet]) -> int:
    return sum(
        not isinstance(one, Formula) and _error_of(one) is not None
        for sheet in layout
        for row in sheet.rows
        for one in row
    )


def _is_finite(value: float) -> bool:
    return abs(value) < float("inf")


def _same_formula(wanted: str | None, found: str | None) -> bool:
    if wanted is None or found is None or wanted == found:
        return wanted == found
    return agreement.same_formula(wanted, found)


def _is_written(wanted: Value, value: Value) -> bool:
    """Whether a value stands in a file as it should."""
    wrong = _error_of(wanted)
    if wrong is not None:
        return isinstance(value, CellError) and agreement.alike(wrong, value)
    if is_number(wanted):
        return is_number(value) and agreement.written(wanted, value)
    value = _no_blank(value)
    return type(value) is type(wanted) and value == wanted


def _no_blank(value: Value) -> Value:
    return None if value == "" and isinstance(value, str) else value


def _wanted_chart(node: Mapping[str, Any], cells: Sequence[Sequence[Value]]) -> ods_reader.ReadChart:
    options = node["options"]
    last = len(cells) + 1
    letters = "ABCDEFGHI"
    kind = "bar" if options["kind"] == "bar" else "scatter"
    return ods_reader.ReadChart(
        kind,
        options["title"],
        f"A2:A{last}",
        tuple(f"{letters[place]}2:{letters[place]}{last}" for place in range(1, 1 + len(options["y"]))),
        tuple(tuple(_finite(value) for value in row) for row in cells),
    )


def _finite(value: Value) -> float | None:
    return float(value) if is_number(value) and _is_finite(value) else None


def _same_sample(wanted: float | None, seen: float | None) -> bool:
    if wanted is None or seen is None:
        # A gap is written as NaN or as nothing.
        return wanted is None and (seen is None or seen != seen or not _is_finite(seen))
    return agreement.written(wanted, seen)
