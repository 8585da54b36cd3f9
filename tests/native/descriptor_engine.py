"""An engine that opens a file while it is imported, and goes on using it."""

import os
from typing import Any

from schemaxis_server.native.hostkit import Kit

_SOURCE = os.open("/dev/zero", os.O_RDONLY)


def entry(request: dict[str, Any], kit: Kit) -> dict[str, Any]:
    return {"read": list(os.read(_SOURCE, 2))}
