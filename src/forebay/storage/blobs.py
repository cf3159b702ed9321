"""Stores and reads blobs: first the row of the blob, then the object, then the caller adds the row of the file."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.errors import ContentMissing, DataError, TransientError
from forebay.log import get_logger
from forebay.storage import db as files
from forebay.storage import names
from forebay.storage.adopting import measured, read_regular, take_over
from forebay.storage.partials import partial_path
from forebay.storage.spool import BlobSource, spooled

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from forebay.db.pool import Pool
    from forebay.storage.db import Blob, ObjectId
    from forebay.storage.store import Content, Store
    from forebay.types import Rows, Statement

__all__ = ["BlobSource", "Blobs", "Stored", "delete_statement", "key_of"]

log = get_logger("storage")

_ROUNDS = 3  # how often a blob may be collected during a put before it fails


@dataclass(frozen=True, slots=True)
class Stored:
    """Stored content. `write` makes it a file within the grace period; otherwise it is deleted."""

    file_id: int
    owner_id: int
    sha256: str
    size: int
    name: str
    media_type: str

    def write(self) -> Rows:
        """The statement with which a step adds the file `file_id`, before the rows that refer to it."""
        return files.insertion(self.file_id, self.owner_id, bytes.fromhex(self.sha256), self.name, self.media_type)


def delete_statement(owner_id: int, file_ids: Sequence[int]) -> Statement:
    """The statement with which a step deletes files that no row of the owner refers to."""
    return files.deletion(owner_id, file_ids)


def key_of(object_: ObjectId) -> str:
    """The key of the object in the store."""
    digest = object_.sha256.hex()
    return f"{digest[:2]}/{digest[2:]}-{object_.life}"


@asynccontextmanager
async def local_object(store: Store, object_: ObjectId) -> AsyncGenerator[Path]:
    """An object as a read-only local file: that of the store, or a temporary copy.

    Raises: ContentMissing; ResourceError when the disk is full.
    """
    if (path := store.path(key_of(object_))) is not None:
        yield path
        return
    chunks = await store.open(key_of(object_))
    async with spooled(chunks, store.spool) as spool:
        yield await spool.into_file()


class Blobs:
    """The blobs of a store and their rows."""

    def __init__(self, pool: Pool, store: Store) -> None:
        self._pool = pool
        self.store = store

    async def put(
        self,
        source: BlobSource,
        *,
        owner_id: int,
        name: str,
        media_type: str | None = None,
        max_bytes: int | None = None,
        now: datetime | None = None,
    ) -> Stored:
        """Store content, once however often it is put; the result can become a file.

        Raises: DataError for more than `max_bytes`; ResourceError when the disk is full; ConfigError and TransientError
        when the store rejects the request or fails.
        """
        name = names.file_name(name)
        kind = names.media_type(media_type, name)
        async with spooled(source, self.store.spool, max_bytes) as spool:
            file_id = await self._save(spool, kind, now)
            return Stored(file_id, owner_id, spool.sha256.hex(), spool.size, name, kind)

    async def adopt(
        self,
        path: Path,
        *,
        owner_id: int,
        name: str,
        media_type: str | None = None,
        sha256: str | None = None,
        max_bytes: int | None = None,
        now: datetime | None = None,
    ) -> Stored:
        """The same for a local file, which is moved: nothing else may write to it; it is gone when this returns.

        A folder store links it, S3 uploads it. Until then it stays, so that the next attempt can adopt it. Only a
        file of another account, or with a second hard link, is copied. A given `sha256` is not checked.

        Raises: the same, and DataError when it is not a regular file.
        """
        if not await asyncio.to_thread(take_over, path):
            async with aclosing(read_regular(path)) as content:
                stored = await self.put(
                    content, owner_id=owner_id, name=name, media_type=media_type, max_bytes=max_bytes, now=now
                )
        else:
            adopted = await asyncio.to_thread(measured, path, sha256, max_bytes)
            name = names.file_name(name)
            kind = names.media_type(media_type, name)
            file_id = await self._save(adopted, kind, now)
            stored = Stored(file_id, owner_id, adopted.sha256.hex(), adopted.size, name, kind)
        await asyncio.to_thread(path.unlink, missing_ok=True)
        return stored

    async def partial_path(self, owner_id: int, key: str) -> Path:
        """The path for content that may take several attempts: see `forebay.storage.partials`."""
        return await partial_path(self.store.spool, owner_id, key)

    async def _save(self, content: Content, kind: str, now: datetime | None) -> int:
        for _ in range(_ROUNDS):
            touched = await files.touch(self._pool, content.sha256, content.size, kind, now)
            if touched.is_stored and await self._is_there(touched.object, content.size):
                return touched.file_id
            await self.store.put(key_of(touched.object), content, kind)
            if await files.note_stored(self._pool, touched.object, now):
                return touched.file_id
            # The upload took longer than the grace period: its blob was collected.
            await files.note_waste(self._pool, touched.object, content.size, now)
        raise TransientError("blobs are deleted before they are stored: raise FOREBAY_STORAGE_GRACE_S")

    async def _is_there(self, object_: ObjectId, size: int) -> bool:
        """Check the store as well as the row: an object that was deleted there is stored again."""
        found = await self.store.find(key_of(object_))
        if found is not None and found.size == size:
            return True
        log.error("content_missing", key=key_of(object_), place=self.store.place)
        return False

    async def open(self, sha256: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Stream the content from byte `start` to before `end`.

        Raises: ContentMissing.
        """
        blob = await self._find(sha256)
        return await self.store.open(key_of(blob.object), start, end)

    async def read(self, sha256: str, max_bytes: int = 64 << 20) -> bytes:
        """All of the content.

        Raises: ContentMissing; DataError for more than `max_bytes`.
        """
        blob = await self._find(sha256)
        if blob.size > max_bytes:
            raise DataError(f"has {blob.size} bytes; at most {max_bytes} are read at once")
        return b"".join([chunk async for chunk in await self.store.open(key_of(blob.object))])

    @asynccontextmanager
    async def local(self, sha256: str) -> AsyncGenerator[Path]:
        """The content as a read-only local file: that of the store, or a temporary copy.

        Raises: ContentMissing; ResourceError when the disk is full.
        """
        blob = await self._find(sha256)
        async with local_object(self.store, blob.object) as path:
            yield path

    async def _find(self, sha256: str) -> Blob:
        blob = await files.find_blob(self._pool, bytes.fromhex(sha256))
        if blob is None:
            raise ContentMissing(f"there is no content {sha256}")
        return blob
