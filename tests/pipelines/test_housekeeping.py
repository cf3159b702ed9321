"""Chores: declared by packages, run as jobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from forebay.errors import ConfigError
from forebay.packages import leave_out, packages
from forebay.pipelines.housekeeping.steps import ChoreRun, declared_chores, housekeeping
from forebay.settings import Settings
from forebay.testing import testbed
from tests._packages import installed

MANIFEST = """
from forebay.packages import Chore, PipelinePackage
package = PipelinePackage("dusty", __name__, chores=(
    Chore("dust", "0 4 * * *", "chores:dust"), Chore("linger", "0 5 * * *", "chores:linger", timeout_s=0.01)))
"""
CHORES = """
import asyncio
async def dust(ctx):
    return {"shelves": 3}
async def linger(ctx):
    await asyncio.Event().wait()
"""

EXPIRED = """
insert into forebay.sign_in_failure values ('ann', 1, now(), now() - interval '2 days');
insert into forebay.idempotency values
    (1, 'old', '', 201, '{}', now() - interval '2 days'), (1, 'new', '', 201, '{}', now())
"""


DUE = "update forebay.schedule set next_at = $1 where name = 'forebay: dust'"
LAST = "select last_job_id from forebay.schedule where name = 'forebay: dust'"
STATUS = "select status::text from forebay.item where job_id = $1 and n = 1"


@pytest.fixture
def dusty(tmp_path: Path) -> Iterator[None]:
    with installed(tmp_path / "packages") as found:
        found.add("dusty", {"__init__.py": MANIFEST, "chores.py": CHORES})
        yield


@pytest.mark.usefixtures("dusty")
async def test_every_chore_runs_at_its_time(dsn: str, tmp_path: Path) -> None:
    settings = Settings(storage_url=str(tmp_path / "files"))
    async with testbed(dsn, [housekeeping], migrated=True, settings=settings) as bed:
        declared = {f"forebay: {name}": chore.cron for name, (_, chore) in declared_chores().items()}
        assert declared.items() >= {"forebay: dust": "0 4 * * *", "forebay: crawl again": "*/15 * * * *"}.items()
        found = await bed.pool.fetch("select name, cron from forebay.schedule")
        assert {row["name"]: row["cron"] for row in found} == declared
        await bed.pool.execute(EXPIRED)
        jobs = {name: await bed.submit(housekeeping, ChoreRun(what=name)) for name in declared_chores()}
        unknown = await bed.submit(housekeeping, ChoreRun(what="sweep the chimney"))
        await bed.finish()
        items = {name: await bed.item(job) for name, job in jobs.items()}
        assert items.pop("linger").status == "ERROR"  # it takes longer than it may
        assert items["dust"].result == {"run_chore": {"shelves": 3}}
        assert {name: item.status for name, item in items.items()} == dict.fromkeys(items, "DONE")
        assert items["delete expired"].result == {"run_chore": 2}
        assert await bed.pool.fetchval("select array_agg(key) from forebay.idempotency") == ["new"]
        assert (await bed.item(unknown)).status == "SKIPPED"


async def test_the_last_run_of_a_chore_waits_for_its_package(dsn: str, tmp_path: Path) -> None:
    with installed(tmp_path / "packages") as found:
        found.add("dusty", {"__init__.py": MANIFEST, "chores.py": CHORES})
        async with testbed(dsn, [housekeeping], migrated=True) as bed:
            found.remove("dusty")
            jobs: list[int] = []
            with capture_logs() as logs:
                for _ in range(2):
                    bed.clock.advance(1)
                    await bed.pool.execute(DUE, bed.clock.now())
                    await bed.run()
                    jobs.append(await bed.pool.fetchval(LAST))
            fix = "install its package, or remove it with `forebay migrate --remove`"
            warned = [
                (log["chore"], log["job"], log["fix"]) for log in logs if log["event"] == "chore_waits_for_package"
            ]
            assert warned == [("dust", job, fix) for job in jobs]
            bed.clock.advance(901)
            await bed.run()
            statuses = [(await bed.pool.fetchval(STATUS, job)) for job in jobs]
            assert statuses == ["SKIPPED", "PENDING"]
            found.add("dusty", {"__init__.py": MANIFEST, "chores.py": CHORES})  # it is back
            bed.clock.advance(901)
            await bed.run()
            assert await bed.pool.fetchval(STATUS, jobs[1]) == "DONE"


async def test_the_schedule_of_a_chore_remains_while_its_package_cannot_be_loaded(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exists = "select exists (select from forebay.schedule where name = 'forebay: dust')"
    with installed(tmp_path / "packages") as found:
        found.add("dusty", {"__init__.py": MANIFEST, "chores.py": CHORES})
        async with testbed(dsn, [housekeeping], migrated=True):
            pass
        for turn, entry_point, is_kept in ((1, "dusty = dusty_of_yesterday:package", True), (2, None, False)):
            found.remove("dusty")
            if entry_point is not None:
                found.add("dusty", {"__init__.py": MANIFEST}, entry_point)
            monkeypatch.setattr(housekeeping, "schedules", [])  # as in a process that starts
            async with testbed(dsn, [housekeeping], migrated=True) as bed:
                bed.clock.advance(120 * turn)
                await bed.worker._sweeper.tidy()
                assert await bed.pool.fetchval(exists) is is_kept, entry_point


def test_what_fails_in_a_package_of_forebays_own_is_raised() -> None:
    with pytest.raises(ConfigError, match="ours"):
        leave_out(packages()[0], ConfigError("ours"))
