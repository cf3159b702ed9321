"""Documents are put, indexed and deleted; a stale result never replaces a newer one."""

from __future__ import annotations

from pathlib import Path

from forebay.pipelines.indexing.steps import index
from forebay.search.documents import Document, delete_document, put_document
from forebay.settings import Settings
from forebay.testing import testbed


async def test_a_document_is_indexed_after_it_was_put(dsn: str, tmp_path: Path) -> None:
    async with testbed(dsn, [index], settings=Settings(data_dir=tmp_path)) as bed:
        async with bed.pool.acquire() as conn, conn.transaction():
            owner = await conn.fetchval("select forebay.owner_id('ann')")
            first = await put_document(conn, owner, Document("note", "1", "Cats", "A cat sat on the mat. It purred."))
            again = await put_document(conn, owner, Document("note", "1", "Cats", "A cat sat on the mat. It purred."))
        assert (first.changed, again.changed, again.id, again.version) == (True, False, first.id, 1)
        await bed.finish()
        chunks = await bed.pool.fetch("select document_id, starts, stops from forebay.search_chunk")
        assert [tuple(row) for row in chunks] == [(first.id, 0, 32)]
        async with bed.pool.acquire() as conn:
            assert await delete_document(conn, owner, "note", "1")
            assert not await delete_document(conn, owner, "note", "1")
        assert await bed.pool.fetchval("select count(*) from forebay.search_chunk") == 0
