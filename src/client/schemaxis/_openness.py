"""What a connection of either kind knows without its channel: how patient it is, and whether it is closed."""

from __future__ import annotations

import time

from schemaxis._channel import Settings
from schemaxis._retry import Patience
from schemaxis.errors import ClientClosed


class Openness:
    """Open until its owner sets ``closed``."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.closed = False

    def patience(self) -> Patience:
        """A fresh patience with trouble."""
        return Patience(self.settings.patience_seconds, time.monotonic)

    def check_open(self) -> None:
        """Raise ``ClientClosed`` once closed."""
        if self.closed:
            raise ClientClosed("This client is closed: connect again.")
