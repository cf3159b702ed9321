"""Files that were coming in for sheets before there was an intake for all pipelines go on after the upgrade."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from forebay.db.migrate import migrate
from forebay.intake import db as incoming
from forebay.intake.db import FileTerms, NewFile
from forebay.intake.sources import take as take_file
from forebay.pipelines.sheets.files import FILES
from forebay.settings import Settings
from forebay.storage import open_store
from forebay.storage.spool import spooled
from tests.pipelines._intake import PIPELINES, taking
from tests.sql._upgrades import make_last

CSV = b"Name,EAN\nPen,4006381333931\nInk,\n"
_PIECE = (
    "insert into forebay.sheet_piece (sheet_id, owner_id, start, size) values ($1, $2, $3, $4) returning name::text"
)


class Before:
    """A database of the release before, with the functions that it had."""

    def __init__(self, conn: asyncpg.Connection[Any], folder: Path) -> None:
        self.conn = conn
        self.store = open_store(Settings(data_dir=folder))

    async def add(self, name: str, *source: str) -> tuple[int, int]:
        places = ", ".join(f"${n}" for n in range(4, 4 + len(source)))
        call = f"select id, job_id from forebay.add_sheet($1, $2, $3, '{{}}'{', ' + places if places else ''})"
        row = await self.conn.fetchrow(call, await self.owner(), name, len(CSV), *source)
        assert row is not None
        return row["id"], row["job_id"]

    async def owner(self) -> int:
        return int(await self.conn.fetchval("select forebay.owner_id('ann')"))

    async def put(self, sheet: int, start: int, data: bytes) -> None:
        name = await self.conn.fetchval(_PIECE, sheet, await self.owner(), start, len(data))
        async with spooled(data, self.store.spool) as spool:
            await self.store.put(f"uploads/{sheet}/{name}", spool, "application/octet-stream")


@pytest.mark.usefixtures("_template")  # which makes the roles that the database names
async def test_uploads_go_on_and_nothing_is_taken_twice(bare_dsn: str, tmp_path: Path) -> None:
    await make_last(bare_dsn)
    conn: asyncpg.Connection[Any] = await asyncpg.connect(bare_dsn)
    try:
        for pipeline in PIPELINES:
            await conn.fetch("select forebay.register($1)", json.dumps(pipeline.definition()))
        before = Before(conn, tmp_path)
        half, half_job = await before.add("half.csv")
        await before.put(half, 0, CSV[:10])
        whole, whole_job = await before.add("whole.csv")
        await before.put(whole, 0, CSV)
        await conn.execute("select forebay.begin_intake($1)", whole)
        await before.add("taken.csv", "drop", "taken.csv", "v1")
        await migrate(bare_dsn)
        assert await conn.fetchval("select to_regclass('forebay.sheet_piece')") is None
        async with taking(bare_dsn, tmp_path) as take:
            file = await incoming.get(conn, "sheets", half)
            assert file is not None
            assert (file.name, file.received, file.size, file.intake_job_id) == ("half.csv", 10, len(CSV), None)
            await take._put(half, 10, CSV[10:])
            await incoming.begin_receiving(conn, "sheets", half, FILES.receiving)
            await take.bed.run()
            for job in (half_job, whole_job):
                assert [item["input"]["row"]["Name"] for item in await take.items(job)] == ["Pen", "Ink"]
            for version, is_new in (("v1", False), ("v2", True)):
                new = NewFile("taken.csv", 1, {}, "drop", "taken.csv", version)
                added = await take_file(FILES, conn, "ann", new, FileTerms(), paused=False, actor="scan")
                assert added.created is is_new
    finally:
        await conn.close()
