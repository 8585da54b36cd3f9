"""Another engine's computation of a document as the reference of a verification, whichever way round.

The second formulation is computed besides: it tells how far rounding alone moves each sample, and judges where
the other engine has no result.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from schemaxis_server.native.hostkit import UnsupportedInput
from schemaxis_server.providers.numerics import graph
from schemaxis_server.providers.numerics.graph import Operation, Outcome, Work
from schemaxis_server.providers.numerics.judging import NoReference, Reference, second_reference
from schemaxis_server.providers.numpy_.operations import OPERATIONS
from schemaxis_server.providers.tables.dialect import ENCODINGS

_WORDS = "by another engine, independent of the producer's"


def by_operations(
    document: Mapping[str, Any], bindings: Mapping[str, str], operations: Mapping[str, Operation], engine: str
) -> Reference:
    """The outcomes that ``operations`` give, files read by Python's csv module. Raises ``NoReference``."""
    try:
        found = graph.compute(document, bindings, {**operations, "readCSV": read_csv})
    except (UnsupportedInput, ArithmeticError, ValueError, OSError, LookupError) as reason:
        raise NoReference(f"{engine} refuses it: {reason}"[:400]) from reason
    outcomes = {name: _of_numpy(outcome) for name, outcome in found.items()}
    try:
        second = second_reference(document, bindings)
    except NoReference:
        return Reference(engine, _WORDS, outcomes, outcomes, outcomes)
    weighed = {name: _weighed(outcome, second.exact[name]) for name, outcome in outcomes.items()}
    return Reference(engine, _WORDS, weighed, second.exact, second.noisy)


def by_numpy(document: Mapping[str, Any], bindings: Mapping[str, str]) -> Reference:
    """NumPy and SciPy as reference. Raises ``NoReference``."""
    engine = f"NumPy {np.__version__} and SciPy {scipy.__version__}"
    return by_operations(document, bindings, OPERATIONS, engine)


def read_csv(work: Work) -> Outcome:
    """Two columns of a file, read by another parser than the producer's."""
    options = work.options
    if work.file is None:
        raise ValueError("no file is bound")
    text = Path(work.file).read_bytes().decode(ENCODINGS[options["encoding"]])
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=options["delimiter"], strict=True))
    names = rows.pop(0) if options["header"] else [str(place + 1) for place in range(len(rows[0]))]
    columns = []
    for option in ("xColumn", "yColumn"):
        place = names.index(options[option])
        columns.append(np.array([float(row[place].replace(options["decimal"], ".")) for row in rows]))
    return Outcome(columns[0], columns[1], options["xColumn"], options["yColumn"])


def _of_numpy(outcome: Outcome) -> Outcome:
    return replace(
        outcome, x=np.asarray(outcome.x, dtype=np.float64), y=np.asarray(outcome.y, dtype=np.float64)
    )


def _weighed(outcome: Outcome, exact: Outcome) -> Outcome:
    """With what the second formulation knows of how exactly anybody can compute it."""
    return replace(outcome, reach=exact.reach, slack=exact.slack, size=exact.size)
