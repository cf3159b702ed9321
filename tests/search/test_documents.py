"""Documents are put, embedded and deleted; only changed chunks are embedded, and a stale result replaces nothing."""

# demands: S4-69, S4-70

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import asyncpg
import numpy as np
import pytest
from numpy.typing import NDArray

from forebay.db.migrate import check, migrate
from forebay.db.schema_parts import all_parts
from forebay.pipelines.indexing.steps import index as index_pipeline
from forebay.search import db
from forebay.search.documents import (
    Document,
    IndexJob,
    delete_document,
    put_document,
    write_deleted,
    write_document,
)
from forebay.search.embedding import embed_documents, second_at
from forebay.settings import Settings
from forebay.testing import Testbed, testbed
from tests.search._index import Index


class CountingModel:
    """A model whose vectors are chosen by the text, and that remembers what it embedded."""

    name, dimensions, max_tokens = "counting", 2, 64

    def __init__(self) -> None:
        self.texts: list[str] = []

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return np.array([[1.0, len(text) % 7] for text in texts], np.float32)


async def put(bed: Testbed, ref: str, text: str, **more: object) -> tuple[int, int, bool]:
    async with bed.pool.acquire() as conn, conn.transaction():
        owner = await conn.fetchval("select forebay.owner_id('ann')")
        done = await put_document(conn, owner, Document("note", ref, "Title", text, **more), IndexJob(submits=False))  # type: ignore[arg-type]
        return done.id, done.version, done.changed


async def write(bed: Testbed, statement: object) -> bool:
    assert statement is not None
    return bool(await bed.pool.fetchval(statement.sql, *statement.args))  # type: ignore[attr-defined]


async def test_only_changed_chunks_are_embedded_and_stale_results_are_dropped(index: Index) -> None:
    bed, model = index.bed, CountingModel()
    paragraphs = [f"# Part {n}\n\n" + f"Sentence about {n}. " * 15 for n in range(6)]
    number, version, changed = await put(bed, "1", "\n\n".join(paragraphs))
    assert (version, changed) == (1, True)
    opened = await db.open_model(bed.pool, model.name, model.dimensions)
    first = (await embed_documents(bed.pool, model, opened["id"], [number]))[number]
    total = first.chunks
    assert first.new == total == len(model.texts) > 3
    assert model.texts[0].startswith("Title\n# Part 0")
    paragraphs[4] = "# Part 4\n\n" + "Something else of it. " * 12
    assert (await put(bed, "1", "\n\n".join(paragraphs)))[1] == 2
    assert await write(bed, first.write)  # the text is newer, but so far nothing was there
    second = (await embed_documents(bed.pool, model, opened["id"], [number]))[number]
    assert second.new == 1
    assert await write(bed, second.write)
    assert not await write(bed, first.write)
    stored = await bed.pool.fetch("select hash from forebay.search_chunk where document_id = $1", number)
    assert len(stored) == second.chunks
    again = (await embed_documents(bed.pool, model, opened["id"], [number]))[number]
    assert (again.new, again.write) == (0, None)
    # A chunk that the result relies on was deleted by another version: the step has to run again.
    await put(bed, "1", "\n\n".join([*paragraphs, "More of it."]))
    third = (await embed_documents(bed.pool, model, opened["id"], [number]))[number]
    await bed.pool.execute("delete from forebay.search_chunk where document_id = $1", number)
    with pytest.raises(asyncpg.SerializationError, match="another version of document"):
        await write(bed, third.write)
    await bed.pool.execute("delete from forebay.search_document")
    assert not await write(bed, third.write)
    assert await embed_documents(bed.pool, model, opened["id"], [number]) == {}


async def test_chunks_whose_version_was_forgotten_get_their_new_places(index: Index) -> None:
    """A write beside a query that forgets a document may leave chunks of which the index does not know the version."""
    bed, model = index.bed, CountingModel()
    paragraphs = [f"# Part {n}\n\n" + f"Sentence about {n}. " * 15 for n in range(3)]
    number, _, _ = await put(bed, "1", "\n\n".join(paragraphs))
    opened = await db.open_model(bed.pool, model.name, model.dimensions)
    assert await write(bed, (await embed_documents(bed.pool, model, opened["id"], [number]))[number].write)
    await bed.pool.execute("delete from forebay.search_indexed")
    await put(bed, "1", "\n\n".join(["# New\n\n" + "Before the others. " * 15, *paragraphs]))
    embedded = (await embed_documents(bed.pool, model, opened["id"], [number]))[number]
    assert 0 < embedded.new < embedded.chunks
    assert await write(bed, embedded.write)
    assert embedded.write is not None
    hashes, starts, stops = cast("list[list[Any]]", embedded.write.args[3:6])
    stored = await bed.pool.fetch("select hash, starts, stops from forebay.search_chunk")
    assert {tuple(row) for row in stored} == set(zip(hashes, starts, stops, strict=True))


