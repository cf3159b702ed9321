"""Partial files that outlive an attempt: a folder per owner in the spool, on this machine.

The process that holds its lock (`flock`) uses a file. A file that was not written for the grace period is deleted with
its journal; the next attempt then starts again, as it does on another machine.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import time
from typing import TYPE_CHECKING

from forebay.storage.spool import make_private

if TYPE_CHECKING:
    from datetime import timedelta
    from pathlib import Path

_FOLDER = "partial"


async def partial_path(spool: Path, owner_id: int, key: str) -> Path:
    """The partial file of an owner for a key, such as that of a task; the same in every attempt."""
    folder = spool / _FOLDER / str(owner_id)
    await asyncio.to_thread(make_private, folder)
    return folder / hashlib.sha256(key.encode()).hexdigest()[:40]


async def delete_old_partials(spool: Path, older_than: timedelta) -> int:
    """Delete partial files that are this old and not locked; returns how many."""
    return await asyncio.to_thread(_delete_old, spool / _FOLDER, time.time() - older_than.total_seconds())


def _delete_old(folder: Path, before: float) -> int:
    count = 0
    for file in folder.glob("*/*"):
        if file.suffix:  # a journal is deleted with its file, or if that is gone
            if not file.with_name(file.name.partition(".")[0]).exists() and _modified(file) < before:
                file.unlink(missing_ok=True)
        elif _modified(file) < before:
            count += _delete_unlocked(file)
    return count


def _modified(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:  # adopted, or deleted concurrently
        return time.time()


def _delete_unlocked(file: Path) -> bool:
    try:
        fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not file.exists() or not os.path.samestat(os.fstat(fd), file.lstat()):  # adopted meanwhile
            return False
        for each in (file, file.with_name(f"{file.name}.json")):
            each.unlink(missing_ok=True)
    except BlockingIOError:  # an attempt still has it open
        return False
    finally:
        os.close(fd)
    return True
