"""Control functions: pause, resume, cancel, reprocess; for jobs, queues and items."""

# demands: S2-96, S4-32, S4-79, S4-90, S5-04, S5-14, S5-15, S5-16, S5-17, S5-18, S5-19, S5-79, S5-80, S5-90, S5-111
# demands: S5-168

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from tests.sql._db import START, Db, step


@pytest.fixture(autouse=True)
async def pipeline(db: Db) -> None:
    await db.register(step("a"), step("b", "a"))


async def do(db: Db, verb: str, *args: object, **options: object) -> Any:
    """Call one of the verbs as bob."""
    given = {"actor": "bob", "now": db.now} | options
    slots = [f"${i}" for i in range(1, len(args) + 1)]
    slots += [f"{name} => ${i}" for i, name in enumerate(given, len(args) + 1)]
    return await db.one(f"select forebay.{verb}({', '.join(slots)})", *args, *given.values())


def refused(code: str, words: str) -> Any:
    """An error with this SQLSTATE and this message."""
    return pytest.raises(asyncpg.PostgresError, match=f"^{words}$", check=lambda error: error.sqlstate == code)


async def ready_in(db: Db, lane: int) -> int:
    return int(
        await db.one("select coalesce(sum(last_n - first_n + 1), 0) from forebay.ready where lane_id = $1", lane)
    )


# -- pause and resume -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["pause", "resume", "cancel", "reprocess", "dismiss"])
async def test_a_job_that_is_not_there(db: Db, verb: str) -> None:
    with refused("FB004", "job_id: there is no job 77"):
        await do(db, verb, 77)


async def test_a_paused_large_job_is_not_claimed(db: Db) -> None:
    job = await db.submit(2000)
    assert await do(db, "pause", job) is True
    assert await do(db, "pause", job) is False
    assert await db.claim("a") == []
    assert (await db.job(job))["state"] == "PAUSED"
    assert await do(db, "resume", job) is True
    assert await do(db, "resume", job) is False
    assert (await db.job(job))["state"] == "QUEUED"
    assert sum(len(lease["ns"]) for lease in await db.claim("a", 5000)) == 2000
    assert await db.audit() == [("bob", "pause"), ("bob", "resume")]


async def test_a_paused_small_job_is_set_aside_and_does_not_stop_its_neighbours(db: Db) -> None:
    paused, other = await db.submit(3), await db.submit(2)
    shared = (await db.job(paused))["lane_id"]
    await do(db, "pause", paused)
    assert await ready_in(db, shared) == 5  # nothing was moved: pausing is one row
    (lease,) = await db.claim("a")
    assert lease["job_id"] == other
    own = (await db.job(paused))["lane_id"]
    assert (await ready_in(db, shared), await ready_in(db, own)) == (0, 3)
    assert await db.claim("a") == []
    await do(db, "resume", paused)
    (lease,) = await db.claim("a")
    assert (lease["job_id"], lease["ns"]) == (paused, [1, 2, 3])


async def test_running_tasks_of_a_paused_job_end_and_what_follows_waits(db: Db) -> None:
    job = await db.submit(2)
    leases = await db.claim("a")
    await do(db, "pause", job)
    await db.settle(leases)
    assert await db.claim("b") == []
    await do(db, "resume", job)
    assert (await db.job(job))["state"] == "RUNNING"
    await db.run("b")
    assert (await db.job(job))["state"] == "DONE"


async def test_resume_wakes_workers_for_both_lanes(db: Db) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    job = await db.submit(2)
    shared = (await db.job(job))["lane_id"]
    (lease,) = await db.claim("a", 1)
    await do(db, "pause", job)
    await db.claim("a")  # sets the rest aside
    await db.settle([lease])  # b follows in the lane of the lease
    own = (await db.job(job))["lane_id"]
    await db.fetch("select forebay.mark_busy_lanes($1, $2, 3600, $3)", [await db.step_id("a")], [own], db.now)
    await db.conn.add_listener("forebay", lambda *args: heard.put_nowait(str(args[-1])))
    await do(db, "resume", job)
    said = {(await heard.get()).rpartition(" ")[0], (await heard.get()).rpartition(" ")[0]}
    assert said == {f"ready {await db.step_id('a')} {own}", f"ready {await db.step_id('b')} {shared}"}


