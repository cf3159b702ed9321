"""Steps on the real engine: chains, branches, outcomes, retries, fan-in, batches, rows."""

# demands: S1-21, S1-22, S1-61, S1-96, S2-16, S2-41, S2-44, S2-89, S2-90, S2-91, S2-93, S2-95, S3-56, S3-63, S4-05
# demands: S4-37, S4-76, S4-85, S4-86, S4-87, S5-71, S5-93, X-01, X-04

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import asyncpg
import pytest
from pydantic import BaseModel

from forebay import Cancel, Context, Done, NotFound, Pipeline, Retry, Rows, Skip, Snooze, Statement
from forebay.errors import ConfigError, DataError, DefinitionError, PermanentError, ThrottledError, TransientError
from forebay.example import Text, texts
from forebay.settings import Settings
from forebay.testing import ManualClock, Testbed, testbed
from forebay.types import ItemStatus, JobState, JobSummary, Write


class Page(BaseModel):
    url: str


class Meta(BaseModel):
    title: str
    seen: datetime


async def attempts(bed: Testbed, job_id: int) -> list[tuple[str, str, int]]:
    rows = await bed.pool.fetch(
        "select s.name, a.outcome, a.attempt from forebay.attempt a join forebay.step s on s.id = a.step_id"
        " where a.job_id = $1 order by a.ended_at, a.token, a.n",
        job_id,
    )
    return [(row[0], row[1], row[2]) for row in rows]


async def test_a_chain_passes_typed_results_on(dsn: str) -> None:
    pages: Pipeline[Page] = Pipeline("pages", Page)
    got: list[object] = []

    @pages.step()
    async def fetch(ctx: Context, page: Page) -> Meta:
        return Meta(title=page.url.upper(), seen=datetime.fromisoformat("2026-01-02T03:04:05+00:00"))

    @pages.step(after=fetch)
    def shout(ctx: Context, page: Page, meta: Meta) -> str:
        got.append(meta)
        return meta.title + "!"

    @pages.step(after=(fetch, shout))
    async def store(ctx: Context, page: Page, meta: Meta, text: str) -> list[str]:
        return [meta.title, text, ctx.key]

    async with testbed(dsn, [pages], migrated=True) as bed:
        job = await bed.submit(pages, Page(url="a"), owner="ada")
        assert (await bed.item(job)).status == ItemStatus.PENDING
        await bed.run()
        item = await bed.item(job)
        assert item.status == ItemStatus.DONE
        assert item.result["shout"] == "A!"
        assert item.result["store"] == ["A", "A!", f"{job.job_id}-1-store"]
        assert got == [Meta(title="A", seen=datetime.fromisoformat("2026-01-02T03:04:05+00:00"))]
        summary = await bed.job(job)
        assert (summary.state, summary.done, summary.total, summary.owner) == (JobState.DONE, 1, 1, "ada")
        assert [a[:2] for a in await attempts(bed, job.job_id)] == [
            ("fetch", "DONE"),
            ("shout", "DONE"),
            ("store", "DONE"),
        ]


async def test_parallel_branches_join_once(dsn: str) -> None:
    both: Pipeline[Page] = Pipeline("both", Page)
    joined: list[int] = []

    @both.step()
    async def left(ctx: Context, page: Page) -> int:
        return 1

    @both.step()
    async def right(ctx: Context, page: Page) -> int:
        return 2

    @both.step(after=(left, right))
    async def join(ctx: Context, page: Page, a: int, b: int) -> int:
        joined.append(ctx.n)
        return a + b

    async with testbed(dsn, [both], migrated=True) as bed:
        job = await both.submit_many(bed.pool, [Page(url=str(n)) for n in range(300)])
        await bed.run()
        items = await bed.items(job)
        assert {item.result["join"] for item in items} == {3}
        assert sorted(joined) == list(range(1, 301))


