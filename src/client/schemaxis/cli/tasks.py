"""The task that ``schemaxis run`` works for, from the command's options."""

from __future__ import annotations

import argparse
import json
from typing import Any

from schemaxis.bridge.text import NotJson, TooDeep, parse
from schemaxis.cli.main import UsageError
from schemaxis.cli.service import Service

_BUDGET = ("max_attempts", "max_repeated_failures", "max_elapsed_seconds", "max_attempt_seconds")
_FIXED = ("objective", "criteria", "allowed_providers", *_BUDGET)
# How many values stand after each operator.
_OPERANDS = {"equals": 1, "at-least": 1, "at-most": 1, "between": 2, "is-true": 0}


def check_task_options(arguments: argparse.Namespace) -> None:
    """Refuse, before anything starts, what does not go together. Raises :class:`UsageError`."""
    given = [f"--{_option(name)}" for name in _FIXED if getattr(arguments, name) is not None]
    if arguments.task and given:
        raise UsageError(f"--task names a task whose {given[0]} is fixed; leave one of the two out.")
    for text in arguments.criteria or ():
        criterion(text)


def _option(name: str) -> str:
    return "criterion" if name == "criteria" else name.replace("_", "-")


async def task_for(service: Service, arguments: argparse.Namespace, version: str) -> Any:
    """The task that the options name, or a new one for a document of ``version``."""
    if arguments.task:
        return await service.call("task", task_id=arguments.task)
    params: dict[str, Any] = {
        "objective": arguments.objective or f"Run {arguments.document}",
        "allowed_providers": _named(arguments) or await _providers_of(service, version),
        "criteria": [criterion(text) for text in arguments.criteria or ()],
        "budget": {name: value for name in _BUDGET if (value := getattr(arguments, name)) is not None},
    }
    return await service.call("create_task", **params)


def _named(arguments: argparse.Namespace) -> list[str]:
    names = [name.strip() for text in arguments.allowed_providers or () for name in text.split(",")]
    return [name for name in names if name]


async def _providers_of(service: Service, version: str) -> list[str]:
    engines = (await service.call("workspace"))["engines"]
    # A version that nobody knows is left to the planner, which says which there are.
    return [one["provider"] for one in engines if one["documentVersion"] == version] or [
        one["provider"] for one in engines
    ]


def criterion(text: str) -> dict[str, Any]:
    """A criterion as create_task takes it, from its words or its JSON. Raises :class:`UsageError`."""
    if text.lstrip().startswith("{"):
        try:
            made: dict[str, Any] = json.loads(text)
        except ValueError as error:
            raise UsageError(f"--criterion {text}: it is not JSON: {error}.") from None
        return made
    pointer, *words = text.split()
    if not pointer.startswith("/") or not words:
        raise UsageError(
            f"--criterion {text!r}: write a pointer, an operator and its values, as in "
            '"/outputs/body/volume equals 1500".'
        )
    operator, *operands = words
    if operator not in _OPERANDS:
        raise UsageError(
            f"--criterion {text!r}: {operator!r} is no operator; there are {', '.join(_OPERANDS)}."
        )
    made = {"pointer": pointer, "operator": operator}
    count = _OPERANDS[operator]
    if len(operands) < count:
        raise UsageError(f"--criterion {text!r}: {operator} takes {count} values.")
    names = ("low", "high") if count == 2 else ("value",)
    for name, word in zip(names, operands[:count], strict=False):
        made[name] = _value(text, word, number=operator != "equals")
    return made | _options(text, operands[count:])


def _options(text: str, words: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, word in zip(words[::2], [*words[1::2], None], strict=False):
        if name not in ("tolerance", "unit") or word is None or name in found:
            raise UsageError(
                f'--criterion {text!r}: after the values come "tolerance" NUMBER and "unit" UNIT, not {name!r}.'
            )
        found[name] = word if name == "unit" else _value(text, word, number=True)
    return found


def _value(text: str, word: str, *, number: bool) -> Any:
    try:
        parse(word)
        value = json.loads(word)
    except (NotJson, TooDeep, ValueError):
        value = word
    if number and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise UsageError(f"--criterion {text!r}: {word!r} is no number.")
    return value
