"""Inspection: bounded, typed looks into small JSON and CSV publications."""

from __future__ import annotations

import csv
import io
import json
import re

import msgspec

from schemaxis_server.documents import MAX_DEPTH
from schemaxis_server.execution.observation import Observation, Window, compact, observe
from schemaxis_server.execution.planning import OffLoop
from schemaxis_server.execution.resources import Resources
from schemaxis_server.faults import Fault

MAX_INSPECTED_BYTES = 1024 * 1024

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]|-?Infinity|NaN', re.DOTALL)
"""What of JSON text matters here: strings, so that nothing inside them does, brackets, and wrong numbers."""

_LONE = "a string has a lone surrogate, \\ud800 to \\udfff"


class Inspection:
    """Looks into resources; nothing is converted, CSV cells stay strings."""

    def __init__(self, resources: Resources, off_loop: OffLoop) -> None:
        self._resources = resources
        self._off_loop = off_loop

    async def inspect(self, resource_id: str, window: Window) -> Observation:
        """The resource's value as a bounded observation.

        Raises ``UNSUPPORTED_INSPECTION`` for other formats or bytes that are not what their
        media type says, ``INSPECTION_LIMIT`` above 1 MiB, and the faults of reading.
        """
        resource = self._resources.get(resource_id)
        media_type = resource.media_type.partition(";")[0].strip()
        reader = _READERS.get(media_type)
        if reader is None:
            raise Fault(
                "UNSUPPORTED_INSPECTION",
                f"Only JSON and CSV can be inspected, and this is {media_type}; read its bytes with `resource`.",
                mediaType=media_type,
            )
        if resource.size_bytes > MAX_INSPECTED_BYTES:
            raise Fault(
                "INSPECTION_LIMIT",
                f"The resource has {resource.size_bytes} bytes and inspection takes {MAX_INSPECTED_BYTES}; "
                "read its bytes with `resource`.",
                sizeBytes=resource.size_bytes,
                limit=MAX_INSPECTED_BYTES,
                method="resource",
            )
        data = await self._resources.read_whole(resource_id)
        observation: Observation = await self._off_loop(lambda: observe(reader(data), window))
        return observation


def _json(data: bytes) -> bytes:
    """The text as it stands, so that numbers keep their digits, without the white space between.

    What numerical programs write and JSON lacks is spelt as documents spell it.
    """
    try:
        text = data.decode("utf-8-sig")
        _check_depth(text)
        if "NaN" in text or "Infinity" in text:
            text = _TOKEN.sub(_spelt, text)
        return compact(text.encode())
    except UnicodeDecodeError as error:
        raise _unreadable("UTF-8 JSON", f"byte {error.start} is not UTF-8") from None
    except msgspec.DecodeError as error:
        raise _unreadable("JSON", _LONE if _has_lone_surrogate(text) else str(error)) from None


def _spelt(token: re.Match[str]) -> str:
    found = token[0]
    return found if found[0] in '"[]{}' else f'{{"$number":"{found}"}}'


def _check_depth(text: str) -> None:
    depth = 0
    for token in _TOKEN.finditer(text):
        first = text[token.start()]
        if first in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise _unreadable(f"JSON of at most {MAX_DEPTH} levels", "they nest deeper")
        elif first in "]}":
            depth -= 1


def _has_lone_surrogate(text: str) -> bool:
    try:
        json.dumps(json.loads(text, parse_int=str, parse_float=str), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except ValueError:
        return False
    return False


def _csv(data: bytes) -> bytes:
    try:
        text = data.decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except UnicodeDecodeError as error:
        raise _unreadable("UTF-8 CSV", f"byte {error.start} is not UTF-8") from None
    except csv.Error as error:
        raise _unreadable("CSV", str(error)) from None
    columns = rows[0] if rows else []
    return msgspec.json.encode({"columns": columns, "rows": rows[1:], "units": "unknown"})


def _unreadable(kind: str, why: str) -> Fault:
    return Fault(
        "UNSUPPORTED_INSPECTION", f"The bytes are not {kind} ({why[:200]}); read them with `resource`."
    )


_READERS = {"application/json": _json, "text/csv": _csv}