async def test_an_optional_failure_is_none_for_the_steps_after_it(dsn: str) -> None:
    soft: Pipeline[Page] = Pipeline("soft", Page)

    @soft.step(optional=True, retry=Retry(attempts=2))
    async def caption(ctx: Context, page: Page) -> str:
        raise PermanentError("no model")

    @soft.step(after=caption)
    async def store(ctx: Context, page: Page, text: str | None) -> str:
        return repr(text)

    async with testbed(dsn, [soft], migrated=True) as bed:
        job = await bed.submit(soft, Page(url="a"))
        await bed.run()
        item = await bed.item(job)
        assert (item.status, item.result["store"]) == (ItemStatus.DONE, "None")
        assert item.error is None
        attempts = await bed.pool.fetch("select outcome, reason from forebay.attempt where reason is not null")
        assert [tuple(row) for row in attempts] == [("ERROR", "no model")]  # it remains visible there
        assert await bed.pool.fetchval("select count(*) from forebay.dead_letter") == 0


async def test_an_item_that_succeeds_at_last_has_no_error(dsn: str) -> None:
    flaky: Pipeline[Page] = Pipeline("flaky", Page)
    tries: list[str] = []

    @flaky.step(retry=Retry(attempts=3))
    async def fetch(ctx: Context, page: Page) -> str:
        tries.append(page.url)
        if len(tries) < 3:
            raise TransientError("timed out")
        return page.url

    @flaky.step(after=fetch)
    async def store(ctx: Context, page: Page, text: str) -> str:
        return text

    async with testbed(dsn, [flaky], migrated=True) as bed:
        job = await bed.submit(flaky, Page(url="a"))
        await bed.finish()
        item = await bed.item(job)
        assert (item.status, item.error) == (ItemStatus.DONE, None)


async def test_a_required_failure_keeps_the_other_branch(dsn: str) -> None:
    hard: Pipeline[Page] = Pipeline("hard", Page)

    @hard.step()
    async def broken(ctx: Context, page: Page) -> str:
        raise DataError("the page is empty")

    @hard.step()
    async def works(ctx: Context, page: Page) -> str:
        return "kept"

    @hard.step(after=broken)
    async def never(ctx: Context, page: Page, text: str) -> str:
        raise AssertionError

    async with testbed(dsn, [hard], migrated=True) as bed:
        job = await bed.submit(hard, Page(url="a"))
        await bed.run()
        item = await bed.item(job)
        assert (item.status, item.result) == (ItemStatus.ERROR, {"works": "kept"})
        assert item.error == {"step": "broken", "class": "data", "reason": "the page is empty", "attempt": 1}
        assert (await bed.job(job)).state == JobState.FAILED
        letter = await bed.pool.fetchrow("select outcome, class, reason, attempt from forebay.dead_letter")
        assert letter is not None
        assert tuple(letter) == ("ERROR", "data", "the page is empty", 1)


async def test_transient_errors_are_retried_with_growing_pauses(dsn: str) -> None:
    flaky: Pipeline[Page] = Pipeline("flaky", Page)
    times: list[datetime] = []
    bed: Testbed

    @flaky.step(retry=Retry(attempts=4, base=10, cap=25, jitter=False))
    async def fetch(ctx: Context, page: Page) -> int:
        times.append(bed.clock.now())
        if ctx.attempt < 4:
            raise ConnectionResetError("reset by peer")
        return ctx.attempt

    async with testbed(dsn, [flaky], migrated=True) as bed:
        job = await bed.submit(flaky, Page(url="a"))
        await bed.finish()
        assert (await bed.item(job)).result == {"fetch": 4}
        pauses = [round((b - a).total_seconds()) for a, b in pairwise(times)]
        assert pauses == [10, 20, 25]
        assert [a[1:] for a in await attempts(bed, job.job_id)] == [
            ("ERROR", 1),
            ("ERROR", 2),
            ("ERROR", 3),
            ("DONE", 4),
        ]


