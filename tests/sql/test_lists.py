"""Lists: complete, ordered, and with a bounded cost per page."""

# demands: S5-43, S5-44, S5-54, S5-143

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tests.sql._db import Db, step
from tests.sql.test_pages import buffers

FIND_JOBS = "select * from forebay.find_jobs($1, $2, $3, $4::forebay.job_state, null, null, $5, $6)"
FIND_ATTEMPTS = """
select array(select (f.token, f.n)::text from unnest(attempts) f) as found, next_at, next_token, next_n
from forebay.find_attempts($1, $2, $3, $4, $5::forebay.outcome, null, $6, $7, $8, $9, effort => $10)"""
FIND_LETTERS = """
select array(select (f.at, f.job_id, f.n, f.step_id)::text from unnest(letters) f) as found,
       next_at, next_job, next_n, next_step
from forebay.find_dead_letters($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"""
LONG = "1 hour"  # never given up
SHORT = "0"  # given up after each step back


@pytest.fixture
async def many_jobs(db: Db) -> dict[str, int]:
    """4000 jobs of Ann with 20 of Bob among them, all done except every 1000th of Ann's; their ids by owner."""
    await db.register(step("a"))
    await db.register(step("a"), name="q")
    await db.submit(1, owner="ann")
    await db.submit(1, owner="bob", pipeline="q")
    owners = {row["name"]: row["id"] for row in await db.fetch("select name, id from forebay.owner")}
    await db.execute(
        """insert into forebay.job
               (pipeline_id, owner_id, lane_id, steps, state, total, created_at, updated_at, finished_at)
           select j.pipeline_id, j.owner_id, j.lane_id, j.steps,
                  case when k % 1000 = 0 then 'QUEUED' else 'DONE' end::forebay.job_state,
                  1, j.created_at, j.created_at, case when k % 1000 <> 0 then j.created_at end
           from generate_series(1, 4000) k join forebay.job j on j.id = case when k % 200 = 7 then 2 else 1 end"""
    )
    await db.execute("vacuum analyze forebay.job")
    return owners


async def job_pages(
    db: Db, owner: int | None, pipeline: str | None, state: str | None, size: int, look: int
) -> list[int]:
    seen: list[int] = []
    before: int | None = None
    while True:
        found = await db.row(FIND_JOBS, owner, before, pipeline, state, size, look)
        assert len(found["ids"]) <= size
        seen += found["ids"]
        before = found["next_before"]
        if before is None:
            return seen


@pytest.mark.parametrize(("size", "look"), [(7, 20_000), (300, 100), (4002, 20_000)])
async def test_pages_of_jobs_are_complete_and_in_order(db: Db, many_jobs: dict[str, int], size: int, look: int) -> None:
    for owner, pipeline, state in product(
        (None, *many_jobs.values()), (None, "p", "q"), (None, "QUEUED", "DONE", "FAILED")
    ):
        expected = await db.fetch(
            """select j.id from forebay.job j join forebay.pipeline p on p.id = j.pipeline_id
               where ($1::bigint is null or j.owner_id = $1) and ($2::text is null or p.name = $2)
                 and ($3::forebay.job_state is null or j.state = $3) order by j.id desc""",
            owner,
            pipeline,
            state,
        )
        assert await job_pages(db, owner, pipeline, state, size, look) == [row["id"] for row in expected]


async def test_open_jobs_are_found_without_looking_at_those_that_ended(db: Db, many_jobs: dict[str, int]) -> None:
    args = (many_jobs["ann"], None, None)
    await buffers(db, FIND_JOBS, *args, "QUEUED", 10, 20_000)
    open_jobs = await buffers(db, FIND_JOBS, *args, "QUEUED", 10, 20_000)
    assert open_jobs < 50
    assert open_jobs < await buffers(db, FIND_JOBS, *args, "FAILED", 10, 20_000) / 2


async def test_a_deep_page_of_jobs_costs_what_the_first_does(db: Db, many_jobs: dict[str, int]) -> None:
    async def cost(before: int | None) -> int:
        return await buffers(db, FIND_JOBS, many_jobs["ann"], before, None, "DONE", 10, 20_000)

    await cost(None)
    assert await cost(500) <= 2 * await cost(None)


