"""The producer host: builds a document's shapes with Open CASCADE, measures and publishes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from OCP.Message import Message, Message_Printer

from schemaxis_server.native.hostkit import Kit, UnsupportedInput
from schemaxis_server.providers.occt import exchange, measure, shapes, topology
from schemaxis_server.providers.occt.doubts import doubts
from schemaxis_server.providers.occt.failures import KERNEL_FAILURES
from schemaxis_server.providers.occt.topology import Shape
from schemaxis_server.providers.order import execution_order, needed, unused_warnings

PACKAGE = "cadquery-ocp-novtk"
_FURTHEST = 1e7
_THINNEST = 1e-5


def run(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """Build, measure and publish; see the provider contract for the shapes of both dictionaries."""
    silence()
    document = request["document"]
    bindings = request.get("bindings", {})
    outputs = document["outputs"]
    warnings = unused_warnings(document)
    built = len(document["nodes"]) - len(warnings)
    steps = built + len(outputs)
    made = build_all(document, bindings, lambda done, what: kit.progress(done / steps, what), warnings.append)
    results: dict[str, Any] = {}
    published: list[dict[str, str]] = []
    for index, name in enumerate(outputs):
        kit.progress((built + index) / steps, f"publish {name}")
        place = next(place for place, node in enumerate(document["nodes"]) if node["id"] == name)
        results[name] = _measured(made[name], f"/nodes/{place}")
        published += _publish(made[name], name, results[name], f"/nodes/{place}", kit.publications)
    kit.progress(1.0, "done")
    return {"outputs": results, "publications": published, "engine": engine(), "warnings": warnings}


def engine() -> dict[str, str]:
    """Name and version of the kernel's package."""
    return {"name": "Open CASCADE", "version": version(PACKAGE)}


def silence() -> None:
    """Keep the kernel's chatter off stdout."""
    Message.DefaultMessenger_s().RemovePrinters(Message_Printer.get_type_descriptor_s())


def build_all(
    document: Mapping[str, Any],
    bindings: Mapping[str, str],
    progress: Callable[[int, str], None],
    warn: Callable[[str], None] | None = None,
) -> dict[str, Shape]:
    """The shape of every node that an output needs.

    ``progress(nodes done, what comes next)`` is called before each, ``warn`` with what is doubtful
    about one, if anybody listens. Raises ``UnsupportedInput`` with the pointer of the node that
    cannot be built.
    """
    nodes = {node["id"]: (place, node) for place, node in enumerate(document["nodes"])}
    inputs_of = {name: node["inputs"] for name, (_, node) in nodes.items()}
    used = needed(inputs_of, document["outputs"])
    order = [name for name in execution_order(inputs_of)[0] if name in used]
    made: dict[str, Shape] = {}
    for done, name in enumerate(order):
        place, node = nodes[name]
        progress(done, f"{node['filter']} {name}")
        pointer = f"/nodes/{place}"
        file = bindings.get(f"{pointer}/options/file")
        inputs = [made[source] for source in node["inputs"]]
        try:
            shape = shapes.build(node["filter"], node["options"], inputs, file)
        except UnsupportedInput as reason:
            raise UnsupportedInput(f"{name} ({node['filter']}): {reason.message}", pointer) from reason
        except KERNEL_FAILURES as reason:
            said = str(reason).strip() or type(reason).__name__
            message = f"{name} ({node['filter']}): the kernel cannot build this ({said}); change its options."
            raise UnsupportedInput(message, pointer) from reason
        _require_sound(shape, name, node["filter"], pointer)
        made[name] = shape
        if warn is not None:
            for doubt in doubts(node, inputs, shape):
                warn(f"{pointer}: {name} ({node['filter']}): {doubt}")
    return made


def _require_sound(shape: Shape, name: str, operation: str, pointer: str) -> None:
    if not topology.solids(shape):
        raise UnsupportedInput(
            f"{name} ({operation}) leaves no solid; change its options or inputs.", pointer
        )
    if not measure.is_valid(shape):
        raise UnsupportedInput(
            f"{name} ({operation}) gives a shape that the kernel finds invalid; change its options.", pointer
        )
    enclosed = measure.rough_volume(shape)
    if not (math.isfinite(enclosed) and enclosed > 0):
        raise UnsupportedInput(f"{name} ({operation}) encloses no volume; change its options.", pointer)


def _measured(shape: Shape, pointer: str) -> dict[str, Any]:
    found = measure.measure(shape)
    box = found["boundingBox"]["value"]
    reach = max(abs(value) for corner in ("min", "max") for value in box[corner])
    if not reach <= _FURTHEST:
        raise UnsupportedInput(
            f"The shape reaches {reach:g} mm from the origin; keep within 1e7 mm.", pointer
        )
    if min(box["size"]) < _THINNEST:
        raise UnsupportedInput("The shape is thinner than 1e-5 mm; enlarge it.", pointer)
    return found


def _publish(
    shape: Shape, name: str, measured: dict[str, Any], pointer: str, folder: Path
) -> list[dict[str, str]]:
    try:
        exchange.write_step(shape, folder / f"{name}.step", name, measured["volume"]["value"])
        exchange.write_brep(shape, folder / f"{name}.brep")
        # Last, since the shape keeps the mesh.
        exchange.write_stl(shape, folder / f"{name}.stl", measured)
    except UnsupportedInput as reason:
        raise UnsupportedInput(reason.message, pointer) from reason
    kinds = (("step", "model/step"), ("stl", "model/stl"), ("brep", "model/x-brep"))
    return [
        {
            "name": f"{name}.{suffix}",
            "file": f"publications/{name}.{suffix}",
            "kind": f"geometry/{suffix}",
            "mediaType": media_type,
            "operation": name,
            "units": "mm",
        }
        for suffix, media_type in kinds
    ]
