"""``schemaxis agent``: one session of the bridge on standard input and output."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from schemaxis.bridge.lines import LineReader, LineWriter
from schemaxis.bridge.link import Link, serve_here
from schemaxis.bridge.methods import load_methods
from schemaxis.bridge.session import Session
from schemaxis.errors import SchemaxisError

_NO_SERVER = 3


def run_agent(workspace: Path) -> int:
    """Serve the protocol until the input ends; the exit code.

    Standard output carries the protocol only: whatever else is printed goes to standard error,
    and no child can read the input.
    """
    lines_in, lines_out = _take_standard_streams()
    return asyncio.run(_serve(workspace, lines_in, lines_out))


def _take_standard_streams() -> tuple[int, int]:
    lines_in, lines_out = os.dup(0), os.dup(1)
    sys.stdout.flush()
    os.dup2(2, 1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    return lines_in, lines_out


async def _serve(workspace: Path, lines_in: int, lines_out: int) -> int:
    link = Link(lambda: serve_here(workspace))
    try:
        await link.open()
    except SchemaxisError as error:
        print(f"schemaxis agent: {error}", file=sys.stderr)  # noqa: T201
        return _NO_SERVER
    reader, writer = LineReader(lines_in), LineWriter(lines_out)
    signalled: list[int] = []

    def end_on(number: int) -> None:
        signalled.append(number)
        reader.end()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end_on, number)
    try:
        await Session(link, load_methods(), reader, writer).serve()
        await writer.close()
    finally:
        await link.close()
    return 128 + signalled[0] if signalled else 0
