"""The server program's command line."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from schemaxis_server.app import logs
from schemaxis_server.faults import Fault
from schemaxis_server.ids import new_id


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve a workspace, or check one. Returns 0, or 1 when it could not start."""
    parsed = _parser().parse_args(arguments)
    logs.configure(parsed.log_level)
    if parsed.doctor:
        from schemaxis_server.app.doctor import report

        json.dump(asyncio.run(report(parsed.workspace, deep=parsed.deep)), sys.stdout)
        sys.stdout.write("\n")
        return 0
    from schemaxis_server.app.service import Options, serve

    options = Options(parsed.workspace, parsed.socket, parsed.until_stdin_closes, parsed.drain_seconds)
    try:
        return 0 if asyncio.run(serve(options)) else 1
    except Fault as fault:
        return _refused(fault)
    except Exception as error:
        incident = new_id("inc")
        logging.getLogger(__name__).error("cannot serve", exc_info=error, extra={"incident": incident})
        return _refused(
            Fault("INTERNAL", f"The service could not start; incident {incident}, its log has the rest.")
        )


def _refused(fault: Fault) -> int:
    record = fault.record
    described = {
        "code": record.code,
        "message": record.message,
        "retryable": record.retryable,
        "pointer": record.pointer,
        "details": dict(record.details),
    }
    sys.stdout.write(json.dumps({"event": "refused", "fault": described}) + "\n")
    sys.stdout.flush()
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m schemaxis_server", description="Serve a schemaxis workspace."
    )
    parser.add_argument(
        "--workspace", type=Path, required=True, help="the workspace directory; made if missing"
    )
    parser.add_argument("--socket", type=Path, help="where to bind (default: <workspace>/schemaxis.sock)")
    parser.add_argument(
        "--until-stdin-closes", action="store_true", help="drain and stop at the end of standard input"
    )
    parser.add_argument(
        "--drain-seconds",
        type=float,
        default=10.0,
        help="how long a working job may finish at the end (default: 10)",
    )
    parser.add_argument("--log-level", default="INFO", choices=["DEBUG", "INFO", "WARNING", "ERROR"])
    parser.add_argument(
        "--doctor", action="store_true", help="check the workspace and this machine, print JSON, end"
    )
    parser.add_argument("--deep", action="store_true", help="with --doctor: read and check everything stored")
    return parser