async def test_exhausted_attempts_are_a_dead_letter(dsn: str) -> None:
    doomed: Pipeline[Page] = Pipeline("doomed", Page)

    @doomed.step()
    async def fetch(ctx: Context, page: Page) -> int:
        raise TimeoutError

    async with testbed(dsn, [doomed], migrated=True) as bed:
        job = await bed.submit(doomed, Page(url="a"))
        await bed.finish()
        item = await bed.item(job)
        assert item.status == ItemStatus.ERROR
        assert item.error == {"step": "fetch", "class": "transient", "reason": "timed out", "attempt": 3}
        assert len(await attempts(bed, job.job_id)) == 3


async def test_throttling_spends_no_attempt(dsn: str) -> None:
    polite: Pipeline[Page] = Pipeline("polite", Page)
    calls: list[int] = []

    @polite.step(retry=Retry(attempts=1))
    async def fetch(ctx: Context, page: Page) -> int:
        calls.append(ctx.attempt)
        if len(calls) < 5:
            raise ThrottledError("429", retry_after=60)
        return len(calls)

    async with testbed(dsn, [polite], migrated=True) as bed:
        job = await bed.submit(polite, Page(url="a"))
        began = bed.clock.now()
        await bed.finish()
        assert (await bed.item(job)).result == {"fetch": 5}
        assert calls == [1, 1, 1, 1, 1]
        assert round((bed.clock.now() - began).total_seconds()) == 240


async def test_throttling_has_an_end(dsn: str) -> None:
    busy: Pipeline[Page] = Pipeline("busy", Page)

    @busy.step(retry=Retry(attempts=1))
    async def fetch(ctx: Context, page: Page) -> int:
        raise ThrottledError("429 Too Many Requests", retry_after=5000)

    @busy.step(retry=Retry(attempts=1, throttled_for=1800), optional=True)
    async def peek(ctx: Context, page: Page) -> int:
        raise ThrottledError("429", retry_after=700)

    async with testbed(dsn, [busy], migrated=True) as bed:
        job = await bed.submit(busy, Page(url="a"))
        began = bed.clock.now()
        await bed.finish()
        item = await bed.item(job)
        assert item.status == ItemStatus.ERROR
        reason = "throttled for more than 24 h: 429 Too Many Requests"
        assert item.error == {"step": "fetch", "class": "throttled", "reason": reason, "attempt": 1}
        # The first wait that ends after a day is the last one.
        assert timedelta(hours=24) < bed.clock.now() - began < timedelta(hours=26)
        ended = await attempts(bed, job.job_id)
        fetches = [outcome for step, outcome, _ in ended if step == "fetch"]
        assert fetches == ["THROTTLED"] * 18 + ["ERROR"]
        peeks = [outcome for step, outcome, _ in ended if step == "peek"]
        assert peeks == ["THROTTLED"] * 3 + ["ERROR"]
        letters = await bed.pool.fetch("select reason from forebay.dead_letters")
        assert [row["reason"] for row in letters] == [reason]


async def test_a_pause_is_no_throttling(dsn: str) -> None:
    """The time of a pause does not count; the time before and after it does."""
    busy: Pipeline[Page] = Pipeline("busy", Page)

    @busy.step(retry=Retry(attempts=1, throttled_for=1200))
    async def fetch(ctx: Context, page: Page) -> int:
        raise ThrottledError("429", retry_after=300)

    async with testbed(dsn, [busy], migrated=True) as bed:
        job = await bed.submit(busy, Page(url="a"))
        await bed.run()
        for wait in (0, 300):
            bed.clock.advance(wait)
            await bed.run()
            await bed.pool.execute("select forebay.pause($1)", job.job_id)
            bed.clock.advance(2 * 86400)
            await bed.run()
            await bed.pool.execute("select forebay.resume($1)", job.job_id)
            await bed.run()
        assert (await bed.item(job)).status == ItemStatus.PENDING
        assert [outcome for _, outcome, _ in await attempts(bed, job.job_id)] == ["THROTTLED"] * 4
        bed.clock.advance(301)
        await bed.run()
        item = await bed.item(job)
        assert item.status == ItemStatus.ERROR
        assert item.error is not None
        assert item.error["reason"] == "throttled for more than 1200 s: 429"


