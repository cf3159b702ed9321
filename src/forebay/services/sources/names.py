"""Checks names and paths of untrusted sources, and prints them safely."""

from __future__ import annotations

import fnmatch
import hashlib
import re
import unicodedata

from forebay.errors import DataError

LONGEST_PATH = 1000  # characters
DEEPEST = 20  # nested folders
_LONGEST_NAME = 255  # bytes, as in file systems
_UNSEEN = {"Cc", "Cs", "Zl", "Zp"}  # control characters, undecodable bytes, line ends
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")  # bidirectional marks


def why_bad_name(name: str) -> str | None:
    """Why a name of a file or folder is invalid, as words that follow it; None if it is valid."""
    if name in {"", ".", ".."} or "/" in name or "\\" in name:
        return "is not a file name"
    if any(unicodedata.category(each) in _UNSEEN for each in name) or _TURNING.search(name):
        return "has invisible characters in its name"
    if len(name.encode()) > _LONGEST_NAME:
        return f"has a name of more than {_LONGEST_NAME} bytes"
    return None


def shown(name: str) -> str:
    """An untrusted name, made printable."""
    text = "".join(
        each if each.isprintable() else each.encode("unicode_escape", "replace").decode() for each in name[:100]
    )
    return text if len(name) <= 100 else f"{text}..."


def checked_path(path: str) -> list[str]:
    """Check a path within a source and split it.

    Raises: DataError.
    """
    parts = path.split("/")
    why = "is too long" if len(path) > LONGEST_PATH or len(parts) > DEEPEST + 1 else None
    why = why or next((bad for part in parts if (bad := why_bad_name(part))), None)
    if why:
        raise DataError(f"the path {shown(path)} {why}")
    return parts


def matches(path: str, pattern: str) -> bool:
    """Whether a pattern such as `*.csv` or `2026/**/*.csv` matches a path, ignoring case."""
    parts = path.lower().split("/")
    wanted = pattern.lower().split("/")
    return _match(parts if len(wanted) > 1 else parts[-1:], wanted)


def moved_name(path: str, version: str) -> str:
    """The target path of a moved file, unique per content, so that no file overwrites another."""
    folder, slash, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    mark = hashlib.sha256(version.encode()).hexdigest()[:8]
    return f"{folder}{slash}{stem}.{mark}.{suffix}" if dot and stem else f"{folder}{slash}{name}.{mark}"


def _match(parts: list[str], wanted: list[str]) -> bool:
    if not wanted:
        return not parts
    if wanted == ["**"]:
        return bool(parts)
    if wanted[0] == "**":
        return any(_match(parts[skipped:], wanted[1:]) for skipped in range(len(parts)))
    return bool(parts) and fnmatch.fnmatchcase(parts[0], wanted[0]) and _match(parts[1:], wanted[1:])
