"""Two claims at the same run, in the one order of events that is hard to hit: no task is given to both."""

# demands: S1-45, S1-85, S3-84, S3-95

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from forebay.settings import Settings
from tests.crash._rig import Watch, assert_done_once, eventually, submit, working
from tests.crash._steps import letters, slow

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

# A claim that passes this gate has its snapshot already, and has not looked at any ready row yet.
_GATE = """
create function gate() returns boolean language plpgsql volatile as $$
begin
    if current_setting('crash.gate', true) = 'shut' then
        perform pg_advisory_xact_lock_shared(4711);
    end if;
    return true;
end $$;
alter table forebay.queue rename to queue_behind;
create view forebay.queue as select q.* from forebay.queue_behind q where gate();
"""


@pytest.fixture
async def late(dsn: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """A connection whose claims stop between their snapshot and their first look at ready rows."""
    conn = await asyncpg.connect(dsn, server_settings={"crash.gate": "shut"})
    yield conn
    await conn.close()


async def _claim(conn: Any, worker: int, quota: int, runs: int = 10) -> set[int]:
    """Claims from all there is; answers which items."""
    pairs = await conn.fetch("select distinct step_id, lane_id from forebay.ready")
    rows = await conn.fetch(
        "select * from forebay.claim($1, $2, $3, $4, $5, $6, '{}', 60)",
        worker,
        [pair["step_id"] for pair in pairs],
        [pair["lane_id"] for pair in pairs],
        [0] * len(pairs),
        [quota] * len(pairs),
        [runs] * len(pairs),
    )
    return {n for row in rows for n in row["ns"]}


@pytest.mark.parametrize("runs", [4, 10], ids=["few", "many"])
@pytest.mark.parametrize("late_quota", [8, 100], ids=["cuts", "uses_up"])
async def test_a_run_that_was_cut_after_the_snapshot_is_not_claimed_twice(
    watch: Watch, late: asyncpg.Connection[asyncpg.Record], late_quota: int, runs: int
) -> None:
    await submit(watch, letters, 20)
    await (await watch.conn()).execute(_GATE)
    await watch.fetch("select pg_advisory_lock(4711)")
    claiming = asyncio.create_task(_claim(late, 2, late_quota, runs))

    async def waits() -> bool:
        return bool(await watch.one("select exists (select from pg_locks where locktype = 'advisory' and not granted)"))

    await eventually("the second claim has its snapshot", waits)
    first = await _claim(await watch.conn(), 1, 8)
    await watch.fetch("select pg_advisory_unlock(4711)")
    second = await claiming
    third = await _claim(await watch.conn(), 3, 100)
    assert sorted([*first, *second, *third]) == list(range(1, 21))


async def test_attempts_that_end_while_their_partition_is_made_are_settled(dsn: str, watch: Watch) -> None:
    """The row was on its way to the default partition when that stopped taking rows of today."""
    maker = await asyncpg.connect(dsn)
    async with working(dsn, Settings(poll_s=0.2, sweep_s=0.2)):
        (today,) = await watch.fetch(
            "select 'forebay.attempt_' || to_char(now() at time zone 'UTC', 'YYYYMMDD') as name"
        )
        await maker.execute(f"drop table if exists {today['name']}")
        await maker.execute("begin; select forebay.make_partitions()")
        job = await submit(watch, letters, 5)
        await watch.until(
            "the worker settles",
            """select exists (select from pg_stat_activity where datname = current_database()
                              and wait_event_type = 'Lock' and query like '%settle%')""",
        )
        await maker.execute("commit")
        await watch.done([job], seconds=30)
    await maker.close()
    await assert_done_once(watch, {job: 5}, "write", "post")


async def test_a_locked_lease_does_not_keep_the_others_from_being_renewed(
    dsn: str, watch: Watch, tmp_path: Path
) -> None:
    """Somebody is stuck in the middle of settling one task; that is no reason to lose the others."""
    for _ in range(2):
        await submit(watch, slow, 1, gate=tmp_path)
    stuck = await asyncpg.connect(dsn)
    async with working(dsn, Settings(lease_floor_s=1, sweep_s=0.1, poll_s=0.2, grace_s=5)):
        await watch.until("both are claimed", "select count(*) = 2 from forebay.lease")
        await stuck.execute(
            "begin; select from forebay.lease where token = (select min(token) from forebay.lease) for update"
        )
        await watch.until(
            "the other is renewed again and again",
            """select exists (select from forebay.lease where expires_at > claimed_at + interval '4 s')
                   or exists (select from forebay.attempt)""",
        )
        assert await watch.one("select count(*) from forebay.attempt where outcome = 'EXPIRED'") == 0
        await stuck.close()
        (tmp_path / "open").touch()
        await watch.until("both are done", "select count(*) = 2 from forebay.item where status = 'DONE'")


# -- many at once ---------------------------------------------------------------------------------------------------

# Tasks that are in two places at a time: of runs that are ready, runs that are scheduled and leases.
_IN_TWO_PLACES = """
with place as (
    select step_id, job_id, n, 'run ' || seq as name from forebay.ready, generate_series(first_n, last_n) n
    union all
    select step_id, job_id, n, 'run at ' || run_at from forebay.scheduled, generate_series(first_n, last_n) n
    union all
    select step_id, job_id, n, 'lease ' || token || ' of worker ' || worker_id
    from forebay.lease, unnest(ns) r, generate_series(lower(r), upper(r) - 1) n)
select step_id, job_id, n, array_agg(name) from place group by 1, 2, 3 having count(*) > 1 order by 1, 2, 3 limit 3
"""


# A lease that no machine is too slow for: a fourth of the claims end their tasks whatever becomes of the others.
_LASTS = 600.0


async def _claim_and_settle(dsn: str, worker: int, end: asyncio.Event) -> int:
    """Claims at random; of leases that last settles all, of short ones some, and forgets the rest. Answers how often it
    claimed."""
    draw, claims = random.Random(worker), 0
    conn = await asyncpg.connect(dsn)
    while not end.is_set():
        pairs = await conn.fetch("select step_id, lane_id from forebay.discover(array(select id from forebay.step))")
        if len(pairs) == 0 or draw.random() < 0.2:
            await conn.fetch("select * from forebay.expire()")
            # Tasks that were lost twice come back within ten seconds: these have passed.
            await conn.fetch("select * from forebay.promote(clock_timestamp() + interval '10 s')")
            await asyncio.sleep(0.01 if len(pairs) == 0 else 0)  # all is leased: let the others work
            continue
        size, lease_s = len(pairs), draw.choice((0.02, 0.1, 1, _LASTS))
        leases = await conn.fetch(
            "select * from forebay.claim($1, $2, $3, $4, $5, $6, '{}', $7)",
            worker,
            [pair["step_id"] for pair in pairs],
            [pair["lane_id"] for pair in pairs],
            [0] * size,
            [draw.choice((1, 8, 50, 200))] * size,
            [draw.choice((4, 20, 100))] * size,
            lease_s,
        )
        claims += 1
        tasks = {(lease["job_id"], n): lease["token"] for lease in leases for n in lease["ns"] or ()}
        chosen = [key for key in tasks if lease_s == _LASTS or draw.random() < 0.7]
        await conn.fetch(
            "select * from forebay.settle($1, $2, $3, '{}', '{}', $4, '{}', '{}', '{}', '{}', '{}')",
            worker,
            [tasks[key] for key in chosen],
            [n for _, n in chosen],
            [time.time()] * len(chosen),
        )
    await conn.close()
    return claims


async def test_claims_side_by_side_never_hold_the_same_task(dsn: str, watch: Watch) -> None:
    """Runs are cut, used up, lost and put back by six at a time."""
    await submit(watch, letters, 1500)
    await submit(watch, letters, 1500)
    await watch.fetch("update forebay.step set max_expiries = 30000")
    end = asyncio.Event()
    claiming = [asyncio.create_task(_claim_and_settle(dsn, worker, end)) for worker in range(1, 7)]

    async def over() -> bool:
        assert [tuple(row) for row in await watch.fetch(_IN_TWO_PLACES)] == []
        assert not any(task.done() for task in claiming)
        return bool(await watch.one("select count(*) = 0 from forebay.job where finished_at is null"))

    try:
        await eventually("all is done", over)
    finally:
        end.set()
        claims = await asyncio.gather(*claiming, return_exceptions=True)
    assert all(isinstance(count, int) for count in claims), claims
    twice = """select count(*) from (select from forebay.attempt where outcome = 'DONE'
                                     group by job_id, n, step_id having count(*) > 1) d"""
    assert await watch.one(twice) == 0