@pytest.fixture
async def many_attempts(db: Db) -> dict[str, int]:
    """60,000 attempts of 40 days: of a large job and a small job of Ann, and of Bob, whose last is a month old."""
    await db.register(step("a"), step("b", "a"))
    large = await db.submit(1)
    small = await db.submit(1)
    bobs = await db.submit(1, owner="bob")
    await db.execute("update forebay.job set total = 50000 where id <> $1", small)
    await db.execute(
        "update forebay.job set created_at = clock_timestamp() - interval '41 days', updated_at = clock_timestamp()"
    )
    await db.execute(
        """insert into forebay.attempt
               (job_id, n, step_id, attempt, outcome, owner_id, worker_id, token, started_at, ended_at)
           select j.id, k, (select min(s.id) + k % 2 from forebay.step s), 1,
                  case when k % 500 = 0 then 'ERROR' else 'DONE' end::forebay.outcome, j.owner_id, 1, k, t.at, t.at
           from generate_series(1, 60000) k
           join forebay.job j
             on j.id = case when k < 1000 and k % 100 = 5 then $3::bigint when k % 7 = 0 then $2 else $1 end
           cross join lateral (
               select date_trunc('second', now()) - interval '40 days' * ((60000 - k) / 3 / 20000.0)) t (at)""",
        large,
        small,
        bobs,
    )
    await db.execute("vacuum analyze forebay.attempt")
    return {
        "large": large,
        "small": small,
        "bobs": bobs,
        "bob": await db.one("select id from forebay.owner where name = 'bob'"),
    }


async def attempt_pages(db: Db, *where: Any, size: int, effort: str = LONG) -> tuple[list[str], int]:
    seen: list[str] = []
    calls = 0
    before: tuple[Any, Any, Any] = (None, None, None)
    while True:
        found = await db.row(FIND_ATTEMPTS.replace("$10", f"interval '{effort}'"), *where, *before, size)
        assert len(found["found"]) <= size
        seen += found["found"]
        calls += 1
        assert calls < 2000
        before = (found["next_at"], found["next_token"], found["next_n"])
        if before[0] is None:
            return seen, calls


@pytest.mark.parametrize("effort", [LONG, SHORT])
@pytest.mark.parametrize(
    ("owner", "job", "n", "wanted", "outcome"),
    [
        (None, None, None, None, None),
        (None, None, None, "b", "ERROR"),
        ("bob", None, None, None, None),
        (None, "large", None, None, None),
        (None, "large", 1000, None, None),
        (None, "small", None, "b", None),
        (None, "bobs", None, None, None),
        (None, "bobs", None, "c", None),
    ],
)
async def test_pages_of_attempts_are_complete_and_in_order(
    db: Db,
    many_attempts: dict[str, int],
    effort: str,
    owner: str | None,
    job: str | None,
    n: int | None,
    wanted: str | None,
    outcome: str | None,
) -> None:
    where = (owner and many_attempts[owner], job and many_attempts[job], n, wanted, outcome)
    expected = await db.fetch(
        """select (a.token, a.n)::text from forebay.attempt a join forebay.step s on s.id = a.step_id
           where ($1::bigint is null or a.owner_id = $1) and ($2::bigint is null or a.job_id = $2)
             and ($3::int is null or a.n = $3) and ($4::text is null or s.name = $4)
             and ($5::forebay.outcome is null or a.outcome = $5)
           order by a.ended_at desc, a.token desc, a.n desc""",
        *where,
    )
    seen, calls = await attempt_pages(db, *where, size=4000, effort=effort)
    assert seen == [row[0] for row in expected]
    assert calls >= (len(expected) or 1) / 4000


async def test_what_is_rare_is_looked_for_in_several_calls_when_they_may_not_take_long(
    db: Db, many_attempts: dict[str, int]
) -> None:
    where = (many_attempts["bob"], None, None, None, None)
    found, calls = await attempt_pages(db, *where, size=100, effort=SHORT)
    assert (len(found), calls > 1) == (10, True)
    found, calls = await attempt_pages(db, *where, size=100)
    assert (len(found), calls) == (10, 1)


async def test_a_deep_page_of_attempts_costs_what_the_first_does(db: Db, many_attempts: dict[str, int]) -> None:
    async def cost(days_ago: int | None) -> int:
        before = (
            None if days_ago is None else await db.one("select clock_timestamp() - $1 * interval '1 day'", days_ago)
        )
        sql = FIND_ATTEMPTS.replace("$10", f"interval '{LONG}'")
        return await buffers(db, sql, None, None, None, None, None, before, 0, 0, 50)

    await cost(None)
    costs = [await cost(days) for days in (10, 20, 35)]
    assert max(costs) <= 2 * min(costs)
    assert await cost(None) <= 2 * min(costs)


