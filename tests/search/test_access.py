"""Row-level security holds under the index of vectors, and large and filtered searches use their indexes."""

from __future__ import annotations

import json
import random
from typing import Any

import asyncpg
import pytest

from forebay.db.role_pool import API
from forebay.search import db
from tests.search._index import Index

DIMENSIONS = 8


async def ids_of(index: Index, owner: int) -> list[int]:
    rows = await index.bed.pool.fetch("select id from forebay.search_document where owner_id = $1", owner)
    return [row["id"] for row in rows]


async def fill(index: Index, counts: dict[str, int]) -> int:
    """Documents with one random vector each, as if a model had embedded them."""
    pool, rng = index.bed.pool, random.Random(3)
    opened = await db.open_model(pool, "random", DIMENSIONS)
    for owner, count in counts.items():
        number = await index.owner(owner)
        await pool.execute(
            "insert into forebay.search_document (owner_id, kind, ref, title, body, written_at, content_hash, tags)"
            " select $1, 'note', n::text, 'Title', 'river ' || n, now(), 'x',"
            " case when n % 50 = 0 then '{rare}'::text[] else '{}' end from generate_series(1, $2) n",
            number,
            count,
        )
        ids = [
            row["id"] for row in await pool.fetch("select id from forebay.search_document where owner_id = $1", number)
        ]
        vectors = [[rng.gauss(0, 1) for _ in range(DIMENSIONS)] for _ in ids]
        await pool.execute(
            "insert into forebay.search_chunk (model_id, document_id, owner_id, hash, starts, stops, embedding)"
            " select $1, v.id, $2, 'h', 0, 5, v.vector::real[] from unnest($3::bigint[], $4::text[]) v(id, vector)",
            opened["id"],
            number,
            ids,
            ["{" + ",".join(map(str, vector)) + "}" for vector in vectors],
        )
    await pool.execute("analyze forebay.search_document, forebay.search_chunk")
    return int(opened["id"])


async def acting(conn: asyncpg.Connection[Any], owner: int) -> None:
    await conn.execute("select forebay.enter($1, $2, null)", API, owner)


async def near(
    conn: Any, model: int, vector: list[float], most_exact: int, given: str = "{}"
) -> list[tuple[int, float]]:
    rows = await conn.fetch(
        "select id, distance from forebay.find_by_meaning($1, $2::real[], $3::text::jsonb, 10, $4)",
        model,
        vector,
        given,
        most_exact,
    )
    return [(row["id"], row["distance"]) for row in rows]


async def test_filtered_searches_by_the_index_find_what_an_exact_search_finds(index: Index) -> None:
    model = await fill(index, {"ann": 60, "bob": 5940})
    ann, bob, rng = await index.owner("ann"), await index.owner("bob"), random.Random(5)
    found = wanted = 0
    async with index.bed.pool.acquire() as conn, conn.transaction():
        for n in range(20):
            vector = [rng.gauss(0, 1) for _ in range(DIMENSIONS)]
            await conn.execute("select set_config('forebay.owner_id', $1, true)", str(ann if n % 2 else bob))
            given = "{}" if n % 2 else json.dumps({"tags": ["rare"]})
            exact = {number for number, _ in await near(conn, model, vector, 1_000_000, given)}
            approximate = {number for number, _ in await near(conn, model, vector, 0, given)}
            assert len(exact) == 10
            found, wanted = found + len(exact & approximate), wanted + 10
    assert found / wanted >= 0.95


async def test_a_second_owner_sees_no_vector_of_the_first(index: Index) -> None:
    model = await fill(index, {"ann": 300, "bob": 3})
    ann, bob = await index.owner("ann"), await index.owner("bob")
    theirs = {
        row["id"]
        for row in await index.bed.pool.fetch("select id from forebay.search_document where owner_id = $1", bob)
    }
    async with index.bed.pool.acquire() as conn, conn.transaction():
        await acting(conn, bob)  # type: ignore[arg-type]
        vector = [1.0] * DIMENSIONS
        for most_exact in (0, 1000):
            assert {number for number, _ in await near(conn, model, vector, most_exact)} == theirs
        ordered = (
            "select document_id from forebay.search_chunk c where c.model_id = $1"
            " order by c.embedding::halfvec(8) <=> $2::real[]::halfvec limit 50"
        )
        assert {row["document_id"] for row in await conn.fetch(ordered, model, vector)} == theirs
        for table in ("search_document", "search_chunk", "search_indexed", "search_word", "saved_search"):
            assert await conn.fetchval(f"select count(*) from forebay.{table} where owner_id <> $1", bob) == 0
    async with index.bed.pool.acquire() as conn, conn.transaction():
        await acting(conn, 0)  # type: ignore[arg-type]
        assert await near(conn, model, vector, 0) == []
    for change in (
        "update forebay.search_model set state = 'old'",
        "delete from forebay.search_chunk",
        "select forebay.activate_search_model(1)",
        "select forebay.drop_search_model(1)",
        f"delete from forebay.search_chunk_{model}",
    ):
        async with index.bed.pool.acquire() as conn, conn.transaction():
            await acting(conn, ann)  # type: ignore[arg-type]
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await conn.execute(change)


async def plan_of(conn: Any, sql: str, *args: object) -> str:
    rows = await conn.fetch(f"explain {sql}", *args)
    return "\n".join(row[0] for row in rows)


async def test_the_index_of_vectors_and_the_index_of_words_are_used(index: Index) -> None:
    model = await fill(index, {"bob": 5000})
    bob = await index.owner("bob")
    async with index.bed.pool.acquire() as conn, conn.transaction():
        await conn.execute("set local enable_sort = off; set local enable_seqscan = off")
        plan = await plan_of(
            conn,
            f"select c.document_id from forebay.search_chunk_{model} c"
            f" where c.owner_id = {bob} and (select d.tags @> '{{rare}}' from forebay.search_document d"
            " where d.id = c.document_id)"
            " order by c.embedding::halfvec(8) <=> '[1,1,1,1,1,1,1,1]'::halfvec limit 20",
        )
        assert "embedding_idx" in plan
        assert "Sort" not in plan
    async with index.bed.pool.acquire() as conn, conn.transaction():
        await conn.execute("set local enable_seqscan = off")
        plan = await plan_of(
            conn,
            "select d.id from forebay.search_document d"
            f" where d.search @@ forebay.document_question('river 77') and d.owner_id = {bob}"
            " order by d.id desc limit 100",
        )
        assert "search_document_words" in plan


async def test_deleting_a_document_finds_its_chunks_by_an_index(index: Index) -> None:
    await fill(index, {"bob": 5000})
    async with index.bed.pool.acquire() as conn:
        await conn.execute("analyze forebay.search_chunk")
        plan = await plan_of(conn, "delete from forebay.search_chunk where document_id = 77")  # as the cascade does
        assert "Index" in plan
        assert "Seq Scan" not in plan
