"""Pipelines that change while jobs are open: a job keeps its version of the pipeline, until no worker runs it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import asyncpg
import pytest

from tests.sql._db import Db, step


async def _worker(db: Db, *steps: dict[str, Any]) -> int:
    """A worker that has registered these steps and is alive."""
    found = await db.fetch(
        "select * from forebay.register_pipeline($1, now => $2)", json.dumps({"name": "p", "steps": steps}), db.now
    )
    return int(
        await db.one(
            """insert into forebay.worker (name, started_at, seen_at, versions, steps)
               values ('w', $1, $1, $2, $3) returning id""",
            db.now,
            [found[0]["version_id"]],
            [row["step_id"] for row in found],
        )
    )


async def _stop(db: Db, worker: int) -> None:
    await db.execute("update forebay.worker set stopped_at = $1 where id = $2", db.now, worker)


async def _adopt(db: Db, *workers: int) -> int:
    """The sweep notes who is gone, and a minute later adopts."""
    for seconds in (1, 61):
        db.after(seconds=seconds)
        await db.execute("update forebay.worker set seen_at = $1 where id = any($2)", db.now, list(workers))
        adopted = int(await db.one("select forebay.adopt_jobs($1)", db.now))
    return adopted


async def _drain(db: Db) -> list[str]:
    """Run what is ready until nothing is; answers the steps in their order."""
    ran: list[str] = []
    while pairs := await db.fetch(
        "select distinct r.step_id, s.name from forebay.ready r join forebay.step s on s.id = r.step_id"
    ):
        for pair in pairs:
            lanes = await db.fetch("select distinct lane_id from forebay.ready where step_id = $1", pair["step_id"])
            for lane in lanes:
                rows = await db.fetch(
                    "select * from forebay.claim(1, $1, $2, '{0}', '{10000}', '{1000}', '{}', 60, $3)",
                    [pair["step_id"]],
                    [lane["lane_id"]],
                    db.now,
                )
                await db.settle([dict(row) for row in rows])
            ran.append(pair["name"])
    return ran


async def test_a_step_inserted_while_a_job_is_open_is_not_needed_by_that_job(db: Db) -> None:
    await _worker(db, step("a"), step("b", "a"))
    job = await db.submit(2)
    await _worker(db, step("a"), step("n", "a"), step("b", "n"))
    later = await db.submit(1)
    await db.run("a")
    old, new = await db.fetch("select id, needs from forebay.step where name = 'b' order by id")
    ready = await db.fetch("select job_id, step_id from forebay.ready order by job_id, step_id")
    names = {row["id"]: row["name"] for row in await db.fetch("select id, name from forebay.step")}
    assert [(row["job_id"], names[row["step_id"]]) for row in ready] == [(job, "b"), (later, "n")]
    assert ready[0]["step_id"] == old["id"]
    await _drain(db)
    assert [(await db.job(j))["state"] for j in (job, later)] == ["DONE", "DONE"]
    assert new["id"] in {
        row["step_id"] for row in await db.fetch("select step_id from forebay.attempt where job_id = $1", later)
    }


async def test_jobs_of_a_version_without_workers_go_on_by_the_present_one(db: Db) -> None:
    before = await _worker(db, step("a"), step("b", "a"))
    job = await db.submit(3)
    await db.settle(await db.claim("a", 2))
    after = await _worker(db, step("a"), step("n", "a"), step("b", "n"))
    await _stop(db, before)
    assert await _adopt(db, after) == 1
    assert [(name, first, last) for name, first, last, _ in await db.runs()] == [("a", 3, 3), ("n", 1, 2)]
    await _drain(db)
    assert (await db.job(job))["state"] == "DONE"
    ran = await db.fetch(
        """select a.n, array_agg(s.name order by a.token) as steps
           from forebay.attempt a join forebay.step s on s.id = a.step_id
           where a.job_id = $1 group by a.n order by a.n""",
        job,
    )
    assert [row["steps"] for row in ran] == [["a", "n", "b"]] * 3
    assert await db.counters(job) == (3, 0, 0, 0)


async def test_jobs_stay_while_a_worker_of_their_version_lives(db: Db) -> None:
    before = await _worker(db, step("a"), step("b", "a"))
    await db.submit(1)
    after = await _worker(db, step("a"), step("n", "a"), step("b", "n"))
    assert await _adopt(db, before, after) == 0


async def test_jobs_stay_while_the_present_version_lacks_workers(db: Db) -> None:
    before = await _worker(db, step("a"), step("b", "a"))
    await db.submit(1)
    after = await _worker(db, step("a"), step("n", "a"), step("b", "n"))
    await _stop(db, before)
    await _stop(db, after)
    assert await _adopt(db) == 0


async def test_items_that_waited_for_a_removed_step_end(db: Db) -> None:
    before = await _worker(db, step("a"), step("b", "a"), step("c", "b"), step("all", after_all=True))
    job = await db.submit(1500)
    await db.run("a")
    await db.settle(await db.claim("b", 10), "ERROR", again_at=db.after(hours=1))
    after = await _worker(db, step("a"), step("all", after_all=True))
    await _stop(db, before)
    assert await _adopt(db, after) == 1
    assert await db.counters(job) == (1500, 0, 0, 0)
    assert [(name, first) for name, first, _, _ in await db.runs()] == [("all", 0)]
    assert await db.runs("scheduled") == []
    await _drain(db)
    assert (await db.job(job))["state"] == "DONE"


async def test_a_renamed_step_takes_over_the_tasks_of_its_former_name(db: Db) -> None:
    before = await _worker(db, step("fetch"), step("parse", "fetch"))
    job = await db.submit(2)
    await db.settle(await db.claim("fetch", 1))
    await _worker(db, step("download", renamed_from="fetch"), step("parse", "download"))
    assert [name for name, *_ in await db.runs()] == ["download", "parse"]
    assert await db.one("select count(*) from forebay.step") == 2
    # A worker of the release before restarts: it knows the step by its former name.
    found = await db.fetch(
        "select * from forebay.register_pipeline($1)",
        json.dumps({"name": "p", "steps": [step("fetch"), step("parse", "fetch")]}),
    )
    assert [row["name"] for row in found] == ["fetch", "parse"]
    await _stop(db, before)
    await _drain(db)
    assert await db.counters(job) == (2, 0, 0, 0)


async def test_an_old_worker_that_restarts_takes_nothing_back(db: Db) -> None:
    await _worker(db, step("a"))
    await _worker(db, step("a"), step("b", "a"))
    job = await db.submit(1)
    await _worker(db, step("a"))
    later = await db.submit(1)
    await _drain(db)
    ran = await db.fetch("select job_id, count(*) as n from forebay.attempt group by 1 order by 1")
    assert [(row["job_id"], row["n"]) for row in ran] == [(job, 2), (later, 2)]


async def test_a_rollback_takes_effect_when_the_new_workers_have_stopped(db: Db) -> None:
    first = await _worker(db, step("a"))
    await _stop(db, first)
    second = await _worker(db, step("a"), step("b", "a"))
    job = await db.submit(1)
    await db.run("a")
    await _stop(db, second)
    third = await _worker(db, step("a"))
    later = await db.submit(1)
    assert await _adopt(db, third) == 1
    assert await db.counters(job) == (1, 0, 0, 0)
    assert await _drain(db) == ["a"]
    assert (await db.job(later))["state"] == "DONE"


async def test_a_rollback_takes_effect_when_no_worker_starts_after_the_last_new_one_has_stopped(db: Db) -> None:
    """As in a rolling deployment: the old ones start first."""
    await _stop(db, await _worker(db, step("a")))
    new = await _worker(db, step("a"), step("b", "a"))
    old = await _worker(db, step("a"))
    await _stop(db, new)
    job = await db.submit(1)
    assert await _adopt(db, old) == 1
    later = await db.submit(1)
    assert await _drain(db) == ["a"]
    assert [(await db.job(each))["state"] for each in (job, later)] == ["DONE", "DONE"]


async def test_lost_workers_may_come_back(db: Db) -> None:
    await _worker(db, step("a"))
    await _worker(db, step("a"), step("b", "a"))
    db.after(minutes=9)
    assert await db.one("select forebay.close_workers($1)", db.now) == 2
    old = await _worker(db, step("a"))
    assert await _present_steps(db) == 2
    await _adopt(db, old)
    assert await _present_steps(db) == 1


async def test_a_version_that_waits_for_its_first_worker_stays_the_present_one(db: Db) -> None:
    """It was registered by `forebay migrate --pipelines`, before the new workers start."""
    first = await _worker(db, step("a"))
    definition = json.dumps({"name": "p", "steps": [step("a"), step("b", "a")]})
    await db.fetch("select * from forebay.register_pipeline($1, true, $2)", definition, db.now)
    await _stop(db, first)
    restarted = await _worker(db, step("a"))
    await _adopt(db, restarted)
    assert await _present_steps(db) == 2
    db.after(minutes=9)
    await _adopt(db, restarted)
    assert await _present_steps(db) == 1


async def _present_steps(db: Db) -> int:
    """How many steps the version has that new jobs go by."""
    return int(await db.one("select bit_count(steps::bit(64)) from forebay.pipeline"))


async def test_a_step_with_another_parent_runs_once(db: Db) -> None:
    before = await _worker(db, step("a"), step("b"), step("c", "a"))
    job = await db.submit(1)
    await db.run("a")
    after = await _worker(db, step("a"), step("b"), step("c", "a", "b"))
    await _stop(db, before)
    assert await _adopt(db, after) == 1
    assert [name for name, *_ in await db.runs()] == ["b"]
    assert await _drain(db) == ["b", "c"]
    assert await db.counters(job) == (1, 0, 0, 0)


async def test_paused_items_stay_paused_in_the_new_version(db: Db) -> None:
    before = await _worker(db, step("a"), step("b", "a"))
    job = await db.submit(2)
    await db.run("a")
    await db.execute("select forebay.pause_item($1, 2, now => $2)", job, db.now)
    after = await _worker(db, step("a"), step("n", "a"), step("b", "n"))
    await _stop(db, before)
    assert await _adopt(db, after) == 1
    assert [(name, first) for name, first, _, _ in await db.runs()] == [("n", 1)]
    assert [(name, first) for name, first, _, _ in await db.runs("scheduled")] == [("n", 2)]


async def test_reprocessing_goes_by_the_present_version(db: Db) -> None:
    await _worker(db, step("a"), step("b", "a"))
    job = await db.submit(1)
    await db.run("a")
    await db.run("b", "ERROR")
    await _worker(db, step("a"), step("n", "a"), step("b", "n"))
    await db.execute("select forebay.reprocess($1, now => $2)", job, db.now)
    assert await _drain(db) == ["n", "b"]
    assert await db.counters(job) == (1, 0, 0, 0)


async def test_new_steps_after_all_items_wait_for_items_that_run_again(db: Db) -> None:
    """The item of the job was open when its other items were reprocessed."""
    before = await _worker(db, step("a"), step("x", after_all=True))
    job = await db.submit(1)
    await db.run("a")
    await db.execute("select forebay.reprocess($1, '{DONE}', now => $2)", job, db.now)
    after = await _worker(db, step("a"), step("y", after_all=True))
    await _stop(db, before)
    assert await _adopt(db, after) == 1
    assert [(name, first) for name, first, _, _ in await db.runs()] == [("a", 1)]
    await db.execute("delete from forebay.ready")
    await db.one("select forebay.repair_stranded($1)", db.after(minutes=11))
    assert [(name, first) for name, first, _, _ in await db.runs()] == [("a", 1)]
    assert await _drain(db) == ["a", "y"]


async def test_items_without_a_task_are_repaired(db: Db) -> None:
    await _worker(db, step("a"), step("b", "a"), step("c", "a"))
    job = await db.submit(3)
    await db.settle(await db.claim("a", 2))
    await db.execute("delete from forebay.ready")
    db.after(minutes=11)
    assert await db.one("select forebay.repair_stranded($1)", db.now) == 5
    assert [(name, first, last) for name, first, last, _ in await db.runs()] == [("a", 3, 3), ("b", 1, 2), ("c", 1, 2)]
    assert await db.one("select forebay.repair_stranded($1)", db.after(minutes=11)) == 0
    await _drain(db)
    assert await db.counters(job) == (3, 0, 0, 0)


async def test_bits_of_versions_without_jobs_are_used_again(db: Db) -> None:
    for k in range(70):
        await db.register(step(f"s{k}"), step("last"))
    job = await db.submit(1)
    await _drain(db)
    assert await db.counters(job) == (1, 0, 0, 0)


async def test_bits_of_versions_with_jobs_are_kept(db: Db) -> None:
    for k in range(62):
        await db.register(step(f"s{k}"), step("last"))
        await db.submit(1)
    message = (
        "the versions of pipeline 'p' that have open jobs have 63 steps together: wait until those jobs have ended"
    )
    with pytest.raises(asyncpg.PostgresError, match=f"^steps: {message}$"):
        await db.register(step("one"), step("more"))
    assert await db.one("select steps is not null from forebay.pipeline where name = 'p'")


async def test_a_step_inserted_after_one_that_has_failed_is_not_waited_for(db: Db) -> None:
    before = await _worker(db, step("a"), step("b", "a"), step("c", "a"), step("gone", "c"))
    job = await db.submit(1)
    await db.run("a")
    await db.run("b", "ERROR")
    after = await _worker(db, step("a"), step("b", "a"), step("n", "b"), step("m", "n"), step("c", "a"))
    await _stop(db, before)
    assert await _adopt(db, after) == 1
    assert await _drain(db) == ["c"]
    assert await db.counters(job) == (0, 0, 0, 1)


async def test_a_new_step_with_the_former_name_of_another_gets_a_bit_of_its_own(db: Db) -> None:
    await _worker(db, step("fetch"), step("parse", "fetch"))
    await _worker(db, step("download", renamed_from="fetch"), step("parse", "download"))
    job = await db.submit(1)
    await _worker(db, step("fetch"), step("download"), step("parse", "download"))
    bits = {row["name"]: row["bit"] for row in await db.fetch("select name, bit from forebay.step where active")}
    assert bits == {"download": 1, "parse": 2, "fetch": 4}
    assert [name for name, *_ in await db.runs()] == ["download"]
    assert await db.one("select steps from forebay.job where id = $1", job) == 3


async def test_a_job_of_which_a_claim_is_under_way_keeps_its_version(db: Db) -> None:
    before = await _worker(db, step("a"), step("b"), step("c", "a", "b"))
    job = await db.submit(1)
    await db.run("a")
    await db.run("b")
    after = await _worker(db, step("a"), step("b"), step("c", "a"))
    await _stop(db, before)
    other = Db(await asyncpg.connect(db.dsn), db.dsn)
    other.now = db.now
    transaction = other.conn.transaction()
    await transaction.start()
    claimed = await other.fetch(
        """select c.* from forebay.ready r cross join lateral
               forebay.claim(1, array[r.step_id], array[r.lane_id], '{0}', '{10}', '{10}', '{}', 600, $1) c""",
        db.now,
    )
    adopting = asyncio.create_task(_adopt(db, after))
    while not await other.one("select pg_blocking_pids($1) <> '{}'", db.conn.get_server_pid()):
        assert not adopting.done(), "the adoption did not wait for the claim"
    await transaction.commit()
    assert await adopting == 0
    assert await db.runs() == []
    await other.settle([dict(row) for row in claimed])
    await other.conn.close()
    assert await db.counters(job) == (1, 0, 0, 0)


async def test_results_have_the_names_of_the_version_to_which_a_job_has_changed(db: Db) -> None:
    before = await _worker(db, step("fetch"), step("parse", "fetch"), step("gone", "parse"))
    job = await db.submit(1)
    await _settle_with_result(db, "fetch")
    after = await _worker(db, step("download", renamed_from="fetch"), step("fetch"), step("parse", "download"))
    await _stop(db, before)
    assert await _adopt(db, after) == 1
    assert (await db.item(job))["result"] == {"download": "fetch"}


async def test_results_have_the_names_of_the_version_by_which_a_job_is_reprocessed(db: Db) -> None:
    await _worker(db, step("fetch"), step("parse", "fetch"))
    job = await db.submit(1)
    await _settle_with_result(db, "fetch")
    await db.run("parse", "ERROR")
    await _worker(db, step("download", renamed_from="fetch"), step("parse", "download"))
    await db.execute("select forebay.reprocess($1, now => $2)", job, db.now)
    assert (await db.item(job))["result"] == {"download": "fetch"}


async def _settle_with_result(db: Db, name: str) -> None:
    for lease in await db.claim(name):
        await db.execute(
            """select forebay.settle(
                   1, array[$1::bigint], '{1}', '{}', array[$2::jsonb], '{0}', '{}', '{}', '{}', '{}', '{}', $3)""",
            lease["token"],
            json.dumps({name: name}),
            db.now,
        )


async def test_an_item_ends_when_its_last_step_comes_after_one_that_has_failed_in_the_new_version(db: Db) -> None:
    old = [step("a"), step("b", "a")]
    await _stop(db, await _worker(db, *old))
    before = await _worker(db, step("a"), step("b"))
    job = await db.submit(2)
    await db.run("a", "ERROR")
    await _stop(db, before)
    assert await _adopt(db, await _worker(db, *old)) == 1
    assert await db.counters(job) == (0, 0, 0, 2)
    assert (await db.job(job))["state"] == "FAILED"
    assert await db.runs() == []
