"""The README's examples run as they stand."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def example(language: str, containing: str) -> str:
    """The one fenced block of a language that contains a text."""
    blocks: list[str] = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    (found,) = [block for block in blocks if containing in block]
    return found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory in which ``.venv/bin`` holds this environment's programs, as in a checkout."""
    (tmp_path / ".venv").symlink_to(Path(sys.prefix))
    return tmp_path


def shell(script: str, place: Path) -> str:
    environment = {**os.environ, "PATH": f"{sys.prefix}/bin:{os.environ['PATH']}"}
    environment.pop("SCHEMAXIS_WORKSPACE", None)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_python_example(place: Path) -> None:
    (place / "example.py").write_text(example("python", "schemaxis.start"))
    assert "1500" in shell(".venv/bin/python example.py", place)
    assert (place / "body.png").read_bytes().startswith(b"\x89PNG")
    assert (place / "body.step").read_bytes().startswith(b"ISO-10303-21")


def test_the_json_lines_example(place: Path) -> None:
    replies = [json.loads(line) for line in shell(example("sh", "schemaxis agent"), place).splitlines()]
    assert sorted(reply["id"] for reply in replies) == [1, 2, 3]
    assert all(reply["ok"] for reply in replies)


def test_the_command_example(place: Path) -> None:
    said = shell(example("sh", "schemaxis run"), place)
    assert "succeeded, verified" in said
    assert "Goal: met" in said
    assert (place / "made" / "body.png").read_bytes().startswith(b"\x89PNG")
    # The default workspace is the one that the page names.
    assert (place / "workspace" / "schemaxis.format").exists()


def test_the_grpcurl_example(place: Path) -> None:
    assert shutil.which("grpcurl", path=f"{sys.prefix}/bin")
    serve = re.search(r"`(\.venv/bin/schemaxis serve [^`]*)`", README)
    assert serve
    server = subprocess.Popen(serve[1].split(), cwd=place, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert server.stdout
    try:
        assert json.loads(server.stdout.readline())["event"] == "ready"
        said = shell(example("sh", "grpcurl"), place)
        assert "schemaxis.v1.JobService" in said
        assert '"available": true' in said
    finally:
        server.terminate()
        assert server.wait(30) == 0
        server.stdout.close()
