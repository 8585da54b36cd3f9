"""The synchronous and the asynchronous client are kept equal."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import schemaxis.aio.client
import schemaxis.aio.handles
import schemaxis.aio.looking
import schemaxis.aio.resources
import schemaxis.aio.streams
import schemaxis.client
import schemaxis.handles
import schemaxis.looking
import schemaxis.resources
import schemaxis.streams

PAIRS = [
    (getattr(ours, name), getattr(theirs, name))
    for ours, theirs, names in [
        (
            schemaxis.client,
            schemaxis.aio.client,
            ["Client", "Tasks", "Plans", "Jobs", "Resources", "Capabilities"],
        ),
        (schemaxis.handles, schemaxis.aio.handles, ["Task", "Plan", "Job"]),
        (schemaxis.resources, schemaxis.aio.resources, ["Resource"]),
        (schemaxis.looking, schemaxis.aio.looking, ["Observed"]),
        (schemaxis.streams, schemaxis.aio.streams, ["Watch", "Chunks"]),
    ]
    for name in names
]
# A file is a standard one there and awaited here.
OTHER_RESULT = {"Resource.open"}


def members(kind: type) -> dict[str, Any]:
    return {name: inspect.getattr_static(kind, name) for name in dir(kind) if not name.startswith("_")}


def result(function: Any) -> str:
    text = str(function.__annotations__.get("return", "")).replace("Async", "")
    return re.sub(r"^(?:Deferred|Opening)\[(.*)\]$", r"\1", text)


def asks(member: Any) -> bool:
    """Whether using the member may call the server, told from its code."""
    function: Any = member.fget if isinstance(member, property) else member
    return "_connection.call" in inspect.getsource(function)


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=[ours.__name__ for ours, _ in PAIRS])
def test_twins(ours: type, theirs: type) -> None:
    assert inspect.getdoc(ours) == inspect.getdoc(theirs) or ours.__name__ == "Client"
    found, other = members(ours), members(theirs)
    assert found.keys() == other.keys()
    for name, member in found.items():
        twin, where = other[name], f"{ours.__name__}.{name}"
        assert type(member) is type(twin), where
        assert inspect.getdoc(member) == inspect.getdoc(twin), where
        if isinstance(member, property):
            assert result(member.fget) == result(twin.fget), where
            continue
        assert parameters(member) == parameters(twin), where
        if where not in OTHER_RESULT:
            assert result(member) == result(twin), where
        if asks(member) and not inspect.isgeneratorfunction(member):
            hidden = "Iterator" in result(member)
            assert inspect.iscoroutinefunction(twin) or hidden, f"{where} calls without being awaited"


def parameters(function: Any) -> list[tuple[str, Any, Any, Any]]:
    return [
        (parameter.name, parameter.kind, parameter.default, parameter.annotation)
        for parameter in inspect.signature(function).parameters.values()
    ]


def test_the_openings_are_twins() -> None:
    for name in ("connect", "start"):
        ours, theirs = getattr(schemaxis.client, name), getattr(schemaxis.aio.client, name)
        assert parameters(ours) == parameters(theirs)
        assert result(ours) == result(theirs) == "Client"


def test_public_names() -> None:
    assert set(schemaxis.aio.__all__) < set(schemaxis.__all__)
    for name in schemaxis.__all__:
        assert getattr(schemaxis, name) is not None
        assert name in dir(schemaxis)
    for name in schemaxis.aio.__all__:
        assert getattr(schemaxis.aio, name) is not getattr(schemaxis, name)
    with pytest.raises(AttributeError):
        _ = schemaxis.nothing_of_the_kind


def test_importing_the_package_is_cheap_and_never_brings_the_server() -> None:
    program = (
        "import sys, schemaxis, schemaxis.process, schemaxis.errors\n"
        "heavy = [name for name in sys.modules if name.split('.')[0] in ('grpc', 'google', 'asyncio')]\n"
        "assert not heavy, heavy\n"
        "schemaxis.connect, schemaxis.aio.connect, schemaxis.aio.Job\n"
        "assert 'grpc' in sys.modules\n"
        "assert not [name for name in sys.modules if name.startswith('schemaxis_server')]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_user_s_code_is_checked_by_its_types() -> None:
    """Every wrong use in the file is marked; strict checking fails on a mark without an error too."""
    program = Path(__file__).with_name("typed_use.py")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", "/dev/null", str(program)],
        env={"MYPYPATH": str(Path(schemaxis.__file__).parents[1]), "PATH": "/usr/bin:/bin"},
        cwd=program.parents[2],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
