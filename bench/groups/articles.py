"""Articles: how long saving one takes while a worker embeds many others with the built-in model."""

# demands: S4-100

import asyncio
import time
from collections.abc import Awaitable

import asyncpg

from bench import wordnet
from bench.harness import BenchError, Context, connected
from bench.http_client import Client
from bench.limits import CREATE, CREATE_READY
from bench.measure import percentile
from bench.serving import served
from bench.steadily import RATE, raw_inserts, registered, timed, until, worker
from forebay.pipelines.articles import db as rows
from forebay.pipelines.articles.db import ArticleValues, Embedding

WORDS = 150  # of an article, about

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
        only = {"FOREBAY_PIPELINES": "forebay.pipelines.articles.steps"}
        with worker(context, environment | only, "articles"):
            await registered(raw, "articles")
            await _measure(context, port, token, raw)


async def _measure(context: Context, port: int, token: str, conn: asyncpg.Connection) -> None:
    texts, count = _texts(context.sizes.articles_behind), context.sizes.articles
    await _fill(conn, texts)
    await until(conn, _EMBEDDED)  # the model is open
    alone = await _rate_alone(conn, count / RATE / 2)
    async with Client(port, token) as http:  # the server closes connections that are idle
        await http.post("/api/articles", {"title": "Warm", "content": "up"})
        before, began = await conn.fetchval(_EMBEDDED), time.perf_counter()

        def save(seq: int) -> Awaitable[object]:
            body = {"title": f"Saved {seq}", "content": f"{seq}\n\n{texts[seq % len(texts)]}"}
            return http.post("/api/articles", body)

        waits, raw = await asyncio.gather(timed(count, save), raw_inserts(conn, count))
        embedded, took = await conn.fetchval(_EMBEDDED) - before, time.perf_counter() - began
        alone = (alone + await _rate_alone(conn, count / RATE / 2)) / 2
    waiting = await conn.fetchval(_WAITING)
    if not waiting or not embedded:
        raise BenchError(f"{embedded} articles were embedded meanwhile, and {waiting} were still waiting in the end")
    note = f"{count} saved at {RATE:g}/s while {embedded} were embedded on the same cores and {waiting} still waited; "
    note += f"p50 {percentile(waits, 0.5):.1f} ms, raw {percentile(raw, 0.5):.1f} ms"
    saved = f"{RATE:g} articles are saved in a second; alone before and after"
    context.record("article_embedding", embedded / took, alone, saved)
    context.record("article_create_p99", percentile(waits, 0.99), percentile(raw, 0.99), note)


async def _rate_alone(conn: asyncpg.Connection, seconds: float) -> float:
    """Articles that are embedded in a second while none is saved."""
    before, began = await conn.fetchval(_EMBEDDED), time.perf_counter()
    await asyncio.sleep(seconds)
    return int(await conn.fetchval(_EMBEDDED) - before) / (time.perf_counter() - began)


def _texts(count: int) -> list[str]:
    """Glosses of WordNet, a dozen together; when all have been used, other dozens of them."""
    glosses = [each.gloss for each in wordnet.read("noun").values()]
    dozens = len(glosses) // 12 - 1
    starts = (n % dozens * 12 + n // dozens for n in range(count))
    return ["\n\n".join(glosses[start : start + 12]) for start in starts]


async def _fill(conn: asyncpg.Connection, texts: list[str]) -> None:
    """What there is to embed besides."""
    owner, me = await conn.fetchval("select forebay.owner_id('others')"), await conn.fetchval("select current_user")
    for start in range(0, len(texts), 200):
        async with conn.transaction():
            for n, text in enumerate(texts[start : start + 200], start):
                new = ArticleValues(f"Article {n}", text, wanted=f"article-{n}", excerpt="", words=WORDS)
                await rows.create_in(conn, me, owner, None, new, Embedding("low"))
