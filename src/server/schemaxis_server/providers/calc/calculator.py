"""Calc as an engine of the spreadsheet vocabulary: fills a document over UNO, reads what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemaxis_server.providers.calc import flat, link
from schemaxis_server.providers.calc.charts import Chart, draw
from schemaxis_server.providers.calc.exchange import Exchange
from schemaxis_server.providers.calc.export import export, lay_out
from schemaxis_server.providers.calc.office import Office
from schemaxis_server.providers.calc.truths import check_workbook
from schemaxis_server.providers.spreadsheet.formulas.tree import Cell, address
from schemaxis_server.providers.spreadsheet.table import Formula, Sheet
from schemaxis_server.providers.spreadsheet.values import CellError, Value

NAME = "LibreOffice Calc"

_FLAT = "OpenDocument Spreadsheet Flat XML"
_NO_MACROS = 0
_NO_UPDATE = 0
_KINDS = "Kinds"
_ANSWERED = {0.0, 1.0}
_CODES = {
    502: "#VALUE!",
    503: "#NUM!",
    519: "#VALUE!",
    521: "#NULL!",
    524: "#REF!",
    532: "#DIV/0!",
    32767: "#N/A",
}
"""Calc's numbers of errors. 502, a wrong argument, is what it writes as #VALUE! into an XLSX itself."""


class Misunderstood(RuntimeError):
    """Calc holds a formula other than the one it was given, or complains of it."""


@dataclass(frozen=True, slots=True)
class _Run:
    """Formulas below each other; ``column`` and ``row`` of the first count from 0."""

    column: int
    row: int
    formulas: list[str]


class Calc:
    """Implements :class:`schemaxis_server.providers.spreadsheet.table.Engine`.

    ``pointer`` is the node that the next calculation is for. Close it.
    """

    def __init__(self, office: Office) -> None:
        self._context = link.connect(office)
        self._desktop = link.created(self._context, "com.sun.star.frame.Desktop")
        self._exchange = Exchange(office)
        self.pointer = ""
        self._kept: tuple[list[Sheet], Any] | None = None

    def version(self) -> str:
        """What the office says that it is, for instance 7.4.7.2."""
        provider = link.created(self._context, "com.sun.star.configuration.ConfigurationProvider")
        node = link.properties(nodepath="/org.openoffice.Setup/Product")
        access = provider.createInstanceWithArguments("com.sun.star.configuration.ConfigurationAccess", node)
        return str(access.getPropertyValue("ooSetupVersionAboutBox"))

    def calculate(self, sheets: Sequence[Sheet]) -> list[list[list[Value]]]:
        """The values of all cells. Raises ``Misunderstood``, or ``UnsupportedInput`` where Calc means something else."""
        document = self.document(sheets)
        values = [_values(document, index, sheet) for index, sheet in enumerate(sheets)]
        check_workbook(sheets, values, self.pointer)
        return values

    def probe(
        self, sheets: Sequence[Sheet], cell: tuple[int, int], goal: tuple[int, int]
    ) -> Callable[[float], Value]:
        document = self.document(sheets)
        # What is probed is changed, and serves nobody else.
        sheet = document.Sheets.getByIndex(0)
        varied = sheet.getCellByPosition(cell[1] - 1, cell[0] - 1)
        found = sheet.getCellByPosition(goal[1] - 1, goal[0] - 1)
        formula = sheets[0].rows[goal[0] - 1][goal[1] - 1]
        self._kept = ([], document)

        def value(number: float) -> Value:
            varied.setValue(number)
            wrong = found.getError()
            if wrong:
                return _error(wrong, formula, goal)
            answer = _content(
                sheet.getCellRangeByPosition(goal[1] - 1, goal[0] - 1, goal[1] - 1, goal[0] - 1)
            )
            return _plain(answer[0][0])

        return value

    def document(self, sheets: Sequence[Sheet]) -> Any:
        """A calculated document with the sheets; the last one if it has the same."""
        if self._kept is not None and self._kept[0] == list(sheets):
            return self._kept[1]
        self.forget()
        with self._exchange.file("workbook.fods") as file:
            file.write(flat.written(sheets))
            document = self._loaded(file.url)
        self._kept = ([], document)
        document.calculateAll()
        self._kept = (list(sheets), document)
        return document

    def _loaded(self, url: str) -> Any:
        arguments = link.properties(
            Hidden=True, FilterName=_FLAT, MacroExecutionMode=_NO_MACROS, UpdateDocMode=_NO_UPDATE
        )
        document = self._desktop.loadComponentFromURL(url, "_blank", 0, arguments)
        if document is None:
            raise Misunderstood("Calc cannot read the workbook that it was given")
        return document

    def publish(self, sheets: Sequence[Sheet], targets: Mapping[str, Path], chart: Chart | None) -> None:
        """Write the workbook to files by their suffixes: ods, xlsx, pdf."""
        document = self.document(sheets)
        # What is laid out for this is not what another would want.
        self._kept = ([], document)
        lay_out(document, on_one_page=chart is not None)
        if chart is not None:
            draw(document, chart)
        for suffix, target in targets.items():
            export(document, suffix, self._exchange, target)

    def forget(self) -> None:
        """Close the document at hand."""
        if self._kept is not None:
            document = self._kept[1]
            self._kept = None
            document.close(True)

    def close(self) -> None:
        self.forget()


