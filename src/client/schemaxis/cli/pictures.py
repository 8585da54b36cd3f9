"""Pictures in the terminal itself, where it can show them.

Two protocols are spoken: that of iTerm2, which WezTerm understands too, and that of kitty, which
Ghostty understands too. Nothing is asked of the terminal, whose answer could be mistaken for typing; what it is
follows from the environment that it gives its programs.
"""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import TextIO

from schemaxis.aio.resources import Resource
from schemaxis.cli.output import is_terminal

PICTURE = "image/"
_SHOWN = "image/png"
_MOST_BYTES = 4 * 1024 * 1024
_KITTY_CHUNK = 4096


class Protocol(Enum):
    """How a terminal takes pictures."""

    ITERM2 = "iTerm2"
    KITTY = "kitty"


def protocol_of(environment: Mapping[str, str]) -> Protocol | None:
    """What the terminal understands that gave ``environment``; None where that is not certain."""
    terminal = environment.get("TERM", "")
    # A multiplexer passes on the variables of the terminal around it, but not its pictures.
    if environment.get("TMUX") or environment.get("STY") or terminal.startswith(("screen", "tmux")):
        return None
    program = environment.get("TERM_PROGRAM", "")
    if program in ("iTerm.app", "WezTerm") or environment.get("LC_TERMINAL") == "iTerm2":
        return Protocol.ITERM2
    if (
        program == "ghostty"
        or terminal in ("xterm-kitty", "xterm-ghostty")
        or environment.get("KITTY_WINDOW_ID")
    ):
        return Protocol.KITTY
    return None


def protocol_here(stream: TextIO) -> Protocol | None:
    """What the terminal behind ``stream`` understands; None where there is none."""
    return protocol_of(os.environ) if is_terminal(stream) else None


def drawn(data: bytes, name: str, protocol: Protocol) -> str:
    """What to write to the terminal so that it shows a PNG picture, with the line's end."""
    payload = base64.b64encode(data).decode()
    if protocol is Protocol.ITERM2:
        label = base64.b64encode(name.encode(errors="replace")).decode()
        return f"\x1b]1337;File=name={label};size={len(data)};inline=1;preserveAspectRatio=1:{payload}\a\n"
    parts = [payload[start : start + _KITTY_CHUNK] for start in range(0, len(payload), _KITTY_CHUNK)] or [""]
    written = []
    for number, part in enumerate(parts):
        # a=T shows at once, f=100 is PNG, q=2 asks for no answer, m says whether more comes.
        head = "a=T,f=100,q=2," if number == 0 else ""
        written.append(f"\x1b_G{head}m={int(number < len(parts) - 1)};{part}\x1b\\")
    return "".join(written) + "\n"


def pictures_of(resources: Iterable[Resource]) -> list[Resource]:
    """The pictures among resources, in their order."""
    return [one for one in resources if one.media_type.startswith(PICTURE)]


async def show_inline(pictures: Sequence[Resource]) -> list[Resource]:
    """Show what the terminal at standard output can; those that were shown, none elsewhere.

    Only verified bytes are shown: raises as reading does.
    """
    protocol = protocol_here(sys.stdout)
    if protocol is None:
        return []
    shown = []
    for picture in pictures:
        if picture.media_type == _SHOWN and picture.size_bytes <= _MOST_BYTES:
            sys.stdout.write(drawn(await picture.read(), picture.name, protocol))
            sys.stdout.flush()
            shown.append(picture)
    return shown
