"""A fault for people: what is wrong, each problem once, and the way on as a command."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from schemaxis.bridge.methods import load_methods
from schemaxis.cli.output import counted, wrapped

# The methods of the bridge that have a command of their own.
_COMMANDS = {
    "list_jobs": "schemaxis jobs",
    "list_resources": "schemaxis resources",
    "watch_job": "schemaxis watch",
    "resource": "schemaxis read",
    "capabilities.browse": "schemaxis capabilities",
    "capabilities.search": "schemaxis capabilities --search",
    "capabilities.describe": "schemaxis capabilities",
}
_NAME = re.compile(r"`?\b([a-z]+(?:[._][a-z]+)+)\b`?")


def fault_lines(fault: Mapping[str, Any], *, start: str = "", stream: TextIO | None = None) -> list[str]:
    """The fault as lines that fit the terminal of ``stream``, standard output by default."""
    stream = stream or sys.stdout
    if problems := _problems(fault):
        total = (fault.get("details") or {}).get("total", len(problems))
        lines = wrapped(
            f"{start}{fault['code']}: The document has {counted(total, 'problem')}.", stream=stream
        )
        for problem in problems:
            lines += _problem_lines(problem, stream)
        if total > len(problems):
            lines.append(f"  … and {total - len(problems)} more, which did not fit into the answer.")
        return lines
    place = f" (at {fault['pointer']})" if fault.get("pointer") else ""
    text = f"{start}{fault['code']}: {for_the_command(fault['message'])}{place}"
    return wrapped(text, hanging="  ", stream=stream)


def for_the_command(message: str) -> str:
    """``message`` with the bridge's methods as the commands that call them."""
    return _NAME.sub(_as_command, message)


def _as_command(found: re.Match[str]) -> str:
    name = found[1]
    if name not in _method_names():
        return found[0]
    return f"`{_COMMANDS.get(name, f'schemaxis call {name}')}`"


@functools.cache
def _method_names() -> frozenset[str]:
    return frozenset(load_methods())


def _problems(fault: Mapping[str, Any]) -> list[dict[str, Any]]:
    listed = (fault.get("details") or {}).get("problems")
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _problem_lines(problem: Mapping[str, Any], stream: TextIO) -> Iterator[str]:
    place = problem.get("pointer") or "/"
    yield from wrapped(f"{place}: {problem.get('message', '')}", indent="  ", hanging="  ", stream=stream)
    if problem.get("nearest"):
        yield from wrapped(f"Did you mean {problem['nearest']}?", indent="    ", stream=stream)
    if problem.get("expected"):
        yield from wrapped(f"Expected {problem['expected']}.", indent="    ", hanging="  ", stream=stream)
