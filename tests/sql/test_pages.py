"""Pages: complete, ordered, stable under changes, and as cheap at the end of a long job as at its start."""

# demands: S5-30, S5-31, S5-32, S5-33, S5-34, S5-35, S5-41, S5-42, S5-47, S5-48, S5-49, S5-112, S5-140, S5-141, S5-170
# demands: S5-171, S5-172, S5-173

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.sql._db import Db, step

OPEN = ["PENDING", "PROCESSING"]
FAILED = ["ERROR", "NOT_FOUND", "SKIPPED"]


@pytest.fixture
async def long_job(db: Db) -> int:
    """60,000 items: a third done, then some failed, then open."""
    await db.register(step("a"))
    job = await db.submit(60_000)
    await db.execute(
        """update forebay.item i set status = s.status, verdict = s.status
           from (select n, case when n % 1000 = 0 then 'ERROR' else 'DONE' end::forebay.item_status as status
                 from generate_series(1, 20000) n) s
           where i.job_id = $1 and i.n = s.n""",
        job,
    )
    await db.execute(
        "delete from forebay.ready where job_id = $1 and last_n <= 20000",
        job,
    )
    await db.execute("vacuum analyze forebay.item")
    return job


async def page(
    db: Db, job: int, after: int, statuses: list[str] | None, size: int = 100
) -> tuple[list[int], int | None]:
    found = await db.row(
        "select * from forebay.find_items($1, $2, $3::forebay.item_status[], $4)", job, after, statuses, size
    )
    return found["ns"], found["next_after"]


async def all_pages(db: Db, job: int, statuses: list[str] | None, size: int) -> list[int]:
    seen: list[int] = []
    after: int | None = 0
    while after is not None:
        ns, after = await page(db, job, after, statuses, size)
        seen += ns
    return seen


async def pages_before(db: Db, job: int, before: int, statuses: list[str] | None, size: int) -> list[int]:
    seen: list[int] = []
    at: int | None = before
    while at is not None:
        found = await db.row(
            "select * from forebay.find_items_before($1, $2, $3::forebay.item_status[], $4)", job, at, statuses, size
        )
        seen += found["ns"]
        at = found["next_before"]
    return seen[::-1]


async def buffers(db: Db, sql: str, *args: object) -> int:
    text = await db.one(f"explain (analyze, buffers, format json) {sql}", *args)
    plan: dict[str, Any] = json.loads(text)[0]["Plan"]
    return int(plan["Shared Hit Blocks"]) + int(plan["Shared Read Blocks"])


async def test_pages_are_complete_and_in_order(db: Db, long_job: int) -> None:
    assert await all_pages(db, long_job, None, 7000) == list(range(1, 60_001))
    assert await all_pages(db, long_job, FAILED, 7) == list(range(1000, 20_001, 1000))
    assert await all_pages(db, long_job, ["ERROR", "DONE"], 3000) == list(range(1, 20_001))
    assert await all_pages(db, long_job, OPEN, 7000) == list(range(20_001, 60_001))
    assert await all_pages(db, long_job, ["SKIPPED"], 7) == []


async def test_pages_go_backward_as_well(db: Db, long_job: int) -> None:
    assert await pages_before(db, long_job, 60_001, None, 7000) == list(range(1, 60_001))
    assert await pages_before(db, long_job, 18_500, FAILED, 7) == list(range(1000, 18_001, 1000))
    assert await pages_before(db, long_job, 20_001, ["ERROR", "DONE"], 3000) == list(range(1, 20_001))
    assert await pages_before(db, long_job, 40_000, OPEN, 7000) == list(range(20_001, 40_000))
    assert await pages_before(db, long_job, 60_001, ["SKIPPED"], 7) == []
    assert await pages_before(db, long_job, 1, None, 7) == []


async def test_processing_is_told_from_pending(db: Db, long_job: int) -> None:
    await db.claim("a", 700)
    assert (await page(db, long_job, 0, ["PROCESSING"], 10_000))[0] == list(range(20_001, 20_701))
    assert (await page(db, long_job, 0, ["PENDING"], 3))[0] == [20_701, 20_702, 20_703]