TOO_LATE = {
    "pause": "only a job that has not ended can be paused",
    "resume": "only a paused job can be resumed",
    "cancel": "it has already ended",
}


@pytest.mark.parametrize(("verb", "words"), TOO_LATE.items())
async def test_a_job_that_has_ended_stays_as_it_is(db: Db, verb: str, words: str) -> None:
    job = await db.submit()
    await db.run("a")
    await db.run("b")
    before = await db.job(job)
    with refused("FB005", f"job_id: job {job} is DONE: {words}"):
        await do(db, verb, job)
    assert await db.job(job) == before
    assert await db.audit() == []


async def test_a_cancelled_job_cannot_be_paused_or_resumed(db: Db) -> None:
    job = await db.submit()
    await do(db, "cancel", job)
    for verb in ("pause", "resume"):
        with refused("FB005", f"job_id: job {job} is CANCELLED: {TOO_LATE[verb]}"):
            await do(db, verb, job)


# -- cancel -----------------------------------------------------------------------------------------------------------


async def test_cancel_ends_all_that_no_worker_has(db: Db) -> None:
    job, other = await db.submit(5), await db.submit(2)
    (lease,) = await db.claim("a", 2)
    await db.settle([lease], "ERROR", ns=[1], again_at=db.now + timedelta(hours=1), error="transient")
    assert await do(db, "cancel", job) is True
    assert await db.counters(job) == (0, 4, 0, 0)
    assert (await db.item(job, 5))["error"]["class"] == "cancelled"
    assert (await db.job(job))["state"] == "CANCELLED"
    assert (await db.job(job))["finished_at"] is None
    assert await db.runs() == [("a", 1, 2, 0), ("a", 3, 5, 0)]  # the other job's, and one that the next claim drops
    assert await db.runs("scheduled") == []
    assert await db.one("select cancelled from forebay.lease")
    db.after(minutes=1)
    await db.settle([lease], ns=[2])  # done in spite of it: b follows, and is dropped by the next claim
    assert await do(db, "cancel", job) is False
    assert await db.one("select forebay.reap_cancelled($1)", db.now) == 1
    assert await db.counters(job) == (0, 5, 0, 0)
    assert (await db.job(job))["finished_at"] == db.now
    assert {lease["job_id"] for lease in await db.claim("a")} == {other}
    assert await db.claim("b") == []
    assert await db.runs() == []


async def test_a_second_cancel_changes_nothing(db: Db) -> None:
    job = await db.submit(3)
    assert await do(db, "cancel", job) is True
    before = await db.job(job)
    assert before["finished_at"] == db.now
    db.after(hours=1)
    assert await do(db, "cancel", job) is False
    assert await db.job(job) == before
    assert await db.audit() == [("bob", "cancel")]


async def test_workers_are_told_of_a_cancel(db: Db) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    await db.conn.add_listener("forebay", lambda *args: heard.put_nowait(str(args[-1])))
    job = await db.submit(run_at=db.now + timedelta(hours=1))
    await do(db, "cancel", job)
    assert await heard.get() == f"cancel {job}"


async def test_a_worker_that_gives_up_ends_the_cancelled_job(db: Db) -> None:
    job = await db.submit(2)
    leases = await db.claim("a")
    await do(db, "cancel", job)
    await db.settle(leases, "CANCELLED", ends_item=True)
    assert await db.counters(job) == (0, 2, 0, 0)
    assert (await db.job(job))["finished_at"] == db.now + timedelta(microseconds=1)  # after the cancel


