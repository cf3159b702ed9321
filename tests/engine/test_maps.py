"""Maps: a step splits its item into many, which are processed by another pipeline, and goes on when all have ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from forebay import (
    Client,
    Context,
    ItemRecord,
    ItemStatus,
    Map,
    Mapped,
    Outcome,
    PermanentError,
    Pipeline,
    Retry,
    Skip,
    Wait,
)
from forebay.engine.db import lists, registry
from forebay.engine.work import maps
from forebay.errors import DefinitionError, InvalidField
from forebay.testing import Testbed, context, testbed

documents: Pipeline[dict[str, Any]] = Pipeline("documents", dict)
pages: Pipeline[int] = Pipeline("pages", int)
runs: list[tuple[int, int]] = []  # (job, page) of each run of `read`
broken: set[int] = set()
gates: dict[str, asyncio.Event] = {}


@pages.step(retry=Retry(attempts=1))
async def read(ctx: Context, page: int) -> str:
    runs.append((ctx.job_id, page))
    if page in broken:
        raise PermanentError(f"page {page} is empty")
    return f"text {page}"


@documents.step()
async def split(ctx: Context, document: dict[str, Any]) -> Map[int]:
    count = document["pages"]
    return Map(_numbers(count, document), pages, max_failed=document.get("max_failed"))


@documents.step(after=split)
async def join(ctx: Context, document: dict[str, Any], mapped: Mapped) -> str:
    found = [f"{page.status[0]}{page.result.get('read', '')}" async for page in ctx.children(mapped)]
    return f"{mapped.done}/{mapped.total} {mapped.failed} {', '.join(found[:4])}"


def _numbers(count: int, document: dict[str, Any]) -> Iterable[int] | AsyncIterator[int]:
    if document.get("kind") == "async":
        return _later(count)
    return (number for number in range(count)) if document.get("kind") == "generator" else range(count)


async def _later(count: int) -> AsyncIterator[int]:
    for number in range(count):
        if number == 300 and "stored" in gates:
            gates["stored"].set()
            await gates["go on"].wait()
        yield number


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small batches, so that few items are many."""
    monkeypatch.setattr(maps, "_ROWS", 100)
    monkeypatch.setattr(maps, "_CHUNK", 64)
    yield
    runs.clear()
    broken.clear()
    gates.clear()


async def one(bed: Testbed, sql: str, *args: object) -> Any:
    return await bed.pool.fetchval(sql, *args)


async def states(bed: Testbed) -> list[str]:
    rows = await bed.pool.fetch("select state from forebay.job where parent_id is not null order by id")
    return [row["state"] for row in rows]


async def test_the_next_step_reads_the_children_when_all_have_ended(dsn: str) -> None:
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await bed.submit(documents, {"pages": 3}, owner="ann", priority=5, meta={"by": "mail"})
        await bed.run()
        item = await bed.item(job)
        child = item.result["split"]["job_id"]
        assert item.status == "DONE"
        assert item.result["join"] == "3/3 0 Dtext 0, Dtext 1, Dtext 2"
        assert item.result["split"] == {
            "job_id": child, "total": 3, "done": 3, "skipped": 0, "not_found": 0, "error": 0,
        }  # fmt: skip
        assert await one(bed, "select count(distinct (owner_id, priority, meta)) from forebay.job") == 1
        assert await one(bed, "select count(*) from forebay.waiting") == 0
        rows = await bed.pool.fetch(
            "select outcome::text, reason, attempt from forebay.attempt where job_id = $1 order by ended_at, step_id",
            job.job_id,
        )
        assert sorted(tuple(row) for row in rows) == [
            ("DONE", None, 1), ("DONE", None, 1), ("SNOOZED", "waits for 3 items of pages", 1),
        ]  # fmt: skip


