"""What processes take of a disk, deleted files that they still hold included. Standard library only."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MOST_FILES = 20_000
_BLOCK = 512


@dataclass(frozen=True)
class Watched:
    """A folder that processes may write to, and the bytes that it may take."""

    folder: str
    most: int
    device: int  # of the files in it; on overlays, folders may have another one

    @classmethod
    def of(cls, folder: str, most: int) -> Watched:
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                return cls(folder, most, os.fstat(file.fileno()).st_dev)
        except OSError:
            return cls(folder, most, os.stat(folder).st_dev)  # noqa: PTH116 - standard library, and no objects


def exceeds_size(watched: Watched, pids: Iterable[int]) -> bool:
    """Whether what processes have written takes more bytes than it may, or is too many files to count."""
    total = count = 0
    for place, folders, names in os.walk(watched.folder):
        for name in (*folders, *names):
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_blocks * _BLOCK  # noqa: PTH118 - many of them
            count += 1
            if total > watched.most or count > _MOST_FILES:
                return True
    return total + deleted_bytes(watched.device, pids) > watched.most


def deleted_bytes(device: int, pids: Iterable[int]) -> int:
    """The bytes of files without a name on a device that processes have open, or mapped.

    They take room until the last of these processes has closed them.
    """
    held: dict[int, int] = {}
    for pid in pids:
        held |= dict(_mapped(pid, device)) | dict(_open(pid, device))
    return sum(held.values())


def _open(pid: int, device: int) -> Iterator[tuple[int, int]]:
    """Numbers and bytes of files. Each thread is asked, because one may have descriptors of its own."""
    for thread in _names(f"/proc/{pid}/task"):
        folder = f"/proc/{pid}/task/{thread}/fd"
        for fd in _names(folder):
            with contextlib.suppress(OSError):  # closed, or the process has ended
                found = os.stat(f"{folder}/{fd}")  # noqa: PTH116 - many of them
                if found.st_nlink == 0 and found.st_dev == device and stat.S_ISREG(found.st_mode):
                    yield found.st_ino, found.st_blocks * _BLOCK


def _mapped(pid: int, device: int) -> Iterator[tuple[int, int]]:
    """The same of files that are mapped, and perhaps closed: then their size is unknown, and that of the map counts."""
    wanted = f"{os.major(device):02x}:{os.minor(device):02x}"
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines():
            if line.endswith(" (deleted)"):
                addresses, _, _, place, number, _ = line.split(maxsplit=5)
                if place == wanted:
                    first, _, last = addresses.partition("-")
                    yield int(number), int(last, 16) - int(first, 16)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - twice a second: no objects
    except OSError:
        return []
