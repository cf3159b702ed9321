"""Copies the contents of all files into a tar archive and back, for `forebay backup` and `forebay restore`."""

from __future__ import annotations

import asyncio
import re
import tarfile
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forebay.errors import ContentMissing, DataError
from forebay.storage import db as files
from forebay.storage.blobs import key_of
from forebay.storage.names import UNKNOWN
from forebay.storage.spool import BLOCK, spooled

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from pathlib import Path
    from typing import IO

    from forebay.db.pool import Connection
    from forebay.storage.db import Blob
    from forebay.storage.store import Store

FOLDER = "blobs/"
_MEDIA_TYPE = "FOREBAY.media_type"
_NAME = re.compile(FOLDER + r"(([0-9a-f]{2})/([0-9a-f]{62})-[0-9]{1,19})")
_PAGE = 500


@dataclass(slots=True)
class Copied:
    """The number of contents and their bytes; `missing`: keys that the store does not have."""

    blobs: int = 0
    bytes: int = 0
    missing: list[str] = field(default_factory=list[str])


async def add_blobs(archive: tarfile.TarFile, conn: Connection, store: Store) -> Copied:
    """Add all contents to an archive. Call it after the dump of the database: contents that nothing refers to any more
    stay in the store for the grace period."""
    copied, after = Copied(), b""
    while page := await files.stored_blobs(conn, after, _PAGE):
        for blob in page:
            try:
                await _add(archive, store, blob)
            except ContentMissing:
                copied.missing.append(key_of(blob.object))
            else:
                copied.blobs += 1
                copied.bytes += blob.size
        after = page[-1].object.sha256
    return copied


async def _add(archive: tarfile.TarFile, store: Store, blob: Blob) -> None:
    key = key_of(blob.object)
    member = tarfile.TarInfo(FOLDER + key)
    member.size, member.mode, member.pax_headers = blob.size, 0o600, {_MEDIA_TYPE: blob.media_type}
    async with _as_file(store, key) as path:
        await asyncio.to_thread(_add_file, archive, member, path)


@asynccontextmanager
async def _as_file(store: Store, key: str) -> AsyncGenerator[Path]:
    if (path := store.path(key)) is not None:
        yield path
        return
    async with spooled(await store.open(key), store.spool) as spool:
        yield await spool.into_file()


def _add_file(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    with path.open("rb") as content:
        archive.addfile(member, content)


async def take_blobs(archive: tarfile.TarFile, members: Sequence[tarfile.TarInfo], store: Store) -> Copied:
    """Put the contents of an archive into the store, except those that it has.

    Raises: DataError for a content that is not the one that was archived.
    """
    copied = Copied()
    for member in members:
        parts = _NAME.fullmatch(member.name)
        if parts is None:
            continue
        copied.blobs += 1
        copied.bytes += member.size
        found = await store.find(parts[1])
        if found is None or found.size != member.size:
            await _take(archive, member, store, parts[1], parts[2] + parts[3])
    return copied


async def _take(archive: tarfile.TarFile, member: tarfile.TarInfo, store: Store, key: str, sha256: str) -> None:
    content = archive.extractfile(member)
    assert content is not None  # noqa: S101 - the name of a folder does not match
    async with spooled(_chunks(content), store.spool) as spool:
        if spool.sha256.hex() != sha256:
            raise DataError(f"the backup is damaged: {member.name} has another content than it had")
        await store.put(key, spool, member.pax_headers.get(_MEDIA_TYPE, UNKNOWN))


async def _chunks(content: IO[bytes]) -> AsyncIterator[bytes]:
    with content:
        while block := await asyncio.to_thread(content.read, BLOCK):
            yield block
