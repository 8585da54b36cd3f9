"""``python -m bench [PART …]``: print the ratios of speed."""

from __future__ import annotations

import sys

from bench.parts import report

report(sys.argv[1:], lambda line: print(line, flush=True))