def _runs(sheet: Sheet, formula: Callable[[Value | Formula], str | None]) -> Iterator[_Run]:
    for column in range(max(map(len, sheet.rows))):
        run: _Run | None = None
        for row, contents in enumerate(sheet.rows):
            text = formula(contents[column]) if column < len(contents) else None
            if text is None:
                if run is not None:
                    yield run
                run = None
            elif run is None:
                run = _Run(column, row, [text])
            else:
                run.formulas.append(text)
        if run is not None:
            yield run


def _content(cells: Any) -> tuple[tuple[Any, ...], ...]:
    data: tuple[tuple[Any, ...], ...] = cells.getDataArray()
    return data


def _plain(value: Any) -> Value:
    if isinstance(value, str) or value is None:
        return value
    return float(value)


def _values(document: Any, index: int, sheet: Sheet) -> list[list[Value]]:
    """Constants as they were given, formulas as Calc answers."""
    target = document.Sheets.getByIndex(index)
    values: list[list[Value]] = [
        [None if isinstance(content, Formula) else content for content in row] for row in sheet.rows
    ]
    doubtful: list[tuple[int, int]] = []
    for run in _runs(sheet, lambda content: content.text if isinstance(content, Formula) else None):
        last = run.row + len(run.formulas) - 1
        answers = _content(target.getCellRangeByPosition(run.column, run.row, run.column, last))
        for row, (answer,) in enumerate(answers, run.row):
            values[row][run.column] = _plain(answer)
            if answer is None or (not isinstance(answer, str) and answer in _ANSWERED):
                doubtful.append((row, run.column))
    for (row, column), kind in zip(doubtful, _kinds(document, sheet.name, doubtful), strict=True):
        answer = values[row][column]
        if kind > 0:
            values[row][column] = _error(kind, sheet.rows[row][column], (row + 1, column + 1))
        elif kind < 0:
            values[row][column] = bool(answer)
        elif answer is None:
            raise Misunderstood(f"Calc gives nothing for {_shown(sheet.rows[row][column])}")
    return values


def _kinds(document: Any, name: str, places: Sequence[tuple[int, int]]) -> list[int]:
    """For each cell the number of its error, -1 for TRUE and FALSE, 0 for other values.

    Calc is asked by formulas on a sheet that is taken away again, since it tells one cell at a time otherwise.
    """
    if not places:
        return []
    sheets = document.Sheets
    count = sheets.getCount()
    sheets.insertNewByName(_KINDS, count)
    try:
        asked = sheets.getByIndex(count)
        cells = [f"${name}.{address(Cell(column + 1, row + 1))}" for row, column in places]
        answers = asked.getCellRangeByPosition(0, 0, 0, len(cells) - 1)
        answers.setFormulaArray(
            tuple((f"=IF(ISERROR({at});ERRORTYPE({at});IF(ISLOGICAL({at});-1;0))",) for at in cells)
        )
        return [int(answer) for (answer,) in _content(answers)]
    finally:
        sheets.removeByName(_KINDS)


def _error(number: int, content: Value | Formula, place: tuple[int, int]) -> CellError:
    code = _CODES.get(number)
    if code is None:
        where = address(Cell(place[1], place[0]))
        raise Misunderstood(f"Calc complains of {_shown(content)} in {where} with its error {number}")
    return CellError(code)


def _shown(content: Value | Formula) -> str:
    return content.text[:100] if isinstance(content, Formula) else str(content)[:100]
