"""``python -m bench [PART …]``: print the ratios of speed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from bench.engines import engines
from bench.parts import Line, get_job, history, reads, smallest_job, watching

PARTS: tuple[Callable[[], Iterator[Line]], ...] = (get_job, reads, watching, smallest_job, engines, history)


def main(names: list[str]) -> None:
    """Run the parts named, or all, and print a line for each figure."""
    for part in PARTS:
        if not names or part.__name__ in names:
            for line in part():
                wanted = f"   wanted {line.wanted}" if line.wanted else ""
                print(f"{line.what:<50}{line.figure}{wanted}", flush=True)


main(sys.argv[1:])
