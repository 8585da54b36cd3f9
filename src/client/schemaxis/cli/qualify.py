"""``schemaxis qualify``: whether this installation does what it promises, and the report of it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from schemaxis.cli.main import Exit, UsageError
from schemaxis.cli.output import coloured, complain, note, print_lines, table, wrapped
from schemaxis.cli.resources import check_directory
from schemaxis.cli.serving import server_command
from schemaxis.cli.workspaces import creatable, is_named
from schemaxis.process import is_serving
from schemaxis.qualify.engines import FAMILIES
from schemaxis.qualify.qualification import qualify as take_steps
from schemaxis.qualify.report import markdown


def qualify(arguments: argparse.Namespace) -> int:
    """Work through the bridge, write ``report.json`` and ``report.md``; 0 only if every step passed."""
    chosen = _chosen(arguments.providers)
    directory: Path = arguments.output_directory
    check_directory(directory)
    workspace = creatable(arguments) if is_named(arguments) else directory / "workspace"
    if server_command() is None and not is_serving(workspace):
        complain("The server is not installed; install it with: pip install 'schemaxis[server]'")
        return Exit.NO_SERVER
    try:
        directory.mkdir(parents=True, exist_ok=True)
        report = take_steps(
            workspace, directory, chosen, lambda line: None if arguments.quiet else note(line)
        )
        text = json.dumps(report, ensure_ascii=False, indent=2)
        (directory / "report.json").write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
        (directory / "report.md").write_text(markdown(report), encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        complain(f"The report cannot be written: {error}")
        return Exit.FAILED
    if arguments.json:
        print_lines(json.dumps(report, ensure_ascii=False, separators=(",", ":")))
    else:
        rows = [(one["outcome"], one["name"], one["why"]) for one in report["steps"]]
        print_lines(*table(rows), "")
        verdict = "qualified" if report["qualified"] else "not qualified"
        print_lines(coloured(verdict, "good" if report["qualified"] else "bad"))
        print_lines(*wrapped(f"The report is {directory / 'report.md'}, for programs report.json beside it."))
    return Exit.DONE if report["qualified"] else Exit.FAILED


def _chosen(assignments: list[str]) -> dict[str, str]:
    chosen = dict(FAMILIES)
    for assignment in assignments:
        family, separator, name = assignment.partition("=")
        if not separator or not name or family not in chosen:
            families = ", ".join(FAMILIES)
            raise UsageError(
                f"--provider {assignment}: write a family and a provider, as in geometry=occt; families are {families}."
            )
        chosen[family] = name
    return chosen
