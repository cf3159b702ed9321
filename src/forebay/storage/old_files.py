"""Files that were left behind."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta
    from pathlib import Path


def old_files(folder: Path, pattern: str, older_than: timedelta) -> Iterator[Path]:
    """The files of a folder that nobody has written to for so long."""
    before = time.time() - older_than.total_seconds()
    for file in folder.glob(pattern):
        with suppress(FileNotFoundError):  # renamed or deleted by another process
            if file.stat().st_mtime < before:
                yield file
