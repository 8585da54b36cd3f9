"""The producer host: builds a document as FreeCAD's objects, measures and publishes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from schemaxis_server.native.hostkit import Kit, UnsupportedInput
from schemaxis_server.providers.freecad import application, exchange, measure, objects, topology
from schemaxis_server.providers.freecad.drawing import Drawing, Failed, Object
from schemaxis_server.providers.freecad.topology import Shape
from schemaxis_server.providers.order import execution_order, needed, unused_warnings

import FreeCAD  # isort: skip

_FURTHEST = 1e7
_THINNEST = 1e-5
_KERNEL_FAILURES = (Failed, FreeCAD.Base.FreeCADError)

_KINDS = (
    ("step", "geometry/step", "model/step"),
    ("stl", "geometry/stl", "model/stl"),
    ("brep", "geometry/brep", "model/x-brep"),
    ("FCStd", "geometry/fcstd", "application/x-extension-fcstd"),
)


def run(request: Mapping[str, Any], kit: Kit) -> dict[str, Any]:
    """Build, measure and publish; see the provider contract for the shapes of both dictionaries."""
    application.work_below(kit.directory / "tmp")
    document = request["document"]
    outputs = document["outputs"]
    warnings = unused_warnings(document)
    built = len(document["nodes"]) - len(warnings)
    steps = built + len(outputs)
    drawing = Drawing()
    made = build_all(
        drawing,
        document,
        request.get("bindings", {}),
        lambda done, what: kit.progress(done / steps, what),
    )
    results: dict[str, Any] = {}
    published: list[dict[str, str]] = []
    for name in outputs:
        drawing.publish(name, made[name])
    for index, name in enumerate(outputs):
        kit.progress((built + index) / steps, f"publish {name}")
        place = next(place for place, node in enumerate(document["nodes"]) if node["id"] == name)
        shape = topology.body(drawing.shape(made[name]))
        results[name] = _measured(shape, f"/nodes/{place}")
        published += _publish(drawing, shape, name, results[name], f"/nodes/{place}", kit.publications)
    kit.progress(1.0, "done")
    engine = {"name": application.NAME, "version": application.VERSION}
    return {"outputs": results, "publications": published, "engine": engine, "warnings": warnings}


def build_all(
    drawing: Drawing,
    document: Mapping[str, Any],
    bindings: Mapping[str, str],
    progress: Callable[[int, str], None],
) -> dict[str, Object]:
    """The object of every node that an output needs.

    ``progress(nodes done, what comes next)`` is called before each. Raises ``UnsupportedInput`` with
    the pointer of the node that cannot be built.
    """
    nodes = {node["id"]: (place, node) for place, node in enumerate(document["nodes"])}
    inputs_of = {name: node["inputs"] for name, (_, node) in nodes.items()}
    used = needed(inputs_of, document["outputs"])
    made: dict[str, Object] = {}
    for done, name in enumerate(one for one in execution_order(inputs_of)[0] if one in used):
        place, node = nodes[name]
        operation, pointer = node["filter"], f"/nodes/{place}"
        progress(done, f"{operation} {name}")
        file = bindings.get(f"{pointer}/options/file")
        inputs = [made[source] for source in node["inputs"]]
        _require_numbers(node["options"], name, operation, pointer)
        try:
            made[name] = objects.build(drawing, name, operation, node["options"], inputs, file)
        except UnsupportedInput as reason:
            raise UnsupportedInput(f"{name} ({operation}): {reason.message}", pointer) from reason
        except _KERNEL_FAILURES as reason:
            said = str(reason).strip() or type(reason).__name__
            message = f"{name} ({operation}): FreeCAD cannot build this ({said}); change its options."
            raise UnsupportedInput(message, pointer) from reason
        _require_sound(drawing.shape(made[name]), name, operation, pointer)
    return made


def _require_numbers(options: Any, name: str, operation: str, pointer: str) -> None:
    """Planning lets no other numbers through. With some of them FreeCAD ends without a word."""
    if isinstance(options, float | int) and not abs(options) <= _FURTHEST:
        raise UnsupportedInput(f"{name} ({operation}) has the size {options:g}; keep within 1e7 mm.", pointer)
    if isinstance(options, Mapping):
        options = list(options.values())
    if isinstance(options, list):
        for one in options:
            _require_numbers(one, name, operation, pointer)


def _require_sound(shape: Shape, name: str, operation: str, pointer: str) -> None:
    """FreeCAD computes without complaint what holds nothing, or has a size that is no number."""
    if not topology.solids(shape):
        raise UnsupportedInput(
            f"{name} ({operation}) leaves no solid; change its options or inputs.", pointer
        )
    if not shape.isValid():
        raise UnsupportedInput(
            f"{name} ({operation}) gives a shape that the kernel finds invalid; change its options.", pointer
        )
    enclosed = shape.Volume
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
    if not min(box["size"]) >= _THINNEST:
        raise UnsupportedInput("The shape is thinner than 1e-5 mm; enlarge it.", pointer)
    return found


def _publish(
    drawing: Drawing, shape: Shape, name: str, measured: dict[str, Any], pointer: str, folder: Path
) -> list[dict[str, str]]:
    try:
        exchange.write_step(shape, folder / f"{name}.step", name, measured["volume"]["value"])
        exchange.write_brep(shape, folder / f"{name}.brep")
        drawing.save(folder / f"{name}.FCStd", name)
        # Of a copy, since a shape keeps its mesh, which the next output's files would carry.
        exchange.write_stl(shape.copy(), folder / f"{name}.stl", measured)
    except UnsupportedInput as reason:
        raise UnsupportedInput(reason.message, pointer) from reason
    return [
        {
            "name": f"{name}.{suffix}",
            "file": f"publications/{name}.{suffix}",
            "kind": kind,
            "mediaType": media_type,
            "operation": name,
            "units": "mm",
        }
        for suffix, kind, media_type in _KINDS
    ]
