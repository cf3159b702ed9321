"""Files and blobs in the database, and the statements with which steps write them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from forebay.db.calls import execute, fetch, fetch_row, fetch_value
from forebay.db.pool import translating_errors
from forebay.db.statements import statements
from forebay.types import Rows, Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    import asyncpg

    from forebay.db.pool import Connection, Pool

load = statements("forebay.storage")


@dataclass(frozen=True, slots=True)
class ObjectId:
    """An object in the store: the hash of its content, and the life of the blob that it was stored for."""

    sha256: bytes
    life: int


@dataclass(frozen=True, slots=True)
class Touched:
    """A blob that is not collected within the grace period; `file_id` is reserved for the new file."""

    object: ObjectId
    is_stored: bool
    file_id: int


@dataclass(frozen=True, slots=True)
class Blob:
    object: ObjectId
    size: int
    media_type: str


@dataclass(frozen=True, slots=True)
class File:
    """A file of an owner, and the location of its content."""

    id: int
    owner_id: int
    name: str
    media_type: str
    created_at: datetime
    object: ObjectId
    size: int


@dataclass(frozen=True, slots=True)
class PictureRow:
    """What is known of a file that is a picture. Without thumbnails it cannot be read, and its size is not known."""

    file_id: int
    width: int
    height: int
    blurhash: str
    widths: list[int]  # of its thumbnails, the smallest first


@dataclass(frozen=True, slots=True)
class Referenced:
    """A blob that files refer to, with the ids of some of them."""

    object: ObjectId
    size: int
    is_stored: bool
    file_ids: list[int]


@dataclass(frozen=True, slots=True)
class OwnerUsage:
    owner: str
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class StorageUsage:
    """The totals of the store; loose blobs have no file, waste is to be deleted."""

    blobs: int
    bytes: int
    loose_blobs: int
    loose_bytes: int
    waste: int
    waste_bytes: int


# Statements of steps.


def insertion(file_id: int, owner_id: int, sha256: bytes, name: str, media_type: str) -> Rows:
    """The statement that adds a file with the id from `touch`."""
    row = {"id": file_id, "owner_id": owner_id, "sha256": sha256, "name": name, "media_type": media_type}
    return Rows("forebay.file", [row])


def write_picture(picture: PictureRow, owner_id: int, thumbnails: Sequence[tuple[int, bytes]]) -> Statement:
    """The statement that adds what is known of a file, if it was added before; thumbnails are ids and hashes of stored
    contents, in the order of `widths`."""
    about = (picture.file_id, owner_id, picture.width, picture.height, picture.blurhash, picture.widths)
    ids, hashes = [each[0] for each in thumbnails], [each[1] for each in thumbnails]
    return Statement(load("write_picture"), (*about, ids, hashes))


def deletion(owner_id: int, file_ids: Sequence[int]) -> Statement:
    """The statement that deletes files of an owner."""
    return Statement(load("delete_files"), (list(file_ids), owner_id))


# Putting.


async def touch(pool: Pool, sha256: bytes, size: int, media_type: str, now: datetime | None) -> Touched:
    """Create the blob, or postpone its collection, in a separate transaction."""
    row = await fetch_row(pool, load("touch_blob"), sha256, size, media_type, now)
    assert row is not None  # noqa: S101 - the function always answers one row
    return Touched(ObjectId(sha256, row["life"]), row["is_stored"], row["file_id"])


async def note_stored(pool: Pool, object_: ObjectId, now: datetime | None) -> bool:
    """The object is complete; false when its blob was collected meanwhile."""
    return bool(await fetch_value(pool, load("note_stored"), object_.sha256, object_.life, now))


async def note_waste(pool: Pool, object_: ObjectId, size: int, now: datetime | None) -> None:
    """The object is not needed; it is deleted later."""
    await execute(pool, load("note_waste"), object_.sha256, object_.life, size, now)


# Reading.


async def stored_blobs(conn: Connection, after: bytes, most: int) -> list[Blob]:
    """Complete blobs, with and without files, in the order of their hashes."""
    rows = await fetch(conn, load("list_stored_blobs"), after, most)
    return [Blob(ObjectId(row["sha256"], row["life"]), row["size"], row["media_type"]) for row in rows]


async def find_blob(pool: Pool, sha256: bytes) -> Blob | None:
    row = await fetch_row(pool, load("find_blob"), sha256)
    return None if row is None else Blob(ObjectId(row["sha256"], row["life"]), row["size"], row["media_type"])


async def get(conn: Connection, file_id: int) -> File | None:
    """The file, if the caller may see it."""
    return _file(await fetch_row(conn, load("get_file"), file_id))


async def page(conn: Connection, owner_id: int, after: int, most: int) -> list[File]:
    """Files of an owner in the order of their ids, without thumbnails."""
    rows = await fetch(conn, load("list_files"), owner_id, after, most)
    return [file for file in map(_file, rows) if file is not None]


async def thumbnail(conn: Connection, file_id: int, width: int) -> File | None:
    """The thumbnail of a file that is at least that wide, or else the widest; None if there is none that the caller may
    see."""
    return _file(await fetch_row(conn, load("get_thumbnail"), file_id, width))


def _file(row: asyncpg.Record | None) -> File | None:
    if row is None:
        return None
    values = dict(row)
    return File(object=ObjectId(values.pop("sha256"), values.pop("life")), **values)


async def pictures(conn: Connection, file_ids: Sequence[int]) -> dict[int, PictureRow]:
    """What is known of those of the files that are pictures, by their ids."""
    rows = await fetch(conn, load("list_pictures"), list(file_ids)) if file_ids else []
    return {row["file_id"]: PictureRow(**dict(row)) for row in rows}


# Cleaning and checking.


async def collect(pool: Pool, grace: timedelta, now: datetime | None) -> tuple[int, int]:
    """Turn some unreferenced blobs into waste; returns the number of blobs checked and collected."""
    row = await fetch_row(pool, load("collect_blobs"), grace, now)
    assert row is not None  # noqa: S101 - the function always answers one row
    return row["looked_at"], row["collected"]


async def waste(pool: Pool, most: int) -> list[ObjectId]:
    rows = await fetch(pool, load("list_waste"), most)
    return [ObjectId(row["sha256"], row["life"]) for row in rows]


async def forget_waste(pool: Pool, gone: Sequence[ObjectId]) -> None:
    await execute(pool, load("forget_waste"), [each.sha256 for each in gone], [each.life for each in gone])


async def referenced(conn: Connection, after: bytes, most: int) -> list[Referenced]:
    """Blobs with files, in the order of their hashes."""
    rows = await fetch(conn, load("list_blobs"), after, most)
    return [
        Referenced(ObjectId(row["sha256"], row["life"]), row["size"], row["is_stored"], list(row["file_ids"]))
        for row in rows
    ]


async def known(conn: Connection, objects: Sequence[ObjectId]) -> set[ObjectId]:
    """The objects among these that the database knows."""
    rows = await fetch(conn, load("are_known"), [each.sha256 for each in objects], [each.life for each in objects])
    return {ObjectId(row["sha256"], row["life"]) for row in rows}


async def usage(conn: Connection) -> tuple[StorageUsage, list[OwnerUsage]]:
    async with translating_errors():
        whole = await conn.fetchrow(load("show_storage"))
        owners = await conn.fetch(load("show_usage"))
    assert whole is not None  # noqa: S101 - it is a sum
    return StorageUsage(**dict(whole)), [OwnerUsage(**dict(row)) for row in owners]


# Usage as last counted.


@dataclass(frozen=True, slots=True)
class KindUsage:
    """What an owner stores of one kind: image, video, audio, text, or a media type."""

    owner: str
    owner_id: int
    kind: str
    files: int
    bytes: int


async def count(pool: Pool, now: datetime | None = None) -> None:
    """Count what is stored and keep the numbers, which pages show."""
    await execute(pool, "select forebay.count_storage($1)", now)


async def last_totals(conn: Connection) -> tuple[StorageUsage, datetime] | None:
    """The totals and the time when they were counted; None before the first count."""
    row = await fetch_row(conn, load("last_storage"))
    if row is None:
        return None
    *totals, counted_at = row.values()
    return StorageUsage(*totals), counted_at


async def last_usage(conn: Connection, most: int, owner_ids: Sequence[int] | None = None) -> list[KindUsage]:
    """What owners store, by kind: of the owners that store the most, or of these."""
    rows = await fetch(conn, load("last_usage"), most, None if owner_ids is None else list(owner_ids))
    return [KindUsage(*row.values()) for row in rows]
