"""How the command writes: columns that fit the terminal, sizes and times for people, exact JSON for programs."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TextIO

_INDENT = "  "
_GAP = 2
# A terminal narrower than this is written to as if it were as wide as this.
_NARROWEST = 20
# A column of sentences is not squeezed below this.
_READABLE = 16
_DIGITS = 12

_CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), "\ufffd") | {9: " ", 10: " "}


def print_lines(*lines: str) -> None:
    """Write lines to standard output."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def note(line: str) -> None:
    """Write a line about how it goes to standard error; nobody need read it."""
    with contextlib.suppress(BrokenPipeError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def complain(message: str) -> None:
    """Write what went wrong to standard error."""
    for line in f"schemaxis: {message}".splitlines():
        for part in wrapped(line, stream=sys.stderr):
            note(part)


def is_terminal(stream: TextIO) -> bool:
    """Whether lines can be rewritten there."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def columns(stream: TextIO) -> int | None:
    """How many characters fit in a line there; None where it is no terminal and lines have no width."""
    if not stream.isatty():
        return None
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told) > 0:
        return max(int(told), _NARROWEST)
    try:
        return max(os.get_terminal_size(stream.fileno()).columns or 80, _NARROWEST)
    except (OSError, ValueError):
        return 80


def coloured(text: str, meaning: str) -> str:
    """``text`` in the colour of ``good``, ``bad`` or ``faint``, on a terminal that wants colour."""
    if os.environ.get("NO_COLOR") or not is_terminal(sys.stdout):
        return text
    code = {"good": "32", "bad": "31", "faint": "2"}[meaning]
    return f"\x1b[{code}m{text}\x1b[0m"


def clean(text: str) -> str:
    """``text`` without control characters: what an engine or a document says must not steer the terminal."""
    return text.translate(_CONTROLS)


def wrapped(text: str, *, indent: str = "", hanging: str = "", stream: TextIO | None = None) -> list[str]:
    """``text`` as lines that fit the terminal; ``hanging`` is added to the indent of those after the first."""
    text = clean(text)
    width = columns(stream or sys.stdout)
    if width is None:
        return [indent + text]
    return _broken(text, width, indent, " " * len(indent) + hanging)


def _broken(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        # An id, a path or a pointer in two pieces cannot be copied.
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first]


def table(
    rows: Iterable[Sequence[str]],
    headers: Sequence[str] = (),
    *,
    indent: int = 0,
    width: int | None = None,
) -> list[str]:
    """The rows as lines of aligned columns, two blanks apart.

    On a terminal, or within ``width``, cells are wrapped between words; where even that has no room,
    each row becomes a few lines under its first cell.
    """
    cells = [[clean(cell) for cell in row] for row in ([headers, *rows] if headers else rows)]
    if not cells:
        return []
    width = columns(sys.stdout) if width is None else width
    room = None if width is None else width - indent
    widths = _widths(cells, room)
    margin = " " * indent
    if widths is None:
        assert room is not None
        return [margin + line for line in _stacked(cells, headers, room)]
    lines: list[str] = []
    for row in cells:
        parts = [
            [cell] if len(cell) <= wide else _broken(cell, wide)
            for cell, wide in zip(row, widths, strict=True)
        ]
        for number in range(max(map(len, parts))):
            padded = [
                (part[number] if number < len(part) else "").ljust(wide)
                for part, wide in zip(parts, widths, strict=True)
            ]
            lines.append(margin + (" " * _GAP).join(padded).rstrip())
    if headers:
        lines[0] = coloured(lines[0], "faint")
    return lines


def _widths(cells: Sequence[Sequence[str]], room: int | None) -> list[int] | None:
    """The width of each column, the widest squeezed first; None where they do not fit."""
    by_column = list(zip(*cells, strict=True))
    widths = [max(map(len, column)) for column in by_column]
    if room is None:
        return widths
    least = [
        min(wide, max(_READABLE if wide > 2 * _READABLE else 0, *map(_longest_word, column), 0))
        for wide, column in zip(widths, by_column, strict=True)
    ]
    room -= _GAP * (len(widths) - 1)
    while sum(widths) > room:
        squeezable = [column for column, wide in enumerate(widths) if wide > least[column]]
        if not squeezable:
            return None
        widths[max(squeezable, key=widths.__getitem__)] -= 1
    return widths


def _longest_word(cell: str) -> int:
    return max(map(len, cell.split()), default=0)


def _stacked(cells: Sequence[Sequence[str]], headers: Sequence[str], room: int) -> Iterator[str]:
    labels = [f"{header.lower()} " if header else "" for header in headers] or [""] * len(cells[0])
    for first, *others in cells[1:] if headers else cells:
        yield from _broken(first, room, rest=_INDENT)
        for label, cell in zip(labels[1:], others, strict=True):
            if cell:
                yield from _broken(label + cell, room, _INDENT, _INDENT * 2)


def size(count: int) -> str:
    """Bytes as people read them, in powers of 1,000."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 1000 or unit == "GB":
            return f"{value:.1f} {unit}"
    raise AssertionError("the last unit takes everything")


def counted(count: int, one: str, many: str = "") -> str:
    """``1 check``, ``2 checks``."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def clock(text: str | None) -> str:
    """A time of the service as local date and time, empty when there is none."""
    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M:%S") if text else ""


def age(text: str, now: datetime | None = None) -> str:
    """How long ago a time of the service is, in its greatest unit: ``5m``."""
    now = now or datetime.now(UTC)
    seconds = max((now - datetime.fromisoformat(text)).total_seconds(), 0.0)
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length:.0f}{unit}"
    return f"{seconds:.0f}s"


def seconds_between(start: str | None, end: str | None) -> str:
    """The span between two times of the service, empty while one is missing."""
    if not start or not end:
        return ""
    return f"{(datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds():.2f} s"


def value(of: Any, beside: float = 0.0) -> str:
    """A measured value in short: 12 significant digits, vectors by their components.

    In a vector the digits are counted from the greatest number, ``beside`` (of the same unit)
    included: the rest of a sum that is zero, about 1e-16 of its terms, is shown as 0.
    """
    if isinstance(of, bool):
        return "yes" if of else "no"
    if of is None:
        return "-"
    if isinstance(of, float):
        return f"{of:.{_DIGITS}g}"
    if isinstance(of, list | dict):
        return _compound(of, max(beside, greatest(of)))
    return str(of)


def _compound(of: Any, beside: float) -> str:
    if isinstance(of, list):
        return " ".join(_compound(item, beside) for item in of)
    if isinstance(of, dict):
        return ", ".join(f"{key} {_compound(item, beside)}" for key, item in of.items())
    if isinstance(of, float) and abs(of) < beside * 10.0**-_DIGITS:
        return "0"
    return value(of)


def greatest(of: Any) -> float:
    """The greatest finite magnitude among the numbers of a value, 0 without one."""
    if isinstance(of, bool):
        return 0.0
    if isinstance(of, int | float):
        magnitude = abs(float(of)) if abs(of) < 1e308 else 0.0
        return magnitude if magnitude == magnitude else 0.0
    parts = of.values() if isinstance(of, dict) else of if isinstance(of, list) else ()
    return max(map(greatest, parts), default=0.0)


def pretty(text: str) -> str:
    """JSON text indented for reading, every number as it stood."""
    from schemaxis.bridge.text import parse

    return _indented(parse(text), "")


def _indented(of: Any, margin: str) -> str:
    from schemaxis.bridge.text import Members, quote, write

    inner = margin + _INDENT
    if isinstance(of, Members) and of:
        members = [f"{inner}{quote(key)}: {_indented(child, inner)}" for key, child in of]
        return "{\n" + ",\n".join(members) + f"\n{margin}}}"
    if isinstance(of, list) and any(isinstance(child, list | Members) for child in of):
        return "[\n" + ",\n".join(inner + _indented(child, inner) for child in of) + f"\n{margin}]"
    return write(of)


def print_json(text: str, *, compact: bool) -> None:
    """Write JSON text: on one line for a program, indented for a person."""
    print_lines(text if compact else pretty(text))


def print_fault(fault: Mapping[str, Any], *, as_json: bool) -> None:
    """Say what was refused: as JSON on standard output, or in words on standard error."""
    if as_json:
        print_lines(json.dumps({"fault": fault}, ensure_ascii=False, separators=(",", ":")))
        return
    from schemaxis.cli.faults import fault_lines

    for line in fault_lines(fault, start="schemaxis: ", stream=sys.stderr):
        note(line)
