"""Names and paths of files as strangers give them: which are taken, and how the others are told of."""

from __future__ import annotations

import fnmatch
import hashlib
import re
import unicodedata

from forebay.errors import DataError

LONGEST_PATH = 1000  # characters
DEEPEST = 20  # folders within each other
_LONGEST_NAME = 255  # bytes, as file systems have it
_UNSEEN = {"Cc", "Cs", "Zl", "Zp"}  # control characters, bytes that are no text, ends of lines
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")  # what makes a name look like another one


def why_bad_name(name: str) -> str | None:
    """Why a name cannot be that of a file or folder, in words that follow it; None when it can."""
    if name in {"", ".", ".."} or "/" in name or "\\" in name:
        return "is not a file name"
    if any(unicodedata.category(each) in _UNSEEN for each in name) or _TURNING.search(name):
        return "has characters in its name that cannot be seen"
    if len(name.encode()) > _LONGEST_NAME:
        return f"has a name of more than {_LONGEST_NAME} bytes"
    return None


def shown(name: str) -> str:
    """A name that may be hostile, for people to read."""
    text = "".join(
        each if each.isprintable() else each.encode("unicode_escape", "replace").decode() for each in name[:100]
    )
    return text if len(name) <= 100 else f"{text}..."


def checked_path(path: str) -> list[str]:
    """The parts of a path within a source.

    Raises: DataError.
    """
    parts = path.split("/")
    why = "is too long" if len(path) > LONGEST_PATH or len(parts) > DEEPEST + 1 else None
    why = why or next((bad for part in parts if (bad := why_bad_name(part))), None)
    if why:
        raise DataError(f"the path {shown(path)} {why}")
    return parts


def matches(path: str, pattern: str) -> bool:
    """Whether a pattern means this path, in small letters or capitals: `*.csv` or `2026/**/*.csv`."""
    parts = path.lower().split("/")
    wanted = pattern.lower().split("/")
    return _match(parts if len(wanted) > 1 else parts[-1:], wanted)


def moved_name(path: str, version: str) -> str:
    """The path of a file that is moved away: no two contents have the same, so that none takes another's place."""
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
