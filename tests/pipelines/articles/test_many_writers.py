"""Many writers change articles while they are embedded: in the end, the index has the vectors of the last texts."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import asyncpg
import pytest

from forebay.pipelines.articles import db as rows
from tests.pipelines.articles._bed import Bed, embedding

if TYPE_CHECKING:
    from tests.conftest import NewDatabase


async def _write(bed: Bed, made: list[int], updates: int, seed: int) -> None:
    chance = random.Random(seed)
    conn = await asyncpg.connect(bed.dsn)
    try:
        for number in range(updates):
            text = "\n\n".join(f"part {part} of {chance.randrange(50)} by {seed} {number}" for part in range(3))
            await rows.update(conn, chance.choice(made), None, rows.ArticleValues(None, text), rows.Embedding())
    finally:
        await conn.close()


async def _check(new_database: NewDatabase, articles: int, writers: int, updates: int) -> None:
    with new_database() as dsn:
        async with embedding(dsn) as bed:
            made = [await bed.create(f"Article {number}", "first") for number in range(articles)]
            writing = asyncio.gather(*(_write(bed, made, updates, seed) for seed in range(writers)))
            while not writing.done():
                await bed.bed.run()
                await asyncio.sleep(0)
            await writing
            await bed.bed.finish()
            for article in made:
                row = await rows.get(bed.conn, article)
                assert row is not None
                assert (row["embedding"], row["embedded_version"]) == ("fresh", row["version"])
                fresh = await bed.create(row["title"], row["content"], owner="fresh")
                await bed.bed.finish()
                assert await bed.chunks(article) == await bed.chunks(fresh)
            assert (await bed.counts())["failed"] == 0


async def test_the_index_equals_a_fresh_embedding_of_the_last_texts(new_database: NewDatabase) -> None:
    await _check(new_database, articles=5, writers=4, updates=25)


@pytest.mark.soak
async def test_ten_thousand_updates_by_twenty_writers(new_database: NewDatabase) -> None:
    await _check(new_database, articles=100, writers=20, updates=500)
