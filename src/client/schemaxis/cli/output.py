"""How the command writes: aligned columns, sizes and times for people, exact JSON for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

_INDENT = "  "


def print_lines(*lines: str) -> None:
    """Write lines to standard output."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def note(line: str) -> None:
    """Write a line about how it goes to standard error."""
    sys.stderr.write(f"{line}\n")


def coloured(text: str, meaning: str) -> str:
    """``text`` in the colour of ``good``, ``bad`` or ``faint``, on a terminal that wants colour."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stdout.isatty():
        return text
    code = {"good": "32", "bad": "31", "faint": "2"}[meaning]
    return f"\x1b[{code}m{text}\x1b[0m"


def table(rows: Iterable[Sequence[str]], headers: Sequence[str] = (), *, indent: int = 0) -> list[str]:
    """The rows as lines of aligned columns, two blanks apart."""
    cells = [list(row) for row in ([headers] if headers else [])] + [list(row) for row in rows]
    if not cells:
        return []
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = []
    for row in cells:
        padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append(" " * indent + "  ".join(padded).rstrip())
    if headers:
        lines[0] = coloured(lines[0], "faint")
    return lines


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


def clock(text: str | None) -> str:
    """A time of the service as local date and time, empty when there is none."""
    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M:%S") if text else ""


def seconds_between(start: str | None, end: str | None) -> str:
    """The span between two times of the service, empty while one is missing."""
    if not start or not end:
        return ""
    return f"{(datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds():.2f} s"


def value(of: Any) -> str:
    """A measured value in short: 12 significant digits, vectors by their components."""
    if isinstance(of, bool):
        return "yes" if of else "no"
    if isinstance(of, float):
        return f"{of:.12g}"
    if isinstance(of, list):
        return " ".join(value(item) for item in of)
    if isinstance(of, dict):
        return ", ".join(f"{key} {value(item)}" for key, item in of.items())
    return str(of)


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


def print_fault(fault: dict[str, Any], *, as_json: bool) -> None:
    """Say what was refused: as JSON on standard output, or in words on standard error."""
    if as_json:
        print_lines(json.dumps({"fault": fault}, ensure_ascii=False, separators=(",", ":")))
        return
    place = f" (at {fault['pointer']})" if fault.get("pointer") else ""
    note(f"schemaxis: {fault['code']}: {fault['message']}{place}")
    details = fault.get("details") or {}
    for problem in details.get("problems", ()):
        near = f" Did you mean {problem['nearest']}?" if problem.get("nearest") else ""
        note(f"  {problem['pointer'] or '/'}: {problem['message']}{near}")