async def test_only_throttling_without_a_break_counts(dsn: str) -> None:
    """Attempts with another outcome restart the count; our own limits are not throttling, lost workers are no break."""
    moody: Pipeline[Page] = Pipeline("moody", Page)
    calls: Counter[str] = Counter()

    @moody.step(retry=Retry(attempts=3, base=1, throttled_for=100))
    async def fetch(ctx: Context, page: Page) -> int | Snooze:
        calls[page.url] += 1
        last = calls[page.url] == 6
        match page.url:
            case "snoozed" if calls[page.url] % 2:
                return Snooze(1)
            case "failed" if calls[page.url] in (3, 5):
                raise TransientError("a moment")
            case "ours" if not last:
                raise ThrottledError("we have enough", retry_after=80, ours=True)
            case _ if not last:
                raise ThrottledError("429", retry_after=80)
        return calls[page.url]

    async with testbed(dsn, [moody], migrated=True) as bed:
        jobs = {url: await bed.submit(moody, Page(url=url)) for url in ("snoozed", "failed", "ours", "lost", "plain")}
        await bed.run()
        await bed.pool.execute(  # a worker that died in one attempt
            """insert into forebay.attempt
                   (job_id, n, step_id, attempt, outcome, owner_id, worker_id, token, started_at, ended_at)
               select job_id, n, step_id, attempt, 'EXPIRED', owner_id, worker_id, 0, started_at,
                      ended_at + interval '1 s'
               from forebay.attempt where job_id = $1""",
            jobs["lost"].job_id,
        )
        for _ in range(12):
            bed.clock.advance(81)
            await bed.run()
        found = {url: (await bed.item(job)).status for url, job in jobs.items()}
    assert found == {
        "snoozed": ItemStatus.DONE,
        "failed": ItemStatus.DONE,
        "ours": ItemStatus.DONE,
        "lost": ItemStatus.ERROR,
        "plain": ItemStatus.ERROR,
    }


async def test_outcomes(dsn: str) -> None:
    kinds: Pipeline[Page] = Pipeline("kinds", Page)
    snoozed: set[int] = set()

    @kinds.step(retry=Retry(not_found=2, base=1))
    async def first(ctx: Context, page: Page) -> int | NotFound | Skip | Snooze | Cancel:
        match page.url:
            case "missing" | "gone":
                return NotFound("no such page", final=page.url == "gone")
            case "skip":
                return Skip("an image")
            case "skip item":
                return Skip("a duplicate", item=True)
            case "cancel":
                return Cancel("no longer wanted")
            case "snooze" if ctx.n not in snoozed:
                snoozed.add(ctx.n)
                return Snooze(3600)
            case _:
                return ctx.attempt

    @kinds.step(after=first)
    async def second(ctx: Context, page: Page, value: int | None) -> str:
        return f"after {value}"

    async with testbed(dsn, [kinds], migrated=True) as bed:
        urls = ["missing", "gone", "skip", "skip item", "cancel", "snooze", "plain"]
        job = await kinds.submit_many(bed.pool, [Page(url=url) for url in urls])
        await bed.finish()
        items = {item.input["url"]: item for item in await bed.items(job)}
        assert {url: item.status.value for url, item in items.items()} == {
            "missing": "NOT_FOUND",
            "gone": "NOT_FOUND",
            "skip": "DONE",
            "skip item": "SKIPPED",
            "cancel": "SKIPPED",
            "snooze": "DONE",
            "plain": "DONE",
        }
        assert items["skip"].result == {"second": "after None"}
        assert items["snooze"].result == {"first": 1, "second": "after 1"}
        summary = await bed.job(job)
        assert (summary.done, summary.skipped, summary.not_found, summary.error) == (3, 2, 2, 0)
        assert summary.state == JobState.DONE
        found = [a for a in await attempts(bed, job.job_id) if a[1] == "NOT_FOUND"]
        assert sorted(a[2] for a in found) == [1, 1, 2]