async def test_a_filter_that_fits_nothing_is_given_up_and_goes_on(db: Db, long_job: int) -> None:
    ns, after = await page(db, long_job, 20_000, ["DONE"])
    assert (ns, after) == ([], 40_000)
    assert await page(db, long_job, 40_000, ["DONE"]) == ([], None)


@pytest.mark.parametrize("statuses", [None, OPEN, FAILED])
async def test_a_deep_page_costs_what_the_first_does(db: Db, long_job: int, statuses: list[str] | None) -> None:
    sql = "select * from forebay.find_items($1, $2, $3::forebay.item_status[], 10)"
    await buffers(db, sql, long_job, 0, statuses)  # catalogues and plans are looked up once
    first = await buffers(db, sql, long_job, 0, statuses)
    for deep in (19_000, 40_000, 59_900):
        assert await buffers(db, sql, long_job, deep, statuses) <= 2 * first
    back = "select * from forebay.find_items_before($1, $2, $3::forebay.item_status[], 10)"
    await buffers(db, back, long_job, 60_000, statuses)
    for deep in (18_000, 40_000, 60_000):
        assert await buffers(db, back, long_job, deep, statuses) <= 2 * first


async def test_a_page_reads_no_further_than_it_is_long(db: Db, long_job: int) -> None:
    sql = "select * from forebay.find_items($1, $2, $3::forebay.item_status[], 10)"
    back = "select * from forebay.find_items_before($1, $2, $3::forebay.item_status[], 10)"
    pages = [(sql, 0, "DONE"), (sql, 0, "PENDING"), (back, 20_001, "DONE"), (back, 60_001, "PENDING")]
    for query, start, status in pages:
        await buffers(db, query, long_job, start, [status])  # catalogues and plans are looked up once
        read = await buffers(db, query, long_job, start, [status])
        assert read <= (80 if status == "DONE" else 300), (query, status)  # leases are looked up for what is pending


async def test_pending_pages_of_all_jobs(db: Db, long_job: int) -> None:
    others = [await db.submit(3, owner=name) for name in ("bob", "ann", "carl")]
    seen: list[tuple[int, int]] = []
    at: tuple[int, int] | None = (long_job, 59_998)
    while at is not None:
        found = await db.row(
            "select * from forebay.find_pending(null, $1, $2, '{PENDING,PROCESSING}', 2)",
            *at,
        )
        seen += zip(found["job_ids"], found["ns"], strict=True)
        at = None if found["next_job"] is None else (found["next_job"], found["next_n"])
    assert seen == [(long_job, 59_999), (long_job, 60_000), *((job, n) for job in others for n in (1, 2, 3))]
    ann = await db.one("select id from forebay.owner where name = 'bob'")
    assert await db.one("select job_ids from forebay.find_pending($1, 0, 0, '{PENDING}', 9)", ann) == [others[0]] * 3


async def test_a_page_of_items_of_all_jobs_reads_a_bounded_number_of_them(db: Db) -> None:
    await db.register(step("a"))
    jobs = [await db.submit(3000) for _ in range(12)]
    await db.execute(
        "update forebay.item set updated_at = case when job_id = $1 and n = 7 then '2002-01-01'"
        " else '2000-01-01'::timestamptz end",
        jobs[-1],
    )
    found: list[tuple[int, int]] = []
    job: int | None = 0
    pages, n = 0, 0
    while job is not None and pages < 9:
        answer = await db.row(
            "select * from forebay.find_pending(null, $1, $2, $3::forebay.item_status[], 100, since => '2001-01-01')",
            job,
            n,
            OPEN,
        )
        found += zip(answer["job_ids"], answer["ns"], strict=True)
        job, n = answer["next_job"], answer["next_n"]
        pages += 1
    assert (found, pages) == ([(jobs[-1], 7)], 2)
