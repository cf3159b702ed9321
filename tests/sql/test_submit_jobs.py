"""Many submits in one call: the same jobs as if each had been submitted by itself."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import asyncpg
import pytest

from tests.sql._db import START, Db, step

_ROWS = {
    # first_seq is the number of its first run or a lower one, which differs when jobs are created before all runs.
    "job": "select to_jsonb(j) - 'first_seq', first_seq is null from forebay.job j order by id",
    "item": "select * from forebay.item order by job_id",
    "ready": "select step_id, lane_id, job_id, owner_id, first_n, last_n, attempt from forebay.ready order by 3, 1",
}


@pytest.fixture(autouse=True)
async def pipeline(db: Db) -> None:
    await db.register(step("a"), step("b"), step("c", "a"))


async def submit_jobs(db: Db, inputs: list[Any], **options: Any) -> list[int]:
    given = {"owner": "ann", "now": db.now} | options
    names = ", ".join(f"{name} => ${i}" for i, name in enumerate(given, 2))
    call = f"select j from forebay.submit_jobs('p', $1::text[]::jsonb[], {names}), unnest(job_ids) j"
    texts = [None if value is None else json.dumps(value) for value in inputs]
    return [row["j"] for row in await db.fetch(call, texts, *given.values())]


@pytest.mark.parametrize("priority", [0, 5])
@pytest.mark.parametrize("is_first", [True, False], ids=["first", "later"])
async def test_the_jobs_are_those_of_single_submits(db: Db, is_first: bool, priority: int) -> None:
    """Also when the owner is new, and when it has no lane of that priority yet."""
    inputs = [{"n": n, "text": "x" * 200 * n} for n in range(5)]
    found = []
    for together in (True, False):
        transaction = db.conn.transaction()
        await transaction.start()
        for sequence in ("seq", "job_id_seq", "lane_id_seq", "owner_id_seq"):
            await db.execute(f"alter sequence forebay.{sequence} restart")
        if not is_first:
            await submit_jobs(db, [{}], priority=priority)
        if together:
            jobs = await submit_jobs(db, inputs, priority=priority)
        else:
            submit = "select job_id from forebay.submit('p', $1, 'ann', priority => $2, now => $3)"
            jobs = [await db.one(submit, json.dumps(value), priority, db.now) for value in inputs]
        rows = {table: await db.fetch(sql) for table, sql in _ROWS.items()}
        found.append((jobs, rows))
        kept = "select input from forebay.item where job_id = any($1) order by job_id"
        assert [json.loads(row["input"]) for row in await db.fetch(kept, jobs)] == inputs
        await transaction.rollback()
    assert found[0] == found[1]


async def test_workers_are_told_once_of_each_step(db: Db) -> None:
    await submit_jobs(db, [{}])
    heard: asyncio.Queue[str] = asyncio.Queue()
    await db.conn.add_listener("forebay", lambda *args: heard.put_nowait(str(args[-1])))
    jobs = await submit_jobs(db, [{}] * 20)
    first = await db.fetch(
        """select step_id, lane_id, min(seq) as seq from forebay.ready where job_id = any($1)
           group by step_id, lane_id order by step_id""",
        jobs,
    )
    assert sorted(heard.get_nowait() for _ in range(heard.qsize())) == [
        f"ready {row['step_id']} {row['lane_id']} {row['seq']}" for row in first
    ]
    busy = "insert into forebay.busy_lane (step_id, lane_id, until) values ($1, $2, $3)"
    await db.execute(busy, first[0]["step_id"], first[0]["lane_id"], db.after(seconds=10))
    db.now = START
    await submit_jobs(db, [{}] * 20)
    told = heard.get_nowait()
    assert told.startswith(f"ready {first[1]['step_id']} "), "of a step that workers are busy with, they are not told"
    assert heard.empty()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (None, "inputs: must be JSON values, not SQL nulls"),
        ({"text": "x" * 300}, r"inputs\[1\]: has \d+ bytes; the pipeline takes at most 200"),
        (json.loads("[" * 101 + "]" * 101), r"inputs\[1\]: is nested more than 100 levels deep"),
    ],
)
async def test_one_invalid_input_rejects_all(db: Db, wrong: Any, words: str) -> None:
    await submit_jobs(db, [{}])
    await db.execute(
        "update forebay.pipeline set max_input_bytes = case when $1 then 200 else 1000 end", "200" in words
    )
    with pytest.raises(asyncpg.PostgresError, match=f"^{words}$"):
        await submit_jobs(db, [{}, wrong, {}])
    assert await db.one("select count(*) from forebay.job") == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"priority": 101}, "priority: must be between -100 and 100"),
        ({"owner": None}, "owner: must have 1 to 200 characters"),
    ],
)
async def test_options_that_cannot_be(db: Db, options: dict[str, Any], words: str) -> None:
    with pytest.raises(asyncpg.PostgresError, match=f"^{words}$"):
        await submit_jobs(db, [{}, {}], **options)
