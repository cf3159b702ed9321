"""Files of rows taken in: a real database, a real store, and a worker whose clock tests move."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg

from forebay.base_settings import PackageSettings
from forebay.engine.db import registry
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.resources import Resource
from forebay.intake import db as incoming
from forebay.intake.db import FilePart, NewFile
from forebay.intake.parts import part_key
from forebay.pipelines.sheets import reading as sheet_reading
from forebay.pipelines.sheets.catalogue_rows import catalogue_rows
from forebay.pipelines.sheets.db import sheets
from forebay.pipelines.sheets.intake import sheet_intake, sheet_scans
from forebay.pipelines.sheets.steps import sheet_images
from forebay.pipelines.sheets.steps import sheets as sheet_rows
from forebay.settings import Settings
from forebay.storage import Blobs, open_store
from forebay.storage.spool import spooled
from forebay.testing import Testbed, testbed

PIPELINES: list[Pipeline[Any]] = [sheet_intake, sheet_rows, sheet_images, catalogue_rows, sheet_scans]


@dataclass
class Taking:
    """A testbed for files of rows."""

    bed: Testbed
    conn: asyncpg.Connection[Any]
    blobs: Blobs

    async def add(self, data: bytes, name: str = "rows.csv", owner: str = "ann", **options: Any) -> int:
        """A file that was uploaded in two pieces; its reading is submitted. Answers the job of its rows."""
        owner_id = await self.conn.fetchval("select forebay.owner_id($1)", owner)
        added = await sheets.add(self.conn, owner_id, NewFile(name, len(data), options))
        middle = len(data) // 2
        for start, piece in ((0, data[:middle]), (middle, data[middle:])):
            if piece:
                await self._put(added.reference, start, piece)
        await incoming.begin_receiving(self.conn, "sheets", added.reference, sheet_intake.name)
        return added.job_id

    async def _put(self, sheet_id: int, start: int, data: bytes) -> None:
        name = await incoming.begin_part(self.conn, "sheets", sheet_id, start)
        assert name is not None
        async with spooled(data, self.blobs.store.spool) as spool:
            await self.blobs.store.put(part_key(sheet_id, name), spool, "application/octet-stream")
            part = FilePart(start, len(data), name, spool.sha256)
        assert await incoming.end_part(self.conn, "sheets", sheet_id, part)

    async def taken(self, data: bytes, name: str = "rows.csv", **options: Any) -> int:
        """The same once all that can be done is done."""
        job = await self.add(data, name, **options)
        await self.bed.finish()
        return job

    async def sheet(self, job: int) -> sheets.Sheet:
        found = await sheets.get(self.conn, job_id=job)
        assert found is not None
        return found

    async def items(self, job: int) -> list[dict[str, Any]]:
        rows = await self.conn.fetch(
            """select n, status::text as status, key, input::text as input, normalized::text as normalized,
                      result::text as result, error ->> 'reason' as reason
               from forebay.item where job_id = $1 and n > 0 order by n""",
            job,
        )
        return [
            {**dict(row), **{name: _parsed(row[name]) for name in ("input", "normalized", "result")}} for row in rows
        ]

    async def job(self, job: int) -> dict[str, Any]:
        row = await self.conn.fetchrow(
            """select j.state::text as state, j.total, j.done, j.skipped, j.not_found, j.error, j.sealed, j.loaded,
                      p.name as pipeline
               from forebay.job j join forebay.pipeline p on p.id = j.pipeline_id where j.id = $1""",
            job,
        )
        assert row is not None
        return dict(row)


def _parsed(text: str | None) -> Any:
    return None if text is None else json.loads(text)


@asynccontextmanager
async def taking(
    dsn: str,
    folder: Path,
    *packages: PackageSettings,
    resources: Mapping[Resource[Any], Resource[Any]] | None = None,
    **settings: Any,
) -> AsyncIterator[Taking]:
    chosen = Settings(data_dir=folder, **settings).including(*packages)
    conn: asyncpg.Connection[Any] = await asyncpg.connect(dsn)
    try:
        async with testbed(dsn, PIPELINES, migrated=True, settings=chosen, resources=resources) as bed:
            for pipeline in PIPELINES:
                await registry.register(conn, pipeline.definition())
            yield Taking(bed, conn, Blobs(bed.pool, open_store(chosen)))
    finally:
        await conn.close()


def table(header: Sequence[str], *rows: Sequence[object]) -> bytes:
    """A CSV file as other programs write it."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


def dying_once(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Reads files as usual, but is killed when pictures are asked for the second time; notes which were."""
    path = args[0]
    if name == "unpack_pictures":
        notes = path.with_name(f"{path.name}.asked")
        with notes.open("a") as file:
            file.write(" ".join(args[1]) + "\n")
        if len(notes.read_text().splitlines()) == 2:
            os.kill(os.getpid(), signal.SIGKILL)
    return sheet_reading.run(name, args, kwargs)


def hanging(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Reads no file to its end; notes which process it is."""
    path: Path = args[0]
    path.with_name(f"{path.name}.hanging").write_text(str(os.getpid()))
    while True:
        signal.pause()
