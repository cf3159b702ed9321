"""Finds the data folder when FOREBAY_DATA_DIR is not set, and the address of the API that its `forebay up` serves."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

_SIGNS = ("cluster", "location", "up.lock")  # `forebay up` creates at least one of them
_ADDRESS = "api.address"


def find() -> Path | None:
    """A data folder in use: `data` here or above, that of the source tree, else the one that this account started last.

    A folder of another account is skipped: its owner would receive the data sent to its server.
    """
    above = [Path("data"), *(folder / "data" for folder in Path.cwd().parents)]
    return next((folder for folder in (*above, *_of_source_tree(), *_last_started()) if _is_used(folder)), None)


def _is_used(folder: Path) -> bool:
    with suppress(OSError):  # such as a parent folder that this account cannot read
        return folder.stat().st_uid in {os.getuid(), 0} and any((folder / sign).exists() for sign in _SIGNS)
    return False


def _of_source_tree() -> list[Path]:
    root = Path(__file__).resolve().parents[3]
    return [root / "data"] if (root / "pyproject.toml").exists() else []


def _last_started() -> list[Path]:
    try:
        return [Path(_pointer().read_text("utf-8").strip())]
    except (OSError, RuntimeError):  # never started, or no home folder
        return []


def _pointer() -> Path:
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "forebay" / "data-dir"


def remember(folder: Path) -> None:
    """Let later commands find this folder from anywhere; does nothing without a writable home folder."""
    with suppress(OSError, RuntimeError):
        pointer = _pointer()
        pointer.parent.mkdir(parents=True, exist_ok=True)
        pointer.write_text(f"{folder.absolute()}\n", "utf-8")


@contextmanager
def serving(folder: Path, address: str | None) -> Generator[None]:
    """Store the API's address in the data folder, for commands that print links."""
    file = folder / _ADDRESS
    if address is not None:
        file.write_text(f"{address}\n", "utf-8")
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def address(folder: Path) -> str | None:
    """The address of the API while `forebay up` runs in this folder."""
    try:
        return (folder / _ADDRESS).read_text("utf-8").strip() or None
    except OSError:
        return None
