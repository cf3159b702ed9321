"""Buffers content on its way to the store: hashed as it arrives, in memory while it is small, then in a file."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
import threading
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from forebay.disk import resource_errors
from forebay.errors import DataError, ResourceError
from forebay.storage.old_files import old_files

if TYPE_CHECKING:
    from typing import BinaryIO

BlobSource: TypeAlias = bytes | AsyncIterator[bytes] | Path

BLOCK = 1 << 20  # bytes per read
_PREFIX = "put-"


class Spool:
    """The content of one put. Written by one thread at a time."""

    def __init__(self, folder: Path, max_bytes: int | None) -> None:
        self.size = 0
        self._folder = folder
        self._max_bytes = max_bytes
        self._hash = hashlib.sha256()
        self._block = bytearray()
        self._file: BinaryIO | None = None
        self._path: Path | None = None
        self._ended = False
        self._writing = threading.Lock()

    @property
    def sha256(self) -> bytes:
        return self._hash.digest()

    @property
    def content(self) -> bytes | Path:
        """The whole content: bytes in memory, or a file."""
        return bytes(self._block) if self._path is None else self._path

    async def fill(self, source: BlobSource) -> None:
        """Raises: DataError for too many bytes; ResourceError when the disk is full."""
        async with _chunks(source) as chunks:
            async for chunk in chunks:
                self.size += len(chunk)
                if self._max_bytes is not None and self.size > self._max_bytes:
                    raise DataError(f"has more than {self._max_bytes} bytes, the maximum")
                self._block += chunk
                if len(self._block) > BLOCK:
                    await asyncio.to_thread(self._write)
        await asyncio.to_thread(self._finish)

    async def into_file(self) -> Path:
        """The file with the whole content, flushed to disk."""
        return await asyncio.to_thread(self._into_file)

    def discard(self) -> None:
        """Delete the file; later writes of another thread are dropped."""
        with self._writing:
            self._ended = True
            if self._file is not None:
                with suppress(OSError):  # the disk may be full, and nothing needs to be flushed
                    self._file.close()
            if self._path is not None:
                self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        self._hash.update(self._block)
        self._spill()

    def _finish(self) -> None:
        self._hash.update(self._block)
        if self._file is not None:
            self._spill()

    def _spill(self) -> None:
        with self._writing, resource_errors(self._folder):
            if self._ended:
                return
            if self._file is None:
                self._file, self._path = _open(self._folder)
            self._file.write(self._block)
            self._file.flush()
        self._block.clear()

    def _into_file(self) -> Path:
        if self._file is None:
            self._spill()
        with self._writing, resource_errors(self._folder):
            if self._file is None or self._path is None:  # it was discarded
                raise ResourceError("the put was cancelled")
            os.fsync(self._file.fileno())
            return self._path


def make_private(folder: Path) -> None:
    """Create the folder and its parents for this account only: file names reveal contents."""
    if not folder.exists():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _open(folder: Path) -> tuple[BinaryIO, Path]:
    make_private(folder)
    handle, name = tempfile.mkstemp(prefix=_PREFIX, dir=folder)
    return os.fdopen(handle, "wb"), Path(name)


@asynccontextmanager
async def spooled(source: BlobSource, folder: Path, max_bytes: int | None = None) -> AsyncGenerator[Spool]:
    """A spool with the whole source; deleted afterwards."""
    spool = Spool(folder, max_bytes)
    try:
        await spool.fill(source)
        yield spool
    finally:
        spool.discard()


@asynccontextmanager
async def _chunks(source: BlobSource) -> AsyncGenerator[AsyncIterator[bytes]]:
    if not isinstance(source, bytes | Path):
        yield source
        return
    async with aclosing(_once(source) if isinstance(source, bytes) else _read(source)) as chunks:
        yield chunks


async def _once(data: bytes) -> AsyncGenerator[bytes]:
    for start in range(0, len(data), BLOCK):
        yield data[start : start + BLOCK]


async def _read(path: Path) -> AsyncGenerator[bytes]:
    file = await asyncio.to_thread(path.open, "rb")
    with file:
        while block := await asyncio.to_thread(file.read, BLOCK):
            yield block


async def delete_old_spools(folder: Path, older_than: timedelta) -> int:
    """Deletes what nobody has written to for so long."""
    return await asyncio.to_thread(_delete_old_spools, folder, older_than)


def _delete_old_spools(folder: Path, older_than: timedelta) -> int:
    count = 0
    for file in old_files(folder, f"{_PREFIX}*", older_than):
        with suppress(FileNotFoundError):  # put, or deleted by another
            file.unlink()
            count += 1
    return count