async def test_after_all_runs_once_when_every_item_has_ended(dsn: str) -> None:
    vouchers: Pipeline[Page] = Pipeline("vouchers", Page)
    runs: list[int] = []

    @vouchers.step(retry=Retry(attempts=1))
    async def load(ctx: Context, page: Page) -> int:
        if page.url == "3":
            raise PermanentError("gone")
        return int(page.url)

    @vouchers.after_all()
    async def voucher(ctx: Context, job: JobSummary) -> dict[str, int]:
        runs.append(job.job_id)
        total = sum([item.result["load"] async for item in ctx.items() if item.status == ItemStatus.DONE])
        return {"sum": total, "failed": job.error}

    async with testbed(dsn, [vouchers], migrated=True) as bed:
        job = await vouchers.submit_many(bed.pool, [Page(url=str(n)) for n in range(10)])
        await bed.finish()
        assert runs == [job.job_id]
        own = await bed.pool.fetchval("select result from forebay.item where job_id = $1 and n = 0", job.job_id)
        assert own == '{"voucher": {"sum": 42, "failed": 1}}'
        summary = await bed.job(job)
        assert (summary.state, summary.total, summary.done, summary.error) == (JobState.DONE, 10, 9, 1)


async def test_batch_steps_answer_each_item(dsn: str) -> None:
    vectors: Pipeline[Page] = Pipeline("vectors", Page)
    sizes: list[int] = []

    @vectors.batch_step(size=32)
    async def embed(ctx: Context, pages: Sequence[Page]) -> Sequence[int | NotFound]:
        sizes.append(len(pages))
        return [NotFound() if page.url == "7" else int(page.url) * 2 for page in pages]

    async with testbed(dsn, [vectors], migrated=True) as bed:
        job = await vectors.submit_many(bed.pool, [Page(url=str(n)) for n in range(100)])
        await bed.finish()
        items = await bed.items(job)
        assert [item.result.get("embed") for item in items] == [None if n == 7 else n * 2 for n in range(100)]
        assert items[7].status == ItemStatus.NOT_FOUND
        assert max(sizes) <= 32
        assert sum(sizes) == 100


async def test_rows_commit_with_the_step_or_not_at_all(dsn: str) -> None:
    rows: Pipeline[Page] = Pipeline("rows", Page)
    conn = await asyncpg.connect(dsn)
    await conn.execute("create table public.page (url text primary key, size int not null, extra jsonb)")

    @rows.step()
    async def store(ctx: Context, page: Page) -> Done[str]:
        size = None if page.url == "bad" else len(page.url)
        return Done(
            "ok",
            writes=[
                Rows("public.page", [{"url": page.url, "size": size, "extra": {"n": ctx.n}}], on_conflict=["url"]),
                Statement("update public.page set size = size + $1 where url = $2", [100, page.url]),
            ],
        )

    async with testbed(dsn, [rows], migrated=True) as bed:
        job = await rows.submit_many(bed.pool, [Page(url=url) for url in ("a", "bb", "bad", "ccc", "a")])
        await bed.finish()
        stored = {r["url"]: r["size"] for r in await conn.fetch("select url, size from public.page")}
        assert stored == {"a": 101, "bb": 102, "ccc": 103}
        items = await bed.items(job)
        assert [item.status.value for item in items] == ["DONE", "DONE", "ERROR", "DONE", "DONE"]
        assert items[2].error is not None
        assert "null value in column" in items[2].error["reason"]
    await conn.close()


