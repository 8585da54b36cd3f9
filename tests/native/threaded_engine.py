"""An engine that starts a thread while it is imported."""

import threading
import time
from typing import Any

from schemaxis_server.native.hostkit import Kit

threading.Thread(target=time.sleep, args=(600,), daemon=True).start()


def entry(request: dict[str, Any], kit: Kit) -> dict[str, Any]:
    return {"ok": True}
