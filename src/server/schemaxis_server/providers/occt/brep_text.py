"""Whether a BREP file is whole, judged before the kernel reads it.

The kernel's reader believes what it reads: where a file breaks off among the shapes it reads the last word
for ever, and elsewhere it may end the process.
"""

from __future__ import annotations

import re

# The writer puts a continuity right behind the number before it.
_NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\d*[CG][0-3N]")
_WORDS = frozenset(
    b"DBRep_DrawableShape CASCADE Topology V1, V2, V3, (c) Matra-Datavision Open Cascade Locations Curve2ds Curves "
    b"Polygon3D PolygonOnTriangulations Surfaces Triangulations TShapes Ve Ed Wi Fa Sh So CS Co *".split()
)
_SHAPES = b"\nTShapes "


def is_whole(text: bytes) -> bool:
    """Whether the text has nothing but words of the format, every shape that it announces, and the root."""
    start = text.find(_SHAPES)
    if start < 0:
        return False
    if any(word not in _WORDS and not _NUMBER.fullmatch(word) for word in set(text.split())):
        return False
    announced, *words = text[start + len(_SHAPES) :].split()
    if not announced.isdigit() or words.count(b"*") != int(announced):
        return False
    # The root: a number with its sign, and a place, of which a file that ends early has lost a part.
    root = words[len(words) - words[::-1].index(b"*") :] if b"*" in words else []
    return len(root) == 2 and root[0][:1] in b"+-" and root[1].isdigit() and text[-1:].isspace()
