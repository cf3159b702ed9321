"""Claims from many lanes at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sql._db import Db, step

if TYPE_CHECKING:
    from collections.abc import Sequence


async def _lane(db: Db, owner: str) -> int:
    found = await db.one(
        "select l.id from forebay.lane l join forebay.owner o on o.id = l.owner_id where name = $1", owner
    )
    return int(found)


async def _claim(
    db: Db, lanes: Sequence[int], quotas: Sequence[int], *, max_rows: int = 4
) -> dict[int, list[tuple[int, int, int, int]]]:
    """The leases by lane: job, first and last task, and what is left of the run."""
    rows = await db.fetch(
        "select * from forebay.claim_tasks(1, $1, $2, $3, $4, $5, '{}', 60, $6)",
        [await db.step_id("x")] * len(lanes),
        list(lanes),
        [0] * len(lanes),
        list(quotas),
        [max_rows] * len(lanes),
        db.now,
    )
    found: dict[int, list[tuple[int, int, int, int]]] = {lane: [] for lane in lanes}
    for row in rows:
        assert row["ns"] == list(range(row["first_n"], row["last_n"] + 1))
        found[row["lane_id"]].append((row["job_id"], row["first_n"], row["last_n"], row["rest"]))
    return found


async def test_each_lane_gives_as_much_as_was_asked_of_it_in_the_order_of_its_runs(db: Db) -> None:
    await db.register(step("x"))
    large = await db.submit(5, owner="ann")
    small = [await db.submit(1, owner="ben") for _ in range(3)]
    ann, ben = await _lane(db, "ann"), await _lane(db, "ben")
    assert await _claim(db, [ann, ben], [2, 2]) == {
        ann: [(large, 1, 2, 3)],
        ben: [(small[0], 1, 1, 0), (small[1], 1, 1, 0)],
    }
    assert await _claim(db, [ben, ann], [2, 9]) == {ben: [(small[2], 1, 1, 0)], ann: [(large, 3, 5, 0)]}
    assert await db.one("select count(*) from forebay.ready") == 0
    assert await db.one("select count(distinct token) from forebay.lease") == 5


async def test_runs_of_cancelled_and_paused_jobs_do_not_block_those_behind_them(db: Db) -> None:
    await db.register(step("x"))
    jobs = [await db.submit(1, owner="ann") for _ in range(7)]
    other = await db.submit(1, owner="ben")
    ann, ben = await _lane(db, "ann"), await _lane(db, "ben")
    # As a run that appears while its job is being cancelled or paused.
    await db.execute("update forebay.job set state = 'CANCELLED' where id = any($1)", jobs[:5])
    await db.execute("select forebay.pause($1)", jobs[5])
    await db.execute("update forebay.ready set lane_id = $2 where job_id = $1", jobs[5], ann)
    assert await _claim(db, [ann, ben], [1, 1], max_rows=2) == {ann: [(jobs[6], 1, 1, 0)], ben: [(other, 1, 1, 0)]}
    assert [row["job_id"] for row in await db.fetch("select job_id from forebay.ready")] == [jobs[5]]
    assert await db.one("select lane_id from forebay.ready") not in (ann, ben)


async def test_a_parked_queue_gives_one_task_of_all_its_lanes(db: Db) -> None:
    await db.register(step("x"))
    for owner in ("ann", "ben"):
        await db.submit(3, owner=owner)
    lanes = [await _lane(db, owner) for owner in ("ann", "ben")]
    await db.execute("update forebay.queue set parked = 'no key', probe_at = $1", db.now)
    found = await _claim(db, lanes, [3, 3])
    assert [len(leases) for leases in found.values()] == [1, 0]
    assert found[lanes[0]][0][1:] == (1, 1, 2)
    assert await _claim(db, lanes, [3, 3]) == {lane: [] for lane in lanes}


async def test_a_run_that_another_claim_has_split_is_taken_as_it_is_now(db: Db) -> None:
    await db.register(step("x"))
    jobs = [await db.submit(4, owner=owner) for owner in ("ann", "ben")]
    lanes = [await _lane(db, owner) for owner in ("ann", "ben")]
    assert await _claim(db, lanes, [1, 3]) == {lanes[0]: [(jobs[0], 1, 1, 3)], lanes[1]: [(jobs[1], 1, 3, 1)]}
    assert await _claim(db, lanes, [9, 9]) == {lanes[0]: [(jobs[0], 2, 4, 0)], lanes[1]: [(jobs[1], 4, 4, 0)]}
