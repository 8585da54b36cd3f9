"""The dialect of a CSV file: said by whoever binds the file, never guessed from its bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from schemaxis_server.providers.problems import Problems, child

Schema = dict[str, Any]

MAX_BYTES = 64 * 1024 * 1024
MAX_ROWS = 1_000_000
MAX_COLUMNS = 1024
MAX_CELL_CHARACTERS = 32_767
MAX_NAME_CHARACTERS = 256

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
DECIMALS = {".": "point", ",": "comma"}
ENCODINGS = {"utf-8": "utf-8-sig", "utf-16": "utf-16", "latin-1": "latin-1", "windows-1252": "cp1252"}
"""The names of encodings in documents, and those of the codecs that read them."""

LIMITS = (
    f"At most {MAX_BYTES // 1024**2} MiB, {MAX_ROWS} rows, {MAX_COLUMNS} columns and "
    f"{MAX_CELL_CHARACTERS} characters in a cell."
)
STRICT = (
    "The file is read strictly by RFC 4180: every row has as many cells as the first, lines end alike with "
    "CRLF or LF, a cell with a delimiter, a quote or a line break stands in double quotes, spaces belong to "
    "the cell. What does not fit is refused with its line and column. A number is written like -12.5e3 with "
    "the decimal mark of the dialect, or NaN, Infinity, -Infinity; no thousands separators, units, leading "
    f"zeros or integers beyond what a double holds. Formulas are text and never evaluated. {LIMITS}"
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file is written. Without a header the columns are named ``1``, ``2`` and so on."""

    delimiter: str = ","
    decimal: str = "."
    header: bool = True
    encoding: str = "utf-8"
    text_columns: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.decimal == self.delimiter:
            raise ValueError("the decimal mark cannot be the delimiter")

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Dialect:
        """From the resolved options of a node; a missing one has its default."""
        return cls(
            delimiter=options.get("delimiter", ","),
            decimal=options.get("decimal", "."),
            header=options.get("header", True),
            encoding=options.get("encoding", "utf-8"),
            text_columns=tuple(options.get("textColumns", ())),
        )


def options() -> dict[str, Schema]:
    """The option schemas of a dialect but for ``textColumns``, for any operation that reads a file."""
    return {
        "delimiter": {
            "enum": list(DELIMITERS),
            "default": ",",
            "description": "What stands between cells: one of " + _named(DELIMITERS) + ".",
        },
        "decimal": {
            "enum": list(DECIMALS),
            "default": ".",
            "description": "The decimal mark of numbers: point or comma. A comma needs another delimiter.",
        },
        "header": {
            "type": "boolean",
            "default": True,
            "description": "Whether the first line names the columns. Without one they are named 1, 2, 3 …",
        },
        "encoding": {
            "enum": list(ENCODINGS),
            "default": "utf-8",
            "description": "How characters are encoded. utf-8 may start with a byte order mark, utf-16 has to.",
        },
    }


def text_columns_option() -> Schema:
    """The schema of ``textColumns``."""
    return {
        "type": "array",
        "items": column_name("A column's name."),
        "maxItems": MAX_COLUMNS,
        "uniqueItems": True,
        "default": [],
        "description": "Columns kept as text, letter for letter: leading zeros, long ids, dates, formulas. All others "
        "hold numbers.",
    }


def column_name(description: str) -> Schema:
    """The schema of an option that names one column."""
    return {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_NAME_CHARACTERS,
        "description": description,
    }


def check(options: Mapping[str, Any], pointer: str, problems: Problems) -> None:
    """What the schemas cannot say: the decimal mark is not the delimiter."""
    if options["decimal"] == options["delimiter"]:
        problems.add(
            child(pointer, "decimal"),
            "The comma is both the decimal mark and the delimiter.",
            "decimal . or another delimiter, for instance ;",
        )


def _named(marks: Mapping[str, str]) -> str:
    return ", ".join(marks.values())
