"""A migration of a database whose workers go on waits for locks only briefly: no settle waits for a second."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest
from structlog.testing import capture_logs

from forebay.db import migrate as migrating
from tests.sql._db import step
from tests.sql._upgrades import make_last

if TYPE_CHECKING:
    from forebay.db.pool import Connection

_REPORT = "select count(*) from forebay.job, forebay.item, forebay.step, forebay.worker, forebay.schedule"
_CLAIM = """
select c.* from (select step_id, lane_id from forebay.ready where job_id = $1 limit 1) r
cross join lateral forebay.claim(1, array[r.step_id], array[r.lane_id], '{0}', '{1}', '{1}', '{}', 600) c"""
_SETTLE = "select settled from forebay.settle_packed(1, $1, $2, $3, '', '{}', '{}', '{}', '{}', '{}', '{}')"


async def _settle_one(worker: Connection, job: int) -> None:
    """Claims a task and settles it, as workers of that release do; waiting for a lock for a second is an error."""
    (lease,) = await _repeated(worker, _CLAIM, job)
    ((settled,),) = await _repeated(worker, _SETTLE, str(lease["token"]), str(lease["ns"][0]), "0")
    assert settled == 1


async def _repeated(worker: Connection, statement: str, *args: object) -> list[asyncpg.Record]:
    """Workers repeat a statement whose function was replaced while it was being planned."""
    for _ in range(20):
        with suppress(asyncpg.InternalServerError):
            return await worker.fetch(statement, *args)
    raise AssertionError("its functions were replaced twenty times")


@pytest.mark.usefixtures("_template")  # the dump grants rights to the roles that a migration makes
async def test_settles_go_on_while_a_migration_waits_for_a_long_report(
    bare_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrating, "_LOCK_PAUSE", 0.05)
    await make_last(bare_dsn)
    worker, reader = await asyncpg.connect(bare_dsn), await asyncpg.connect(bare_dsn)
    await worker.execute("select forebay.register($1)", json.dumps({"name": "load", "steps": [step("only")]}))
    job = await worker.fetchval(
        "select job_id from forebay.submit_many('load', array_fill('{}'::jsonb, array[20000]), 'ann')"
    )
    await worker.execute("set lock_timeout = '1s'")
    report = reader.transaction()
    await report.start()
    await reader.fetchval(_REPORT)
    settled: list[int] = []  # how many were settled before each time that the migration gave up waiting
    done = 0
    with capture_logs() as logs:
        migration = asyncio.create_task(migrating.migrate(bare_dsn))
        while len(settled) < 4:
            assert not migration.done(), "the migration did not wait for the report"
            await _settle_one(worker, job)
            done += 1
            waits = [line for line in logs if line["event"] == "migration_waits_for_lock"]
            settled += [done] * (len(waits) - len(settled))
        assert len(set(settled)) == len(settled), "no task was settled while the migration waited"
        await report.rollback()
        while not migration.done():
            await _settle_one(worker, job)
            done += 1
    assert await migration > 0
    await _settle_one(worker, job)
    row: Any = await worker.fetchrow("select j.done, j.total from forebay.job j where j.id = $1", job)
    assert tuple(row) == (done + 1, 20000)
    await worker.close()
    await reader.close()
