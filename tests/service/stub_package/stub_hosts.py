"""The stub's producer and verifier."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from schemaxis_server.native.hostkit import Kit, UnsupportedInput


def produce(request: dict[str, Any], kit: Kit) -> dict[str, Any]:
    document = request["document"]
    (name,) = document["outputs"]
    node = next(node for node in document["nodes"] if node["id"] == name)
    if node["filter"] == "read":
        (path,) = request["bindings"].values()
        return _published(kit, name, json.loads(Path(path).read_text())["value"])
    options = node["options"]
    kit.progress(0.5, name)
    _before(options, kit)
    result = _published(kit, name, options["value"])
    _spoil(options["mode"], result, kit)
    return result


def _published(kit: Kit, name: str, value: float) -> dict[str, Any]:
    (kit.publications / f"{name}.json").write_text(json.dumps({"value": value}))
    return {
        "outputs": {name: {"value": {"value": value, "unit": "mm"}}},
        "publications": [_entry(name, f"{name}.json", "data/json", "application/json")],
        "engine": {"name": "Stub", "version": "1"},
        "warnings": [],
    }


def _entry(operation: str, name: str, kind: str, media_type: str) -> dict[str, str]:
    return {
        "name": name,
        "file": f"publications/{name}",
        "kind": kind,
        "mediaType": media_type,
        "operation": operation,
        "units": "mm",
    }


def _before(options: dict[str, Any], kit: Kit) -> None:
    """What goes wrong before there is a result."""
    mode, place = options["mode"], options["place"]
    if mode == "fail":
        raise ValueError("the stub was told to fail")
    if mode == "unsupported":
        raise UnsupportedInput("Use another mode.", "/nodes/0/options/mode")
    if mode == "no-result":
        sys.stdout.write("success!\n")
        sys.stdout.flush()
        os._exit(0)
    if mode == "half-result":
        (kit.directory / "result.json").write_text('{"outputs":')
        os._exit(0)
    if mode == "late-result":
        if os.fork() == 0:
            time.sleep(0.3)
            (kit.directory / "result.json").write_text('{"outputs":{},"publications":[]}')
            os._exit(0)
        os._exit(0)
    if mode == "segmentation-fault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if mode == "log":
        for number in range(options["count"]):
            sys.stdout.write(f"line {number}\n")
    if mode == "escape":
        _escape(Path(place))
        time.sleep(600)
    if mode == "litter":
        _escape(Path(place))
    if mode == "raw":
        _raw(kit.directory, options["text"])
    if mode == "result-is":
        _something_else(kit.directory / "result.json", options["text"])
        os._exit(0)
    if mode == "takes-verify":
        (kit.directory / "verify").mkdir()
        (kit.directory / "verify" / "result.json").write_text('{"checks":[{"name":"mine","passed":true}]}')
    if mode == "wild-progress":
        for line in (b"nonsense\n", b'{"fraction":1e999,"operation":"a"}\n', b"\xff\n", b"{" * 9999 + b"\n"):
            os.write(kit._report or 2, line)
        kit.progress(-7.0, "é" * 9999)
        kit.progress(float("nan"), "not a number")
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if mode in ("hang", "stubborn"):
        (Path(place) / "hanging").touch()
        time.sleep(600)


def _raw(directory: Path, text: str) -> NoReturn:
    """Leave ``text`` as the result, a byte 255 for each ``<ff>``, and end as a success does."""
    (directory / "publications").mkdir()
    (directory / "publications" / "n.json").write_text('{"value": 1}')
    (directory / "result.json").write_bytes(text.encode().replace(b"<ff>", b"\xff"))
    os._exit(0)


def _something_else(path: Path, what: str) -> None:
    """Put at the result's place what is no file, or no small one."""
    if what == "a directory":
        path.mkdir()
    elif what == "a pipe":
        os.mkfifo(path)
    elif what == "a link":
        path.with_name("elsewhere").write_text('{"outputs":{"n":{}},"publications":[]}')
        path.symlink_to("elsewhere")
    elif what == "a device":
        path.symlink_to("/dev/zero")
    elif what == "too large":
        path.write_bytes(b'{"outputs":{"n":"' + b"x" * (5 * 1024 * 1024) + b'"}}')


def _escape(place: Path) -> None:
    """A grandchild in a session of its own, with an empty environment and no parent."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve("/bin/sleep", ["sleep", (place / "token").read_text()], {})
        os._exit(0)
    os.wait()
    (place / "escaped").touch()


def _spoil(mode: str, result: dict[str, Any], kit: Kit) -> None:
    """What goes wrong with a result that is there."""
    (publication,) = result["publications"]
    name = publication["operation"]
    if mode == "lie":
        result["outputs"][name]["value"]["value"] += 1
    elif mode == "lie-throughout":
        wrong = result["outputs"][name]["value"]["value"] + 1
        result["outputs"][name]["value"]["value"] = wrong
        (kit.publications / publication["name"]).write_text(json.dumps({"value": wrong}))
    elif mode == "outside":
        publication["file"] = "../request.json"
    elif mode == "absolute":
        publication["file"] = "/etc/hostname"
    elif mode == "linked":
        path = kit.publications / publication["name"]
        path.unlink()
        path.symlink_to("/etc/hostname")
    elif mode == "unlisted-kind":
        publication["kind"] = "data/unheard"
    elif mode == "other-outputs":
        result["outputs"]["more"] = {}
    elif mode == "misshapen":
        result["publications"] = [{"name": 1}]
    elif mode == "large":
        (kit.publications / "large.bin").write_bytes(os.urandom(3 * 1024 * 1024))
        result["publications"].append(_entry(name, "large.bin", "data/binary", "application/octet-stream"))
        (kit.publications / "large.json").write_text(json.dumps(["x" * 1000] * 1200))
        result["publications"].append(_entry(name, "large.json", "data/json", "application/json"))
        result["outputs"][name]["text"] = "y" * 100_000
    elif mode == "table":
        (kit.publications / "table.csv").write_text('a,"b ""q"""\r\n007,"1\n2"\r\n=1+2,é\r\n')
        result["publications"].append(_entry(name, "table.csv", "series/csv", "text/csv"))


def verify(request: dict[str, Any], kit: Kit) -> dict[str, Any]:
    document = request["document"]
    (name,) = document["outputs"]
    node = next(node for node in document["nodes"] if node["id"] == name)
    mode = node["options"].get("mode", "")
    if mode in ("litter", "verifier-litters"):
        _escape(Path(node["options"]["place"]))
    if mode == "verifier-raw":
        (kit.directory / "result.json").write_bytes(node["options"]["text"].encode())
        os._exit(0)
    if mode == "verifier-fails":
        raise ValueError("the verifier was told to fail")
    if mode == "verifier-silent":
        return {"checks": [], "notCovered": []}
    if mode == "verifier-hangs":
        (Path(node["options"]["place"]) / "hanging").touch()
        time.sleep(600)
    published = json.loads(Path(request["publications"][0]["path"]).read_text())["value"]
    expected = node["options"].get("value", published)
    reported = request["outputs"][name]["value"]["value"]
    return {
        "checks": [
            {
                "name": "value",
                "scope": "The published value and the reported one are the document's.",
                "engine": "arithmetic",
                "passed": published == expected == reported,
                "expected": expected,
                "observed": [published, reported],
                "tolerance": "exact",
            }
        ],
        "notCovered": ["Anything else."],
        "pictures": [{"name": 1}] if mode == "bad-picture" else [],
        "warnings": [],
    }