async def test_a_task_that_waits_for_children_uses_no_worker(dsn: str) -> None:
    async with testbed(dsn, [documents], migrated=True) as bed, bed.pool.acquire() as conn:  # nobody runs the pages
        job = await bed.submit(documents, {"pages": 3})
        await bed.run()
        assert (await bed.item(job)).status == "PENDING"
        assert await one(bed, "select count(*) from forebay.lease") == 0
        assert await one(bed, "select count(*) from forebay.scheduled where job_id = $1", job.job_id) == 1
        assert await lists.waits(conn, job.job_id) == []


async def test_a_map_without_items_goes_on_at_once(dsn: str) -> None:
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await bed.submit(documents, {"pages": 0})
        await bed.run()
        item = await bed.item(job)
        assert (item.status, item.result["join"], item.result["split"]["job_id"]) == ("DONE", "0/0 0 ", None)
        assert await one(bed, "select count(*) from forebay.job") == 1


@pytest.mark.parametrize("kind", ["list", "generator", "async"])
async def test_many_items_are_stored_in_batches(dsn: str, kind: str) -> None:
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await bed.submit(documents, {"pages": 450, "kind": kind})
        await bed.run()
        assert (await bed.item(job)).result["join"] == "450/450 0 Dtext 0, Dtext 1, Dtext 2, Dtext 3"
        assert len(runs) == len(set(runs)) == 450


async def test_batches_are_bounded_by_their_size() -> None:
    long: Pipeline[str] = Pipeline("long", str)
    sizes = [
        (len(batch), sum(map(len, batch)))
        async for batch in maps._encoded(Map(("x" * 100_000 for _ in range(200)), long))
    ]
    assert sum(rows for rows, _ in sizes) == 200
    assert max(size for _, size in sizes) <= 3 << 20


async def test_failed_children_are_seen_by_the_next_step(dsn: str) -> None:
    broken.update((0, 2))
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await bed.submit(documents, {"pages": 3})
        await bed.run()
        item = await bed.item(job)
        assert (item.status, item.result["join"]) == ("DONE", "1/3 2 E, Dtext 1, E")


async def test_too_many_failed_children_fail_the_step_and_run_again_with_it(dsn: str) -> None:
    broken.update((1, 2))
    async with testbed(dsn, [documents, pages], migrated=True) as bed, bed.pool.acquire() as conn:
        job = await bed.submit(documents, {"pages": 4, "max_failed": 1})
        await bed.run()
        item = await bed.item(job)
        child = await one(bed, "select max(id) from forebay.job")
        assert item.status == "ERROR"
        assert item.error is not None
        assert item.error["reason"] == f"2 of 4 items of pages failed (job {child}), more than max_failed=1"
        assert item.error["class"] == "permanent"
        assert await Client(conn).reprocess(job.job_id) == 1
        await bed.run()  # they fail again, and so does the step
        assert (await bed.item(job)).status == "ERROR"
        assert len(runs) == 6
        broken.clear()
        await Client(conn).reprocess(job.job_id)
        await bed.run()
        item = await bed.item(job)
        assert (item.status, item.result["join"]) == ("DONE", "4/4 0 Dtext 0, Dtext 1, Dtext 2, Dtext 3")
        assert len(runs) == 8  # those that were done did not run again
        assert await one(bed, "select count(*) from forebay.job") == 2
        broken.add(3)
        await Client(conn).reprocess(job.job_id, statuses=["DONE"])  # from the beginning: it maps anew
        await bed.run()
        assert (await bed.item(job)).result["join"].startswith("3/4 1")
        assert await one(bed, "select count(*) from forebay.job") == 3
        counted = await lists.children(conn, job.job_id)
        assert counted is not None
        assert (counted.total, counted.done, counted.failed, len(counted.job_ids)) == (4, 3, 1, 1)


async def test_a_restart_maps_anew(dsn: str) -> None:
    broken.update((1, 2))
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await bed.submit(documents, {"pages": 4, "max_failed": 0})
        await bed.run()
        broken.clear()
        await bed.pool.execute("select forebay.reprocess($1, restart => true)", job.job_id)
        await bed.run()
        assert (await bed.item(job)).status == "DONE"
        assert len(runs) == 8


