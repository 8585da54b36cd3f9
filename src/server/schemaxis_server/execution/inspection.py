"""Inspection: bounded, typed looks into small JSON and CSV publications."""

from __future__ import annotations

import csv
import io
import json

import msgspec

from schemaxis_server.execution.observation import Observation, Window, observe
from schemaxis_server.execution.planning import OffLoop
from schemaxis_server.execution.resources import Resources
from schemaxis_server.faults import Fault

MAX_INSPECTED_BYTES = 1024 * 1024
_JSON_DEPTH = 64


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
        whole = await self._resources.read_range(resource_id, 0, 1)
        data = await self._resources.read_whole(whole.resource)
        observation: Observation = await self._off_loop(lambda: observe(reader(data), window))
        return observation


def _json(data: bytes) -> bytes:
    try:
        text = data.decode("utf-8-sig")
        json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise _unreadable("JSON", str(error)) from None
    return _finite(text)


def _finite(text: str) -> bytes:
    """JSON text as it stands, unless it uses NaN or Infinity, which JSON lacks."""
    try:
        return msgspec.json.format(text.encode(), indent=-1)
    except msgspec.DecodeError:
        value = json.loads(text, parse_constant=lambda name: {"$number": name})
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


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
