"""Puts, settles, deletions and the sweep in the orders that could lose content: none does."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from forebay.db.pool import Pool
from forebay.engine.db.writes import Writer
from forebay.errors import ContentMissing, TransientError
from forebay.storage import Blobs, Store, clean
from forebay.storage import db as files
from forebay.storage.blobs import delete_statement
from tests.crash._rig import eventually
from tests.storage._help import ANN, BIG, Held, keys, settle

LATER = datetime.now(UTC) + timedelta(days=2)
DAY = timedelta(days=1)


_TOO_SHORT = r"^blobs are deleted before they are stored: raise FOREBAY_STORAGE_GRACE_S$"

# A sweep that passes this gate has its snapshot already, and has not locked any blob yet.
_GATE = """
create function gate() returns boolean language plpgsql volatile as $$
begin
    perform pg_advisory_xact_lock_shared(4711);
    return true;
end $$;
alter table forebay.blob rename to blob_behind;
create view forebay.blob as select b.* from forebay.blob_behind b where gate();
"""


async def _waiting(conn: asyncpg.Connection[Any]) -> bool:
    return bool(await conn.fetchval("select exists (select from pg_locks where not granted)"))


async def test_a_blob_that_is_collected_while_it_is_uploaded_is_uploaded_again(
    blobs: Blobs, pool: Pool, store: Store
) -> None:
    held = Held(store, "put")
    put = asyncio.create_task(Blobs(pool, held.as_store).put(BIG, owner_id=ANN, name="x"))
    await held.reached.wait()
    assert await clean(pool, store, now=LATER) == 1  # its object, which is not there yet
    held.go.set()
    stored = await put
    assert len(await keys(store)) == 2
    await settle(pool, stored)
    assert await clean(pool, store, now=LATER) == 1  # the object of the first upload
    assert len(await keys(store)) == 1
    assert await blobs.read(stored.sha256) == BIG


async def test_a_put_gives_up_when_its_blob_is_collected_again_and_again(pool: Pool, store: Store) -> None:
    class Hostile(Held):
        async def put(self, *args: Any) -> None:
            await store.put(*args)
            await files.collect(pool, DAY, LATER)

    with pytest.raises(TransientError, match=_TOO_SHORT):
        await Blobs(pool, Hostile(store, "").as_store).put(b"text", owner_id=ANN, name="x")
    assert await clean(pool, store, now=LATER) == 3
    assert await keys(store) == []


async def test_a_deletion_that_is_late_hits_nothing_that_was_put_since(blobs: Blobs, pool: Pool, store: Store) -> None:
    await blobs.put(b"text", owner_id=ANN, name="x")
    held = Held(store, "delete")
    cleaning = asyncio.create_task(clean(pool, held.as_store, now=LATER))
    await held.reached.wait()
    stored = await blobs.put(b"text", owner_id=ANN, name="x")
    await settle(pool, stored)
    held.go.set()
    assert await cleaning == 1
    assert await blobs.read(stored.sha256) == b"text"
    assert len(await keys(store)) == 1


async def test_a_put_waits_for_the_sweep_that_collects_the_same(
    blobs: Blobs, pool: Pool, store: Store, conn: asyncpg.Connection[Any]
) -> None:
    await blobs.put(b"text", owner_id=ANN, name="x")
    async with pool.acquire() as sweep:
        transaction = sweep.transaction()
        await transaction.start()
        assert await sweep.fetchval("select collected from forebay.collect_blobs($1, $2)", DAY, LATER) == 1
        put = asyncio.create_task(blobs.put(b"text", owner_id=ANN, name="x"))
        await eventually("the put waits", lambda: _waiting(conn))
        await transaction.commit()
    stored = await put
    await settle(pool, stored)
    assert await clean(pool, store, now=LATER) == 1
    assert await blobs.read(stored.sha256) == b"text"


async def test_the_sweep_passes_over_what_is_being_touched(blobs: Blobs, pool: Pool, store: Store) -> None:
    await blobs.put(b"text", owner_id=ANN, name="x", now=LATER - 9 * DAY)
    async with pool.acquire() as putting, putting.transaction():
        await putting.execute("select forebay.touch_blob(sha256, size, media_type, $1) from forebay.blob", LATER)
        assert await clean(pool, store, now=LATER) == 0
    assert await clean(pool, store, now=LATER) == 0
    assert await clean(pool, store, now=LATER + 2 * DAY) == 1


async def test_the_sweep_passes_over_what_is_just_getting_a_file(blobs: Blobs, pool: Pool, store: Store) -> None:
    stored = await blobs.put(b"text", owner_id=ANN, name="x")
    async with pool.acquire() as settling, settling.transaction():
        await Writer().apply(settling, [stored.write()])
        assert await clean(pool, store, now=LATER) == 0
    assert await clean(pool, store, now=LATER) == 0
    assert await blobs.read(stored.sha256) == b"text"


async def test_a_file_that_comes_after_the_snapshot_of_the_sweep_counts(
    blobs: Blobs, pool: Pool, store: Store, conn: asyncpg.Connection[Any]
) -> None:
    """The sweep has its list of old blobs, and waits; when it goes on, one of them has got a file."""
    stored = await blobs.put(b"text", owner_id=ANN, name="x")
    await conn.execute(_GATE)
    await conn.execute("select pg_advisory_lock(4711)")
    collecting = asyncio.create_task(files.collect(pool, DAY, LATER))
    await eventually("the sweep has its snapshot", lambda: _waiting(conn))
    await settle(pool, stored)
    await conn.execute("select pg_advisory_unlock(4711)")
    assert await collecting == (1, 0)
    assert await conn.fetchval("select touched_at from forebay.blob_behind") is None


async def test_a_file_without_its_content_is_refused(blobs: Blobs, pool: Pool, store: Store) -> None:
    """A step that took longer than the grace period."""
    stored = await blobs.put(b"text", owner_id=ANN, name="x")
    assert await clean(pool, store, now=LATER) == 1
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await settle(pool, stored)
    with pytest.raises(ContentMissing):
        await blobs.read(stored.sha256)


@pytest.mark.parametrize("first", ["sweep", "deletion"])
async def test_content_whose_file_is_deleted_while_the_sweep_looks_is_not_forgotten(
    blobs: Blobs, pool: Pool, store: Store, conn: asyncpg.Connection[Any], first: str
) -> None:
    stored = await blobs.put(b"text", owner_id=ANN, name="x")
    await settle(pool, stored)
    forget = delete_statement(ANN, [stored.file_id])
    async with pool.acquire() as one, pool.acquire() as other:
        transaction = one.transaction()
        await transaction.start()
        if first == "sweep":
            await one.execute("select forebay.collect_blobs($1, $2)", DAY, LATER)
            late = asyncio.create_task(other.execute(forget.sql, *forget.args))
            await eventually("the deletion waits", lambda: _waiting(conn))
        else:
            await one.execute(forget.sql, *forget.args)
            late = asyncio.create_task(other.execute("select forebay.collect_blobs($1, $2)", DAY, LATER))
            await late
        await transaction.commit()
        await late
    assert await clean(pool, store, now=LATER + DAY) == 1
    assert await keys(store) == []


async def test_many_cleaners_do_no_harm(blobs: Blobs, pool: Pool, store: Store) -> None:
    stored = [await blobs.put(f"text {n}".encode(), owner_id=ANN, name="x") for n in range(20)]
    await settle(pool, *stored[:5])
    await asyncio.gather(*(clean(pool, store, now=LATER) for _ in range(4)))
    assert len(await keys(store)) == 5
    for each in stored[:5]:
        assert await blobs.read(each.sha256)
