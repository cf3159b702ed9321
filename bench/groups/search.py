"""Searches: recall and speed of the index of vectors, quality on a labelled set, and what embedding costs."""

# demands: S4-101

import asyncio
import os
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import asyncpg
import numpy as np
import psutil
from numpy.typing import NDArray

from bench import wordnet
from bench.harness import BenchError, Context, connected
from bench.measure import median, percentile
from forebay.db.pool import Connection, open_pool
from forebay.search import db, finding
from forebay.search.documents import Document, put_document
from forebay.search.finding import Filter, Vector
from forebay.search.question import Question
from forebay.services.embeddings.local import DIMENSIONS, LocalModel, open_local

MEMORY_BAR = 400.0
QUESTIONS = 100
SMALL_SHARE = 100  # the second owner has one of so many vectors
BATCHES = (8, 16, 32, 64)
_REGISTERED = "select exists (select from forebay.pipeline where name = 'index')"
_EMBEDDED = "select count(*) from forebay.search_indexed i join forebay.search_document d on d.id = i.document_id"

Vectors = NDArray[np.float32]


async def run(context: Context) -> None:
    if not context.ours:
        return
    model = open_local(context.folder / "models")
    dsn = await context.database(context.ours)
    try:
        async with connected(dsn) as conn:
            await conn.execute("select forebay.owner_id('large'), forebay.owner_id('small')")
        await _recall(context, dsn, model)
        dsn = await context.database(context.ours)
        await _embedding(context, dsn, model)
    finally:
        model.close()


# Recall and speed.


async def _recall(context: Context, dsn: str, model: LocalModel) -> None:
    count = context.sizes.search_vectors
    texts = [each.gloss for kind in ("noun", "verb", "adj", "adv") for each in wordnet.read(kind).values()]
    random.Random(7).shuffle(texts)
    vectors = np.concatenate([model.embed_now(texts[n : n + 512]) for n in range(0, count + QUESTIONS, 512)])
    stored, asked = vectors[:count], vectors[count : count + QUESTIONS]
    async with connected(dsn) as conn:
        model_id = await _store(conn, stored)
        await context.settle(dsn)
        exact = await _times(conn, _exact_sql(model_id), asked)
        near = await _times(conn, _near_sql(model_id), asked)
        recall = _recall_of(exact.found, near.found)
        note = f"{count:,} glosses of WordNet by the built-in model, HNSW (m 16, ef_construction 64, ef_search 100)"
        context.record("search_recall", recall, 1.0, note)
        context.record("search_speed", 1 / median(near.seconds), 1 / median(exact.seconds), f"{note}; searches/s")
        await _owner_recall(context, conn, model_id, asked)


async def _store(conn: asyncpg.Connection, vectors: Vectors) -> int:
    """As if they were documents of two owners."""
    model_id: int = await conn.fetchval("select id from forebay.open_search_model('bench', $1)", DIMENSIONS)
    owners = [
        row["id"]
        for row in await conn.fetch("select id from forebay.owner where name in ('large', 'small') order by name")
    ]
    await conn.execute(
        "insert into forebay.search_document (owner_id, kind, ref, title, body, written_at, content_hash)"
        " select case when n % $3::int = 0 then $2::bigint else $1::bigint end, 'bench', n::text, '', '', now(), ''"
        " from generate_series(1, $4::int) n",
        owners[0], owners[1], SMALL_SHARE, len(vectors),
    )  # fmt: skip
    rows = await conn.fetch("select id, owner_id from forebay.search_document order by id")
    for start in range(0, len(rows), 1000):
        part = rows[start : start + 1000]
        await conn.execute(
            "insert into forebay.search_chunk (model_id, document_id, owner_id, hash, starts, stops, embedding)"
            " select $1, v.id, v.owner_id, '', 0, 0,"
            " ($4::real[])[(v.place - 1)::int * $5::int + 1 : v.place::int * $5::int]"
            " from unnest($2::bigint[], $3::bigint[]) with ordinality v(id, owner_id, place)",
            model_id,
            [row["id"] for row in part],
            [row["owner_id"] for row in part],
            vectors[start : start + 1000].ravel().tolist(),
            DIMENSIONS,
        )
    return model_id


def _exact_sql(model_id: int) -> str:
    return (
        f"select c.document_id from forebay.search_chunk_{model_id} c"
        " order by (c.embedding <=> $1::real[]::halfvec) + 0 limit 10"
    )