async def _expire(bed: Testbed) -> None:
    await bed.pool.execute("update forebay.lease set expires_at = '-infinity'")


async def test_a_worker_lost_while_it_stores_children_neither_loses_nor_doubles_them(dsn: str) -> None:
    gates.update({"stored": asyncio.Event(), "go on": asyncio.Event()})
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await bed.submit(documents, {"pages": 450, "kind": "async"})
        running = asyncio.create_task(bed.run())
        await gates["stored"].wait()
        assert (
            await one(bed, "select (total, sealed)::text from forebay.job where parent_id = $1", job.job_id)
            == "(272,f)"
        )
        assert await one(bed, "select count(*) from forebay.ready") == 0  # no child has started
        await _expire(bed)
        await bed.pool.execute("select forebay.expire()")
        assert await one(bed, "select forebay.sweep_children()") == 273  # the items and their job
        gates["go on"].set()  # the lost worker goes on, and the retry begins
        await running
        await bed.finish()
        assert (await bed.item(job)).result["join"].startswith("450/450 0 ")
        assert len(runs) == len(set(runs)) == 450
        assert len({job_id for job_id, _ in runs}) == 1
        assert await one(bed, "select count(*) from forebay.job where parent_id = $1", job.job_id) == 1
        assert await one(bed, "select count(*) from forebay.item") == 451


async def test_children_that_were_stored_by_a_lost_worker_are_deleted_later(dsn: str) -> None:
    gates.update({"stored": asyncio.Event(), "go on": asyncio.Event()})
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await bed.submit(documents, {"pages": 330, "kind": "async"})
        running = asyncio.create_task(bed.run())
        await gates["stored"].wait()
        await _expire(bed)
        await bed.pool.execute("select forebay.expire()")
        gates["go on"].set()
        await running
        await bed.finish()
        assert (await bed.item(job)).result["join"].startswith("330/330 0 ")
        assert await one(bed, "select count(*) from forebay.job where parent_id = $1 and sealed", job.job_id) == 1
        await bed.worker.sweep()
        assert await one(bed, "select count(*) from forebay.item") == 331
        assert len(runs) == 330


async def test_an_invalid_item_fails_the_step_and_leaves_no_children(dsn: str) -> None:
    wild: Pipeline[Any] = Pipeline("wild", dict)

    @wild.step(retry=Retry(attempts=1))
    async def scatter(ctx: Context, value: Any) -> Map[int]:
        wrong: list[Any] = [*range(500), "x"]
        return Map(wrong, pages)

    async with testbed(dsn, [wild, pages], migrated=True) as bed:
        job = await bed.submit(wild, {})
        await bed.run()
        item = await bed.item(job)
        assert item.error is not None
        assert item.error["reason"].startswith("an item of the Map is invalid: inputs[500]: ")
        await bed.worker.sweep()
        assert await one(bed, "select count(*) from forebay.job") == 1
        assert runs == []


async def _mapped(bed: Testbed, count: int = 3, **options: Any) -> int:
    """A job whose item waits for its children, which nobody has run yet."""
    job = await bed.submit(documents, {"pages": count, **options})
    await bed.pool.execute("select forebay.pause_queue('pages.read')")
    await bed.run()
    assert await states(bed) == ["QUEUED"]
    return job.job_id


async def _let_run(bed: Testbed) -> None:
    await bed.pool.execute("select forebay.resume_queue('pages.read')")
    await bed.run()


async def test_pause_and_resume_of_a_job_reach_its_children(dsn: str) -> None:
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await _mapped(bed)
        assert await one(bed, "select forebay.pause($1)", job)
        assert await states(bed) == ["PAUSED"]
        await _let_run(bed)
        assert runs == []
        assert await one(bed, "select forebay.resume($1)", job)
        await bed.run()
        assert (await bed.item(job)).status == "DONE"


