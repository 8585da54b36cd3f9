"""Pieces: the 256 KiB units in which the bytes of an object are proved."""

from __future__ import annotations

from blake3 import blake3

PIECE_BYTES = 256 * 1024
DIGEST_BYTES = 32


def pieces_in(size_bytes: int) -> int:
    """How many pieces ``size_bytes`` make; the last may be short."""
    return -(-size_bytes // PIECE_BYTES)


def digest_pieces(data: bytes) -> bytes:
    """The BLAKE3 digests, one after another, of the pieces of ``data``, which begins at a piece."""
    view = memoryview(data)
    return b"".join(
        blake3(view[start : start + PIECE_BYTES]).digest() for start in range(0, len(data), PIECE_BYTES)
    )
