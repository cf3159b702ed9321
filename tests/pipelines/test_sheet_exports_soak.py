"""A million rows out, in every format, by a worker that stays small."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.crash._rig import Watch
from tests.pipelines._sheets import add_sheet, export_worker, exporting

_ROWS = 1_000_000
_MOST_MB = 200

_FILL = """insert into forebay.item (job_id, n, owner_id, pipeline_id, status, input, result)
select j.id, n, j.owner_id, j.pipeline_id, 'DONE',
       jsonb_build_object('line', n + 1, 'row',
           jsonb_build_object('Name', '=thing ' || n, 'Text', repeat('text ', 20))),
       jsonb_build_object('look_up', jsonb_build_object('title', 'Thing ' || n, 'score', 0.5))
from forebay.job j, generate_series(1, $2::int) n where j.id = $1"""


def _peak_mb(process: subprocess.Popen[bytes]) -> int:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", ["csv", "jsonl", "xlsx"])
async def test_a_million_rows(dsn: str, tmp_path: Path, kind: str) -> None:
    async with exporting(dsn, tmp_path) as exports, Watch(dsn) as watch:
        job = await add_sheet(exports.conn, ["Name", "Text"], [])
        await exports.conn.execute(_FILL, job, _ROWS, timeout=1800)
        await exports.conn.execute("update forebay.job set total = $2 where id = $1", job, _ROWS)
        export = await exports.ask(job, kind)
        with export_worker(dsn, tmp_path, tmp_path / "log") as worker:
            await watch.done([export], seconds=3000)
            peak = _peak_mb(worker)
        assert await watch.one("select rows from forebay.sheet_export where job_id = $1", export) == _ROWS
        assert peak < _MOST_MB
