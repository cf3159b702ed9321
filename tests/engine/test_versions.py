"""Releases side by side: workers of two versions of a pipeline, with renamed steps and other parents."""

from __future__ import annotations

import pytest

from forebay import Context, Pipeline
from forebay.engine.db.versions import versions
from forebay.errors import DefinitionError
from forebay.settings import Settings
from forebay.testing import ManualClock, testbed
from forebay.types import JobState


def _before(seen: list[str]) -> Pipeline[dict]:  # type: ignore[type-arg]
    pages = Pipeline("pages", dict)

    @pages.step()
    async def fetch(ctx: Context, page: dict[str, str]) -> str:
        return "fetched by the old release"

    @pages.step(after=fetch)
    async def parse(ctx: Context, page: dict[str, str], text: str) -> str:
        seen.append(text)
        return "parsed by the old release"

    return pages


def _after(seen: list[str]) -> Pipeline[dict]:  # type: ignore[type-arg]
    pages = Pipeline("pages", dict)

    @pages.step(renamed_from="fetch")
    async def download(ctx: Context, page: dict[str, str]) -> str:
        return "downloaded by the new release"

    @pages.step(after=download)
    async def parse(ctx: Context, page: dict[str, str], text: str) -> str:
        seen.append(text)
        return "parsed by the new release"

    return pages


async def test_results_of_a_renamed_step_reach_workers_of_both_releases(dsn: str) -> None:
    clock, seen = ManualClock(), list[str]()
    before, after = _before(seen), _after(seen)
    async with testbed(dsn, [before], clock=clock, migrated=True, settings=Settings(queues="pages.fetch")) as fetching:
        old = await fetching.submit(before, {})
        await fetching.run()
        async with testbed(dsn, [after], clock=clock, migrated=True) as new:
            later = await new.submit(after, {})
            await new.run()
            assert (await new.item(old)).result == {
                "fetch": "fetched by the old release",
                "parse": "parsed by the new release",
            }
            assert (await new.item(later)).result["download"] == "downloaded by the new release"
            last = await new.submit(after, {})
    async with testbed(dsn, [after], clock=clock, migrated=True, settings=Settings(queues="pages.download")) as loading:
        await loading.run()
        async with testbed(dsn, [before], clock=clock, migrated=True) as restarted:
            await restarted.run()
            assert (await restarted.item(last)).result == {
                "download": "downloaded by the new release",
                "parse": "parsed by the old release",
            }
    assert seen == ["fetched by the old release", *["downloaded by the new release"] * 2]


async def test_a_step_never_runs_without_the_result_of_its_parent(dsn: str) -> None:
    """Items of the old release lack what the new one needs: they get it when no worker runs the old release."""
    clock, seen = ManualClock(), list[str]()
    before, after = _before(seen), Pipeline("pages", dict)

    @after.step()
    async def fetch(ctx: Context, page: dict[str, str]) -> str:
        return "text"

    @after.step(after=fetch)
    async def summarize(ctx: Context, page: dict[str, str], text: str) -> str:
        return "summary of " + text

    @after.step(after=summarize)
    async def parse(ctx: Context, page: dict[str, str], summary: str) -> str:
        seen.append(summary)
        return "parsed"

    async with testbed(dsn, [before], clock=clock, migrated=True, settings=Settings(queues="pages.fetch")) as fetching:
        job = await fetching.submit(before, {})
        await fetching.run()
    async with testbed(dsn, [after], clock=clock, migrated=True) as new:
        await new.run()
        assert seen == []
        for _ in range(2):
            await new.worker.report_status()
            await new.worker.adopt_jobs()
            clock.advance(61)
        await new.run()
        assert seen == ["summary of fetched by the old release"]
        assert (await new.job(job)).state == JobState.DONE


def test_a_former_name_belongs_to_one_step() -> None:
    pages = Pipeline("pages", dict)

    @pages.step()
    async def fetch(ctx: Context, page: dict[str, str]) -> str:
        return ""

    @pages.step(renamed_from="fetch")
    async def download(ctx: Context, page: dict[str, str]) -> str:
        return ""

    with pytest.raises(
        DefinitionError,
        match=r"^step 'pages.download': renamed_from='fetch' is the name, or the former name, of another step$",
    ):
        pages.definition()


@pytest.mark.parametrize(
    ("change", "unserved"),
    [
        ("seen_at = clock_timestamp() - interval '30 seconds'", []),
        ("seen_at = clock_timestamp() - interval '61 seconds'", ["fetch"]),  # it was lost
        ("stopped_at = clock_timestamp()", ["fetch"]),
    ],
)
async def test_jobs_whose_version_has_just_lost_its_last_worker_are_shown(
    dsn: str, change: str, unserved: list[str]
) -> None:
    before: Pipeline[dict[str, str]] = Pipeline("pages", dict)

    @before.step()
    async def fetch(ctx: Context, page: dict[str, str]) -> None: ...

    after: Pipeline[dict[str, str]] = Pipeline("pages", dict)

    @after.step()
    async def load(ctx: Context, page: dict[str, str]) -> None: ...

    async with testbed(dsn, [before], migrated=True) as old:
        await old.submit(before, {})
        async with testbed(dsn, [after], migrated=True) as new, new.pool.acquire() as conn:
            alive = "update forebay.worker set seen_at = clock_timestamp(), stopped_at = null"
            await conn.execute(alive)
            await conn.execute(f"update forebay.worker set {change} where id = $1", old.worker.worker_id)
            found = {version.is_present: version for version in await versions(conn)}
    assert (found[False].open_jobs, found[False].unserved) == (1, unserved)
    assert (found[True].open_jobs, found[True].unserved) == (0, [])
