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
from importlib import import_module
from pathlib import Path
from typing import Any

import asyncpg
import numpy as np
import psutil
from numpy.typing import NDArray
from tokenizers import Tokenizer

from bench import search_quality, wordnet
from bench.harness import BenchError, Context, connected
from bench.measure import cpu_seconds, median, percentile
from forebay.db.pool import open_pool
from forebay.search import finding
from forebay.search.documents import Document, put_document
from forebay.search.finding import Filter, Vector
from forebay.search.question import Question
from forebay.services.embeddings.local import DIMENSIONS, MAX_TOKENS, LocalModel, open_local
from forebay.services.embeddings.model_file import model_file, weights_folder

MEMORY_BAR = 400.0
QUESTIONS = 100
SMALL_SHARE = 100  # the second owner has one of so many vectors
BATCHES = (8, 16, 32, 64)
TURNS = 4
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


# Embedding by the pipeline, and searches meanwhile.


async def _embedding(context: Context, dsn: str, model: LocalModel) -> None:
    documents, judged, _ = wordnet.labelled(context.sizes.search_texts, context.sizes.search_questions)
    documents = random.Random(7).sample(documents, context.sizes.search_texts)
    texts = _mixed([each.gloss for each in documents])
    async with _pool(dsn) as pool:
        async with pool.acquire() as conn:
            owner = int(await conn.fetchval("select forebay.owner_id('bench')"))
        with _worker(context, dsn) as worker:
            while not await pool.fetchval(_REGISTERED):  # noqa: ASYNC110 - by the worker
                await asyncio.sleep(0.1)
            await _put(pool, owner, [Document("warm", "0", "", "Warm up.")])
            await _indexed(pool, 1, worker)
            peak = await _by_pipeline(context, pool, owner, worker, texts)
            context.record("search_memory", peak / 1e6, MEMORY_BAR)
            await _beside_edits(context, pool, owner, worker, model, judged, texts)
        await search_quality.measure(context, pool, model)


async def _by_pipeline(
    context: Context, pool: asyncpg.Pool, owner: int, worker: psutil.Process, texts: Sequence[str]
) -> int:
    """The texts by the pipeline and by a loop, in turns; the memory of the worker."""
    loop, part, peak = BareModel(context.folder / "models"), len(texts) // TURNS, 0
    batch = min(BATCHES, key=lambda size: loop.seconds(texts[: part // 2], size))
    took, cpu = [0.0, 0.0], [0.0, 0.0]  # by the pipeline, by the loop
    for turn in range(TURNS):
        own = texts[turn * part : (turn + 1) * part]
        began, used = time.perf_counter(), _cpu(context, worker)
        await _put(pool, owner, [Document("mixed", f"{turn} {n}", "", text) for n, text in enumerate(own)])
        peak = max(peak, await _indexed(pool, (turn + 1) * part + 1, worker))
        took[0] += time.perf_counter() - began
        cpu[0] += _cpu(context, worker) - used
        used = time.process_time()
        took[1] += loop.seconds(own, batch)
        cpu[1] += time.process_time() - used
    done = part * TURNS
    note = f"{done:,} texts, every fifth of 150 words, in {TURNS} turns; the loop has batches of {batch} of {BATCHES}; "
    note += f"CPU ms of a text {cpu[0] / done * 1e3:.1f} with PostgreSQL, {cpu[1] / done * 1e3:.1f}"
    context.record("search_pipeline", done / took[0], done / took[1], note)
    return peak


def _cpu(context: Context, worker: psutil.Process) -> float:
    """Seconds of the worker and of PostgreSQL."""
    server = context.server.postmaster
    return cpu_seconds([worker] if server is None else [worker, server])


def _mixed(glosses: Sequence[str]) -> list[str]:
    return [" ".join(glosses[n : n + 12]) if n % 5 == 0 else gloss for n, gloss in enumerate(glosses)]


class BareModel:
    """The model as somebody would call it who has a list of texts: the defaults of onnxruntime, which uses all
    processors for a batch, and texts that are sorted by length within some batches."""

    def __init__(self, cache: Path) -> None:
        ort: Any = import_module("onnxruntime")  # without types
        self._session = ort.InferenceSession(str(model_file(cache)), providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(weights_folder() / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.enable_padding()

    def seconds(self, texts: Sequence[str], batch: int) -> float:
        began = time.perf_counter()
        for start in range(0, len(texts), batch * 4):
            part = sorted(texts[start : start + batch * 4], key=len)
            for first in range(0, len(part), batch):
                encoded = self._tokenizer.encode_batch(part[first : first + batch])
                tokens = np.array([each.ids for each in encoded], np.int64)
                mask = np.array([each.attention_mask for each in encoded], np.int32)
                self._session.run(None, {"input_ids": tokens, "attention_mask": mask})
        return time.perf_counter() - began


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


async def _beside_edits(
    context: Context,
    pool: asyncpg.Pool,
    owner: int,
    worker: psutil.Process,
    model: LocalModel,
    judged: Sequence[wordnet.Judged],
    texts: Sequence[str],
) -> None:
    """Searches with the embedding of their questions, while edits are embedded, and while nothing is, in turns."""
    part, edits = len(texts) // TURNS, 0
    idle, busy = list[float](), list[float]()
    for turn in range(2 * TURNS):
        own = turn % TURNS
        edited = [f"{text}; edited {turn}" for text in texts[own * part : (own + 1) * part]]
        await _put(pool, owner, [Document("mixed", f"{own} {n}", "", text) for n, text in enumerate(edited)])
        edits += part
        while await pool.fetchval(f"{_EMBEDDED} where i.version < d.version") > part // 10:
            busy += [await _search(pool, owner, model, each.text) for each in random.sample(judged, 5)]
        await _indexed(pool, part * TURNS + 1, worker)
        idle += [await _search(pool, owner, model, each.text) for each in judged]
    note = f"{len(busy):,} searches while {edits:,} edits are embedded on the same cores, {len(idle):,} between them; "
    note += f"p50 {median(busy) * 1e3:.0f} and {median(idle) * 1e3:.0f} ms"
    context.record("search_busy_p95", percentile(busy, 0.95) * 1e3, percentile(idle, 0.95) * 1e3, note)


async def _search(pool: asyncpg.Pool, owner: int, model: LocalModel, text: str) -> float:
    began = time.perf_counter()
    vector = (await model.embed([text]))[0]
    async with pool.acquire() as conn, conn.transaction():
        await conn.execute("select set_config('forebay.owner_id', $1, true)", str(owner))
        await finding.find(conn, Question(text), Filter(), Vector(1, vector.tolist()))
    return time.perf_counter() - began
