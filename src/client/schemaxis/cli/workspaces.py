"""Which workspace a command means, and whether it may come into being for it."""

from __future__ import annotations

import argparse
import difflib
import os
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from schemaxis.cli.main import UsageError
from schemaxis.cli.parser import DEFAULT_WORKSPACE, WORKSPACE_VARIABLE

# What a directory has that is a workspace, is served as one, or was made ready to be one.
_SIGNS = ("schemaxis.format", "schemaxis.db", "schemaxis.sock", "schemaxis.sock.json", "schemaxis.toml")
_MOST_NEIGHBOURS = 2000


@dataclass(frozen=True, slots=True)
class Place:
    """A directory and who named it: an option, the environment, or nobody."""

    path: Path
    named_by: str

    @property
    def is_workspace(self) -> bool:
        """Whether a workspace is there."""
        return _is_workspace(self.path)


def named(arguments: argparse.Namespace) -> Path:
    """The workspace's directory, whatever lies there."""
    return _named(arguments).path


def creatable(arguments: argparse.Namespace) -> Path:
    """The workspace's directory, which may be missing. Raises :class:`UsageError` for a file."""
    return _place(arguments).path


def is_named(arguments: argparse.Namespace) -> bool:
    """Whether somebody named the workspace, by the option or the environment."""
    return bool(_named(arguments).named_by)


def existing(arguments: argparse.Namespace) -> Path:
    """The directory of a workspace that is there.

    A mistyped name must not become an empty workspace: raises :class:`UsageError` with the nearest
    thing to do.
    """
    place = _place(arguments)
    if not place.is_workspace:
        raise UsageError(_missing(place))
    return place.path


@contextmanager
def existing_or_passing(arguments: argparse.Namespace) -> Iterator[Path]:
    """The workspace for a question about the installation, which every workspace answers alike.

    One that was named must be there. Where nobody named one and the default is missing, an empty
    one stands in for as long as the context lasts.
    """
    place = _place(arguments)
    if place.named_by or place.is_workspace:
        yield existing(arguments)
        return
    with tempfile.TemporaryDirectory(prefix="schemaxis-", ignore_cleanup_errors=True) as directory:
        yield Path(directory)


def _named(arguments: argparse.Namespace) -> Place:
    if arguments.workspace is not None:
        return Place(arguments.workspace, "--workspace")
    if from_environment := os.environ.get(WORKSPACE_VARIABLE):
        return Place(Path(from_environment), f"${WORKSPACE_VARIABLE}")
    return Place(Path(DEFAULT_WORKSPACE), "")


def _place(arguments: argparse.Namespace) -> Place:
    place = _named(arguments)
    if os.path.lexists(place.path) and not place.path.is_dir():
        what = "a file" if place.path.exists() else "a link that leads nowhere"
        raise UsageError(f"The workspace {_shown(place)} is {what}, not a directory.")
    return place


def _is_workspace(path: Path) -> bool:
    return any(os.path.lexists(path / sign) for sign in _SIGNS)


def command(arguments: argparse.Namespace, words: str) -> str:
    """A command to go on with, for the workspace of this one, as it would be typed."""
    where = f" -w {shlex.quote(str(arguments.workspace))}" if arguments.workspace is not None else ""
    return f"`schemaxis {words}{where}`"


def _shown(place: Place) -> str:
    if place.named_by.startswith("$"):
        return f"{place.path} (from {place.named_by})"
    return str(place.path) if place.named_by else f"./{place.path} (the default)"


def _missing(place: Place) -> str:
    found = "is a directory, but no workspace" if place.path.is_dir() else "does not exist"
    words = [f"The workspace {_shown(place)} {found}."]
    if others := _others(place.path):
        words.append(f"Did you mean --workspace {_either(others)}?")
    words.append("`schemaxis run DOCUMENT` makes a new one.")
    return " ".join(words)


def _others(path: Path) -> list[str]:
    """Workspaces beside ``path``: those with a name like its own first, at most three."""
    parent = path.parent
    try:
        with os.scandir(parent) as entries:
            names = [entry.name for entry, _ in zip(entries, range(_MOST_NEIGHBOURS), strict=False)]
    except OSError:
        return []
    found = sorted(name for name in names if name != path.name and _is_workspace(parent / name))
    alike = difflib.get_close_matches(path.name, found, n=3, cutoff=0.5)
    return [shlex.quote(str(parent / name)) for name in (alike or found)[:3]]


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
