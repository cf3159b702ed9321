"""Bookmarks crawled on the corpus: a real site, a real database, a real store, and names that resolve as tests like."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg

from forebay import resources as web
from forebay.base_settings import PackageSettings
from forebay.engine.db import registry
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.resources import Resource, Resources, resource
from forebay.pipelines.bookmarks.links import looks_like_image, page_hash
from forebay.pipelines.bookmarks.steps import bookmarks
from forebay.services.egress import Egress, Http, Politeness, checked_url, open_egress, open_http
from forebay.settings import Settings
from forebay.storage import Blobs, open_store
from forebay.testing import ManualClock, Testbed, testbed
from tests.corpus.site import Site
from tests.services.egress._world import Names

HOST = "site.test"
NOWHERE = Path("/nowhere/chromium")  # a machine without it


@dataclass
class Crawl:
    """A testbed for bookmarks."""

    bed: Testbed
    site: Site
    conn: asyncpg.Connection[Any]
    blobs: Blobs

    def url(self, path: str) -> str:
        return path if path.startswith("http") else f"http://{HOST}:{self.site.port}{path}"

    async def add(self, path: str, owner: str = "ann") -> int:
        """A bookmark of the corpus' page, with its work."""
        url = str(checked_url(self.url(path)))
        owner_id = await self.conn.fetchval("select forebay.owner_id($1)", owner)
        added = await self.conn.fetchrow(
            "select id from forebay.add_bookmark($1, $2, $3, null, null, null, null, 0, null, $4)",
            owner_id,
            url,
            page_hash(url),
            looks_like_image(url),
        )
        assert added is not None
        return int(added["id"])

    async def crawled(self, path: str, owner: str = "ann") -> dict[str, Any]:
        """The bookmark once all that can be done is done."""
        mark = await self.add(path, owner)
        await self.bed.run()
        return await self.row(mark)

    async def again(self, mark: int) -> dict[str, Any]:
        """The same once it was crawled once more."""
        await self.conn.execute(
            "select forebay.crawl_bookmark(owner_id, id, url) from forebay.bookmark where id = $1", mark
        )
        await self.bed.run()
        return await self.row(mark)

    async def row(self, mark: int) -> dict[str, Any]:
        row = await self.conn.fetchrow("select b.* from forebay.bookmark b where b.id = $1", mark)
        assert row is not None
        return dict(row)

    async def item(self, mark: int) -> dict[str, Any]:
        """The item of its last job, with the names of the steps that have ended well, and of those that have not."""
        row = await self.conn.fetchrow(
            """select i.status::text as status, e.step, e.reason, e.class,
                      array(select s.name from forebay.step s
                            where s.pipeline_id = i.pipeline_id and s.bit & i.done <> 0) as done,
                      array(select s.name from forebay.step s
                            where s.pipeline_id = i.pipeline_id and s.bit & i.dead <> 0) as dead
               from forebay.bookmark b join forebay.item i on i.job_id = b.job_id
               cross join jsonb_to_record(coalesce(i.error, '{}')) as e(step text, reason text, class text)
               where b.id = $1""",
            mark,
        )
        assert row is not None
        return dict(row)

    async def file(self, file_id: int) -> tuple[str, bytes]:
        """The media type and the content of a file."""
        row = await self.conn.fetchrow(
            "select media_type, encode(sha256, 'hex') as sha from forebay.file where id = $1", file_id
        )
        assert row is not None
        return row["media_type"], await self.blobs.read(row["sha"])


async def _no_sleep(_seconds: float) -> None:
    """The clock of tests stands still: nobody waits for it."""


@asynccontextmanager
async def crawling(
    dsn: str,
    site: Site,
    folder: Path,
    *more: Pipeline[Any],
    names: Names | None = None,
    resources: Mapping[Resource[Any], Resource[Any]] | None = None,
    packages: Sequence[PackageSettings] = (),
    **settings: Any,
) -> AsyncIterator[Crawl]:
    known = names or Names()
    known.put(HOST, "127.0.0.1")
    known.put("bad.test", "10.0.0.1")

    @resource
    async def egress(given: Resources) -> AsyncGenerator[Egress]:
        async with open_egress(given.settings, known) as opened:
            yield opened

    clock = ManualClock()

    @resource
    async def http(given: Resources) -> AsyncGenerator[Http]:
        """Hosts are left alone by the same clock as tasks wait by."""
        politeness = Politeness(given.settings, clock=clock.time, sleep=_no_sleep)
        async with open_http(await given.get(web.egress), politeness) as opened:
            yield opened

    common: dict[str, Any] = {
        "data_dir": folder,
        "egress_allow_networks": "127.0.0.0/8",
        "egress_confine": False,
        "sandbox": "preferred",  # a browser that must be sandboxed gets no network without walls
    }
    common["browser_path"] = NOWHERE
    chosen = Settings(**(common | settings)).including(*packages)
    replaced: dict[Resource[Any], Resource[Any]] = {web.egress: egress, web.http: http, **(resources or {})}
    conn = await asyncpg.connect(dsn)
    try:
        await registry.register(conn, bookmarks.definition())
        async with testbed(
            dsn, [bookmarks, *more], migrated=True, resources=replaced, settings=chosen, clock=clock
        ) as bed:
            yield Crawl(bed, site, conn, Blobs(bed.pool, open_store(chosen)))
    finally:
        await conn.close()
