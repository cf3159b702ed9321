"""Local files, stored and submitted without HTTP, by commands and the demo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.db.pool import translating_errors
from forebay.errors import ConflictError
from forebay.intake import db
from forebay.intake.db import FilePart
from forebay.intake.parts import part_key
from forebay.storage.spool import spooled

if TYPE_CHECKING:
    from pathlib import Path

    from forebay.db.pool import Connection
    from forebay.intake.db import AddedFile, FileTerms, NewFile
    from forebay.intake.target import IntakeTarget
    from forebay.storage import Store


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A local file; `delay` is the number of seconds after which it is received."""

    new: NewFile
    content: bytes | Path
    delay: float | None = None


async def submit_file(
    target: IntakeTarget, conn: Connection, store: Store, owner: str, file: LocalFile, terms: FileTerms
) -> AddedFile:
    """Store a file and submit the job that receives it; a complete file with a known key is left unchanged.

    Raises: ConflictError when the upload with this key was given up, or another process stores the same file.
    """
    async with translating_errors(), conn.transaction():
        added = await target.add(conn, await db.make_owner(conn, owner), file.new, terms)
        known = None if added.created else await db.get(conn, target.name, added.reference)
    if known is not None and known.is_whole:
        return added
    name = await db.begin_part(conn, target.name, added.reference, 0)
    if name is None:
        raise ConflictError("key", "the upload was cancelled")
    async with spooled(file.content, store.spool) as spool:
        await store.put(part_key(added.reference, name), spool, "application/octet-stream")
        part = FilePart(0, spool.size, name, spool.sha256)
    async with conn.transaction():
        if not await db.end_part(conn, target.name, added.reference, part):
            raise ConflictError("key", "another process uploads the same file")
        await db.begin_receiving(conn, target.name, added.reference, target.receiving, delay=file.delay)
    return added
