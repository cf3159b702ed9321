"""Exports whose workers are killed in the middle: written once, with the bytes of one that nobody disturbed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.crash._rig import Proxy, Watch, Workers
from tests.pipelines._sheets import Line, add_sheet, exporting

_KILLS = 3
_HELD_AFTER = 400_000  # bytes of about two million


@pytest.mark.parametrize("kind", ["csv", "xlsx", "jsonl"])
async def test_killed_workers(dsn: str, workers: Workers, tmp_path: Path, kind: str) -> None:
    lines = [
        Line({"Name": f"=thing {n}", "Text": f"{n} ü, \n" * 800}, {"title": f"Thing {n}", "score": n / 7})
        for n in range(300)
    ]
    settings = {"pipelines": "forebay.pipelines.sheets.exports", "data_dir": str(tmp_path)}
    async with exporting(dsn, tmp_path) as exports, Watch(dsn) as watch:
        job = await add_sheet(exports.conn, ["Name", "Text"], lines)
        undisturbed = await exports.made(job, kind)
        await exports.conn.execute("delete from forebay.file")  # of which nothing may be used again
        await exports.conn.execute("delete from forebay.blob")
        export = await exports.ask(job, kind)
        for _ in range(_KILLS):
            async with Proxy(dsn) as proxy, asyncio.timeout(120):
                proxy.hold_copies(after=_HELD_AFTER)
                worker = workers.start(dsn=proxy.dsn, **settings)
                await proxy.held.wait()  # it has read a part of the grid, and waits for the rest
                worker.kill()
        workers.start(**settings)
        await watch.done([export])
        assert await exports.content(export) == undisturbed
        lost = await watch.one("select count(*) from forebay.attempt where job_id = $1 and outcome = 'EXPIRED'", export)
        assert lost == _KILLS, "a kill that hits no work proves nothing"
        files = await watch.one("select count(*) from forebay.file")
        assert files == 1
        left = await asyncio.to_thread(lambda: [path.name for path in tmp_path.rglob("put-*")])
        assert len(left) <= _KILLS  # the sweep of the store deletes them