def _near_sql(model_id: int) -> str:
    return (
        f"select c.document_id from forebay.search_chunk_{model_id} c"
        f" order by c.embedding::halfvec({DIMENSIONS}) <=> $1::real[]::halfvec limit 10"
    )


class _Timed:
    def __init__(self) -> None:
        self.found: list[set[int]] = []
        self.seconds: list[float] = []


async def _times(conn: asyncpg.Connection, sql: str, asked: Vectors) -> _Timed:
    await conn.execute("set hnsw.ef_search = 100")
    timed = _Timed()
    for vector in asked:
        began = time.perf_counter()
        rows = await conn.fetch(sql, vector.tolist())
        timed.seconds.append(time.perf_counter() - began)
        timed.found.append({row[0] for row in rows})
    return timed


def _recall_of(exact: Sequence[set[int]], near: Sequence[set[int]]) -> float:
    return sum(len(one & other) for one, other in zip(exact, near, strict=True)) / sum(map(len, exact))


async def _owner_recall(context: Context, conn: asyncpg.Connection, model_id: int, asked: Vectors) -> None:
    """Of the owner with a hundredth of the vectors: as searches are, and by the HNSW index alone."""
    owner = await conn.fetchval("select id from forebay.owner where name = 'small'")
    exact = await _times(conn, _exact_sql(model_id).replace(" order", f" where c.owner_id = {owner} order", 1), asked)
    found: list[float] = []
    for most_exact in (10_000, 0):
        near: list[set[int]] = []
        async with conn.transaction():
            await conn.execute("select set_config('forebay.owner_id', $1, true)", str(owner))
            for vector in asked:
                sql = "select id from forebay.find_by_meaning($1, $2::real[], '{}', 10, $3)"
                near.append({row[0] for row in await conn.fetch(sql, model_id, vector.tolist(), most_exact)})
        found.append(_recall_of(exact.found, near))
    note = f"an owner with 1 % of the vectors; by the HNSW index with an iterative scan alone: {found[1]:.3f}"
    context.record("search_owner_recall", found[0], 1.0, note)


# Embedding by the pipeline, quality, and searches meanwhile.