async def test_a_large_cancelled_job_is_reaped_in_pieces(db: Db) -> None:
    job = await db.submit(12_000)
    leases = await db.claim("a", 10)
    await do(db, "cancel", job)
    assert await db.counters(job) == (0, 10_000, 0, 0)
    assert await db.runs() == []
    assert await db.one("select forebay.reap_cancelled($1, 1500)", db.now) == 1500
    assert await db.one("select forebay.reap_cancelled($1, 1500)", db.now) == 490
    assert await db.one("select forebay.reap_cancelled($1, 1500)", db.now) == 0
    await db.settle(leases, ns=range(1, 10))
    await db.settle(leases, "ERROR", ns=[10], again_at=db.now, error="transient")
    assert await db.one("select forebay.reap_cancelled($1, 1500)", db.now) == 10
    assert await db.one("select forebay.reap_cancelled($1, 1500)", db.now) == 0
    assert await db.counters(job) == (0, 12_000, 0, 0)
    assert (await db.job(job))["finished_at"] == db.now


async def test_a_lease_claimed_while_its_job_was_cancelled_is_flagged_later(db: Db) -> None:
    job = await db.submit(2)
    await db.claim("a")
    await do(db, "cancel", job)
    await db.execute("update forebay.lease set cancelled = false")
    assert await db.one("select forebay.reap_cancelled($1)", db.now) == 0
    assert await db.one("select cancelled from forebay.lease")


async def test_an_item_that_had_failed_before_the_cancel_stays_failed(db: Db) -> None:
    await db.register(step("x"), step("y"), name="q")
    job = await db.submit(2, pipeline="q")
    (lease,) = await db.claim("x")
    await db.settle([lease], "ERROR", ns=[1], error="data")
    await db.execute("select forebay.release(1, $1)", [lease["token"]])
    await do(db, "cancel", job)
    assert await db.counters(job) == (0, 1, 0, 1)
    assert (await db.item(job, 1))["error"]["class"] == "data"


async def test_a_paused_job_can_be_cancelled(db: Db) -> None:
    job = await db.submit(2000)
    await do(db, "pause", job)
    await do(db, "cancel", job)
    assert await db.counters(job) == (0, 2000, 0, 0)
    assert not await db.one("select bool_or(paused) from forebay.lane")


async def test_cancelling_ends_the_jobs_own_item_too(db: Db) -> None:
    await db.register(step("x"), step("sum", after_all=True), name="q")
    job = await db.submit(2, pipeline="q")
    await db.run("x")
    assert await db.runs() == [("sum", 0, 0, 0)]
    await do(db, "cancel", job)
    assert await db.counters(job) == (2, 0, 0, 0)
    assert (await db.job(job))["finished_at"] == db.now
    assert (await db.item(job, 0))["status"] == "SKIPPED"
    assert await db.claim("sum") == []
    assert await db.runs() == []


# -- reprocess --------------------------------------------------------------------------------------------------------


async def test_reprocess_runs_what_failed_from_where_it_failed(db: Db) -> None:
    job = await db.submit(4)
    (lease,) = await db.claim("a")
    await db.settle([lease], "ERROR", ns=[1], error="data")
    await db.settle([lease], "NOT_FOUND", ns=[2], error="not_found")
    await db.settle([lease], ns=[3, 4])
    (lease,) = await db.claim("b")
    await db.settle([lease], "ERROR", ns=[3], error="data")
    await db.settle([lease], ns=[4])
    assert (await db.job(job))["state"] == "DONE"
    assert await db.counters(job) == (1, 0, 1, 2)
    assert await do(db, "reprocess", job) == 3
    assert await db.counters(job) == (1, 0, 0, 0)
    assert await db.runs() == [("a", 1, 2, 0), ("b", 3, 3, 0)]
    after = await db.job(job)
    assert (after["state"], after["finished_at"]) == ("RUNNING", None)
    assert await db.one("select count(*) from forebay.dead_letter") == 0
    assert (await db.item(job, 1))["error"] is None
    await db.run("a")
    await db.run("b")
    assert await db.counters(job) == (4, 0, 0, 0)
    assert (await db.job(job))["state"] == "DONE"
    assert await db.audit() == [("bob", "reprocess")]


