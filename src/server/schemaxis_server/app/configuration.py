"""The workspace's trusted configuration, ``schemaxis.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from schemaxis_server.faults import Fault

FILE = "schemaxis.toml"


@dataclass(frozen=True, slots=True)
class Configuration:
    """``locations`` are paths of engines by provider name."""

    locations: Mapping[str, str] = field(default_factory=dict)


def load(directory: Path) -> Configuration:
    """Read ``schemaxis.toml``; an absent file means the defaults.

    Raises ``INVALID_REQUEST`` that names what is wrong, unknown keys included.
    """
    try:
        text = (directory / FILE).read_text("utf-8")
    except FileNotFoundError:
        return Configuration()
    except (OSError, UnicodeDecodeError) as error:
        raise Fault("INVALID_REQUEST", f"{FILE} cannot be read: {error}.") from error
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Fault("INVALID_REQUEST", f"{FILE} is not TOML: {error}.") from error
    engines = settings.pop("engines", {})
    if settings:
        raise Fault(
            "INVALID_REQUEST",
            f"{FILE} has the unknown keys {', '.join(sorted(settings))}; it takes [engines].",
        )
    if not isinstance(engines, dict) or not all(isinstance(path, str) for path in engines.values()):
        raise Fault("INVALID_REQUEST", f"{FILE}: [engines] maps a provider's name to a path in quotes.")
    return Configuration(engines)
