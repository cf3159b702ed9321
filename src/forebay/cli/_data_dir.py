"""Which data folder is meant when FOREBAY_DATA_DIR does not say so, and where the API of its `forebay up` listens."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

_SIGNS = ("cluster", "location", "up.lock")  # at least one is in a folder that `forebay up` has used
_ADDRESS = "api.address"


def find() -> Path | None:
    """A folder in use: `data` here or above, that of the source tree, else the one last started by this account.

    One that belongs to another account is passed over: whoever made it would get what is sent to its server.
    """
    above = [Path("data"), *(folder / "data" for folder in Path.cwd().parents)]
    return next((folder for folder in (*above, *_of_source_tree(), *_last_started()) if _is_used(folder)), None)


def _is_used(folder: Path) -> bool:
    with suppress(OSError):  # such as a folder above that is closed to this account
        return folder.stat().st_uid in {os.getuid(), 0} and any((folder / sign).exists() for sign in _SIGNS)
    return False


def _of_source_tree() -> list[Path]:
    root = Path(__file__).resolve().parents[3]
    return [root / "data"] if (root / "pyproject.toml").exists() else []


def _last_started() -> list[Path]:
    try:
        return [Path(_pointer().read_text("utf-8").strip())]
    except (OSError, RuntimeError):  # never started, or an account without a home
        return []


def _pointer() -> Path:
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "forebay" / "data-dir"


def remember(folder: Path) -> None:
    """Let later commands find this folder from anywhere; an account without a writable home does without."""
    with suppress(OSError, RuntimeError):
        pointer = _pointer()
        pointer.parent.mkdir(parents=True, exist_ok=True)
        pointer.write_text(f"{folder.absolute()}\n", "utf-8")


@contextmanager
def serving(folder: Path, address: str | None) -> Generator[None]:
    """Keep the API's address beside the data, for commands that print links to it."""
    file = folder / _ADDRESS
    if address is not None:
        file.write_text(f"{address}\n", "utf-8")
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def address(folder: Path) -> str | None:
    """Where the API of this folder's `forebay up` listens, while that runs."""
    try:
        return (folder / _ADDRESS).read_text("utf-8").strip() or None
    except OSError:
        return None