async def test_done_items_start_from_nothing(db: Db) -> None:
    job = await db.submit(3)
    await db.run("a")
    await db.run("b")
    await db.execute("update forebay.item set result = '{\"a\": 1}'")
    assert await do(db, "reprocess", job) == 0
    assert await do(db, "reprocess", job, ["DONE"], [3, 1, 99, 0]) == 2
    item = await db.item(job, 3)
    assert (item["status"], item["done"], item["result"]) == ("PENDING", 0, None)
    assert (await db.item(job, 2))["result"] == {"a": 1}
    assert await db.runs() == [("a", 1, 1, 0), ("a", 3, 3, 0)]
    assert await db.counters(job) == (1, 0, 0, 0)


async def test_without_new_attempts_each_step_runs_once_more(db: Db) -> None:
    job = await db.submit()
    await db.run("a", "ERROR", error="data")
    await do(db, "reprocess", job, reset_attempts=False)
    (lease,) = await db.claim("a")
    assert lease["attempt"] == 3


async def test_a_cancelled_job_opens_again(db: Db) -> None:
    job = await db.submit(3)
    await db.run("a", ns=[1])
    await do(db, "cancel", job)
    held = "is still being cancelled: wait until workers have released its items"
    with refused("FB005", f"job_id: job {job} {held}"):  # a worker still has two of them
        await do(db, "reprocess", job, ["SKIPPED"])
    db.after(hours=1)
    await db.execute("select forebay.expire($1)", db.now)
    assert await do(db, "reprocess", job, ["SKIPPED"]) == 3
    assert await db.counters(job) == (0, 0, 0, 0)
    assert (await db.job(job))["state"] == "RUNNING"
    assert await db.runs() == [("a", 2, 3, 0), ("b", 1, 1, 0)]
    await db.run("a")
    await db.run("b")
    assert await db.counters(job) == (3, 0, 0, 0)


async def test_reprocess_ends_a_cancel_that_is_under_way(db: Db) -> None:
    job = await db.submit(10_500)
    await do(db, "cancel", job)
    assert (await db.job(job))["finished_at"] is None
    assert await do(db, "reprocess", job, ["SKIPPED"]) == 10_500
    assert await db.counters(job) == (0, 0, 0, 0)
    assert sum(last - first + 1 for _, first, last, _ in await db.runs()) == 10_500
    assert max(last - first + 1 for _, first, last, _ in await db.runs()) == 500


async def test_open_items_are_left_alone(db: Db) -> None:
    job = await db.submit(3)
    (lease,) = await db.claim("a", 2)
    await db.settle([lease], "ERROR", ns=[1], error="data")
    assert await do(db, "reprocess", job, ns=[1, 2, 3]) == 1
    assert await db.runs() == [("a", 1, 1, 0), ("a", 3, 3, 0)]
    assert (await db.settle([lease], ns=[2]))["settled"] == 1


@pytest.mark.parametrize("statuses", [[], ["PENDING"], ["ERROR", "PROCESSING"], ["nonsense"], [None]])
async def test_statuses_that_cannot_be_meant(db: Db, statuses: list[str]) -> None:
    job = await db.submit()
    with refused("FB002", "statuses: must be among DONE, SKIPPED, NOT_FOUND and ERROR"):
        await do(db, "reprocess", job, statuses)


async def test_a_paused_job_stays_paused_when_it_is_reprocessed(db: Db) -> None:
    job = await db.submit(2)
    await db.run("a", "ERROR", ns=[1], error="data")
    await do(db, "pause", job)
    assert await do(db, "reprocess", job) == 1
    assert (await db.job(job))["state"] == "PAUSED"
    assert await db.claim("a") == []


async def test_a_job_that_ended_while_it_was_paused_runs_when_it_is_reprocessed(db: Db) -> None:
    job = await db.submit(2)
    leases = await db.claim("a")
    await do(db, "pause", job)
    await db.settle(leases, "ERROR", error="data")
    assert (await db.job(job))["state"] == "FAILED"
    await do(db, "reprocess", job)
    assert sum(len(lease["ns"]) for lease in await db.claim("a")) == 2