async def reason_of_failure(dsn: str, pipe: Pipeline[Page]) -> str:
    """The reason of a failed item of this pipeline, as its owner sees it."""
    async with testbed(dsn, [pipe], migrated=True) as bed:
        job = await bed.submit(pipe, Page(url="a"))
        await bed.finish()
        item = await bed.item(job)
        assert item.error is not None
        return str(item.error["reason"])


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (Rows("t", [{"a": 1}, {"b": 1}]), "the rows for t must all have the same columns, in the same order"),
        (Rows("t", [{}]), "the rows for t must all have the same columns, in the same order"),
        (
            Rows("t", [{"a": 1}], on_conflict="update"),
            'on_conflict for t is "error", "ignore" or the columns of a unique key',
        ),
        (Rows("public.", [{"a": 1}]), "'' is not a name of a table or column"),
        (Statement("select $1::int"), "the writes of the step were rejected: there is no parameter $1"),
        (
            Statement("select 1", [5]),
            "the writes of the step were rejected: the server expects 0 arguments for this query, 1 was passed",
        ),
    ],
)
async def test_writes_that_cannot_be_meant_fail_their_item_in_words(dsn: str, write: Write, reason: str) -> None:
    wrong: Pipeline[Page] = Pipeline("wrong", Page)

    @wrong.step()
    async def store(ctx: Context, page: Page) -> Done[None]:
        return Done(None, writes=[write])

    assert await reason_of_failure(dsn, wrong) == reason


async def test_a_wrong_configuration_parks_the_queue_until_it_is_mended(dsn: str) -> None:
    keyed: Pipeline[Page] = Pipeline("keyed", Page)
    key: list[str] = []

    @keyed.step(retry=Retry(attempts=1))
    async def call(ctx: Context, page: Page) -> int:
        if not key:
            raise ConfigError("the API key is missing")
        return ctx.attempt

    async with testbed(dsn, [keyed], migrated=True) as bed:
        job = await keyed.submit_many(bed.pool, [Page(url=str(n)) for n in range(20)])
        await bed.run()
        parked = await bed.pool.fetchval("select parked from forebay.queue where name = 'keyed.call'")
        assert parked == "the API key is missing"
        assert {item.status for item in await bed.items(job)} == {ItemStatus.PENDING}
        key.append("secret")
        bed.clock.advance(31)
        for _ in range(3):
            await bed.run()
        assert {item.status for item in await bed.items(job)} == {ItemStatus.DONE}
        assert {item.result["call"] for item in await bed.items(job)} == {1}
        assert await bed.pool.fetchval("select parked from forebay.queue where name = 'keyed.call'") is None


NUL = "contains a NUL character, which PostgreSQL cannot store"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("a\0b", NUL),
        ({"deep": ["x\0"]}, NUL),
        (object, "cannot be stored as JSON: Unable to serialize unknown type: <class 'type'>"),
    ],
)
async def test_a_result_that_cannot_be_stored_is_a_data_error(dsn: str, value: object, reason: str) -> None:
    odd: Pipeline[Page] = Pipeline("odd", Page)

    @odd.step()
    async def make(ctx: Context, page: Page) -> object:
        return value if page.url == "bad" else "good"

    async with testbed(dsn, [odd], migrated=True) as bed:
        job = await odd.submit_many(bed.pool, [Page(url="good"), Page(url="bad")])
        await bed.run()
        good, bad = await bed.items(job)
        assert good.status == ItemStatus.DONE
        assert bad.error is not None
        assert bad.error["reason"] == f"the result of step make {reason}"


async def test_only_steps_after_all_read_the_items(dsn: str) -> None:
    nosy: Pipeline[Page] = Pipeline("nosy", Page)

    @nosy.step(retry=Retry(attempts=1))
    async def count(ctx: Context, page: Page) -> int:
        return len([item async for item in ctx.items()])

    assert await reason_of_failure(dsn, nosy) == "RuntimeError: only after_all steps can read the items of their job"


async def test_a_batch_step_answers_for_each_item(dsn: str) -> None:
    short: Pipeline[Page] = Pipeline("short", Page)

    @short.batch_step(size=8, retry=Retry(attempts=1))
    async def embed(ctx: Context, pages: Sequence[Page]) -> Sequence[int]:
        return []

    assert await reason_of_failure(dsn, short) == (
        "the batch step returned 0 values for 1 items: it must return one for each"
    )


