"""What a file may cost: bytes and seconds by its size; and whoever cancels its job ends its reading, too."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from forebay.engine.db import registry
from forebay.engine.declare.limited import limited
from forebay.engine.work.worker import Worker
from forebay.intake.db import FileTerms, NewFile
from forebay.intake.local_files import LocalFile, submit_file
from forebay.pipelines.sheets import row_sources
from forebay.pipelines.sheets.db import sheets
from forebay.pipelines.sheets.files import FILES
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.settings import Settings
from forebay.storage import open_store
from tests.crash._rig import eventually
from tests.pipelines._intake import PIPELINES, hanging, table, taking
from tests.services.spreadsheets._tables import workbook


async def test_a_workbook_whose_strings_fill_the_disk_is_refused_for_good(dsn: str, tmp_path: Path) -> None:
    rows = '<row><c t="inlineStr"><is><t>Name</t></is></c></row>' + '<row><c t="s"><v>0</v></c></row>' * 100
    data = workbook(rows, strings=f"<si><t>{'x' * 30_000}</t></si>")
    assert len(data) < 5_000
    async with taking(dsn, tmp_path, SheetsSettings(max_read_bytes=1 << 20)) as take:
        job = await take.taken(data, "bomb.xlsx")
        (item,) = await take.items(job)
        assert item["reason"].startswith("the rows of the file take more than 1048576 bytes, the maximum for a file of")
        attempts = "select max(attempt) from forebay.attempt a join forebay.intake_file s on s.intake_job_id = a.job_id"
        assert await take.conn.fetchval(attempts) == 1
        assert list(take.blobs.store.spool.iterdir()) == []


async def test_names_of_columns_that_fill_the_disk_are_refused(dsn: str, tmp_path: Path) -> None:
    """Each row is stored with the names of its columns, which may be long."""
    async with taking(dsn, tmp_path, SheetsSettings(max_read_bytes=1 << 20)) as take:
        job = await take.taken(f"{'x' * 10_000},b\n".encode() + b"1,2\n" * 200)
        assert (await take.items(job))[-1]["reason"].startswith("the rows of the file take more than 1048576 bytes")


async def test_a_file_that_takes_too_long_is_refused_the_second_time(dsn: str, tmp_path: Path) -> None:
    async with taking(dsn, tmp_path, SheetsSettings(read_s=0, read_s_per_mb=0)) as take:
        job = await take.add(table(["Name", "SKU"], ["Pen", "1"]))
        await take.bed.run()
        problem = (await take.sheet(job)).problem or ""
        assert problem.startswith("reading the file took longer than 0 s, which is the most for a file of 17 bytes")
        assert await take.items(job) == []
        await take.bed.finish()
        (item,) = await take.items(job)
        assert (item["status"], item["reason"]) == ("ERROR", problem)
        assert (await take.job(job))["state"] == "FAILED"


async def test_cancelling_the_job_of_a_file_ends_the_reading_and_its_process(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = row_sources.IN_CHILD.process_limits.returns  # unconfined, as it takes notes
    monkeypatch.setattr(row_sources, "IN_CHILD", limited(hanging, memory_mb=768, sandbox=False, returns=kept))
    # A heartbeat would also end what was cancelled, but comes every 15 minutes: only the notification ends it now.
    settings = Settings(data_dir=tmp_path, lease_floor_s=3600, lease_cap_s=3600)
    conn: asyncpg.Connection[Any] = await asyncpg.connect(dsn)
    worker = Worker(dsn, PIPELINES, settings=settings)
    running = asyncio.create_task(worker.run())
    try:
        await worker.ready_or_failed(running)
        for pipeline in PIPELINES:
            await registry.register(conn, pipeline.definition())
        file = LocalFile(NewFile("rows.csv", 3), b"a\n1")
        added = await submit_file(FILES, conn, open_store(settings), "ann", file, FileTerms())
        pid = await eventually("it is being read", lambda: asyncio.to_thread(_hanging_in, tmp_path))
        await conn.execute("select forebay.cancel($1)", added.job_id)
        await eventually("the process is gone", lambda: asyncio.to_thread(_is_gone, pid))
        sheet = await sheets.get(conn, job_id=added.job_id)
        assert sheet is not None
        ended = "select state = 'CANCELLED' and finished_at is not null from forebay.job where id = $1"
        await eventually("the reading has ended", lambda: conn.fetchval(ended, sheet.intake_job_id))
    finally:
        worker.stop()
        await running
        await conn.close()


def _hanging_in(folder: Path) -> int | None:
    """The process that has begun to read a file in this folder."""
    notes = [text for path in folder.rglob("*.hanging") if (text := path.read_text())]
    return int(notes[0]) if notes else None


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False
