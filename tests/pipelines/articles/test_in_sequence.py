"""The mode that embeds one article at a time: over all workers, and to the end.

The workers have the clock of the machine. One that got no slot of the limit asks again a second later, and on two
testbeds, whose clocks stand still, that second never passes.
"""

# demands: S4-65

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import asyncpg

from forebay.engine.work.worker import Worker
from forebay.pipelines.articles.settings import ArticlesSettings
from forebay.pipelines.articles.steps import articles
from forebay.search.models import embedding_model
from forebay.settings import Settings
from tests.pipelines.articles._bed import TinyModel, embedding, resource_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tests.conftest import NewDatabase

_WORKERS = "select array_agg(distinct worker_id) from forebay.attempt where outcome = 'DONE'"


@asynccontextmanager
async def working(dsn: str, model: TinyModel) -> AsyncGenerator[Worker]:
    """A worker that listens and claims as those of an installation do."""
    settings = Settings(poll_s=0.2).including(ArticlesSettings(sequential=True))
    worker = Worker(dsn, [articles], settings=settings, resources={embedding_model: resource_of(model)})
    running = asyncio.create_task(worker.run())
    try:
        await worker.ready_or_failed(running)
        yield worker
    finally:
        worker.stop()
        await running


class Fresh:
    """Which articles are embedded, as the database tells."""

    def __init__(self) -> None:
        self.ids: set[int] = set()
        self._news = asyncio.Event()

    def heard(self, *given: Any) -> None:
        told = json.loads(given[3])
        if told["embedding"] == "fresh":
            self.ids.add(int(told["id"]))
            self._news.set()

    async def until(self, wanted: set[int]) -> None:
        async with asyncio.timeout(60):
            while not wanted <= self.ids:
                await self._news.wait()
                self._news.clear()


async def test_two_workers_embed_one_article_at_a_time(new_database: NewDatabase) -> None:
    """Whichever of them has the slot does the work; when it stops, the other one goes on."""
    model, fresh = TinyModel(), Fresh()
    with new_database() as dsn:
        conn = await asyncpg.connect(dsn)
        await conn.add_listener("forebay_articles", fresh.heard)
        async with embedding(dsn, model, own={"sequential": True}) as bed, working(dsn, model) as one:
            async with working(dsn, model) as two:
                made = {await bed.create("T", f"text {n}", owner=who) for n in range(6) for who in ("ann", "bob")}
                await fresh.until(made)
                first = (await conn.fetchval(_WORKERS))[0]
                stops = one if first == one.worker_id else two
                stops.stop()
                later = {await bed.create("T", f"later {n}", owner=who) for n in range(3) for who in ("ann", "bob")}
                await fresh.until(later)
                assert set(await conn.fetchval(_WORKERS)) == {one.worker_id, two.worker_id}
            assert model.most_at_once == 1
            assert len(model.calls) == len(made | later)  # each article by itself, and once
        await conn.close()
