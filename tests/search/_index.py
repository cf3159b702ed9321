"""An index with documents of ann and bob, a worker that indexes them, and the API that finds them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay.pipelines.indexing.reindexing import reindex
from forebay.pipelines.indexing.steps import index as index_pipeline
from forebay.search.documents import Document, Put, put_document
from forebay.settings import Settings
from forebay.testing import Testbed, testbed
from tests.api._service import Service, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx

TEXTS = {
    "cats": ("House cats", "A cat sat on the mat and purred. Kittens sleep most of the day."),
    "dogs": ("Hounds", "Dogs bark at strangers in the night, and guard the farm."),
    "bread": ("Baking bread", "Knead the dough, let it rise for two hours, and bake the loaf in a hot oven."),
    "database": ("Row-level security", "A policy in PostgreSQL decides which rows of a table a role may read."),
    "bicycle": ("A flat tyre", "Remove the wheel, take out the inner tube, and patch the hole."),
}


@dataclass
class Index:
    service: Service
    bed: Testbed

    async def owner(self, name: str) -> int:
        return int(await self.service.admin.fetchval("select forebay.owner_id($1)", name))

    async def put(self, owner: str, ref: str, title: str, text: str, kind: str = "note", **more: Any) -> Put:
        """A document, which is not embedded yet."""
        async with self.bed.pool.acquire() as conn, conn.transaction():
            return await put_document(conn, await self.owner(owner), Document(kind, ref, title, text, **more))

    async def put_all(self, owner: str) -> None:
        for ref, (title, text) in TEXTS.items():
            await self.put(owner, ref, title, text)
        await self.bed.finish()

    async def search(self, client: httpx.AsyncClient, q: str, **params: Any) -> dict[str, Any]:
        answer = await client.get("/api/search", params={"q": q, **params})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def refs(self, client: httpx.AsyncClient, q: str, **params: Any) -> list[str]:
        return [hit["ref"] for hit in (await self.search(client, q, **params))["hits"]]


def text_of(parts: list[dict[str, Any]]) -> str:
    """The parts of a title or snippet, with what was found in brackets."""
    return "".join(f"[{part['text']}]" if part["found"] else part["text"] for part in parts)


@asynccontextmanager
async def opened(dsn: str, data_dir: Path, **settings: Any) -> AsyncIterator[Index]:
    given = Settings(data_dir=data_dir, **settings)
    async with (
        serving(dsn, data_dir=str(data_dir), **settings) as service,
        testbed(dsn, [index_pipeline, reindex], settings=given, migrated=True) as bed,
    ):
        yield Index(service, bed)
