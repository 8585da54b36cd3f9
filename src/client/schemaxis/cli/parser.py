"""The arguments of every subcommand. Standard library only, so that ``--help`` is immediate."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

WORKSPACE_VARIABLE = "SCHEMAXIS_WORKSPACE"
DEFAULT_WORKSPACE = "workspace"

_EPILOG = f"""\
The workspace is --workspace, else ${WORKSPACE_VARIABLE}, else ./{DEFAULT_WORKSPACE}. `run`, `serve`, `agent` and
calls that create make it where it is missing; commands that read do not. Where no server runs on it, a
command starts one for as long as it needs it.

Exit codes: 0 done, 1 the work failed, 2 usage, 3 no server, 130 interrupted.
"""

_RUN_EPILOG = """\
A criterion is POINTER OPERATOR [VALUE ...] ["tolerance" NUMBER] ["unit" UNIT], or the JSON object that
create_task takes:
  "/outputs/body/volume equals 1500 tolerance 0.5"
  "/outputs/body/volume between 1.4 1.6 unit cm^3"
  "/outputs/body/valid is-true"
Operators: equals, at-least, at-most, between, is-true.

The exit code is 0 for a verified result that meets every criterion, else 1. Ctrl-C cancels the job and says how
it ended.
"""

_QUALIFY_EPILOG = """\
Families and their providers: geometry=freecad, numerics=octave, spreadsheet=calc. A step whose engine is missing
is not run, and the installation then counts as not qualified; --provider geometry=occt --provider numerics=numpy
--provider spreadsheet=sheet qualifies what is installed with the package. Unless a workspace is named, the work is
done in one of its own, DIR/workspace.