async def test_reprocess_makes_a_lane_that_was_tidied_away(db: Db) -> None:
    job = await db.submit()
    await db.run("a", "ERROR", error="data")
    await db.execute("delete from forebay.lane")
    await do(db, "reprocess", job)
    assert len(await db.claim("a")) == 1


async def test_what_an_ended_item_left_behind_does_not_run_besides(db: Db) -> None:
    await db.register(step("x"), step("y"), name="q")
    job = await db.submit(2, pipeline="q")
    stale = await db.claim("y", 1)
    await db.run("x", "ERROR", ends_item=True, error="data")
    assert await db.runs() == [("y", 2, 2, 0)]
    assert await do(db, "reprocess", job) == 2
    assert await db.runs() == [("x", 1, 2, 0), ("y", 1, 2, 0)]
    assert (await db.settle(stale))["stale_ns"] == [1]


async def test_the_jobs_own_item_waits_for_reprocessed_items(db: Db) -> None:
    await db.register(step("x"), step("sum", after_all=True), name="q")
    job = await db.submit(2, pipeline="q")
    await db.run("x", "ERROR", error="data")
    stale = await db.claim("sum")
    assert await do(db, "reprocess", job) == 2
    assert (await db.settle(stale))["stale_ns"] == [0]
    await db.run("x")
    assert await db.runs() == [("sum", 0, 0, 0)]
    await db.run("sum")
    assert (await db.job(job))["state"] == "DONE"


async def test_an_ended_job_goes_by_the_present_steps(db: Db) -> None:
    job = await db.submit(2)
    (lease,) = await db.claim("a")
    await db.settle([lease], "ERROR", ns=[1], error="data")
    await db.settle([lease], ns=[2])
    await db.run("b", "ERROR", error="data")
    await db.register(step("a"), step("c", "a"))  # b is no more
    assert await do(db, "reprocess", job) == 2
    assert await db.runs() == [("a", 1, 1, 0), ("c", 2, 2, 0)]
    await db.run("a")
    await db.run("c")
    assert (await db.job(job))["state"] == "DONE"


async def test_items_with_nothing_left_to_run_stay_as_they_are(db: Db) -> None:
    job = await db.submit()
    await db.run("a")
    await db.run("b", "ERROR", error="data")
    await db.register(step("a"))
    assert await do(db, "reprocess", job) == 0
    assert await db.counters(job) == (0, 0, 0, 1)
    assert (await db.job(job))["state"] == "FAILED"


# -- single items -----------------------------------------------------------------------------------------------------


async def test_a_paused_item_is_cut_out_of_its_run(db: Db) -> None:
    job = await db.submit(5)
    first_seq = await db.one("select seq from forebay.ready")
    assert await do(db, "pause_item", job, 3) is True
    assert await do(db, "pause_item", job, 3) is False
    assert await db.runs() == [("a", 1, 2, 0), ("a", 4, 5, 0)]
    assert await db.runs("scheduled") == [("a", 3, 3, 0)]
    assert await db.one("select seq from forebay.ready where first_n = 1") == first_seq
    assert sorted(n for lease in await db.claim("a") for n in lease["ns"]) == [1, 2, 4, 5]
    assert await do(db, "resume_item", job, 3) is True
    assert await do(db, "resume_item", job, 3) is False
    assert await db.runs() == [("a", 3, 3, 0)]
    assert await db.audit() == [("bob", "pause_item"), ("bob", "resume_item")]


@pytest.mark.parametrize(("n", "left"), [(1, [("a", 2, 3, 0)]), (3, [("a", 1, 2, 0)])])
async def test_an_item_at_the_edge_of_its_run(db: Db, n: int, left: list[tuple[str, int, int, int]]) -> None:
    job = await db.submit(3)
    await do(db, "pause_item", job, n)
    assert await db.runs() == left


async def test_an_item_that_waits_for_a_retry_is_paused_and_keeps_its_attempts(db: Db) -> None:
    job = await db.submit(2)
    await db.run("a", "ERROR", again_at=db.now + timedelta(hours=1), error="transient")
    await do(db, "pause_item", job, 2)
    assert await db.one("select run_at = 'infinity' from forebay.scheduled where first_n = 2")
    await do(db, "resume_item", job, 2)
    assert await db.runs() == [("a", 2, 2, 1)]
    assert await db.runs("scheduled") == [("a", 1, 1, 1)]