async def test_children_of_a_paused_job_start_paused(dsn: str) -> None:
    gates.update({"stored": asyncio.Event(), "go on": asyncio.Event()})
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await bed.submit(documents, {"pages": 330, "kind": "async"})
        running = asyncio.create_task(bed.run())
        await gates["stored"].wait()
        await bed.pool.execute("select forebay.pause($1)", job.job_id)
        gates["go on"].set()
        await running
        assert (await states(bed), runs) == (["PAUSED"], [])
        await bed.pool.execute("select forebay.resume($1)", job.job_id)
        await bed.run()
        assert (await bed.item(job)).result["join"].startswith("330/330")


async def test_a_cancelled_job_ends_its_children(dsn: str) -> None:
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await _mapped(bed)
        await bed.pool.execute("select forebay.cancel($1)", job)
        assert await states(bed) == ["CANCELLED"]
        await _let_run(bed)
        assert (runs, (await bed.job(job)).state, (await bed.item(job)).status) == ([], "CANCELLED", "SKIPPED")
        assert await one(bed, "select count(*) from forebay.ready") == 0
        await bed.pool.execute("select forebay.reprocess($1, '{SKIPPED}')", job)  # it maps anew
        await bed.run()
        assert (await bed.item(job)).status == "DONE"
        assert await states(bed) == ["CANCELLED", "DONE"]


async def test_the_job_of_children_that_is_cancelled_alone_lets_the_step_go_on(dsn: str) -> None:
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await _mapped(bed)
        await bed.pool.execute("select forebay.cancel(max(id)) from forebay.job")
        await _let_run(bed)
        assert (await bed.item(job)).result["join"] == "0/3 0 S, S, S"


async def test_pause_resume_and_cancel_of_an_item_reach_its_children(dsn: str) -> None:
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await _mapped(bed)
        assert await one(bed, "select forebay.pause_item($1, 1)", job)
        assert await states(bed) == ["PAUSED"]
        await _let_run(bed)
        assert runs == []
        assert await one(bed, "select forebay.resume_item($1, 1)", job)
        assert await states(bed) == ["QUEUED"]
        assert await one(bed, "select forebay.cancel_item($1, 1)", job)
        assert await states(bed) == ["CANCELLED"]
        await bed.run()
        assert (runs, (await bed.item(job)).status) == ([], "SKIPPED")


async def test_children_that_end_while_their_item_is_paused_wake_it_when_it_is_resumed(dsn: str) -> None:
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await _mapped(bed)
        await bed.pool.execute("select forebay.pause_item($1, 1)", job)
        await bed.pool.execute("select forebay.resume(max(id)) from forebay.job")
        await _let_run(bed)
        assert (await states(bed), (await bed.item(job)).status) == (["DONE"], "PENDING")
        await bed.pool.execute("select forebay.resume_item($1, 1)", job)
        await bed.run()
        assert (await bed.item(job)).status == "DONE"


async def test_a_change_reaches_more_children_than_fit_into_one_statement(dsn: str) -> None:
    async with testbed(dsn, [documents, pages], migrated=True) as bed, bed.pool.acquire() as conn:
        job = await documents.submit_many(conn, [{"pages": 1} for _ in range(130)])
        await bed.pool.execute("select forebay.pause_queue('pages.read')")
        await bed.run()
        assert await states(bed) == ["QUEUED"] * 130
        await bed.pool.execute("select forebay.pause($1)", job.job_id)
        assert await states(bed) == ["PAUSED"] * 100 + ["QUEUED"] * 30
        await bed.pool.execute("select forebay.cancel($1)", job.job_id)
        assert await states(bed) == ["CANCELLED"] * 100 + ["QUEUED"] * 30
        await bed.worker.sweep()
        assert await states(bed) == ["CANCELLED"] * 130
        assert await one(bed, "select count(*) from forebay.child_change") == 0


