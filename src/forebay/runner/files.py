"""Files that a sandboxed process may read, and files that it leaves behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from pathlib import Path

from forebay.errors import DataError


def place(source: Path, target: Path, *, copied: bool) -> None:
    """Link a file if the child has our account, which can read but not write it in the sandbox; otherwise copy it."""
    target.unlink(missing_ok=True)
    if not copied:
        with contextlib.suppress(OSError):  # another file system
            target.hardlink_to(source)
            return
    shutil.copyfile(source, target)
    target.chmod(0o444)


def take_over(folder: Path) -> list[Path]:
    """The files that a process left in a folder. Links, pipes and devices are removed, because they could be misused.

    Raises: DataError if the files cannot be read, e.g. because folders are nested too deeply.
    """
    left: list[Path] = []
    try:
        for place_, folders, names in os.walk(folder, onerror=_raise):
            for name in (*folders, *names):
                path = Path(place_, name)
                mode = path.lstat().st_mode
                if stat.S_ISREG(mode):
                    left.append(path)
                elif not stat.S_ISDIR(mode):
                    path.unlink()
    except OSError as error:
        raise DataError(f"the files that it left cannot be read: {error.strerror}") from error
    return sorted(left)


def _raise(error: OSError) -> None:
    raise error
