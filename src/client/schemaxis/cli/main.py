"""The command ``schemaxis``: runs a subcommand and turns how it ended into an exit code.

Only the standard library is imported here, so that ``--help`` is immediate; a subcommand's module
is imported when it is run.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from enum import IntEnum

from schemaxis.cli.parser import make_parser


class Exit(IntEnum):
    """What an exit code means."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NO_SERVER = 3
    INTERRUPTED = 130


class UsageError(Exception):
    """What the user typed cannot be done; the message says what can."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code."""
    _bear_any_text()
    parsed = make_parser().parse_args(arguments)
    module = importlib.import_module(f"schemaxis.cli.{parsed.module}")
    command: Callable[[argparse.Namespace], int] = getattr(module, parsed.function)
    try:
        code = command(parsed)
        sys.stdout.flush()
    except UsageError as error:
        from schemaxis.cli.output import complain

        complain(str(error))
        return Exit.USAGE
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output, `head` for instance, has seen enough.
        discard_output()
        return Exit.DONE
    return code


def discard_output() -> None:
    """Let what is still written to standard output vanish: its reader is gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _bear_any_text() -> None:
    # A terminal that lacks a character, or a path that is no text, must not end a command half-way.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