async def _embedding(context: Context, dsn: str, model: LocalModel) -> None:
    documents, judged = wordnet.labelled(context.sizes.search_texts, context.sizes.search_questions)
    texts = _mixed([each.gloss for each in documents])
    bare = max(_bare_rate(model, texts[: len(texts) // 4], batch) for batch in BATCHES)
    async with _pool(dsn) as pool:
        async with pool.acquire() as conn:
            owner = int(await conn.fetchval("select forebay.owner_id('bench')"))
        with _worker(context, dsn) as worker:
            while not await pool.fetchval(_REGISTERED):  # noqa: ASYNC110 - by the worker
                await asyncio.sleep(0.1)
            await _put(pool, owner, [Document("warm", "0", "", "Warm up.")])
            await _indexed(pool, 1, worker)
            began = time.perf_counter()
            await _put(pool, owner, [Document("mixed", str(n), "", text) for n, text in enumerate(texts)])
            peak = await _indexed(pool, len(texts) + 1, worker)
            rate = len(texts) / (time.perf_counter() - began)
            note = f"{len(texts):,} texts, every fifth of 150 words; the best batch of {BATCHES} for the bare model"
            context.record("search_pipeline", rate, bare, note)
            await _put(pool, owner, [Document("noun", each.key, each.words[0], each.gloss) for each in documents])
            peak = max(peak, await _indexed(pool, len(texts) + len(documents) + 1, worker))
            context.record("search_memory", peak / 1e6, MEMORY_BAR)
            await _quality(context, pool, owner, model, judged)
            await _beside_edits(context, pool, owner, model, judged, documents)


def _mixed(glosses: Sequence[str]) -> list[str]:
    return [" ".join(glosses[n : n + 12]) if n % 5 == 0 else gloss for n, gloss in enumerate(glosses)]


def _bare_rate(model: LocalModel, texts: Sequence[str], batch: int) -> float:
    began = time.perf_counter()
    for start in range(0, len(texts), batch * 4):
        # Sorted by length within a few batches, as whoever writes such a loop would do.
        part = sorted(texts[start : start + batch * 4], key=len)
        for first in range(0, len(part), batch):
            model.embed_now(part[first : first + batch])
    return len(texts) / (time.perf_counter() - began)


@asynccontextmanager
async def _pool(dsn: str) -> AsyncIterator[asyncpg.Pool]:
    async with await open_pool(dsn, size=4, name="forebay bench") as pool:
        yield pool


@contextmanager
def _worker(context: Context, dsn: str) -> Iterator[psutil.Process]:
    environment = {
        "FOREBAY_DATABASE_URL": dsn,
        "FOREBAY_PIPELINES": "forebay.pipelines.indexing.steps",
        "FOREBAY_DATA_DIR": str(context.folder),
    }
    log = Path(context.folder) / "search.log"
    with log.open("wb") as out:
        child = subprocess.Popen(
            [sys.executable, "-m", "forebay", "worker"], env=os.environ | environment, stdout=out, stderr=out
        )
    try:
        yield psutil.Process(child.pid)
    finally:
        child.terminate()
        child.wait(30)


async def _put(pool: asyncpg.Pool, owner: int, documents: Sequence[Document]) -> None:
    for start in range(0, len(documents), 200):
        async with pool.acquire() as conn, conn.transaction():
            for document in documents[start : start + 200]:
                await put_document(conn, owner, document)


async def _indexed(pool: asyncpg.Pool, count: int, worker: psutil.Process) -> int:
    """Wait until so many documents are embedded; the most memory that the worker has taken meanwhile."""
    peak, end = 0, time.monotonic() + 1800
    while await pool.fetchval(f"{_EMBEDDED} where i.version = d.version") < count:
        if time.monotonic() > end or not worker.is_running():
            raise BenchError("the documents were not embedded in time: see search.log")
        peak = max(peak, sum(each.memory_info().rss for each in (worker, *worker.children(recursive=True))))
        await asyncio.sleep(0.2)
    return peak


async def _quality(
    context: Context, pool: asyncpg.Pool, owner: int, model: LocalModel, judged: Sequence[wordnet.Judged]
) -> None:
    scores: dict[str, list[float]] = {"words": [], "meaning": [], "both": []}
    vectors = model.embed_now([each.text for each in judged])
    async with pool.acquire() as conn, conn.transaction():
        await conn.execute("select set_config('forebay.owner_id', $1, true)", str(owner))
        model_id = (await db.list_models(conn))[0]["id"]
        for question, vector in zip(judged, vectors, strict=True):
            for mode, kept in scores.items():
                hits = await _hits(conn, question.text, model_id, vector, mode)
                kept.append(wordnet.ndcg(hits, question.grades))
    words, meaning, both = (sum(kept) / len(kept) for kept in scores.values())
    note = f"nDCG@10 of {len(judged)} questions over {context.sizes.search_texts:,} synsets of WordNet"
    context.record("search_hybrid_words", both, words, note)
    context.record("search_hybrid_meaning", both, meaning, note)


async def _hits(conn: Connection, text: str, model_id: int, vector: Vectors, mode: str) -> list[str]:
    given = None if mode == "words" else Vector(model_id, vector.tolist())
    found = await finding.find(conn, Question(text), Filter(kinds=("noun",)), given, words=mode != "meaning")
    ids = [hit.id for hit in found.hits[:10]]
    rows = await conn.fetch("select id, ref from forebay.search_document where id = any($1)", ids)
    refs = {row["id"]: row["ref"] for row in rows}
    return [refs[number] for number in ids]


async def _beside_edits(
    context: Context,
    pool: asyncpg.Pool,
    owner: int,
    model: LocalModel,
    judged: Sequence[wordnet.Judged],
    documents: Sequence[wordnet.Synset],
) -> None:
    """Searches with the embedding of their questions, while edits are embedded, and while nothing is."""
    await context.quiet()
    idle = [await _search(pool, owner, model, each.text) for each in judged]
    edits = [Document("noun", each.key, each.words[0], f"{each.gloss}; edited") for each in documents]
    await _put(pool, owner, edits)
    busy: list[float] = []
    while await pool.fetchval(f"{_EMBEDDED} where i.version < d.version") > len(documents) // 10:
        busy += [await _search(pool, owner, model, each.text) for each in random.sample(judged, 10)]
    note = f"{len(busy)} searches while {len(edits):,} edits are embedded by a worker on the same cores"
    context.record("search_busy_p95", percentile(busy, 0.95) * 1e3, percentile(idle, 0.95) * 1e3, note)


async def _search(pool: asyncpg.Pool, owner: int, model: LocalModel, text: str) -> float:
    began = time.perf_counter()
    vector = (await model.embed([text]))[0]
    async with pool.acquire() as conn, conn.transaction():
        await conn.execute("select set_config('forebay.owner_id', $1, true)", str(owner))
        await finding.find(conn, Question(text), Filter(), Vector(1, vector.tolist()))
    return time.perf_counter() - began
