"""Opaque, time-ordered identities: a prefix and a ULID, for instance ``job_01k…``.

Within a process ids of one prefix only ascend, so sorting by id is sorting by creation.
"""

from __future__ import annotations

import secrets
import threading
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_RANDOM_BITS = 80
_lock = threading.Lock()
_last = 0


def new_id(prefix: str) -> str:
    """Return ``<prefix>_`` and 26 characters of Crockford base 32: 48 bits of milliseconds since
    the epoch, then 80 random bits. Unique across restarts; at most 64 characters.
    """
    global _last
    fresh = (time.time_ns() // 1_000_000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
    with _lock:
        # The clock may stand still or step back; ids must ascend all the same.
        _last = fresh if fresh > _last else _last + 1
        number = _last
    return prefix + "_" + "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
