"""Media on a real database, store, sandbox and server, with names that resolve as tests like."""

from __future__ import annotations

import hashlib
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
from forebay.pipelines.media.settings import MediaSettings
from forebay.pipelines.media.steps import media
from forebay.services.egress import Egress, Http, Politeness, open_egress, open_http
from forebay.settings import Settings
from forebay.storage import Blobs, open_store
from forebay.testing import ManualClock, Testbed, testbed
from tests.services.egress._world import Names


@dataclass
class MediaBed:
    bed: Testbed
    conn: asyncpg.Connection[Any]
    blobs: Blobs
    settings: Settings

    async def add(self, url: str, owner: str = "ann", priority: int = 0) -> int:
        owner_id = await self.conn.fetchval("select forebay.owner_id($1)", owner)
        return int(
            await self.conn.fetchval("select id from forebay.add_share($1, $2, null, $3)", owner_id, url, priority)
        )

    async def shared(self, url: str, owner: str = "ann") -> dict[str, Any]:
        """The share once all that can be done is done."""
        share = await self.add(url, owner)
        await self.bed.run()
        return await self.row(share)

    async def finished(self, url: str, owner: str = "ann") -> dict[str, Any]:
        """The same, with every pause skipped."""
        share = await self.add(url, owner)
        await self.bed.finish()
        return await self.row(share)

    async def row(self, share: int) -> dict[str, Any]:
        row = await self.conn.fetchrow("select * from forebay.share where id = $1", share)
        assert row is not None
        return dict(row)

    async def item(self, share: int) -> dict[str, Any]:
        """The item of its last job."""
        row = await self.conn.fetchrow(
            """select i.status::text as status, e.step, e.reason, e.class
               from forebay.share s join forebay.item i on i.job_id = s.job_id and i.n = s.item_n
               cross join jsonb_to_record(coalesce(i.error, '{}')) as e(step text, reason text, class text)
               where s.id = $1""",
            share,
        )
        assert row is not None
        return dict(row)

    async def content(self, row: Mapping[str, Any]) -> bytes:
        """The stored file, whose hash is that of the share."""
        assert row["file_id"] is not None, row["download_error"]
        data = await self.blobs.read(row["sha256"].hex(), max_bytes=1 << 30)
        assert hashlib.sha256(data).digest() == row["sha256"]
        return data


@asynccontextmanager
async def media_bed(
    dsn: str,
    folder: Path,
    *more: Pipeline[Any],
    names: Names | None = None,
    packages: Sequence[PackageSettings] = (),
    **settings: Any,
) -> AsyncIterator[MediaBed]:
    known = names or Names()
    known.put("media.test", "127.0.0.1")
    known.put("cdn.test", "127.0.0.1")
    known.put("inside.test", "10.0.0.1")
    clock = ManualClock()

    @resource
    async def egress(given: Resources) -> AsyncGenerator[Egress]:
        async with open_egress(given.settings, known) as opened:
            yield opened

    @resource
    async def http(given: Resources) -> AsyncGenerator[Http]:
        async def no_sleep(_seconds: float) -> None: ...

        politeness = Politeness(given.settings, clock=clock.time, sleep=no_sleep)
        async with open_http(await given.get(web.egress), politeness) as opened:
            yield opened

    common: dict[str, Any] = {"data_dir": folder, "egress_allow_networks": "127.0.0.0/8"}
    chosen = Settings(**(common | settings)).including(*(packages or (MediaSettings(),)))
    replaced: dict[Resource[Any], Resource[Any]] = {web.egress: egress, web.http: http}
    conn = await asyncpg.connect(dsn)
    try:
        await registry.register(conn, media.definition())
        async with testbed(dsn, [media, *more], migrated=True, resources=replaced, settings=chosen, clock=clock) as bed:
            yield MediaBed(bed, conn, Blobs(bed.pool, open_store(chosen)), chosen)
    finally:
        await conn.close()
