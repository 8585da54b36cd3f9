"""The program of a zygote: ``python zygote.py <control descriptor> <host name>``.

A zygote keeps one engine loaded and forks an init for every job. This file only finds its
way: the first message on the control socket says where modules are and which to load; the
answer is ``failed``, or what ``nursery`` says from then on. Nothing but the standard library
is imported before that message has come.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import sys
import time
import traceback
from typing import Any

_CONFIGURATION_BYTES = 128 * 1024


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    message = control.recv(_CONFIGURATION_BYTES)
    if not message:
        return
    configuration = _configure(json.loads(message))
    from schemaxis_server.native import channel, linux, nursery

    # An import that hangs must not outlive the daemon; once we serve, the socket tells.
    linux.set_parent_death_signal(signal.SIGKILL)
    if channel.hung_up(control):
        return
    linux.become_subreaper()
    began = time.monotonic()
    before = _descriptors()
    try:
        for module in configuration["preload"]:
            importlib.import_module(module)
    except BaseException as problem:
        # SystemExit included: some packages exit when a library is missing.
        traceback.print_exc()
        channel.tell(control, {"event": "failed", "message": f"{type(problem).__name__}: {problem}"[:2000]})
        return
    engine = _descriptors() - before
    linux.set_parent_death_signal(0)
    nursery.Nursery(
        control, engine, ahead=configuration["ahead"], namespaces=configuration["namespaces"]
    ).serve(time.monotonic() - began)


def _configure(configuration: dict[str, Any]) -> dict[str, Any]:
    own = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == own:
        # The folder of this file holds modules with everyday names; nobody may import them bare.
        del sys.path[0]
    paths = configuration["paths"]
    if configuration["replace_paths"]:
        sys.path[:] = paths
    else:
        sys.path.extend(path for path in paths if path not in sys.path)
    return configuration


def _descriptors() -> frozenset[int]:
    """What is open, but for the descriptor that the listing itself needs."""
    listed = [int(name) for name in os.listdir("/proc/self/fd")]
    return frozenset(descriptor for descriptor in listed if os.path.exists(f"/proc/self/fd/{descriptor}"))


if __name__ == "__main__":
    main()
    sys.stderr.flush()
    # Engines take long over an interpreter's shutdown, and nothing here needs it.
    os._exit(0)
