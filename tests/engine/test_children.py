"""Jobs that a step submits with its result: in the transaction that settles it, once or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from forebay import Context, Done, Pipeline, Retry, Rows, Statement, Submit
from forebay.engine.submit.checked_submit import CheckedSubmit
from forebay.engine.work.children import submitting
from forebay.errors import InvalidField, PermanentError
from forebay.testing import testbed

pages: Pipeline[str] = Pipeline("pages", str)
sites: Pipeline[dict[str, Any]] = Pipeline("sites", dict)


@pages.step()
async def fetch(ctx: Context, page: str) -> int:
    return len(page)


@sites.step(retry=Retry(attempts=1))
async def crawl(ctx: Context, site: dict[str, Any]) -> Done[int]:
    found = [pages.new(page, key=page) for page in site["pages"]]
    rows = [Rows("crawled", [{"site": site["name"]}])]
    return Done(len(found), writes=rows, submits=[*found, *(pages.new("late", delay=60, owner=who) for who in ["bob"])])


async def test_children_are_submitted_with_the_result(dsn: str) -> None:
    async with testbed(dsn, [sites, pages], migrated=True) as bed:
        await bed.pool.execute("create table crawled (site text primary key)")
        job = await bed.submit(sites, {"name": "a", "pages": ["x", "yy", "x"]}, owner="ann")
        await bed.run()
        assert (await bed.item(job)).result == {"crawl": 3}
        rows = await bed.pool.fetch(
            "select o.name, j.key, j.state from forebay.job j join forebay.owner o on o.id = j.owner_id "
            "where j.id <> $1 order by j.id",
            job.job_id,
        )
        assert [tuple(row) for row in rows] == [
            ("ann", "x", "DONE"),
            ("ann", "yy", "DONE"),
            ("bob", None, "QUEUED"),
        ]


async def test_no_children_without_the_rows_and_the_result(dsn: str) -> None:
    async with testbed(dsn, [sites, pages], migrated=True) as bed:
        await bed.pool.execute("create table crawled (site text primary key); insert into crawled values ('a')")
        job = await bed.submit(sites, {"name": "a", "pages": ["x"]})
        await bed.run()
        item = await bed.item(job)
        assert item.error is not None
        assert "duplicate key" in item.error["reason"]
        assert await bed.pool.fetchval("select count(*) from forebay.job") == 1


async def test_a_pipeline_that_nobody_knows_fails_the_step(dsn: str) -> None:
    lost: Pipeline[str] = Pipeline("lost", str)
    hopeful: Pipeline[str] = Pipeline("hopeful", str)

    @hopeful.step()
    async def hope(ctx: Context, value: str) -> Done[None]:
        return Done(None, submits=[lost.new(value)])

    async with testbed(dsn, [hopeful], migrated=True) as bed:
        job = await bed.submit(hopeful, "x")
        await bed.run()
        item = await bed.item(job)
        assert item.error is not None
        assert "there is no pipeline 'lost' here" in item.error["reason"]


def test_jobs_with_the_same_options_share_a_statement() -> None:
    same, other = [pages.new("a", key="k"), pages.new("b")], [pages.new("c", priority=3)]
    first, second = submitting([*same, *other], owner_id=7)
    assert isinstance(first, Statement)
    assert first.args == ("pages", ['"a"', '"b"'], None, ["k", None], 0, None, None, None, 7, None, None)
    assert second.args == ("pages", ['"c"'], None, [None], 3, None, None, None, 7, None, None)


def test_what_is_not_a_job_is_rejected() -> None:
    wrong: Any = {"pipeline": "pages", "input": "1"}
    with pytest.raises(
        PermanentError, match=r"submits of Done must be made with Pipeline\.new; this is of the type dict"
    ):
        list(submitting([wrong], owner_id=7))
    bad: Any = 3
    with pytest.raises(InvalidField, match="input: Input should be a valid string"):
        pages.new(bad)
    with pytest.raises(PermanentError, match=r"this is of the type Submit$"):
        list(submitting([Submit()], owner_id=7))
    assert pages.new("a", owner="ann", meta={"m": 1}) == CheckedSubmit("pages", '"a"', "ann", meta='{"m":1}')
