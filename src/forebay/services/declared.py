"""Reads declarations of operators, one per .toml or .json file in a folder, and reports errors."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

if TYPE_CHECKING:
    from pathlib import Path

_LARGEST = 1 << 20


def declared_files(folder: Path) -> list[Path]:
    """The declaration files of a folder, by name."""
    return sorted(each for each in folder.iterdir() if each.suffix in {".toml", ".json"})


def read_declared(path: Path) -> Any:
    """What stands in a file.

    Raises: ValueError.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    if len(data) > _LARGEST:
        raise ValueError(f"is larger than {_LARGEST} bytes")
    try:
        return tomllib.loads(data.decode()) if path.suffix == ".toml" else json.loads(data)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"is not valid {path.suffix[1:].upper()}: {error}") from None


def wrongs(error: ValueError) -> list[str]:
    """All errors, each with its field; a validator may report several, one per line."""
    if not isinstance(error, ValidationError):
        return [str(error)]
    told: list[str] = []
    for each in error.errors(include_url=False, include_input=False):
        field = ".".join(str(part) for part in each["loc"])
        messages = each["msg"].removeprefix("Value error, ").splitlines()
        told += [f"{field}: {message}" if field else message for message in messages]
    return told
