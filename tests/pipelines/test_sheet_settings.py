"""The knobs of sheets: each setting reaches what it is for."""

# demands: S5-57, S5-58, S5-59, S5-119, S5-120, S5-121, S5-122, S5-123, S5-130, S5-131, S5-133, S5-134

from __future__ import annotations

from pathlib import Path

import pytest

from bench.provider_stub import KEY, ProviderStub, declaration
from forebay.engine.db import control
from forebay.pipelines.sheets.intake import batch_size
from forebay.pipelines.sheets.settings import SheetsSettings
from tests.pipelines._intake import Taking, table, taking

_ROWS = [[f"Pen {n}", "4006381333931"] for n in range(10)]


async def _commits(take: Taking, data: bytes) -> list[int]:
    """How many rows of a file are committed at a time."""
    job = await take.add(data)
    await control.pause(take.conn, job, "ann")  # else steps would write to them, too
    await take.bed.run()
    counted = await take.conn.fetch(
        "select count(*) from forebay.item where job_id = $1 and n > 0 group by xmin order by min(n)", job
    )
    return [row[0] for row in counted]


async def _attempts(take: Taking, job: int) -> list[str]:
    """How the attempts to look rows up ended, in order."""
    rows = await take.conn.fetch(
        """select a.outcome::text from forebay.attempt a join forebay.step s on s.id = a.step_id
           where a.job_id = $1 and s.name = 'look_up' order by a.ended_at""",
        job,
    )
    return [row[0] for row in rows]


async def test_rows_are_committed_within_the_bounds(dsn: str, tmp_path: Path) -> None:
    # No commit counts as slow, which would make the next one smaller.
    async with taking(dsn, tmp_path, SheetsSettings(ingest_max_rows=4, db_p95_ms=60_000)) as take:
        assert await _commits(take, table(["Name", "EAN"], *_ROWS)) == [4, 4, 2]
    async with taking(dsn, tmp_path, SheetsSettings(ingest_max_batch_bytes=1024, db_p95_ms=60_000)) as take:
        assert await _commits(take, table(["Name", "EAN"], *([name * 80, ean] for name, ean in _ROWS))) == [2] * 5


def test_every_bound_and_target_is_the_settings() -> None:
    given = SheetsSettings(
        ingest_min_rows=100, ingest_max_rows=500, ingest_max_batch_bytes=2048, db_p50_ms=50, db_p95_ms=400
    )
    size = batch_size(given)
    assert (size.rows, size.least, size.most, size.most_bytes) == (100, 100, 500, 2048)
    assert (size.quick, size.slow) == (0.05, 0.4)
    contrary = batch_size(SheetsSettings(ingest_min_rows=100, ingest_max_rows=10, db_p50_ms=50, db_p95_ms=10))
    assert (contrary.least, contrary.most, contrary.quick, contrary.slow) == (100, 100, 0.05, 0.05)


async def test_how_often_what_is_not_there_is_looked_for(dsn: str, tmp_path: Path) -> None:
    async with taking(dsn, tmp_path, SheetsSettings(max_attempts_not_found=3, not_found_wait_s=600)) as take:
        job = await take.add(table(["Name", "EAN"], _ROWS[0]))
        await take.bed.run()
        assert await _attempts(take, job) == ["NOT_FOUND"]
        await take.bed.finish()
        assert await _attempts(take, job) == ["NOT_FOUND"] * 3
    async with taking(dsn, tmp_path, SheetsSettings(max_attempts_not_found=1)) as take:
        job = await take.taken(table(["Name", "EAN"], _ROWS[0]))
        assert await _attempts(take, job) == ["NOT_FOUND"]


async def test_how_often_a_look_up_may_fail(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_KEY", KEY)
    declared = tmp_path / "declared"
    declared.mkdir()
    async with ProviderStub(seconds=0.0, mood="broken").serving() as stub:
        (declared / "stub.toml").write_text(declaration(stub.port))
        for most in (2, 4):
            given = SheetsSettings(providers=declared, max_attempts_not_found=1, max_attempts_error=most)
            async with taking(dsn, tmp_path, given, egress_confine=False) as take:
                job = await take.taken(table(["Name"], _ROWS[0][:1]))
                assert await _attempts(take, job) == ["ERROR"] * most
                (step,) = await take.conn.fetch(
                    """select s.max_attempts from forebay.step s join forebay.pipeline p on p.id = s.pipeline_id
                       where p.name = 'sheets' and s.name = 'look_up'"""
                )
                assert step["max_attempts"] == most
