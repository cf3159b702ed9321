"""Turns a local file into a blob: it is read at most once, and copied only if necessary."""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.disk import flush
from forebay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class AdoptedFile:
    """The content of an adopted file; the store treats it like a spool."""

    content: Path
    size: int
    sha256: bytes

    async def into_file(self) -> Path:
        """The file, safe on the disk."""
        await asyncio.to_thread(flush, self.content)
        return self.content


def take_over(path: Path) -> bool:
    """Take exclusive ownership of a file; false when that is impossible and the file must be copied.

    Another owner, or a process that uses another hard link, could change the blob later.

    Raises: DataError when it is not a regular file.
    """
    status = path.lstat()
    _require_regular(status)
    if status.st_nlink != 1:
        return False
    if status.st_uid != os.geteuid() == 0:
        os.chown(path, 0, 0, follow_symlinks=False)
        return True
    return status.st_uid == os.geteuid()


async def read_regular(path: Path) -> AsyncGenerator[bytes]:
    """The content of a regular file; an untrusted program may replace it by a link or a pipe at any time.

    Raises: DataError when it is not a regular file.
    """
    fd = await asyncio.to_thread(os.open, path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(fd, "rb") as file:
        _require_regular(os.fstat(fd))
        while block := await asyncio.to_thread(file.read, _BLOCK):
            yield block


def _require_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise DataError("is not a regular file and cannot be stored")


def measured(path: Path, sha256: str | None, max_bytes: int | None) -> AdoptedFile:
    """Raises: DataError when there are too many bytes."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    with os.fdopen(fd, "rb") as file:
        size = os.fstat(fd).st_size
        if max_bytes is not None and size > max_bytes:
            raise DataError(f"has more than {max_bytes} bytes, the maximum")
        os.fchmod(fd, 0o600)
        digest = bytes.fromhex(sha256) if sha256 is not None else hashlib.file_digest(file, "sha256").digest()
    return AdoptedFile(path, size, digest)
