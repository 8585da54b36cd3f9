"""A program that calls host entries, each in a forked process of its own.

Started with the modules to load first as arguments. One JSON object a line on stdin:
``{"entry", "request", "directory"}``; the answer's line on stdout is ``{"result"}``,
``{"unsupported": {"message", "pointer"}}`` or ``{"error"}``.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from schemaxis_server.native.hostkit import Kit, UnsupportedInput


def _call(entry: str, request: dict[str, Any], directory: str) -> dict[str, Any]:
    module, function = entry.split(":")
    os.chdir(directory)
    try:
        result = getattr(importlib.import_module(module), function)(request, Kit(Path(directory)))
        # What cannot be written as JSON fails here, in the host.
        return {"result": json.loads(json.dumps(result, allow_nan=False))}
    except UnsupportedInput as reason:
        return {"unsupported": {"message": reason.message, "pointer": reason.pointer}}
    except Exception:
        return {"error": traceback.format_exc()}


def main() -> None:
    # A kernel prints to descriptor 1; the protocol speaks on a copy.
    protocol = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for module in sys.argv[1:]:
        importlib.import_module(module)
    for line in sys.stdin:
        asked = json.loads(line)
        answer = Path(asked["directory"]) / "answer.json"
        child = os.fork()
        if child == 0:
            answer.write_text(json.dumps(_call(asked["entry"], asked["request"], asked["directory"])))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        said = (
            answer.read_text() if answer.exists() else json.dumps({"error": f"the host ended with {status}"})
        )
        protocol.write(said + "\n")
        protocol.flush()


if __name__ == "__main__":
    main()
