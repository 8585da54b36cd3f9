"""``schemaxis capabilities``: what the engines can do."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

from schemaxis.cli.main import Exit
from schemaxis.cli.output import coloured, pretty, print_lines, table, value
from schemaxis.cli.service import Service, run_with


def capabilities(arguments: argparse.Namespace) -> int:
    """Search, describe one capability, or browse one level of the scope tree."""

    async def work(service: Service) -> int:
        scope = arguments.scope
        # A capability is named provider.filter, a scope by parts with slashes.
        method: str
        show: Callable[[Any], list[str]]
        if arguments.search:
            params = {"query": arguments.search, "scope": scope, "limit": 100}
            method, show = "capabilities.search", _matches
        elif "." in scope and "/" not in scope:
            params, method, show = {"capability": scope}, "capabilities.describe", _description
        else:
            params, method, show = {"scope": scope}, "capabilities.browse", _level
        text = await service.call_text(method, json.dumps(params))
        print_lines(*([text] if arguments.json else show(json.loads(text))))
        return Exit.DONE

    return run_with(arguments.workspace, work, json_faults=arguments.json)


def _matches(found: Any) -> list[str]:
    rows = [
        (match["capability"]["capability"], match["capability"]["purpose"], match["why"])
        for match in found["matches"]
    ]
    return table(rows, ("CAPABILITY", "PURPOSE", "WHY")) or ["Nothing matches; try other words."]


def _level(level: Any) -> list[str]:
    scopes = [(scope["scope"], str(scope["capabilityCount"])) for scope in level["scopes"]]
    found = [
        (one["capability"], one["purpose"], "" if one["available"] else "engine not installed")
        for one in level["capabilities"]
    ]
    lines = table(scopes, ("SCOPE", "CAPABILITIES")) if scopes else []
    if scopes and found:
        lines.append("")
    return lines + (table(found, ("CAPABILITY", "PURPOSE", "")) if found else [])


def _description(described: Any) -> list[str]:
    summary = described["summary"]
    lines = [f"{summary['capability']}: {summary['title']}", summary["purpose"], ""]
    if described["inputs"]["purpose"]:
        lines += [f"Inputs: {_how_many(described['inputs'])}. {described['inputs']['purpose']}", ""]
    if described["options"]:
        lines += table(
            [_option(option) for option in described["options"]], ("OPTION", "UNIT", "", "PURPOSE")
        )
        lines.append("")
    quantities = [(one["name"], one["unit"], one["purpose"]) for one in described["quantities"]]
    lines += [*table(quantities, ("QUANTITY", "UNIT", "PURPOSE")), ""]
    artifacts = [(one["kind"], one["purpose"]) for one in described["artifacts"]]
    lines += [*table(artifacts, ("PUBLISHES", "PURPOSE")), ""]
    engine = described["engine"]
    lines += [f"Verified by: {described['verification']}", f"Engine: {engine}"]
    if not summary["available"]:
        lines.append(coloured(f"Not installed; install {described.get('install', 'its engine')}.", "bad"))
    return [*lines, "", "Example:", pretty(json.dumps(described["example"], ensure_ascii=False))]


def _how_many(inputs: Any) -> str:
    least, most = inputs["minimum"], inputs.get("maximum")
    if most is None:
        return f"{least} or more"
    return str(least) if least == most else f"{least} to {most}"


def _option(option: Any) -> tuple[str, str, str, str]:
    given = "required" if option["required"] else ""
    if "default" in option:
        given = f"default {value(option['default'])}"
    return option["name"], option["unit"], given, option["purpose"]
