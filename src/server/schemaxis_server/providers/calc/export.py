"""What Calc publishes of a document that it holds: ODS, XLSX and PDF, each by Calc's own filter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from schemaxis_server.providers.calc import link
from schemaxis_server.providers.calc.exchange import Exchange

_FILTERS = {"ods": "calc8", "xlsx": "Calc MS Excel 2007 XML", "pdf": "calc_pdf_Export"}


def export(document: Any, suffix: str, exchange: Exchange, target: Path) -> None:
    """Write the document to ``target``. Raises what the office raises, or ``OSError`` if it wrote nothing."""
    with exchange.file(f"export.{suffix}") as file:
        document.storeToURL(file.url, link.properties(FilterName=_FILTERS[suffix], Overwrite=True))
        data = file.read()
    if not data:
        raise OSError(f"Calc wrote an empty {suffix.upper()}")
    target.write_bytes(data)


def lay_out(document: Any, *, on_one_page: bool) -> None:
    """Prepare printing: columns as wide as what they show, so that no number is printed as ###, no header and footer.

    ``on_one_page`` turns the paper and makes the sheet as narrow as a page, so that no chart is cut in two.
    """
    sheets = document.Sheets
    for index in range(sheets.getCount()):
        sheet = sheets.getByIndex(index)
        cursor = sheet.createCursor()
        cursor.gotoEndOfUsedArea(False)
        last = cursor.getRangeAddress().EndColumn
        sheet.getCellRangeByPosition(0, 0, last, 0).Columns.setPropertyValue("OptimalWidth", True)
    styles = document.StyleFamilies.getByName("PageStyles")
    page = styles.getByName(sheets.getByIndex(0).PageStyle)
    page.HeaderIsOn = False
    page.FooterIsOn = False
    if on_one_page:
        size = page.Size
        page.IsLandscape = True
        page.Width, page.Height = size.Height, size.Width
        page.ScaleToPagesX = 1
        page.ScaleToPagesY = 0
