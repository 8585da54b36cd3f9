"""Write the pages of docs/ that come from the code; with --check, fail when they are stale."""

from __future__ import annotations

import sys
from pathlib import Path

from schemaxis_server.faults import CATALOGUE

PAGE = Path(__file__).resolve().parent.parent / "docs" / "faults.md"

_HEAD = """# Faults

Generated from the catalogue in `schemaxis_server/faults.py` by `make docs`; do not edit.

A refused call carries its fault in the gRPC status (as `google.rpc.ErrorInfo` with domain `schemaxis`
and as one `schemaxis.v1.Fault`) and, on the bridge, in `fault`. Work that was accepted and failed
carries the same shape in the job. *Retry* says whether the cause may pass by itself, so that the same
request may succeed later; a fault's own `retryable` knows better where that hangs on more than its code.

| code | gRPC status | retry | what it means | what to do |
| --- | --- | --- | --- | --- |
"""


def faults_page() -> str:
    """The page of all fault codes."""
    rows = (
        f"| `{kind.code}` | {kind.status} | {'yes' if kind.retryable else 'no'} | {kind.meaning} | {kind.next_step} |\n"
        for kind in CATALOGUE.values()
    )
    return _HEAD + "".join(rows)


def main(arguments: list[str]) -> int:
    page = faults_page()
    if "--check" not in arguments:
        PAGE.write_text(page, "utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text("utf-8") == page:
        return 0
    sys.stderr.write("docs/faults.md is stale: run `make docs` and commit it.\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