async def test_a_run_that_is_locked_when_the_children_end_is_woken_later(dsn: str) -> None:
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await _mapped(bed)
        conn = await asyncpg.connect(dsn)
        async with conn.transaction():
            await conn.execute("select from forebay.scheduled for update")
            await _let_run(bed)
            assert await states(bed) == ["DONE"]
            assert (await bed.item(job)).status == "PENDING"
        await conn.close()
        await bed.run()
        assert (await bed.item(job)).status == "DONE"
        assert await one(bed, "select count(*) from forebay.kept_signal") == 0


async def test_a_task_that_is_woken_too_early_waits_again(dsn: str) -> None:
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await _mapped(bed)
        await bed.pool.execute("select forebay.wake_waiting(array(select w from forebay.waiting w), null, now())")
        await bed.run()
        assert (await bed.item(job)).status == "PENDING"
        assert await one(bed, "select signalled_at from forebay.waiting") is None
        await _let_run(bed)
        assert (await bed.item(job)).status == "DONE"


async def test_maps_in_maps_and_two_maps_of_one_item(dsn: str) -> None:
    books: Pipeline[Any] = Pipeline("books", dict)

    @books.step()
    async def chapters(ctx: Context, book: Any) -> Map[dict[str, Any]]:
        return Map([{"pages": 2}, {"pages": 0}, {"pages": 1}], documents)

    @books.step()
    def covers(ctx: Context, book: Any) -> Map[int]:
        return Map((n for n in (7, 8)), pages)

    @books.step(after=(chapters, covers))
    async def bind(ctx: Context, book: Any, parts: Mapped, extras: Mapped) -> list[str]:
        inner = [part.result["join"] async for part in ctx.children(parts)]
        return [*inner, *[extra.result["read"] async for extra in ctx.children(extras)]]

    async with testbed(dsn, [books, documents, pages], migrated=True) as bed, bed.pool.acquire() as conn:
        job = await bed.submit(books, {})
        await bed.run()
        assert (await bed.item(job)).result["bind"] == [
            "2/2 0 Dtext 0, Dtext 1", "0/0 0 ", "1/1 0 Dtext 0", "text 7", "text 8",
        ]  # fmt: skip
        counted = await lists.children(conn, job.job_id)
        assert counted is not None
        assert (counted.total, counted.done, len(counted.job_ids), counted.is_cut) == (5, 5, 2, False)
        await bed.pool.execute("select forebay.delete_finished(now() + interval '1 year', '1 hour', max_items => 3)")
        assert await one(bed, "select count(*) from forebay.item") == 7
        while await one(bed, "select forebay.delete_finished(now() + interval '1 year', '1 hour', max_items => 3)"):
            pass
        assert await one(bed, "select count(*) from forebay.job") == 0
        assert await one(bed, "select count(*) from forebay.item") == 0


async def test_children_are_not_deleted_before_their_job(dsn: str) -> None:
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await _mapped(bed)
        await bed.pool.execute("select forebay.pause($1)", job)
        await bed.pool.execute("select forebay.resume(max(id)) from forebay.job")
        await _let_run(bed)
        assert await states(bed) == ["DONE"]
        assert await one(bed, "select forebay.delete_finished(now() + interval '1 year', '1 hour')") == 0
        await bed.pool.execute("select forebay.resume($1)", job)
        await bed.run()
        assert await one(bed, "select forebay.delete_finished(now() + interval '1 year', '1 hour')") == 6
        await bed.submit(documents, {"pages": 1})
        await bed.run()
        await bed.pool.execute("delete from forebay.job where parent_id is null")  # by hand: their job is gone
        assert await one(bed, "select forebay.delete_finished(now() + interval '1 year', '1 hour')") == 2


