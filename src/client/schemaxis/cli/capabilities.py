"""``schemaxis capabilities``: what the engines can do."""

from __future__ import annotations

import argparse
import json
from typing import Any

from schemaxis.cli.main import Exit
from schemaxis.cli.output import coloured, pretty, print_lines, table, value, wrapped
from schemaxis.cli.service import Service, run_with
from schemaxis.cli.workspaces import command, existing_or_passing


def capabilities(arguments: argparse.Namespace) -> int:
    """Search, describe one capability, or browse one level of the scope tree."""

    async def work(service: Service) -> int:
        scope = arguments.scope
        lines: list[str]
        # A capability is named provider.filter or by its filter alone, a scope by parts with slashes.
        if arguments.search:
            text = await _asked(service, "search", query=arguments.search, scope=scope, limit=100)
            lines = [] if arguments.json else _matches(json.loads(text), arguments)
        elif scope and "/" not in scope and scope != "domain":
            text = await _asked(service, "describe", capability=scope)
            lines = [] if arguments.json else _description(json.loads(text))
        else:
            text = await _asked(service, "browse", scope=scope)
            lines = [] if arguments.json else _level(await _unfolded(service, json.loads(text)), arguments)
        print_lines(*([text] if arguments.json else lines))
        return Exit.DONE

    with existing_or_passing(arguments) as workspace:
        return run_with(workspace, work, json_faults=arguments.json)


async def _asked(service: Service, method: str, **params: Any) -> str:
    return await service.call_text(f"capabilities.{method}", json.dumps(params))


async def _unfolded(service: Service, level: Any) -> Any:
    """The first level below where there is something to choose."""
    while len(level["scopes"]) == 1 and not level["capabilities"]:
        level = json.loads(await _asked(service, "browse", scope=level["scopes"][0]["scope"]))
    return level


def _matches(found: Any, arguments: argparse.Namespace) -> list[str]:
    rows = [
        (match["capability"]["capability"], match["capability"]["purpose"], match["why"])
        for match in found["matches"]
    ]
    if rows:
        return [*table(rows, ("CAPABILITY", "PURPOSE", "WHY")), "", *_describes(rows[0][0], arguments)]
    where = f" in {arguments.scope}; search without the scope, or" if arguments.scope else ";"
    advice = f"Nothing matches {arguments.search!r}{where} try other or fewer words."
    return [*wrapped(advice), *wrapped(f"{command(arguments, 'capabilities')} shows what there is.")]


def _describes(capability: str, arguments: argparse.Namespace) -> list[str]:
    return wrapped(f"{command(arguments, f'capabilities {capability}')} shows its options and an example.")


def _browses(scope: str, arguments: argparse.Namespace) -> list[str]:
    way = command(arguments, f"capabilities {scope}")
    return wrapped(f"{way} shows what lies in a scope; --search WORDS finds by words.")


def _level(level: Any, arguments: argparse.Namespace) -> list[str]:
    scopes = [(scope["scope"], str(scope["capabilityCount"])) for scope in level["scopes"]]
    found = [
        (one["capability"], one["purpose"], "" if one["available"] else "engine not installed")
        for one in level["capabilities"]
    ]
    lines: list[str] = []
    if scopes:
        lines += [*table(scopes, ("SCOPE", "CAPABILITIES")), "", *_browses(scopes[0][0], arguments)]
    if scopes and found:
        lines.append("")
    if found:
        headers = ("CAPABILITY", "PURPOSE", "")
        lines += [*table(found, headers), "", *_describes(found[0][0], arguments)]
    return lines or ["No engine's provider is installed; `schemaxis doctor` says what is missing."]


def _description(described: Any) -> list[str]:
    summary = described["summary"]
    lines = [f"{summary['capability']}: {summary['title']}", *wrapped(summary["purpose"]), ""]
    if described["inputs"]["purpose"]:
        inputs = f"Inputs: {_how_many(described['inputs'])}. {described['inputs']['purpose']}"
        lines += [*wrapped(inputs, hanging="  "), ""]
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
    lines += [*wrapped(f"Verified by: {described['verification']}", hanging="  "), f"Engine: {engine}"]
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
