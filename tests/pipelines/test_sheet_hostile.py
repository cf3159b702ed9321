"""Bombs and broken files through the whole intake: each gets its reason, memory stays flat, and other files go on."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg

from forebay.db.pool import open_pool
from forebay.engine.db import registry
from forebay.engine.declare.loading import load_pipelines
from forebay.intake.db import FileTerms, NewFile
from forebay.intake.local_files import LocalFile, submit_file
from forebay.pipelines.sheets.files import FILES
from forebay.settings import Settings
from forebay.storage import Blobs, Store, open_store
from tests.cli._run import Cli, Process
from tests.crash._rig import Watch
from tests.pipelines._hostile import HOSTILE, NOTHING, Hostile
from tests.pipelines._intake import table
from tests.pipelines._peaks import peaks_of
from tests.pipelines._sheets import csv_cells

_GOOD = 200
_WORKER_MB = 200
_CHILD_MB = 400  # one that reads text in pictures needs the half of it


@asynccontextmanager
async def working(dsn: str, folder: Path) -> AsyncIterator[tuple[Process, Store]]:
    """A worker with all pipelines, as people start it."""
    settings = {"DATABASE_URL": dsn, "DATA_DIR": str(folder / "data"), "PIPELINES": "forebay.pipelines"}
    settings |= {"LOG_JSON": "1", "POLL_S": "0.2", "SHEETS_NOT_FOUND_WAIT_S": "0"}
    settings["EMBEDDING_MODEL"] = ""  # the model of the index would hold more memory than all that is measured here
    worker = Cli(folder, **{f"FOREBAY_{name}": value for name, value in settings.items()}).start("worker")
    try:
        worker.says("worker_started")
        yield worker, open_store(Settings(data_dir=folder / "data"))
    finally:
        worker.kill()


async def hand_over(conn: asyncpg.Connection[Any], store: Store, path: Path, options: dict[str, Any]) -> int:
    new = LocalFile(NewFile(path.name, path.stat().st_size, options), path)  # noqa: ASYNC240
    return (await submit_file(FILES, conn, store, "ann", new, FileTerms())).job_id


async def told(watch: Watch, job: int) -> dict[int, str]:
    rows = await watch.fetch(
        "select (input ->> 'line')::int as line, error ->> 'reason' as reason from forebay.item "
        "where job_id = $1 order by n",
        job,
    )
    return {row["line"]: row["reason"] for row in rows}


async def test_each_file_gets_its_reason_and_the_others_go_on(dsn: str, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    jobs: dict[str, int] = {}
    async with Watch(dsn) as watch, working(dsn, tmp_path) as (worker, store), peaks_of(worker.pid) as (peaks,):
        conn = await watch.conn()
        for pipeline in load_pipelines(["forebay.pipelines"]):
            await registry.register(conn, pipeline.definition())
        for name, hostile in HOSTILE.items():
            hostile.write(files / name)
            jobs[name] = await hand_over(conn, store, files / name, hostile.options)
            (files / name).unlink()
        (files / "good.csv").write_bytes(table(["Name", "SKU"], *([f"Thing {n}", n] for n in range(_GOOD))))
        jobs["good.csv"] = await hand_over(conn, store, files / "good.csv", {})
        await watch.done(jobs.values())
        for name, hostile in HOSTILE.items():
            await assert_told(watch, jobs[name], name, hostile)
        good = await told(watch, jobs["good.csv"])
        assert good == dict.fromkeys(range(2, _GOOD + 2), NOTHING)
        await assert_escaped(watch, store, jobs["formulas.csv"])
    assert (peaks.root < _WORKER_MB, peaks.children < _CHILD_MB) == (True, True), peaks
    assert "Traceback" not in worker.said


async def assert_told(watch: Watch, job: int, name: str, hostile: Hostile) -> None:
    """The whole file has a problem, which its only item tells, too; or each row its own."""
    problem = await watch.one("select problem from forebay.sheet where job_id = $1", job)
    rows = await told(watch, job)
    if hostile.problem is None:
        assert (name, problem, list(rows)) == (name, None, list(hostile.rows))
        for line, reason in hostile.rows.items():
            assert re.match(reason, rows[line]), (name, rows)
    else:
        assert re.match(hostile.problem, problem or ""), (name, problem)
        assert rows == {0: problem}
    again = await watch.fetch(
        """select a.outcome::text, a.reason from forebay.attempt a join forebay.intake_file s
               on s.intake_job_id = a.job_id
           where s.job_id = $1 and a.outcome not in ('DONE', 'SKIPPED')""",
        job,
    )
    assert (name, [tuple(row) for row in again]) == (name, [])


async def assert_escaped(watch: Watch, store: Store, job: int) -> None:
    """What may be a formula is kept as it is, and escaped in what people open."""
    rows = await watch.fetch("select input #>> '{row,Name}' from forebay.item where job_id = $1 order by n", job)
    formulas = ["=1+1", "=cmd|' /C calc'!A0", "@SUM(1)"]
    assert [row[0] for row in rows] == formulas
    export = await watch.one("select forebay.export_sheet($1, 'csv', '{}')", job)
    await watch.done([export])
    sha = await watch.one(
        """select encode(f.sha256, 'hex') from forebay.sheet_export e join forebay.file f on f.id = e.file_id
           where e.job_id = $1""",
        export,
    )
    async with await open_pool(watch.dsn, size=1, name="test") as pool:
        data = await Blobs(pool, store).read(sha, 1 << 20)
    head, *lines = csv_cells(data, raw=True)
    assert [line[head.index("Name")] for line in lines] == [f"'{formula}" for formula in formulas]
