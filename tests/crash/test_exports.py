"""Exports whose workers are killed in the middle: written once, with the bytes of one that nobody disturbed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.crash._rig import Watch, Workers
from tests.pipelines._sheets import Line, add_sheet, exporting

_KILLS = 3
_READING = """select count(*) > 0 from pg_stat_activity
where datname = current_database() and query like 'COPY%' and state = 'active'"""


@pytest.mark.parametrize("kind", ["csv", "xlsx", "jsonl"])
async def test_killed_workers(dsn: str, workers: Workers, tmp_path: Path, kind: str) -> None:
    # Long cells: none of the formats is ready before a kill can come.
    lines = [
        Line({"Name": f"=thing {n}", "Text": f"{n} ü, \n" * 800}, {"title": f"Thing {n}", "score": n / 7})
        for n in range(5_000)
    ]
    settings = {"pipelines": "forebay.pipelines.sheets.exports", "data_dir": str(tmp_path)}
    async with exporting(dsn, tmp_path) as exports, Watch(dsn) as watch:
        job = await add_sheet(exports.conn, ["Name", "Text"], lines)
        undisturbed = await exports.made(job, kind)
        await exports.conn.execute("delete from forebay.file")  # of which nothing may be used again
        await exports.conn.execute("delete from forebay.blob")
        export = await exports.ask(job, kind)
        for _ in range(_KILLS):
            worker = workers.start(**settings)
            await watch.until("the grid is being read", _READING)
            worker.kill()
            # Its backend ends when it finds nobody to send to: the next one that reads is the next worker's.
            await watch.until("the backend has ended", f"select not ({_READING})")
        workers.start(**settings)
        await watch.done([export])
        assert await exports.content(export) == undisturbed
        lost = await watch.one("select count(*) from forebay.attempt where job_id = $1 and outcome = 'EXPIRED'", export)
        assert lost == _KILLS, "a kill that hits no work proves nothing"
        files = await watch.one("select count(*) from forebay.file")
        assert files == 1
        left = await asyncio.to_thread(lambda: [path.name for path in tmp_path.rglob("put-*")])
        assert len(left) <= _KILLS  # the sweep of the store deletes them
