"""Writes a PNG with the standard library."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray


def encode(pixels: NDArray[np.uint8]) -> bytes:
    """``pixels`` is (height, width, 3) RGB."""
    height, width, _ = pixels.shape
    # Filter 1 (difference to the left) suits plain backgrounds and smooth shades.
    rows = np.empty((height, 1 + width * 3), dtype=np.uint8)
    rows[:, 0] = 1
    differences = pixels.copy()
    differences[:, 1:] -= pixels[:, :-1]
    rows[:, 1:] = differences.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 4)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
