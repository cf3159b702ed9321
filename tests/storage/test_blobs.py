"""Putting, reading and cleaning, the same on every kind of store."""

# demands: S2-65, X-08

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from pydantic import BaseModel

from forebay import Context, Done, Pipeline, Rows
from forebay.db.pool import Pool
from forebay.errors import ContentMissing, DataError
from forebay.settings import Settings
from forebay.storage import Blobs, BlobSource, Store, clean, open_store
from forebay.storage import db as files
from forebay.storage.blobs import delete_statement, key_of
from forebay.storage.checking import check
from forebay.testing import testbed
from tests.storage._help import ANN, BIG, BOB, content, keys, pieces, settle, spools

LATER = datetime.now(UTC) + timedelta(days=2)


async def _one_object(conn: asyncpg.Connection[Any], sha256: str) -> str:
    row = await conn.fetchrow("select sha256, life from forebay.blob where sha256 = $1", bytes.fromhex(sha256))
    assert row is not None
    return key_of(files.ObjectId(row["sha256"], row["life"]))


@pytest.mark.parametrize("data", [b"", b"small", BIG, BIG * 5], ids=["empty", "small", "file", "parts"])
@pytest.mark.parametrize("kind", ["bytes", "pieces", "path"])
async def test_what_was_put_is_read(blobs: Blobs, pool: Pool, tmp_path: Path, data: bytes, kind: str) -> None:
    (tmp_path / "source").write_bytes(data)
    source: BlobSource = {"bytes": data, "pieces": pieces(data), "path": tmp_path / "source"}[kind]  # type: ignore[assignment] # of these kinds
    stored = await blobs.put(source, owner_id=ANN, name="a/../x.pdf")
    assert (stored.sha256, stored.size) == (hashlib.sha256(data).hexdigest(), len(data))
    assert (stored.name, stored.media_type) == ("x.pdf", "application/pdf")
    assert await content(await blobs.open(stored.sha256)) == data
    assert await blobs.read(stored.sha256) == data
    assert spools(blobs.store) == []
    if kind == "path":
        assert (tmp_path / "source").read_bytes() == data


@pytest.mark.parametrize(("start", "end"), [(0, 1), (5, 4_000_000), (len(BIG) - 3, None), (len(BIG) - 3, len(BIG))])
async def test_parts_are_read(blobs: Blobs, start: int, end: int | None) -> None:
    stored = await blobs.put(BIG, owner_id=ANN, name="x")
    assert await content(await blobs.open(stored.sha256, start, end)) == BIG[start:end]


async def test_the_same_is_stored_once(blobs: Blobs, pool: Pool, conn: asyncpg.Connection[Any]) -> None:
    put = [blobs.put(pieces(BIG), owner_id=owner, name=f"{n}.txt") for n, owner in enumerate((ANN, BOB, ANN))]
    stored = await asyncio.gather(*put)
    await settle(pool, *stored)
    assert len(await keys(blobs.store)) == 1
    assert len({each.file_id for each in stored}) == 3
    rows = await conn.fetch("select id, owner_id, name, media_type from forebay.file order by name")
    assert [tuple(row) for row in rows] == [
        (each.file_id, each.owner_id, each.name, "text/plain") for each in sorted(stored, key=lambda s: s.name)
    ]