async def test_the_middle_of_a_scheduled_run_is_cut_out(db: Db) -> None:
    job = await db.submit(3, run_at=db.now + timedelta(hours=1))
    await do(db, "cancel_item", job, 2)
    assert await db.runs("scheduled") == [("a", 1, 1, 0), ("a", 3, 3, 0)]
    assert await db.one("select count(distinct run_at) from forebay.scheduled") == 1


async def test_one_item_of_a_scheduled_run_starts_before_its_time(db: Db) -> None:
    job = await db.submit(3, run_at=db.now + timedelta(hours=1))
    assert await do(db, "start_item", job, 2) is True
    assert await do(db, "start_item", job, 2) is False, "it is due already"
    await db.one("select moved from forebay.promote($1)", db.now)
    assert await db.runs() == [("a", 2, 2, 0)]
    assert await db.runs("scheduled") == [("a", 1, 1, 0), ("a", 3, 3, 0)]
    assert await db.audit() == [("bob", "start_item")]
    await do(db, "pause_item", job, 3)
    assert await do(db, "start_item", job, 3) is False, "somebody has paused it"


@pytest.mark.parametrize("verb", ["pause_item", "resume_item", "start_item", "cancel_item"])
async def test_items_that_cannot_be_meant(db: Db, verb: str) -> None:
    job = await db.submit()
    with refused("FB004", f"n: job {job} has no item 2"):
        await do(db, verb, job, 2)
    with refused("FB004", "job_id: there is no job 99"):
        await do(db, verb, 99, 1)
    await db.run("a")
    await db.run("b")
    with refused("FB005", f"n: item 1 of job {job} has ended: it is DONE"):
        await do(db, verb, job, 1)


async def test_an_item_in_a_workers_hands_cannot_be_paused(db: Db) -> None:
    job = await db.submit()
    await db.claim("a")
    words = f"a worker has item 1 of job {job} at this moment: wait for it, or cancel the item"
    with refused("FB005", f"n: {words}"):
        await do(db, "pause_item", job, 1)


async def test_a_cancelled_item_ends_alone(db: Db) -> None:
    job = await db.submit(3)
    assert await do(db, "cancel_item", job, 2) is True
    assert await do(db, "cancel_item", job, 2) is False
    assert await db.runs() == [("a", 1, 1, 0), ("a", 3, 3, 0)]
    item = await db.item(job, 2)
    assert (item["status"], item["error"]["class"], item["error"]["reason"]) == (
        "SKIPPED",
        "cancelled",
        "cancelled by bob",
    )
    assert await db.counters(job) == (0, 1, 0, 0)
    assert await db.one("select count(*) from forebay.lease") == 0
    assert await db.one("select count(*) from forebay.dead_letter") == 0


async def test_a_cancelled_item_is_taken_from_its_workers(db: Db) -> None:
    await db.register(step("x"), step("y"), name="q")
    job = await db.submit(3, pipeline="q")
    leases = await db.claim("x") + await db.claim("y")
    assert await do(db, "cancel_item", job, 2) is True
    for lease in leases:
        answer = await db.settle([lease])
        assert (answer["settled"], answer["stale_ns"]) == (2, [2])
    assert await db.counters(job) == (2, 1, 0, 0)
    assert (await db.job(job))["state"] == "DONE"


async def test_cancelling_the_last_item_sets_off_what_comes_after_all(db: Db) -> None:
    await db.register(step("x"), step("sum", after_all=True), name="q")
    job = await db.submit(2, pipeline="q")
    await db.settle(await db.claim("x", 1))
    await do(db, "cancel_item", job, 2)
    assert await db.runs() == [("sum", 0, 0, 0)]
    await db.run("sum")
    assert (await db.job(job))["state"] == "DONE"


