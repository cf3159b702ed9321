"""What the lists of the API cost, by the plans: indexes only, and as many rows as they show or are bounded to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forebay.db.statements import statements
from forebay.engine.db.sql import load
from tests.sql.test_event_plans import rows_read
from tests.sql.test_plans import Explained, assert_indexed, explained, filled

if TYPE_CHECKING:
    from tests.sql.test_plans import Plan

__all__ = ["explained", "filled"]  # the fixtures

NO_FILTERS = (None, None, None, None, None, None, None)


@pytest.fixture(params=["force_custom_plan", "force_generic_plan"])
async def planned(explained: Explained, request: pytest.FixtureRequest) -> Explained:
    """Statements are planned for their values, or for any."""
    await explained.db.execute(f"set plan_cache_mode = {request.param}")
    return explained


async def plans_of(planned: Explained, query: str, *args: object) -> list[Plan]:
    await planned.of(query, *args)
    return planned.plans


async def test_the_steps_of_an_item(planned: Explained) -> None:
    plans = await plans_of(planned, load("list_item_steps"), 5, 9)
    assert_indexed(plans)
    for table, at_most in (("item", 1), ("job", 1), ("lease", 1), ("scheduled", 5), ("attempt_default", 2)):
        assert rows_read(plans, table) <= at_most, table


async def test_a_scheduled_run_is_found_among_many_of_its_job(planned: Explained) -> None:
    await planned.db.execute(
        """insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n)
           select now(), 1, 1, 5, 5, g, g from generate_series(1, 100000) g"""
    )
    await planned.db.execute(
        """insert into forebay.item (job_id, n, owner_id, pipeline_id, input)
           select 5, 90000, owner_id, pipeline_id, input from forebay.item where job_id = 5 and n = 9"""
    )
    await planned.db.execute("analyze forebay.scheduled")
    plans = await plans_of(planned, load("list_item_steps"), 5, 90_000)
    assert rows_read(plans, "scheduled") <= 10_001


async def test_the_items_at_a_step(planned: Explained) -> None:
    plans = await plans_of(planned, load("list_items_at_step"), 5, "fetch", 0, 20, 10_000, 100)
    assert_indexed(plans)
    assert rows_read(plans, "item") <= 100


@pytest.mark.parametrize("owner", [7, None])
async def test_folded_and_counted_jobs(planned: Explained, owner: int | None) -> None:
    """5,000 jobs, of which this owner has 50."""
    jobs = 50 if owner is not None else 5000
    plans = await plans_of(planned, load("fold_jobs"), owner, None, *NO_FILTERS, 20)
    assert_indexed(plans)
    assert rows_read(plans, "job") <= 2 * jobs
    plans = await plans_of(planned, load("count_jobs_by_state"), owner, 1000)
    assert rows_read(plans, "job") <= 2 * min(jobs, 1000)


async def test_the_audit(planned: Explained) -> None:
    await planned.db.execute(
        """insert into forebay.audit (at, actor, action, owner_id, job_id)
           select now(), 'ann', 'pause', g % 100 + 1, g % 5000 + 1 from generate_series(1, 30000) g"""
    )
    await planned.db.execute("vacuum analyze forebay.audit")
    for owner, job, at_most in ((7, None, 300), (None, 8, 6), (None, None, 30_000)):
        plans = await plans_of(planned, load("page_audit"), owner, job, "bob", None, None, None, None, 20)
        assert rows_read(plans, "audit") <= at_most, (owner, job)


async def test_what_jobs_are_about(planned: Explained) -> None:
    jobs = list(range(1, 201))
    bookmarks, sheets = statements("forebay.pipelines.bookmarks"), statements("forebay.pipelines.sheets")
    plans = await plans_of(planned, bookmarks("list_bookmarks_of_jobs"), jobs)
    assert_indexed(plans)
    assert rows_read(plans, "item") == 200
    for work, items in (("rows", 0), ("receiving", 200), ("export", 0)):
        plans = await plans_of(planned, sheets("list_sheets_of_jobs"), jobs, work)
        assert_indexed(plans)
        assert rows_read(plans, "item") == items


async def test_the_files_of_an_owner(planned: Explained) -> None:
    """Owner 7 has 300 of 6,000 files; every third is a picture, and the next one its thumbnail."""
    await planned.db.execute(
        """with stored as (
               insert into forebay.blob (sha256, size, media_type)
               select sha256(n::text::bytea), 1, 'image/webp' from generate_series(1, 6000) n returning sha256
           ), made as (
               insert into forebay.file (id, owner_id, sha256, name, media_type)
               select n, case when n <= 300 then 7 else 8 end, sha256(n::text::bytea), 'a.webp', 'image/webp'
               from generate_series(1, 6000) n
           )
           select"""
    )
    await planned.db.execute(
        """insert into forebay.picture (file_id, owner_id, width, height, blurhash, widths, thumbnail_ids)
           select f.id, f.owner_id, 9, 9, '', '{4}', array[f.id + 1] from forebay.file f where f.id % 3 = 1"""
    )
    await planned.db.execute("vacuum analyze forebay.blob, forebay.file, forebay.picture")
    storage = statements("forebay.storage")
    rows = await planned.db.fetch(storage("list_files"), 7, 100, 20)
    assert [row["id"] for row in rows] == [n for n in range(101, 132) if n % 3 != 2][:20]
    plans = await plans_of(planned, storage("list_files"), 7, 100, 20)
    assert rows_read(plans, "file") <= 35
    assert rows_read(plans, "blob") <= 35
    assert rows_read(plans, "picture") <= 12  # those whose thumbnails are among the files, and not all of the owner