async def test_what_never_ends_is_not_waited_for(dsn: str) -> None:
    lazy: Pipeline[Page] = Pipeline("lazy", Page)

    @lazy.step()
    async def sleep(ctx: Context, page: Page) -> Snooze:
        return Snooze(7200)

    async with testbed(dsn, [lazy], migrated=True, clock=ManualClock(datetime(2030, 1, 1, tzinfo=UTC))) as bed:
        await bed.submit(lazy, Page(url="a"))
        with pytest.raises(TimeoutError, match=r"^something is still due at 2030-01-01 \d\d:00:00, after 5:00:00$"):
            await bed.finish(limit=timedelta(hours=5))


async def test_the_example_tells_what_is_wrong_with_a_text(dsn: str) -> None:
    async with testbed(dsn, [texts], migrated=True) as bed:
        job = await bed.submit(texts, Text(title="An empty page", body=""))
        await bed.finish()
        item = await bed.item(job)
        assert item.error is not None
        assert item.error["reason"] == "'An empty page' has no words in its body: write some and submit it again"


async def test_a_step_that_normalizes_keeps_its_value_apart(dsn: str) -> None:
    rows = Pipeline[dict[str, str]]("rows", dict[str, str])

    @rows.step(normalizes=True)
    async def clean(ctx: Context, row: dict[str, str]) -> dict[str, str]:
        return {name: value.strip() for name, value in row.items()}

    @rows.step(after=clean)
    async def measure(ctx: Context, row: dict[str, str], cleaned: dict[str, str]) -> int | NotFound:
        return NotFound("empty") if not cleaned["name"] else len(cleaned["name"])

    async with testbed(dsn, [rows], migrated=True) as bed:
        good, empty = [await bed.submit(rows, {"name": name}) for name in (" pen ", "  ")]
        long = await bed.submit(rows, {"name": " " * 20_000 + "ink"})  # too large to come with its claim
        await bed.finish()
        kept = await bed.pool.fetch("select normalized::text, result::text from forebay.item order by job_id")
        assert [tuple(row) for row in kept] == [
            ('{"name": "pen"}', '{"measure": 3}'),
            ('{"name": ""}', None),
            ('{"name": "ink"}', '{"measure": 3}'),
        ]
        assert (await bed.item(long)).result == {"measure": 3}
        # Items that are not restarted keep it; restarted items start from the beginning.
        await bed.pool.execute("select forebay.reprocess($1, '{NOT_FOUND}')", empty.job_id)
        assert await bed.pool.fetchval("select normalized::text from forebay.item where job_id = $1", empty.job_id)
        await bed.finish()
        await bed.pool.execute("select forebay.reprocess($1, '{NOT_FOUND}', restart => true)", empty.job_id)
        assert await bed.pool.fetchval("select normalized from forebay.item where job_id = $1", empty.job_id) is None
        await bed.finish()
        assert (await bed.job(empty)).not_found == 1
        assert (await bed.job(good)).done == 1


def test_only_one_step_normalizes() -> None:
    rows = Pipeline[dict[str, str]]("rows", dict[str, str])

    @rows.step(normalizes=True)
    async def clean(ctx: Context, row: dict[str, str]) -> int:
        return 1

    async def again(ctx: Context, row: dict[str, str]) -> int:
        return 1

    words = "only one step of a pipeline can have normalizes=True, and no after_all step can"
    with pytest.raises(DefinitionError, match=words):
        rows.step(normalizes=True)(again)


async def test_settings_tune_pipelines_before_a_worker_begins(dsn: str) -> None:
    tries: list[int] = []
    rows = Pipeline[dict[str, str]]("rows", dict[str, str])

    @rows.step()
    async def fail(ctx: Context, row: dict[str, str]) -> int:
        tries.append(ctx.attempt)
        raise TransientError("again")

    @rows.tuning
    def tune(settings: Settings) -> None:
        fail.retry = Retry(attempts=settings.claim_min)

    settings = Settings(claim_min=2)
    async with testbed(dsn, [rows], migrated=True, settings=settings) as bed:
        await bed.submit(rows, {})
        await bed.finish()
    assert tries == [1, 2]