async def test_a_paused_item_can_be_cancelled(db: Db) -> None:
    job = await db.submit()
    await do(db, "pause_item", job, 1)
    assert await do(db, "cancel_item", job, 1) is True
    assert await db.runs("scheduled") == []
    assert (await db.job(job))["finished_at"] == db.now + timedelta(microseconds=1)  # after the pause


# -- queues and owners ------------------------------------------------------------------------------------------------


async def test_queues_are_paused_and_parked(db: Db) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    await db.conn.add_listener("forebay", lambda *args: heard.put_nowait(str(args[-1])))
    probe_at = START + timedelta(minutes=5)
    for verb, *args in (("pause_queue",), ("resume_queue",), ("park_queue", "no key", probe_at), ("unpark_queue",)):
        assert await do(db, verb, "a", *args) is True
        assert await heard.get() == "queue a"
        assert await do(db, verb, "a", *args) is False
        with refused("FB004", "queue: there is no queue 'nowhere'"):
            await do(db, verb, "nowhere", *args)
    assert [action for _, action in await db.audit()] == ["pause_queue", "resume_queue", "park_queue", "unpark_queue"]
    assert await db.row("select paused, parked, probe_at from forebay.queue where name = 'a'") == {
        "paused": False,
        "parked": None,
        "probe_at": None,
    }


async def test_parking_again_moves_the_probe(db: Db) -> None:
    await do(db, "park_queue", "a", "no key", START)
    later = START + timedelta(hours=1)
    assert await do(db, "park_queue", "a", "no key", later) is False
    assert await db.one("select probe_at from forebay.queue where name = 'a'") == later
    assert await do(db, "park_queue", "a", "wrong key", later) is True
    with refused("FB002", "reason: must say what is wrong"):
        await do(db, "park_queue", "a", None, later)


async def test_an_owners_weight(db: Db) -> None:
    assert await do(db, "set_owner_weight", "zoe", 2.5) is True
    assert await do(db, "set_owner_weight", "zoe", 2.5) is False
    assert await db.one("select weight from forebay.owner where name = 'zoe'") == 2.5
    for weight in (0.0, -1.0, 1001.0, float("nan"), None):
        with refused("FB002", r"weight: must be between 0\.01 and 1000"):
            await do(db, "set_owner_weight", "zoe", weight)
    with refused("FB002", "owner: must have 1 to 200 characters"):
        await do(db, "set_owner_weight", "", 1.0)


# -- concurrency ------------------------------------------------------------------------------------------------------


async def _is_blocked(db: Db, other: asyncpg.Connection[Any]) -> None:
    """Return when the session of `db` waits for a lock of the other one."""
    async with asyncio.timeout(60):
        while not await other.fetchval("select pg_blocking_pids($1) <> '{}'", db.conn.get_server_pid()):
            pass


async def test_a_cancel_and_a_settle_at_once_count_each_item_once(db: Db) -> None:
    job = await db.submit(20)
    leases = await db.claim("a", 10)
    other = await asyncpg.connect(db.dsn)
    async with other.transaction():
        await Db(other, db.dsn).settle(leases, "ERROR", error="data")
        cancelling = asyncio.create_task(do(db, "cancel", job))
        await _is_blocked(db, other)
    assert await cancelling is True
    await other.close()
    assert await db.counters(job) == (0, 10, 0, 10)
    assert (await db.job(job))["finished_at"] is not None


async def test_a_job_that_ends_while_it_is_being_cancelled_has_ended(db: Db) -> None:
    await db.register(step("x"), name="q")
    job = await db.submit(2, pipeline="q")
    leases = await db.claim("x")
    other = await asyncpg.connect(db.dsn)
    async with other.transaction():
        await Db(other, db.dsn).settle(leases)
        cancelling = asyncio.create_task(do(db, "cancel", job))
        await _is_blocked(db, other)
    with refused("FB005", f"job_id: job {job} is DONE: {TOO_LATE['cancel']}"):
        await cancelling
    await other.close()
    assert (await db.job(job))["state"] == "DONE"