The exit code is 0 only if every step passed.
"""


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command. What it parses names the ``module`` and ``function`` to run."""
    parser = argparse.ArgumentParser(
        prog="schemaxis",
        description="Plan, run, verify and reuse engineering work in real engines.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, help="show the versions of package and protocols")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (_serving, _calling, _running, _watching, _reading, _checking):
        add(_Adder(commands))
    return parser


class _Version(argparse.Action):
    """Prints the versions and ends; they are looked up only then."""

    def __init__(self, option_strings: Sequence[str], dest: str, **more: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=more.get("help"))

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from schemaxis.cli.versions import versions

        sys.stdout.write(f"{versions()}\n")
        parser.exit()


class _Adder:
    """Adds subcommands that share the options every one has."""

    def __init__(self, commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
        self._commands = commands

    def __call__(
        self, name: str, function: str, purpose: str, *, json: bool = True, epilog: str | None = None
    ) -> argparse.ArgumentParser:
        """Add ``name``, run by ``module.function``."""
        parser = self._commands.add_parser(
            name,
            help=purpose,
            description=purpose,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module, _, attribute = function.partition(".")
        parser.set_defaults(module=module, function=attribute)
        place = f"the workspace's directory; by default ${WORKSPACE_VARIABLE}, else ./{DEFAULT_WORKSPACE}"
        parser.add_argument("-w", "--workspace", type=Path, metavar="DIR", help=place)
        if json:
            parser.add_argument("--json", action="store_true", help="print the service's JSON")
        return parser


def _serving(add: _Adder) -> None:
    serve = add("serve", "serving.serve", "Serve a workspace until stopped.", json=False)
    serve.add_argument(
        "--socket", type=Path, metavar="PATH", help="where to listen instead of in the workspace"
    )
    add("agent", "serving.agent", "Speak schemaxis.agent/1, JSON lines, on stdin and stdout.", json=False)


def _calling(add: _Adder) -> None:
    call = add("call", "calling.call", "Call any method of the JSON-lines bridge.")
    call.add_argument("method", metavar="METHOD", help="for instance create_task; `methods` lists them")
    call.add_argument(
        "params", nargs="?", default="{}", metavar="JSON", help="the parameters; @FILE or - for stdin"
    )
    listed = add(
        "capabilities", "capabilities.capabilities", "Browse, search or describe what the engines can do."
    )
    listed.add_argument(
        "scope", nargs="?", default="", help="a scope such as domain/geometry, or a capability"
    )
    listed.add_argument("--search", metavar="WORDS", help="search instead, within the scope")


def _running(add: _Adder) -> None:
    run = add(
        "run",
        "running.run",
        "Plan a document, execute it, watch it, and show what was verified.",
        epilog=_RUN_EPILOG,
    )
    run.add_argument("document", metavar="DOCUMENT", help="a JSON file, or - for stdin")
    run.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="POINTER=JSON",
        dest="overrides",
        help="replace a value of the document first, as in /nodes/0/options/height=7.5",
    )
    run.add_argument(
        "--bind",
        action="append",
        default=[],
        metavar="POINTER=RESOURCE",
        dest="bindings",
        help="fill a file option with a verified resource",
    )
    run.add_argument("-o", "--output-directory", type=Path, metavar="DIR", help="save every resource here")
    _force(run)
    run.add_argument("--verify", action="store_true", help="verify afresh at the end")
    run.add_argument("-q", "--quiet", action="store_true", help="show no progress, only the result")
    _task(run.add_argument_group("the task", "What the run may use, and what it is to reach."))


def _task(task: argparse._ArgumentGroup) -> None:
    task.add_argument("--task", metavar="TASK", help="run within this task, instead of one made for the run")
    task.add_argument("--objective", metavar="TEXT", help="what it is for; by default names the document")
    task.add_argument(
        "--criterion",
        action="append",
        metavar="CRITERION",
        dest="criteria",
        help="what the result must satisfy, as below; may be repeated",
    )
    task.add_argument(
        "--allowed-providers",
        action="append",
        metavar="NAME[,NAME]",
        help="by default those of the document's version",
    )
    task.add_argument("--max-attempts", type=_positive, metavar="N", help="executions in all (5)")
    task.add_argument(
        "--max-repeated-failures",
        type=_positive,
        metavar="N",
        help="how often in a row the same plan may fail alike (2)",
    )
    task.add_argument(
        "--max-elapsed-seconds", type=_seconds, metavar="S", help="of execution over all attempts (900)"
    )
    task.add_argument("--max-attempt-seconds", type=_seconds, metavar="S", help="of one attempt (300)")


def _watching(add: _Adder) -> None:
    jobs = add("jobs", "jobs.jobs", "List jobs, newest first.")
    jobs.add_argument("--task", metavar="TASK", help="only the jobs of this task")
    jobs.add_argument("-n", "--limit", type=_positive, default=20, help="the most jobs to list (20)")
    job = add("job", "jobs.job", "Show one job, its result and its verification.")
    job.add_argument("job", metavar="JOB")
    watch = add("watch", "jobs.watch", "Follow a job's events until it ends.")
    watch.add_argument("job", metavar="JOB")
    watch.add_argument("--after", type=int, default=0, metavar="SEQUENCE", help="start behind this event")
    watch.add_argument("--no-follow", action="store_true", help="stop at the latest event")
    cancel = add("cancel", "jobs.cancel", "Ask a job to stop and wait until it has.")
    cancel.add_argument("job", metavar="JOB")


def _reading(add: _Adder) -> None:
    resources = add("resources", "resources.resources", "List published resources, newest first.")
    resources.add_argument("--job", metavar="JOB", help="only the resources of this job")
    resources.add_argument(
        "-n", "--limit", type=_positive, default=20, help="the most resources to list (20)"
    )
    read = add(
        "read", "resources.read", "Save the verified bytes of a resource, or of all that a job published."
    )
    read.add_argument("resource", metavar="RESOURCE|JOB")
    read.add_argument(
        "-o",
        "--output",
        default="",
        metavar="PATH",
        help="a file or directory; by default the resource's own name here, - for stdout",
    )
    _force(read)
    show = add(
        "show",
        "show.show",
        "Show the pictures of a job or a resource here, or save them where the terminal shows none.",
    )
    show.add_argument("resource", metavar="RESOURCE|JOB")
    show.add_argument(
        "-o",
        "--output",
        default="",
        metavar="PATH",
        help="save them too: a file for one picture, else a directory",
    )
    _force(show)


def _checking(add: _Adder) -> None:
    doctor = add("doctor", "doctor.doctor", "Check this installation, its engines and the workspace.")
    doctor.add_argument("--deep", action="store_true", help="also read every stored record and byte")
    qualify = add(
        "qualify",
        "qualify.qualify",
        "Work with the engines as an agent does, and report what passed and what was verified.",
        epilog=_QUALIFY_EPILOG,
    )
    qualify.add_argument(
        "-o",
        "--output-directory",
        type=Path,
        required=True,
        metavar="DIR",
        help="where report.json, report.md, the pictures and the bridge's log go",
    )
    qualify.add_argument(
        "--provider",
        action="append",
        default=[],
        metavar="FAMILY=NAME",
        dest="providers",
        help="another provider for a family, as in geometry=occt; may be repeated",
    )
    qualify.add_argument("-q", "--quiet", action="store_true", help="show no progress, only the outcome")


def _force(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="overwrite files that exist")


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return value


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return value
