"""The command ``schemaxis``: its arguments, and where each subcommand lives.

Only the standard library is imported here, so that ``--help`` is immediate; a subcommand's module
is imported when it is run.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from enum import IntEnum
from pathlib import Path

WORKSPACE_VARIABLE = "SCHEMAXIS_WORKSPACE"
DEFAULT_WORKSPACE = "workspace"


class Exit(IntEnum):
    """What an exit code means."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NO_SERVER = 3
    INTERRUPTED = 130


class UsageError(Exception):
    """What the user typed cannot be done; the message says what can."""


_EPILOG = f"""\
The workspace is --workspace, else ${WORKSPACE_VARIABLE}, else ./{DEFAULT_WORKSPACE}. Where no server runs
on it, a command starts one for as long as it needs it.

Exit codes: 0 done, 1 the work failed, 2 usage, 3 no server, 130 interrupted.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code."""
    parsed = _parser().parse_args(arguments)
    module = importlib.import_module(f"schemaxis.cli.{parsed.module}")
    command: Callable[[argparse.Namespace], int] = getattr(module, parsed.function)
    try:
        code = command(parsed)
        sys.stdout.flush()
    except UsageError as error:
        sys.stderr.write(f"schemaxis: {error}\n")
        return Exit.USAGE
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output, `head` for instance, has seen enough. Nothing may be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="schemaxis",
        description="Plan, run, verify and reuse engineering work in real engines.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (_serving, _calling, _running, _watching, _reading, _checking):
        add(_Adder(commands))
    return parser


class _Adder:
    """Adds subcommands that share the options every one has."""

    def __init__(self, commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
        self._commands = commands

    def __call__(
        self, name: str, function: str, purpose: str, *, json: bool = True
    ) -> argparse.ArgumentParser:
        """Add ``name``, run by ``module.function``."""
        parser = self._commands.add_parser(name, help=purpose, description=purpose)
        module, _, attribute = function.partition(".")
        parser.set_defaults(module=module, function=attribute)
        parser.add_argument(
            "-w",
            "--workspace",
            type=Path,
            metavar="DIR",
            default=Path(os.environ.get(WORKSPACE_VARIABLE) or DEFAULT_WORKSPACE),
            help="the workspace's directory",
        )
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
    run = add("run", "running.run", "Plan a document, execute it, watch it, and show what was verified.")
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
    run.add_argument(
        "--objective", metavar="TEXT", help="what the task records; by default names the document"
    )
    run.add_argument("--verify", action="store_true", help="verify afresh at the end")


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
    read = add("read", "resources.read", "Save a resource's verified bytes.")
    read.add_argument("resource", metavar="RESOURCE")
    read.add_argument(
        "-o", "--output", default="", metavar="FILE", help="where to; its own name by default, - for stdout"
    )


def _checking(add: _Adder) -> None:
    doctor = add("doctor", "doctor.doctor", "Check this installation, its engines and the workspace.")
    doctor.add_argument("--deep", action="store_true", help="also read every stored record and byte")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("give a number of at least 1")
    return value


if __name__ == "__main__":
    sys.exit(main())