async def test_a_reprocess_waits_for_the_end_of_the_last_item_and_takes_its_consequences_back(db: Db) -> None:
    """The step after all items must not run while items are open again."""
    await db.register(step("x"), step("total", after_all=True), name="q")
    job = await db.submit(2, pipeline="q")
    (lease,) = await db.claim("x")
    await db.settle([lease], "ERROR", ns=[1], error="data")
    other = await asyncpg.connect(db.dsn)
    async with other.transaction():
        await Db(other, db.dsn).settle([lease], ns=[2])  # makes the run of the job item
        reprocessing = asyncio.create_task(do(db, "reprocess", job))
        await _waits_for_a_lock(other)
    assert await reprocessing == 1
    await other.close()
    assert await db.runs() == [("x", 1, 1, 0)]
    await db.run("x")
    assert await db.runs() == [("total", 0, 0, 0)]
    await db.run("total")
    assert (await db.job(job))["state"] == "DONE"


async def test_a_reprocess_waits_for_a_claim_and_takes_what_that_leaves(db: Db) -> None:
    """The run of two items is cut to one by the claim: the rest must not run beside what runs again."""
    job = await db.submit(2)
    other = await asyncpg.connect(db.dsn)
    async with other.transaction():
        await Db(other, db.dsn).claim("a", 1)
        assert await do(db, "cancel", job) is True
        reprocessing = asyncio.create_task(do(db, "reprocess", job, ["SKIPPED"]))
        await _waits_for_a_lock(other)
    assert await reprocessing == 2
    await other.close()
    assert await db.runs() == [("a", 1, 2, 0)]
    assert await db.one("select count(*) from forebay.lease") == 0


async def _waits_for_a_lock(conn: asyncpg.Connection[asyncpg.Record]) -> None:
    while not await conn.fetchval("select exists (select from pg_locks where not granted)"):  # noqa: ASYNC110 - in the server
        await asyncio.sleep(0.01)


async def test_a_settle_locks_leases_in_the_order_in_which_others_do(db: Db) -> None:
    """The first lease is cut, the second ends: nobody who locks both, as a cancel does, may hold the one in between."""
    await db.submit(4)
    first, second = [*await db.claim("a", 2), *await db.claim("a", 2)]
    assert first["token"] < second["token"]
    other = await asyncpg.connect(db.dsn)
    async with other.transaction():
        lock = "select from forebay.lease where token = $1 for update"
        await other.execute(lock, first["token"])
        settling = asyncio.create_task(db.settle([first, second], ns=[2, 3, 4]))
        await _is_blocked(db, other)
        await other.execute(lock, second["token"])
    assert (await settling)["settled"] == 3
    await other.close()
    assert await db.one("select count(*) from forebay.lease") == 1


async def test_an_item_is_cancelled_while_another_branch_of_it_is_settled(db: Db) -> None:
    await db.register(step("x"), step("y"), name="q")
    job = await db.submit(2, pipeline="q")
    await db.claim("x")
    branch = await db.claim("y")
    other = await asyncpg.connect(db.dsn)
    async with other.transaction():
        await other.execute("select from forebay.lease where token = $1 for update", branch[0]["token"])
        cancelling = asyncio.create_task(do(db, "cancel_item", job, 1))
        await _is_blocked(db, other)
        await Db(other, db.dsn).settle(branch)
    assert await cancelling is True
    await other.close()
    assert await db.counters(job) == (0, 1, 0, 0)
    assert await db.one("select array_agg(ns::text) from forebay.lease") == ["{[2,3)}"]


async def test_a_parked_queue_is_probed_with_one_task_at_a_time(db: Db) -> None:
    """For any number of lanes and workers."""
    await db.submit(5)
    await db.submit(5, owner="bob")
    await do(db, "park_queue", "a", "no key", db.now)
    probed = await db.claim("a") + await db.claim("a", worker=2)
    assert [len(lease["ns"]) for lease in probed] == [1]
    db.after(seconds=29)
    assert await db.claim("a") == []
    db.after(seconds=2)
    assert [len(lease["ns"]) for lease in await db.claim("a", 1)] == [1]
    await do(db, "unpark_queue", "a")
    assert sum(len(lease["ns"]) for lease in await db.claim("a")) == 8
