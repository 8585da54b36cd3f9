"""``schemaxis show``, and pictures in terminals that show them."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from schemaxis.cli.pictures import Protocol, drawn, protocol_of

from cli.commands import on_terminal, schemaxis

PNG = b"\x89PNG\r\n\x1a\n"
ITERM2 = {"TERM_PROGRAM": "iTerm.app"}
KITTY = {"TERM": "xterm-kitty"}
# Whatever terminal the tests are run in must not decide them.
UNKNOWN = dict.fromkeys(
    ("TERM_PROGRAM", "LC_TERMINAL", "KITTY_WINDOW_ID", "TMUX", "STY"),
    "",
)


def one(finished: Any, kind: str) -> Any:
    (found,) = [resource for resource in finished["resources"] if resource["kind"] == kind]
    return found


def pictures_in(shown: str) -> list[bytes]:
    """The pictures that a terminal would have drawn."""
    found = [
        base64.b64decode(payload)
        for payload in re.findall(r"\x1b\]1337;File=[^:]*inline=1[^:]*:(.*?)\a", shown)
    ]
    payload = ""
    for controls, part in re.findall(r"\x1b_G([^;]*);(.*?)\x1b\\", shown):
        payload += part
        if "m=0" in controls.split(","):
            found.append(base64.b64decode(payload))
            payload = ""
    assert payload == ""
    return found


@pytest.mark.parametrize(
    ("environment", "protocol"),
    [
        ({"TERM_PROGRAM": "iTerm.app", "TERM": "xterm-256color"}, Protocol.ITERM2),
        ({"TERM_PROGRAM": "WezTerm"}, Protocol.ITERM2),
        ({"LC_TERMINAL": "iTerm2"}, Protocol.ITERM2),
        ({"TERM": "xterm-kitty"}, Protocol.KITTY),
        ({"KITTY_WINDOW_ID": "3", "TERM": "xterm-256color"}, Protocol.KITTY),
        ({"TERM_PROGRAM": "ghostty"}, Protocol.KITTY),
        ({"TERM": "xterm-256color"}, None),
        ({"TERM_PROGRAM": "Apple_Terminal"}, None),
        ({}, None),
        ({"TERM_PROGRAM": "iTerm.app", "TMUX": "/tmp/tmux-0/default,1,0"}, None),
        ({"KITTY_WINDOW_ID": "1", "TERM": "screen-256color"}, None),
        ({"KITTY_WINDOW_ID": "1", "TERM": "tmux-256color"}, None),
        ({"LC_TERMINAL": "iTerm2", "STY": "1.pts"}, None),
    ],
)
def test_the_terminal_is_known_by_its_environment(
    environment: Mapping[str, str], protocol: Protocol | None
) -> None:
    assert protocol_of(environment) is protocol


@pytest.mark.parametrize("protocol", list(Protocol))
@pytest.mark.parametrize("size", [0, 1, 3071, 3072, 3073, 10_000])
def test_a_picture_arrives_whole_and_in_pieces_that_terminals_take(protocol: Protocol, size: int) -> None:
    data = (PNG + bytes(range(256)) * 40)[:size]
    written = drawn(data, "a;b:\x1b.png", protocol)
    assert pictures_in(written) == [data]
    assert all(len(part) <= 4096 for _, part in re.findall(r"\x1b_G([^;]*);(.*?)\x1b\\", written))
    assert "a;b" not in written


@pytest.mark.parametrize("terminal", [ITERM2, KITTY])
@pytest.mark.parametrize("named", ["job", "picture/preview", "geometry/stl", "geometry/brep"])
def test_pictures_are_shown_where_the_terminal_can(
    served: Path,
    finished: Any,
    terminal: Mapping[str, str],
    named: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    what = finished["job"]["jobId"] if named == "job" else one(finished, named)["resourceId"]
    shown = on_terminal(served, "show", what, width=80, **{**UNKNOWN, **terminal})
    (picture,) = pictures_in(shown)
    assert hashlib.sha256(picture).hexdigest() == one(finished, "picture/preview")["sha256"]
    assert list(tmp_path.iterdir()) == []


def test_elsewhere_they_are_saved_and_the_place_is_said(
    served: Path, finished: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    job_id = finished["job"]["jobId"]
    shown = on_terminal(served, "show", job_id, width=80, **UNKNOWN)
    assert "body.png (" in shown
    assert "\x1b" not in shown
    assert [path.name for path in tmp_path.iterdir()] == ["body.png"]
    assert (tmp_path / "body.png").read_bytes().startswith(PNG)
    again = schemaxis(served, "show", job_id, cwd=tmp_path)
    assert (again.returncode, b"body.png exists; nothing was saved." in again.stderr) == (2, True)
    assert schemaxis(served, "show", job_id, "--force", cwd=tmp_path).returncode == 0


def test_a_terminal_shows_and_saves_where_told(served: Path, finished: Any, tmp_path: Path) -> None:
    target = tmp_path / "seen.png"
    shown = on_terminal(
        served, "show", finished["job"]["jobId"], "-o", str(target), width=200, **{**UNKNOWN, **ITERM2}
    )
    assert pictures_in(shown) == [target.read_bytes()]
    assert f"{target} (" in shown


def test_as_json_it_saves_and_tells_the_resources(served: Path, finished: Any, tmp_path: Path) -> None:
    done = schemaxis(served, "show", finished["job"]["jobId"], "--json", "-o", str(tmp_path))
    told = json.loads(done.stdout)
    assert told["paths"] == [str(tmp_path / "body.png")]
    assert told["resources"] == [one(finished, "picture/preview")]


def test_what_cannot_be_shown_is_refused(served: Path, finished: Any, tmp_path: Path) -> None:
    unknown = schemaxis(served, "show", "res_none")
    assert (unknown.returncode, b"NOT_FOUND" in unknown.stderr) == (1, True)
    nowhere = schemaxis(served, "show", finished["job"]["jobId"], "-o", str(tmp_path / "none") + "/")
    assert (nowhere.returncode, b"no directory that is there" in nowhere.stderr) == (2, True)


def test_run_shows_the_preview_too(served: Path, document: Path, tmp_path: Path) -> None:
    options = ("run", str(document), "-q", "-o", str(tmp_path))
    shown = on_terminal(served, *options, width=120, **{**UNKNOWN, **KITTY})
    assert pictures_in(shown) == [(tmp_path / "body.png").read_bytes()]
    assert "\x1b_G" not in on_terminal(served, *options, "--force", width=120, **UNKNOWN)
    assert "\x1b_G" not in on_terminal(
        served, *options, "--force", "--json", width=120, **{**UNKNOWN, **KITTY}
    )
