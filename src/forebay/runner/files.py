"""Files that a sandboxed process may read, and files that it leaves behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from pathlib import Path

from forebay.errors import DataError


def place(source: Path, target: Path, *, other_account: bool) -> None:
    """Link a file that the child can read but not write: one of our account, which the sandbox mounts read-only, or one
    that every account may read. Copy others."""
    target.unlink(missing_ok=True)
    if not other_account or source.stat().st_mode & 0o006 == 0o004:
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
