"""Files of ours that a sandboxed process may read, and files of its own that it leaves."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from pathlib import Path

from forebay.errors import DataError


def place(source: Path, target: Path, *, copied: bool) -> None:
    """A link to a file where the child has our account, which sees it without being able to write; else a copy."""
    target.unlink(missing_ok=True)
    if not copied:
        with contextlib.suppress(OSError):  # another file system
            target.hardlink_to(source)
            return
    shutil.copyfile(source, target)
    target.chmod(0o444)


def take_over(folder: Path) -> list[Path]:
    """The files that a process has left in a folder; links, pipes and devices, which could mislead us, are removed.

    Raises: DataError when they cannot be read: folders may be nested too deeply to be named.
    """
    left: list[Path] = []
    try:
        for place_, folders, names in os.walk(folder, onerror=_refuse):
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


def _refuse(error: OSError) -> None:
    raise error