@pytest.fixture
async def many_letters(db: Db) -> dict[str, int]:
    """20,000 dead letters of Ann's and 20 of Bob's among them, often two at one moment, one in 4000 of class config:
    of a large job that is over, of one that is not, and of small ones."""
    await db.register(step("a"), step("b"))
    await db.register(step("c"), name="q")
    large, later = await db.submit(1), await db.submit(1)
    small = await db.submit(1, pipeline="q")
    bobs = await db.submit(1, owner="bob", pipeline="q")
    await db.execute("update forebay.job set total = 50000 where id = any($1)", [large, later])
    await db.execute(
        """insert into forebay.dead_letter (job_id, n, step_id, owner_id, outcome, attempt, class, at)
           select j.id, k / 2, s.id, j.owner_id, 'ERROR', 3, case when k % 4000 = 0 then 'config' else 'data' end,
                  $5::timestamptz + k / 2 * interval '1 second'
           from generate_series(1, 20020) k
           join forebay.job j on j.id = case when k % 1000 = 7 then $4::bigint when k % 100 = 1 then $3
                                             when k > 15000 then $2 else $1 end
           join forebay.step s on s.pipeline_id = j.pipeline_id and s.name = case k % 2
                when 0 then case j.pipeline_id when 1 then 'a' else 'c' end
                else case j.pipeline_id when 1 then 'b' else 'c' end end""",
        large,
        later,
        small,
        bobs,
        db.now,
    )
    await db.execute(
        """update forebay.job j set finished_at = (select max(d.at) from forebay.dead_letter d where d.job_id = j.id)
           where id = $1""",
        large,
    )
    await db.execute("vacuum analyze forebay.dead_letter")
    owners = {row["name"]: row["id"] for row in await db.fetch("select name, id from forebay.owner")}
    return {"large": large, "later": later, "small": small, "bobs": bobs} | owners


async def letter_pages(db: Db, *where: Any, size: int, look: int) -> tuple[list[str], int]:
    seen: list[str] = []
    calls = 0
    before: tuple[Any, ...] = (None, None, None, None)
    while True:
        found = await db.row(FIND_LETTERS, *where, *before, size, look)
        assert len(found["found"]) <= size
        seen += found["found"]
        calls += 1
        before = tuple(found[name] for name in ("next_at", "next_job", "next_n", "next_step"))
        if before[0] is None:
            return seen, calls


@pytest.mark.parametrize(("size", "look"), [(999, 30_000), (300, 1000), (30_000, 30_000)])
async def test_pages_of_dead_letters_are_complete_and_in_order(
    db: Db, many_letters: dict[str, int], size: int, look: int
) -> None:
    for owner, pipeline, job, error_class in product(
        (None, "ann", "bob"), (None, "p", "q", "none"), (None, "large", "later", "small"), (None, "config")
    ):
        where = (owner and many_letters[owner], pipeline, job and many_letters[job], error_class)
        expected = await db.fetch(
            """select (d.at, d.job_id, d.n, d.step_id)::text
               from forebay.dead_letter d join forebay.step s on s.id = d.step_id
               join forebay.pipeline p on p.id = s.pipeline_id
               where ($1::bigint is null or d.owner_id = $1) and ($2::text is null or p.name = $2)
                 and ($3::bigint is null or d.job_id = $3) and ($4::text is null or d.class = $4)
               order by d.at desc, d.job_id desc, d.n desc, d.step_id desc""",
            *where,
        )
        seen, calls = await letter_pages(db, *where, size=size, look=look)
        assert seen == [row[0] for row in expected]
        assert calls >= len(expected) / size


async def test_dead_letters_that_do_not_fit_are_looked_at_no_more_than_a_page_may(
    db: Db, many_letters: dict[str, int]
) -> None:
    async def cost(owner: str | None, look: int) -> int:
        start = (None, None, None, None)
        where = (owner and many_letters[owner], "none", None, None)
        await buffers(db, FIND_LETTERS, *where, *start, 100, look)
        return await buffers(db, FIND_LETTERS, *where, *start, 100, look)

    whole = await cost("ann", 100_000)
    assert await cost("ann", 1000) < whole / 5
    assert await cost(None, 1000) < whole / 5
    assert await cost("bob", 1000) < 100  # an owner with few rows does not pay for those of others
    found = await db.row(FIND_LETTERS, many_letters["ann"], "none", None, None, None, None, None, None, 100, 1000)
    assert (found["found"], found["next_at"] is not None) == ([], True)


async def test_groups_of_dead_letters_read_no_more_than_they_may(db: Db, many_letters: dict[str, int]) -> None:
    async def cost(owner: str | None, job: str | None, most: int) -> int:
        args = (owner and many_letters[owner], job and many_letters[job], most)
        read = "select count(*) from forebay.recent_dead_letters($1, $2, $3)"
        await buffers(db, read, *args)
        return await buffers(db, read, *args)

    whole = await cost("ann", None, 100_000)
    for owner, job in ((None, None), ("ann", None), ("ann", "large")):
        assert await cost(owner, job, 1000) < whole / 5
    assert await cost("bob", None, 20_000) < 100  # an owner with few rows does not pay for those of others


@pytest.mark.parametrize("job", [None, "large"])
async def test_a_deep_page_of_dead_letters_costs_what_the_first_does(
    db: Db, many_letters: dict[str, int], job: str | None
) -> None:
    async def cost(at: int) -> int:
        when = await db.one("select $1::timestamptz + $2 * interval '1 second'", db.now, at)
        where = (many_letters["ann"], None, job and many_letters[job], None)
        return await buffers(db, FIND_LETTERS, *where, when, 0, 0, 0, 10, 20_000)

    await cost(7000)
    costs = [await cost(at) for at in (7000, 4000, 1000)]
    assert max(costs) <= 2 * min(costs)
