"""``schemaxis agent``: one session of the bridge on standard input and output."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from pathlib import Path

from schemaxis.bridge.lines import LineReader, LineWriter
from schemaxis.bridge.link import Link
from schemaxis.bridge.logs import LogForwarder
from schemaxis.bridge.methods import load_methods
from schemaxis.bridge.session import Session
from schemaxis.errors import SchemaxisError
from schemaxis.process import serve_or_attach

_log = logging.getLogger("schemaxis.bridge")
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
    log = LogForwarder()
    link = Link(lambda: serve_or_attach(workspace, log=log.descriptor))
    try:
        await link.open()
        return await _session(link, lines_in, lines_out)
    except SchemaxisError as error:
        _log.error("%s", error)
        return _NO_SERVER
    finally:
        await link.close()
        log.close()


async def _session(link: Link, lines_in: int, lines_out: int) -> int:
    reader, writer = LineReader(lines_in), LineWriter(lines_out)
    signalled: list[int] = []

    def end_on(number: int) -> None:
        signalled.append(number)
        reader.end()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end_on, number)
    await Session(link, load_methods(), reader, writer).serve()
    await writer.close()
    return 128 + signalled[0] if signalled else 0
