"""Writes what a numerics output publishes, whichever engine computed it. Standard library only."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schemaxis_server.native.worker import plain
from schemaxis_server.providers.numerics.vocabulary import DATA_KIND, QUANTITIES, SERIES_KIND
from schemaxis_server.providers.tables import writer

UNITS = "unknown"

_UNITS_OF = {one.name: one.unit for one in QUANTITIES}


def with_units(quantities: Mapping[str, Any]) -> dict[str, Any]:
    """The quantities as a result holds them, in the manifest's order."""
    return {name: {"value": quantities[name], "unit": unit} for name, unit in _UNITS_OF.items()}


def publish(
    output: str,
    names: tuple[str, str],
    samples: tuple[Sequence[float], Sequence[float]],
    quantities: Mapping[str, Any],
    folder: Path,
) -> list[dict[str, str]]:
    """Write ``<output>.csv`` and ``<output>.json``; returns their entries for ``publications``.

    ``samples`` are lists of Python floats, ``quantities`` are values by name.
    """
    files = (
        (f"{output}.csv", SERIES_KIND, "text/csv", csv_bytes(names, samples)),
        (f"{output}.json", DATA_KIND, "application/json", json_bytes(names, samples, quantities)),
    )
    for name, _, _, data in files:
        (folder / name).write_bytes(data)
    return [
        {
            "name": name,
            "file": f"publications/{name}",
            "kind": kind,
            "mediaType": media_type,
            "operation": output,
            "units": UNITS,
        }
        for name, kind, media_type, _ in files
    ]


def csv_bytes(names: tuple[str, str], samples: tuple[Sequence[float], Sequence[float]]) -> bytes:
    return writer.write(dict(zip(names, samples, strict=True)))


def json_bytes(
    names: tuple[str, str],
    samples: tuple[Sequence[float], Sequence[float]],
    quantities: Mapping[str, Any],
) -> bytes:
    whole = {
        "columns": list(names),
        "samples": {name: _plain(column) for name, column in zip(names, samples, strict=True)},
        "quantities": plain(with_units(quantities)),
    }
    return json.dumps(whole, allow_nan=False, ensure_ascii=False).encode()


def _plain(column: Sequence[float]) -> Any:
    return column if all(map(math.isfinite, column)) else plain(column)