async def test_an_older_source_version_and_an_equal_text_change_nothing(index: Index) -> None:
    bed = index.bed
    assert (await put(bed, "1", "New.", source_version=7))[1:] == (1, True)
    assert (await put(bed, "1", "Old.", source_version=6))[1:] == (1, False)
    assert await bed.pool.fetchval("select body from forebay.search_document") == "New."
    assert (await put(bed, "1", "New.", source_version=8, tags=["a"]))[1:] == (1, False)
    assert await bed.pool.fetchval("select tags from forebay.search_document") == ["a"]
    # What was not to be embedded, and is now, is embedded.
    assert (await put(bed, "2", "Text\0 with \ud800.", embed=False))[1:] == (1, True)
    assert (await put(bed, "2", "Text\0 with \ud800.", embed=True))[1:] == (1, True)
    assert await bed.pool.fetchval("select body from forebay.search_document where ref = '2'") == "Text with ?."


async def test_documents_are_written_and_deleted_by_statements_of_steps(index: Index) -> None:
    bed, owner = index.bed, await index.owner("ann")
    statement = write_document(owner, Document("note", "1", "T", "Text.", details={"page": 3}))
    await bed.pool.execute(statement.sql, *statement.args)
    assert await bed.pool.fetchval("select details ->> 'page' from forebay.search_document") == "3"
    assert await bed.pool.fetchval("select count(*) from forebay.jobs where pipeline = 'index'") == 1
    statement = write_deleted(owner, "note", "1")
    await bed.pool.execute(statement.sql, *statement.args)
    async with bed.pool.acquire() as conn:
        assert not await delete_document(conn, owner, "note", "1")
    await bed.finish()  # the job finds that the document is gone
    assert await bed.pool.fetchval("select state from forebay.jobs where pipeline = 'index'") == "DONE"


async def test_rapid_changes_share_a_job_and_the_last_text_is_embedded(index: Index) -> None:
    for n in range(5):
        await index.put("ann", "1", "Title", f"Text number {n}.")
    assert await index.bed.pool.fetchval("select count(*) from forebay.jobs where pipeline = 'index'") == 1
    await index.bed.finish()
    row = await index.bed.pool.fetchrow(
        "select i.version, c.stops from forebay.search_indexed i, forebay.search_chunk c"
    )
    assert row is not None
    assert tuple(row) == (5, len("Text number 4."))


async def test_a_document_that_is_no_longer_embedded_loses_its_vectors(index: Index) -> None:
    await index.put("ann", "1", "Title", "Text.")
    await index.bed.finish()
    assert await index.bed.pool.fetchval("select count(*) from forebay.search_chunk") == 1
    assert (await index.put("ann", "1", "Title", "Text.", embed=False)).changed
    await index.bed.finish()
    for table in ("search_chunk", "search_indexed"):
        assert await index.bed.pool.fetchval(f"select count(*) from forebay.{table}") == 0


def test_the_second_of_a_chunk() -> None:
    assert second_at([(0, 2.0), (50, 9.5)], 49) == 2.0
    assert second_at([(5, 2.0)], 0) is None  # a description, before what is said
    assert second_at([], 0) is None


@pytest.mark.pg15
async def test_without_the_extension_documents_are_found_by_words(pg15_dsn: str, data_dir: Path) -> None:
    settings = Settings(data_dir=data_dir)
    async with testbed(pg15_dsn, [index_pipeline], settings=settings) as bed:
        assert not await db.has_vectors(bed.pool)
        async with bed.pool.acquire() as conn, conn.transaction():
            owner = await conn.fetchval("select forebay.owner_id('ann')")
            await put_document(conn, owner, Document("note", "1", "Mills", "A mill grinds corn."))
        await bed.finish()
        async with bed.pool.acquire() as conn, conn.transaction():
            await conn.execute("select set_config('forebay.owner_id', $1, true)", str(owner))
            assert await db.find_by_words(conn, "mill", "{}", 10) != []
            assert await db.find_by_meaning(conn, 1, [0.0], "{}", 10) == []
            assert await db.document_vector(conn, 1, 1) is None


async def test_vectors_are_added_when_the_extension_comes_later(dsn: str) -> None:
    """The database is put into the state that a server without the extension leaves it in: see the test above."""
    conn = await asyncpg.connect(dsn)
    try:
        await conn.execute("drop table forebay.search_chunk; drop extension vector")
        await conn.execute("delete from forebay.migration where part = 'search' and version = 2")
        await check(conn, all_parts())
        assert not await db.has_vectors(conn)
        assert await migrate(dsn, service=True) == 1
        assert await db.has_vectors(conn)
        secured = "select relrowsecurity from pg_class where oid = 'forebay.search_chunk'::regclass"
        assert await conn.fetchval(secured)
        assert await migrate(dsn, service=True) == 0
    finally:
        await conn.close()
