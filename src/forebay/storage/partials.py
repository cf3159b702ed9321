"""Partial files that outlive an attempt: a folder per owner in the spool, on this machine.

The process that holds its lock (`flock`) uses a file. A file that was not written for the grace period is deleted with
its journal; the next attempt then starts again, as it does on another machine. A program that writes several files gets
the folder beside a partial file, which has its lock and its life.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import shutil
from typing import TYPE_CHECKING

from forebay.storage.old_files import old_files
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


def partial_folder(file: Path) -> Path:
    """The folder beside a partial file."""
    return file.with_name(f"{file.name}.d")


async def delete_old_partials(spool: Path, older_than: timedelta) -> int:
    """Deletes what nobody has written to for so long, nor has open; answers how many partial files there were."""
    return await asyncio.to_thread(_delete_old_partials, spool / _FOLDER, older_than)


def _delete_old_partials(folder: Path, older_than: timedelta) -> int:
    count = 0
    for file in old_files(folder, "*/*", older_than):
        if not file.suffix:
            count += _delete_unlocked(file)
        elif file.is_dir():  # goes with its file
            if not file.with_suffix("").exists():
                shutil.rmtree(file, ignore_errors=True)
        elif not file.with_name(file.name.partition(".")[0]).exists():  # else a journal goes with its file
            file.unlink(missing_ok=True)
    return count


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
        shutil.rmtree(partial_folder(file), ignore_errors=True)
    except BlockingIOError:  # an attempt still has it open
        return False
    finally:
        os.close(fd)
    return True
