"""Articles on a testbed: a small deterministic model, and a worker with a clock that the test controls."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import asyncpg
import numpy as np
from numpy.typing import NDArray

from forebay import Context
from forebay import resources as web
from forebay.engine.db import registry
from forebay.engine.declare.resources import Resource, Resources, resource
from forebay.errors import TransientError
from forebay.pipelines.articles import db as rows
from forebay.pipelines.articles.db import ArticleValues, Embedding
from forebay.pipelines.articles.settings import ArticlesSettings
from forebay.pipelines.articles.steps import articles, tune
from forebay.search.models import embedding_model
from forebay.settings import Settings
from forebay.testing import Testbed, context, testbed


@dataclass
class TinyModel:
    """Vectors of words: each word has a direction of its own. `fail` is asked before each call, and may raise."""

    name: str = "tiny"
    dimensions: int = 16
    max_tokens: int = 120
    calls: list[list[str]] = field(default_factory=list[list[str]])
    fail: Callable[[Sequence[str]], None] | None = None
    at_once: int = 0
    most_at_once: int = 0
    during: Callable[[Sequence[str]], Awaitable[None]] | None = None  # called once, while it works

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(0)
            if (during := self.during) is not None:
                self.during = None
                await during(texts)
            if self.fail is not None:
                self.fail(texts)
        finally:
            self.at_once -= 1
        self.calls.append(list(texts))
        return np.array([self.vector(text) for text in texts], np.float32).reshape(len(texts), self.dimensions)

    def vector(self, text: str) -> NDArray[np.float32]:
        made = np.full(self.dimensions, 0.01, np.float32)
        for word in text.lower().split():
            made[zlib.crc32(word.encode()) % self.dimensions] += 1
        return np.asarray(made / np.linalg.norm(made), np.float32)


@dataclass
class Bed:
    """A testbed for articles."""

    bed: Testbed
    conn: asyncpg.Connection[Any]
    model: TinyModel
    dsn: str
    settings: Settings

    async def owner(self, name: str = "ann") -> int:
        found: int = await self.conn.fetchval("select forebay.owner_id($1)", name)
        return found

    async def create(
        self, title: str, content: str, *, owner: str = "ann", priority: str = "normal", skip: bool = False
    ) -> int:
        new = ArticleValues(title, content, wanted="a", excerpt="", words=0, skip_embedding=skip)
        me, owner_id = await self.conn.fetchval("select current_user"), await self.owner(owner)
        return int((await rows.create_in(self.conn, me, owner_id, None, new, Embedding(priority)))["id"])

    async def update(self, article: int, content: str, **given: Any) -> int | None:
        how = Embedding(
            given.pop("priority", "normal"), delay=given.pop("delay", None), max_wait=given.pop("max_wait", None)
        )
        return await rows.update(self.conn, article, None, ArticleValues(None, content, **given), how)

    async def show(self, article: int) -> asyncpg.Record:
        (row,) = await rows.show(self.conn, [article])
        return row

    async def state(self, article: int) -> str:
        return str((await self.show(article))["embedding"])

    async def chunks(self, article: int) -> dict[bytes, tuple[float, ...]]:
        """The vectors of an article by the hashes of their chunks."""
        found = await self.conn.fetch(
            """select c.hash, translate(c.embedding::text, '[]', '{}')::real[] as vector from forebay.search_chunk c
               join forebay.search_document d on d.id = c.document_id
               where d.kind = 'article' and d.ref = $1::bigint::text""",
            article,
        )
        return {row["hash"]: tuple(row["vector"]) for row in found}

    def context(self) -> Context:
        """What chores are called with."""
        return context(resources={web.database: self.bed.pool, web.settings: self.settings})

    async def counts(self, owner: str = "ann") -> dict[str, int]:
        return dict(await rows.count_tasks(self.conn, await self.owner(owner)))


def resource_of(model: TinyModel) -> Resource[TinyModel]:
    """What a worker opens instead of the configured model."""

    @resource
    async def tiny(_: Resources) -> AsyncGenerator[TinyModel]:
        yield model

    return tiny


@asynccontextmanager
async def embedding(
    dsn: str, model: TinyModel | None = None, *, own: dict[str, Any] | None = None, **given: Any
) -> AsyncIterator[Bed]:
    """A worker for articles on a migrated database."""
    chosen = model or TinyModel()

    settings = Settings(**given).including(ArticlesSettings(**(own or {})))
    models = {embedding_model: resource_of(chosen)}
    conn = await asyncpg.connect(dsn)
    try:
        await registry.register(conn, articles.definition())
        async with testbed(dsn, [articles], migrated=True, resources=models, settings=settings) as bed:
            yield Bed(bed, conn, chosen, dsn, settings)
    finally:
        tune(Settings().including(ArticlesSettings()))  # the steps belong to the process
        await conn.close()


@contextmanager
def failing(model: TinyModel, when: Callable[[Sequence[str]], bool]) -> Iterator[None]:
    """Calls of the model fail for which this is true."""

    def fail(texts: Sequence[str]) -> None:
        if when(texts):
            raise TransientError("the service does not answer")

    model.fail = fail
    try:
        yield
    finally:
        model.fail = None


async def lose_worker(bed: Bed, owner: str, most: int) -> int:
    """A worker claims up to this many tasks of an owner and is never seen again; returns how many it has claimed."""
    async with bed.conn.transaction():
        step = await bed.conn.fetchval(
            "select s.id from forebay.step s join forebay.pipeline p on p.id = s.pipeline_id where p.name = 'articles'"
        )
        owner_id = await bed.owner(owner)
        lanes = [
            row["id"]
            for row in await bed.conn.fetch(
                "select id from forebay.lane where owner_id = $1 and limit_name = ''", owner_id
            )
        ]
        if not lanes or not most:
            return 0
        worker = await bed.conn.fetchval(
            "insert into forebay.worker (name, started_at, seen_at) values ('lost', now(), now()) returning id"
        )
        steps = [step] * len(lanes)
        await bed.conn.execute("select forebay.lock_order($1, $2)", steps, lanes)
        taken = await bed.conn.fetch("select * from forebay.take_unordered($1, $2, 100, false)", steps, lanes)
        columns = [
            [row[name] for row in taken] for name in ("step_id", "lane_id", "job_id", "n", "attempt", "owner_id")
        ]
        keys = [str(json.loads(row["input"])["articleId"]) if row["input"] else None for row in taken]
        ended = [row["input"] is None for row in taken]
        ready = await bed.conn.fetch(
            "select * from forebay.order_tasks($1, $2, $3, $4, $5, $6, $7, $8)", *columns, keys, ended
        )
        if not ready:
            return 0
        places = [row["lane_id"] for row in ready]
        ahead = (bed.bed.clock.now() - datetime.now(UTC)).total_seconds()  # the lease begins by the clock of the server
        claimed = await bed.conn.fetch(
            "select ns from forebay.claim_tasks($1, $2, $3, $4, $5, $6, '{}', $7)",
            worker,
            [step] * len(places),
            places,
            [0] * len(places),
            [most] + [0] * (len(places) - 1),
            [1000] * len(places),
            ahead + 60,
        )
        return sum(len(row["ns"]) for row in claimed)