async def test_a_step_makes_a_file_and_the_row_that_refers_to_it_at_once(
    blobs: Blobs, dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    await conn.execute("create table page (id int primary key, file_id bigint not null references forebay.file)")
    shots: Pipeline[Shot] = Pipeline("shots", Shot)

    @shots.step()
    async def shoot(ctx: Context, shot: Shot) -> Done[int]:
        stored = await blobs.put(shot.text.encode(), owner_id=ctx.owner_id, name="shot.png")
        writes = [stored.write(), Rows("page", [{"id": len(shot.text), "file_id": stored.file_id}])]
        return Done(stored.file_id, writes=writes)

    async with testbed(dsn, [shots], migrated=True) as bed:
        jobs = [await bed.submit(shots, Shot(text=text)) for text in ("one", "three", "two")]
        await bed.finish()
        statuses = [(await bed.item(job)).status for job in jobs]
    assert sorted(statuses) == ["DONE", "DONE", "ERROR"]  # whose page was there already has no file either
    rows = await conn.fetch(
        "select p.id, b.size from page p join forebay.file f on f.id = file_id join forebay.blob b using (sha256)"
    )
    assert sorted(tuple(row) for row in rows) == [(3, 3), (5, 5)]
    assert await conn.fetchval("select count(*) from forebay.file") == 2


class Shot(BaseModel):
    text: str


# Nothing is left behind.


async def test_what_is_too_large_is_refused(blobs: Blobs) -> None:
    with pytest.raises(DataError, match=r"^has more than 4000000 bytes, the maximum$"):
        await blobs.put(pieces(BIG), owner_id=ANN, name="x", max_bytes=4_000_000)
    with pytest.raises(DataError, match=r"^has more than 3 bytes"):
        await blobs.put(b"four", owner_id=ANN, name="x", max_bytes=3)
    stored = await blobs.put(b"four", owner_id=ANN, name="x")
    with pytest.raises(DataError, match=r"^has 4 bytes; at most 3 are read at once$"):
        await blobs.read(stored.sha256, max_bytes=3)


async def test_what_is_too_large_leaves_nothing(blobs: Blobs, conn: asyncpg.Connection[Any]) -> None:
    with pytest.raises(DataError):
        await blobs.put(pieces(BIG), owner_id=ANN, name="x", max_bytes=4_000_000)
    assert (await keys(blobs.store), spools(blobs.store)) == ([], [])
    assert await conn.fetchval("select count(*) from forebay.blob") == 0


async def test_a_source_that_breaks_leaves_nothing(blobs: Blobs, conn: asyncpg.Connection[Any]) -> None:
    async def breaks() -> AsyncIterator[bytes]:
        yield BIG
        raise ConnectionResetError("gone")

    with pytest.raises(ConnectionResetError):
        await blobs.put(breaks(), owner_id=ANN, name="x")
    assert (await keys(blobs.store), spools(blobs.store)) == ([], [])
    assert await conn.fetchval("select count(*) from forebay.blob") == 0


async def test_a_put_that_is_cancelled_leaves_nothing(blobs: Blobs) -> None:
    begun = asyncio.Event()

    async def stalls() -> AsyncIterator[bytes]:
        yield BIG
        begun.set()
        await asyncio.Event().wait()

    put = asyncio.create_task(blobs.put(stalls(), owner_id=ANN, name="x"))
    await begun.wait()
    assert len(spools(blobs.store)) == 1
    put.cancel()
    with pytest.raises(asyncio.CancelledError):
        await put
    assert spools(blobs.store) == []


# What somebody does to the store behind our back.


async def test_content_that_vanished_is_stored_anew(blobs: Blobs, pool: Pool, conn: asyncpg.Connection[Any]) -> None:
    stored = await blobs.put(b"text", owner_id=ANN, name="x")
    await settle(pool, stored)
    await blobs.store.delete(await _one_object(conn, stored.sha256))
    with pytest.raises(ContentMissing):
        await blobs.open(stored.sha256)
    with pytest.raises(ContentMissing, match="there is no content"):
        await blobs.read("00" * 32)
    damaged = await check(conn, blobs.store)
    assert [(damage.kind, damage.file_ids) for damage in damaged.damages] == [("missing", [stored.file_id])]
    await blobs.put(b"text", owner_id=BOB, name="y")
    assert await blobs.read(stored.sha256) == b"text"
    assert (await check(conn, blobs.store, deep=True)).damages == []


async def test_check_finds_every_damage(blobs: Blobs, pool: Pool, conn: asyncpg.Connection[Any]) -> None:
    stored = [await blobs.put(text.encode(), owner_id=ANN, name="x") for text in ("one", "two", "three", "loose")]
    await settle(pool, *stored[:3])
    for which, data in ((0, b"on"), (1, b"owt")):
        other = await blobs.put(data, owner_id=ANN, name="x")
        await _overwrite(blobs.store, await _one_object(conn, stored[which].sha256), data)
        await blobs.store.delete(await _one_object(conn, other.sha256))
    await _overwrite(blobs.store, f"ab/{'0' * 62}-77", b"of another database")
    shallow, deep = await check(conn, blobs.store), await check(conn, blobs.store, deep=True)
    assert (deep.blobs, deep.bytes, deep.unknown, deep.unknown_bytes) == (3, 11, 1, 19)
    assert [damage.kind for damage in shallow.damages] == ["size"]
    assert {damage.kind: damage.file_ids for damage in deep.damages} == {
        "size": [stored[0].file_id],
        "content": [stored[1].file_id],
    }


async def _overwrite(store: Store, key: str, data: bytes) -> None:
    from forebay.storage.spool import spooled

    async with spooled(data, store.spool) as spool:
        await store.put(key, spool, "text/plain")


# Cleaning.


async def test_only_what_no_file_refers_to_is_cleaned_away(
    blobs: Blobs, pool: Pool, conn: asyncpg.Connection[Any]
) -> None:
    kept, loose = await blobs.put(b"kept", owner_id=ANN, name="x"), await blobs.put(b"loose", owner_id=ANN, name="y")
    await settle(pool, kept)
    assert await clean(pool, blobs.store) == 0  # both have just been put
    assert len(await keys(blobs.store)) == 2
    assert await clean(pool, blobs.store, now=LATER) == 1
    assert await keys(blobs.store) == [await _one_object(conn, kept.sha256)]
    with pytest.raises(ContentMissing):
        await blobs.read(loose.sha256)
    assert await clean(pool, blobs.store, now=LATER) == 0
    assert await conn.fetchval("select count(*) from forebay.waste") == 0


async def test_content_goes_with_its_last_file(blobs: Blobs, pool: Pool, conn: asyncpg.Connection[Any]) -> None:
    first, second = [await blobs.put(b"both", owner_id=owner, name="x") for owner in (ANN, BOB)]
    await settle(pool, first, second)
    assert await clean(pool, blobs.store, now=LATER) == 0
    for stored, left in ((first, 1), (second, 0)):
        wrong = delete_statement(3, [stored.file_id])
        await conn.execute(wrong.sql, *wrong.args)  # another owner's
        right = delete_statement(stored.owner_id, [stored.file_id])
        await conn.execute(right.sql, *right.args)
        assert await conn.fetchval("select count(*) from forebay.file") == left
        assert await clean(pool, blobs.store, now=LATER + timedelta(days=1)) == 1 - left
    assert await keys(blobs.store) == []
    again = await blobs.put(b"both", owner_id=ANN, name="x")
    assert await blobs.read(again.sha256) == b"both"


async def test_a_put_keeps_what_was_about_to_go(blobs: Blobs, pool: Pool) -> None:
    await blobs.put(b"text", owner_id=ANN, name="x", now=LATER - timedelta(days=5))
    again = await blobs.put(b"text", owner_id=ANN, name="x", now=LATER - timedelta(hours=1))
    assert await clean(pool, blobs.store, now=LATER) == 0
    await settle(pool, again)
    assert await clean(pool, blobs.store, now=LATER + timedelta(days=9)) == 0
    assert await blobs.read(again.sha256) == b"text"


async def test_spools_of_the_dead_are_deleted(blobs: Blobs, pool: Pool) -> None:
    blobs.store.spool.mkdir(parents=True)
    old, young, other = [blobs.store.spool / name for name in ("put-old", "put-young", "notes")]
    for file in (old, young, other):
        file.write_bytes(b"half")
    for file in (old, other):
        os.utime(file, (0, time.time() - 2 * 86400))
    await clean(pool, blobs.store)
    assert sorted(spools(blobs.store)) == ["notes", "put-young"]
    assert await keys(blobs.store) == []


async def test_links_of_the_store_lead_to_the_object(blobs: Blobs, conn: asyncpg.Connection[Any]) -> None:
    import httpx

    page = await blobs.put(b"<script>", owner_id=ANN, name="x.html")
    image = await blobs.put(b"pixels", owner_id=ANN, name="x.png")
    key = await _one_object(conn, page.sha256)
    link = await blobs.store.sign(key, 60)
    if "s3://" not in blobs.store.place:
        assert link is None
        return
    assert link is not None
    async with httpx.AsyncClient() as client:
        shown = await client.get(link)
        picture = await client.get(await blobs.store.sign(await _one_object(conn, image.sha256), 60) or "")
        forged = await client.get(link[:-1] + ("0" if link[-1] != "0" else "1"))
    assert (shown.content, shown.headers["content-type"]) == (b"<script>", "application/octet-stream")
    assert shown.headers["content-disposition"] == "attachment"
    assert (picture.headers["content-type"], "content-disposition" in picture.headers) == ("image/png", False)
    assert forged.status_code == 403


async def test_settings_find_the_same_store_again(blobs: Blobs, pool: Pool, settings: Settings) -> None:
    stored = await blobs.put(b"text", owner_id=ANN, name="x")
    assert await Blobs(pool, open_store(settings)).read(stored.sha256) == b"text"
