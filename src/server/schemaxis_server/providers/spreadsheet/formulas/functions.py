"""The functions that a formula may call: those on which the engines agree.

Left out on purpose, besides what is volatile or reaches outside: ``CEILING`` and ``FLOOR`` (the signs of
their arguments mean different things to different programs), ``UPPER`` and ``LOWER`` (they differ on
letters beyond ASCII), ``REPT`` (a short formula would fill the memory), ``ERF`` (one engine is off by 5e-11),
the variances (one engine cancels: the variance of 1e9, 1e9 + 1, 1e9 + 2 comes out as 0; the operation aggregate
composes them of deviations from the mean), ``INDEX`` (with a row or column of 0 it spills over other cells),
dates (they would turn text into numbers).
"""

from __future__ import annotations

from dataclasses import dataclass

VALUE = "value"
VALUES = "value or range"
RANGE = "range"

MAX_ARGUMENTS = 30


@dataclass(frozen=True, slots=True)
class Function:
    """``takes`` says what each argument may be; the last one repeats up to ``most`` arguments."""

    name: str
    least: int
    most: int
    takes: tuple[str, ...]

    def accepts_range(self, place: int) -> bool:
        return self.takes[min(place, len(self.takes) - 1)] != VALUE

    def needs_range(self, place: int) -> bool:
        return self.takes[min(place, len(self.takes) - 1)] == RANGE


def _values(*names: str, least: int, most: int) -> list[Function]:
    return [Function(name, least, most, (VALUE,)) for name in names]


def _ranges(*names: str, least: int = 1) -> list[Function]:
    return [Function(name, least, MAX_ARGUMENTS, (VALUES,)) for name in names]


_ALL = [
    *_ranges("SUM", "AVERAGE", "MIN", "MAX", "COUNT", "COUNTA", "PRODUCT", "MEDIAN", "SUMSQ"),
    Function("COUNTBLANK", 1, 1, (RANGE,)),
    Function("SUMPRODUCT", 1, MAX_ARGUMENTS, (RANGE,)),
    Function("SMALL", 2, 2, (RANGE, VALUE)),
    Function("LARGE", 2, 2, (RANGE, VALUE)),
    Function("SUMIF", 2, 3, (RANGE, VALUE, RANGE)),
    Function("COUNTIF", 2, 2, (RANGE, VALUE)),
    Function("AVERAGEIF", 2, 3, (RANGE, VALUE, RANGE)),
    Function("VLOOKUP", 4, 4, (VALUE, RANGE, VALUE, VALUE)),
    Function("MATCH", 3, 3, (VALUE, RANGE, VALUE)),
    Function("ROWS", 1, 1, (RANGE,)),
    Function("COLUMNS", 1, 1, (RANGE,)),
    *_values("IF", least=2, most=3),
    *_values("IFERROR", "IFNA", least=2, most=2),
    *_values("ISERROR", "ISNA", "ISNUMBER", "ISTEXT", "ISBLANK", "ISLOGICAL", "NOT", least=1, most=1),
    *_ranges("AND", "OR"),
    *_values("TRUE", "FALSE", "PI", "NA", "ROW", "COLUMN", least=0, most=0),
    *_values("ROUND", "ROUNDUP", "ROUNDDOWN", "MOD", "QUOTIENT", "POWER", "ATAN2", "COMBIN", least=2, most=2),
    *_values("TRUNC", "LOG", least=1, most=2),
    *_values("ABS", "SIGN", "INT", "SQRT", "EXP", "LN", "LOG10", "FACT", least=1, most=1),
    *_values("SIN", "COS", "TAN", "ASIN", "ACOS", "ATAN", "SINH", "COSH", "TANH", least=1, most=1),
    *_values("DEGREES", "RADIANS", least=1, most=1),
    *_values("LEN", "TRIM", "VALUE", least=1, most=1),
    *_values("LEFT", "RIGHT", least=2, most=2),
    *_values("MID", least=3, most=3),
    *_values("CONCATENATE", least=1, most=MAX_ARGUMENTS),
    *_values("SUBSTITUTE", least=3, most=3),
    *_values("FIND", least=2, most=3),
    *_values("EXACT", least=2, most=2),
]

FUNCTIONS = {one.name: one for one in _ALL}

ALIASES = {
    "XLOOKUP": "VLOOKUP",
    "INDEX": "VLOOKUP",
    "CONCAT": "CONCATENATE",
    "ISERR": "ISERROR",
    "LOG2": "LOG",
    "MEAN": "AVERAGE",
}
"""Names that lead to the allowed function which they mean."""

SPREADS = frozenset(("STDEV", "STDEV.S", "STDEV.P", "STDEVP", "VAR", "VAR.S", "VAR.P", "VARP", "DEVSQ"))

SAME_SHAPE = frozenset(("SUMIF", "AVERAGEIF", "SUMPRODUCT"))
"""Functions whose ranges must be of one shape; engines differ on what they make of others."""

VOLATILE = frozenset(
    ("NOW", "TODAY", "RAND", "RANDBETWEEN", "RANDARRAY", "OFFSET", "INDIRECT", "INFO", "CELL")
)
OUTSIDE = frozenset(
    (
        "HYPERLINK",
        "WEBSERVICE",
        "FILTERXML",
        "ENCODEURL",
        "DDE",
        "RTD",
        "CALL",
        "REGISTER.ID",
        "EXEC",
        "IMAGE",
        "IMPORTDATA",
        "IMPORTXML",
        "IMPORTHTML",
        "IMPORTRANGE",
        "CUBEVALUE",
        "SQL.REQUEST",
        "GETPIVOTDATA",
    )
)
