"""Durable files: whole or absent, and immutable ones for good."""

from __future__ import annotations

from pathlib import Path

import pytest
from schemaxis_server.store.files import make_directory, read_regular, write_durably, write_immutable


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / ("ä" * 127)
    write_durably(path, b"one")
    write_durably(path, b"two", 0o640)
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    taken = tmp_path / "directory"
    taken.mkdir()
    with pytest.raises(IsADirectoryError):
        write_durably(taken, b"data")
    assert list(tmp_path.iterdir()) == [taken]


def test_an_immutable_file_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    write_immutable(path, b"{}")
    write_immutable(path, b"{}")
    with pytest.raises(FileExistsError, match="immutable"):
        write_immutable(path, b"[]")
    assert path.read_bytes() == b"{}"
    assert path.stat().st_mode & 0o777 == 0o400


def test_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        read_regular(tmp_path / "link")


def test_a_directory_is_made_once(tmp_path: Path) -> None:
    make_directory(tmp_path / "d")
    make_directory(tmp_path / "d")
    assert (tmp_path / "d").stat().st_mode & 0o777 == 0o700
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileExistsError):
        make_directory(tmp_path / "file")
