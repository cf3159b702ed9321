"""Checks that the store has all blobs of the database, and counts other objects."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from forebay.errors import ContentMissing
from forebay.storage import db as files
from forebay.storage.blobs import key_of
from forebay.storage.db import ObjectId

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.db.pool import Connection
    from forebay.storage.db import Referenced
    from forebay.storage.store import Store

_PAGE = 500
_KEY = re.compile(r"([0-9a-f]{2})/([0-9a-f]{62})-([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Damage:
    """A blob of files that is missing or differs from what was stored."""

    kind: Literal["missing", "size", "content"]
    key: str
    file_ids: list[int]


@dataclass(slots=True)
class Report:
    """`unknown` objects belong to no blob: they come from another database, or from before a restored backup."""

    blobs: int = 0
    bytes: int = 0
    damages: list[Damage] = field(default_factory=list)
    unknown: int = 0
    unknown_bytes: int = 0


async def check(
    conn: Connection, store: Store, *, deep: bool = False, progress: Callable[[int], None] | None = None
) -> Report:
    """Check every blob that files refer to; `deep` reads and hashes their contents."""
    report = Report()
    after = b""
    while page := await files.referenced(conn, after, _PAGE):
        for blob in page:
            if (kind := await _damage(store, blob, deep=deep)) is not None:
                report.damages.append(Damage(kind, key_of(blob.object), blob.file_ids))
            report.blobs += 1
            report.bytes += blob.size
            if progress is not None:
                progress(report.blobs)
        after = page[-1].object.sha256
    await _count_unknown(conn, store, report)
    return report


async def _damage(store: Store, blob: Referenced, *, deep: bool) -> Literal["missing", "size", "content"] | None:
    key = key_of(blob.object)
    found = await store.find(key)
    if found is None:
        return "missing"
    if found.size != blob.size:
        return "size"
    if not deep:
        return None
    try:
        return None if await _hash(store, key) == blob.object.sha256 else "content"
    except ContentMissing:
        return "missing"


async def _hash(store: Store, key: str) -> bytes:
    digest = hashlib.sha256()
    async for chunk in await store.open(key):
        digest.update(chunk)
    return digest.digest()


async def _count_unknown(conn: Connection, store: Store, report: Report) -> None:
    """An object that is being stored has its row already, so it does not count as unknown."""
    async for page in store.objects():
        sizes = {object_: found.size for found in page if (object_ := _object(found.key)) is not None}
        unknown = set(sizes) - await files.known(conn, list(sizes))
        report.unknown += len(unknown)
        report.unknown_bytes += sum(sizes[each] for each in unknown)


def _object(key: str) -> ObjectId | None:
    """The object of a key."""
    parts = _KEY.fullmatch(key)
    return None if parts is None else ObjectId(bytes.fromhex(parts[1] + parts[2]), int(parts[3]))
