"""A served workspace, from the lock to the last process: start and drain."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from schemaxis_server.app import barriers, configuration, socket_path
from schemaxis_server.app.directory import own_directory
from schemaxis_server.app.workspace_lock import WorkspaceLock
from schemaxis_server.execution.core import DRAIN_SECONDS, ExecutionCore
from schemaxis_server.faults import Fault
from schemaxis_server.providers.registry import load
from schemaxis_server.rpc.codecs.job import encode_event
from schemaxis_server.rpc.server import Server

log = logging.getLogger(__name__)

_STOP_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asks for. ``until_stdin_closes`` ties the service to its starter's life."""

    workspace: Path
    socket: Path | None = None
    until_stdin_closes: bool = False
    drain_seconds: float = DRAIN_SECONDS


async def serve(options: Options) -> bool:
    """Serve the workspace until a signal, or the end of standard input, asks to stop.

    Prints one JSON line when it is ready. Returns whether it stopped as it should; the log says
    what did not. Raises the fault that kept it from starting.
    """
    directory = own_directory(options.workspace)
    stop = _stop_event(options)
    with WorkspaceLock(directory):
        path = socket_path.choose(directory, options.socket)
        socket_path.clear(path)
        core = await ExecutionCore.open(
            directory,
            load(),
            encode_event=encode_event,
            locations=configuration.load(directory).locations,
            barrier=barriers.from_environment(),
        )
        server = None
        try:
            server = Server(core)
            await _bind(server, path)
            # What is loaded by now stays; collections need not walk it again and again.
            gc.collect()
            gc.freeze()
            _say_ready(path, core)
            await stop.wait()
            log.info("draining")
            await server.refuse()
        finally:
            clean = await _stop(core, server, path, options.drain_seconds)
    log.info("stopped")
    return clean


async def _stop(core: ExecutionCore, server: Server | None, path: Path, drain_seconds: float) -> bool:
    """End the work and its streams, then the calls, then the store; each also if the one before failed.

    Returns whether all went well.
    """
    try:
        async with contextlib.AsyncExitStack() as rest:
            rest.push_async_callback(core.close)
            if server is not None:
                rest.callback(_remove, path)
                rest.push_async_callback(server.stop, _STOP_SECONDS)
            await core.drain(drain_seconds)
    except Exception:
        log.exception("the service did not stop as it should")
        return False
    return True


def _remove(path: Path) -> None:
    """Remove our socket. Its listener is closed, so one that listens there now is another's."""
    with contextlib.suppress(Fault):
        socket_path.clear(path)


async def _bind(server: Server, path: Path) -> None:
    before = os.umask(0o177)
    try:
        # gRPC decodes percent signs in a target, so the path is encoded.
        await server.start("unix:" + quote(str(path)))
    except RuntimeError as error:
        raise Fault("INVALID_REQUEST", f"The socket {path.name} cannot be bound ({error}).") from error
    finally:
        os.umask(before)


def _say_ready(path: Path, core: ExecutionCore) -> None:
    line = {
        "event": "ready",
        "socket": str(path),
        "pid": os.getpid(),
        "workspaceId": core.database.workspace_id,
    }
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()
    log.info("ready", extra={"socket": str(path)})


def _stop_event(options: Options) -> asyncio.Event:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if options.until_stdin_closes:
        descriptor = sys.stdin.fileno()

        def on_input() -> None:
            if not os.read(descriptor, 4096):
                loop.remove_reader(descriptor)
                stop.set()

        os.set_blocking(descriptor, False)
        try:
            loop.add_reader(descriptor, on_input)
        except PermissionError:
            # A file or /dev/null cannot be waited for: it is at its end as soon as it is read.
            stop.set()
    return stop