async def test_a_job_with_open_children_is_not_deleted(dsn: str) -> None:
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await _mapped(bed)
        await bed.pool.execute("update forebay.job set finished_at = now() where id = $1", job)
        assert await one(bed, "select forebay.delete_finished(now() + interval '1 year', '1 hour')") == 0


async def test_a_step_that_ends_its_item_cancels_the_children_of_the_others(dsn: str) -> None:
    hasty: Pipeline[Any] = Pipeline("hasty", dict)

    @hasty.step()
    async def spread(ctx: Context, value: Any) -> Map[int]:
        return Map(range(3), pages)

    @hasty.step()
    async def check(ctx: Context, value: Any) -> Skip | Wait:
        return Wait("ok", key="1") if ctx.signal is None else Skip("not wanted", item=True)

    async with testbed(dsn, [hasty, pages], migrated=True) as bed:
        job = await bed.submit(hasty, {})
        await bed.pool.execute("select forebay.pause_queue('pages.read')")
        await bed.run()
        await Client(bed.pool).signal("ok", "1")
        await bed.run()
        assert ((await bed.item(job)).status, await states(bed)) == ("SKIPPED", ["CANCELLED"])


async def test_the_step_is_renamed_while_it_waits_for_children(dsn: str) -> None:
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await _mapped(bed)
    renamed: Pipeline[dict[str, Any]] = Pipeline("documents", dict)

    @renamed.step(renamed_from="split")
    async def cut(ctx: Context, document: dict[str, Any]) -> Map[int]:
        raise AssertionError("its children exist")

    @renamed.step(after=cut)
    async def join(ctx: Context, document: dict[str, Any], mapped: Mapped) -> int:
        return mapped.done

    async with testbed(dsn, [renamed, pages], migrated=True) as bed:
        bed.clock.advance(3600)
        await bed.pool.execute("update forebay.worker set seen_at = now() - interval '1 day', stopped_at = now() "
                               "where id <> $1", bed.worker.worker_id)  # fmt: skip
        await bed.worker.adopt_jobs()
        bed.clock.advance(3600)
        await bed.worker.adopt_jobs()
        await _let_run(bed)
        item = await bed.item(job)
        assert (item.status, item.result["join"]) == ("DONE", 3)


async def test_children_start_with_the_present_version_of_their_pipeline(dsn: str) -> None:
    gates.update({"stored": asyncio.Event(), "go on": asyncio.Event()})
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await bed.submit(documents, {"pages": 330, "kind": "async"})
        running = asyncio.create_task(bed.run())
        await gates["stored"].wait()
        other: Pipeline[int] = Pipeline("pages", int)
        for name in ("read", "check"):
            other.step(name=name)(read.fn)
        conn = await asyncpg.connect(dsn)
        version = (await registry.register(conn, other.definition(), None)).id
        gates["go on"].set()
        await running
        assert await one(bed, "select version_id from forebay.job where parent_id = $1", job.job_id) == version
        await conn.close()


async def test_a_pipeline_of_which_no_worker_has_started_is_registered(dsn: str) -> None:
    new: Pipeline[int] = Pipeline("new_pages", int)
    new.step(name="read")(read.fn)
    few: Pipeline[Any] = Pipeline("few", dict)

    @few.step()
    async def begin(ctx: Context, value: Any) -> Map[int]:
        return Map([1], new)

    async with testbed(dsn, [few], migrated=True) as bed:
        await bed.submit(few, {})
        await bed.run()
        assert await states(bed) == ["QUEUED"]


