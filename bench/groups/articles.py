"""Articles: how long saving one takes while a worker embeds many others with the built-in model."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import asyncpg

from bench import wordnet
from bench.harness import BenchError, Context, connected
from bench.http_client import Client
from bench.limits import CREATE, CREATE_READY, INSERT
from bench.measure import percentile
from bench.serving import served
from bench.workload import json_inputs
from forebay.pipelines.articles import db as rows
from forebay.pipelines.articles.db import ArticleValues, Embedding

RATE = 10.0
WORDS = 150  # of an article, about

_REGISTERED = "select exists (select from forebay.pipeline where name = 'articles')"
_WAITING = "select count(*) from forebay.article where embedding = 'waiting'"
_EMBEDDED = "select count(*) from forebay.article where embedding = 'fresh'"


async def run(context: Context) -> None:
    ours = context.ours
    if not ours:
        return
    dsn = await context.database(ours)
    token = await ours.api_token(dsn)
    environment = ours.api_environment(dsn) | {
        "FOREBAY_PIPELINES": "forebay.pipelines",
        "FOREBAY_DATA_DIR": str(context.folder / "articles"),
    }
    async with connected(dsn) as conn:
        await conn.execute(f"{CREATE}; {CREATE_READY}")
    async with served(context, ours.api_command(), environment) as (port, _), connected(dsn) as raw:
        with _worker(context, environment):
            await _until(raw, _REGISTERED)
            await _measure(context, port, token, raw)


@contextmanager
def _worker(context: Context, environment: dict[str, str]) -> Iterator[None]:
    log = context.folder / "articles.log"
    only = {"FOREBAY_PIPELINES": "forebay.pipelines.articles.steps"}
    with log.open("wb") as out:
        child = subprocess.Popen(
            [sys.executable, "-m", "forebay", "worker"], env=os.environ | environment | only, stdout=out, stderr=out
        )
    try:
        yield
        if child.poll() is not None:
            raise BenchError(f"the worker ended by itself\n{log.read_text()[-2000:]}")
    finally:
        child.terminate()
        child.wait(60)


async def _until(conn: asyncpg.Connection, question: str) -> None:
    for _ in range(3000):
        if await conn.fetchval(question):
            return
        await asyncio.sleep(0.02)
    raise BenchError(f"not within a minute: {question}")


async def _measure(context: Context, port: int, token: str, conn: asyncpg.Connection) -> None:
    texts, count = _texts(context.sizes.articles_behind), context.sizes.articles
    await _fill(conn, texts)
    await _until(conn, _EMBEDDED)  # the model is open
    async with Client(port, token) as http:
        await http.post("/api/articles", {"title": "Warm", "content": "up"})
        before = await conn.fetchval(_EMBEDDED)
        waits, raw = await asyncio.gather(_steadily_save(http, texts, count), _steadily_insert(conn, count))
    waiting, embedded = await conn.fetchval(_WAITING), await conn.fetchval(_EMBEDDED) - before
    if not waiting or not embedded:
        raise BenchError(f"{embedded} articles were embedded meanwhile, and {waiting} were still waiting in the end")
    note = f"{count} saved at {RATE:g}/s while {embedded} were embedded on the same cores and {waiting} still waited; "
    note += f"p50 {percentile(waits, 0.5):.1f} ms, raw {percentile(raw, 0.5):.1f} ms"
    context.record("article_create_p99", percentile(waits, 0.99), percentile(raw, 0.99), note)


def _texts(count: int) -> list[str]:
    """Glosses of WordNet, a dozen together."""
    glosses = [each.gloss for each in wordnet.read("noun").values()]
    return ["\n\n".join(glosses[n * 12 : n * 12 + 12]) for n in range(count)]


async def _fill(conn: asyncpg.Connection, texts: list[str]) -> None:
    """What there is to embed besides."""
    owner, me = await conn.fetchval("select forebay.owner_id('others')"), await conn.fetchval("select current_user")
    for start in range(0, len(texts), 200):
        async with conn.transaction():
            for n, text in enumerate(texts[start : start + 200], start):
                new = ArticleValues(f"Article {n}", text, wanted=f"article-{n}", excerpt="", words=WORDS)
                await rows.create_in(conn, me, owner, None, new, Embedding("low"))


async def _steadily_save(http: Client, texts: list[str], count: int) -> list[float]:
    waits: list[float] = []
    async for seq in _ticks(count):
        body = {"title": f"Saved {seq}", "content": f"{seq}\n\n{texts[seq % len(texts)]}"}
        began = time.perf_counter()
        await http.post("/api/articles", body)
        waits.append((time.perf_counter() - began) * 1e3)
    return waits


async def _steadily_insert(conn: asyncpg.Connection, count: int) -> list[float]:
    insert, row = await conn.prepare(INSERT), next(json_inputs(1))
    waits: list[float] = []
    async for seq in _ticks(count):
        began = time.perf_counter()
        await insert.fetch(seq, row)
        waits.append((time.perf_counter() - began) * 1e3)
    return waits


async def _ticks(count: int) -> AsyncIterator[int]:
    began = time.perf_counter()
    for seq in range(count):
        yield seq
        await asyncio.sleep(max(0.0, began + (seq + 1) / RATE - time.perf_counter()))