async def test_what_a_step_returns_as_a_map_is_checked(dsn: str) -> None:
    odd: Pipeline[str] = Pipeline("odd", str)

    @odd.step(retry=Retry(attempts=1))
    async def undeclared(ctx: Context, value: str) -> Any:
        return Map([1], pages)

    @odd.step(retry=Retry(attempts=1))
    async def negative(ctx: Context, value: str) -> Map[int]:
        return Map([1], pages, max_failed=-1)

    @odd.batch_step(size=2, retry=Retry(attempts=1))
    async def batched(ctx: Context, values: Sequence[str]) -> Sequence[Any]:
        return [Map([1], pages) for _ in values]

    async with testbed(dsn, [odd], migrated=True) as bed:
        await bed.submit(odd, "a")
        await bed.run()
        rows = await bed.pool.fetch("select reason from forebay.dead_letter")
        assert {row["reason"] for row in rows} == {
            "step undeclared returned Map: its return type must contain Map",
            "max_failed of a Map must be a number of items, or None",
            "step batched returned Map: batch steps and process steps cannot return Map",
        }


def test_steps_that_cannot_map_are_refused() -> None:
    odd: Pipeline[str] = Pipeline("odd", str)

    async def batched(ctx: Context, values: Sequence[str]) -> Sequence[Map[int] | Outcome]:
        return []

    with pytest.raises(DefinitionError, match="batch steps and process steps cannot return Map"):
        odd.batch_step(size=2)(batched)


async def test_the_names_of_signals_of_the_engine_are_reserved(dsn: str) -> None:
    odd: Pipeline[str] = Pipeline("odd", str)

    @odd.step(retry=Retry(attempts=1))
    async def wait(ctx: Context, value: str) -> Wait:
        return Wait("forebay.map", key="1")

    async with testbed(dsn, [odd], migrated=True) as bed:
        job = await bed.submit(odd, "a")
        await bed.run()
        error = (await bed.item(job)).error
        assert error is not None
        assert error["reason"] == 'the name of a Wait must not begin with "forebay.", which is reserved'
        with pytest.raises(InvalidField, match=r'must not begin with "forebay\.", which is reserved'):
            await Client(bed.pool).signal("forebay.map", "1")


async def test_nobody_adds_items_to_children_that_are_not_started(dsn: str) -> None:
    gates.update({"stored": asyncio.Event(), "go on": asyncio.Event()})
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        await bed.submit(documents, {"pages": 330, "kind": "async"})
        running = asyncio.create_task(bed.run())
        await gates["stored"].wait()
        child = await one(bed, "select max(id) from forebay.job")
        with pytest.raises(asyncpg.PostgresError, match=f"job {child} takes no more items"):
            await bed.pool.execute("select forebay.begin_batch($1, 0, '{}')", child)
        assert await one(bed, "select forebay.seal($1)", child) == "QUEUED"
        await bed.pool.execute("select forebay.cancel($1)", child)
        gates["go on"].set()
        await running
        await bed.finish(limit=timedelta(days=1))
        assert len(runs) == 330  # the step has mapped again
        reason = "the items of the Map were not stored: the worker has lost the task, or they were cancelled"
        assert await one(bed, "select count(*) from forebay.attempt where reason = $1", reason) == 1


async def test_children_that_are_cancelled_before_they_start_wake_the_step(dsn: str) -> None:
    gates.update({"stored": asyncio.Event(), "go on": asyncio.Event()})
    async with testbed(dsn, [documents, pages], migrated=True) as bed:
        job = await bed.submit(documents, {"pages": 301, "kind": "async"})
        running = asyncio.create_task(bed.run())
        await gates["stored"].wait()
        await bed.pool.execute(
            """create function cancel_children() returns trigger language plpgsql as $$ begin
            perform forebay.cancel(max(id)) from forebay.job where parent_id is not null; return new; end $$;
            create trigger t before insert on forebay.waiting execute function cancel_children()"""
        )
        gates["go on"].set()
        await running
        await bed.run()
        assert (await bed.item(job)).result["join"].startswith("0/301 0 S")


async def test_the_step_after_a_map_is_called_without_a_database() -> None:
    child = ItemRecord(2, 1, ItemStatus.DONE, 1, {"read": "text 1"}, None)
    assert await join(context(children=[child]), {}, Mapped(2, 1, 1)) == "1/1 0 Dtext 1"
    assert (await split(context(), {"pages": 2})).pipeline is pages
