"""Streams: long sources, submitted in batches, with interruptions."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import asyncpg
import pytest
from structlog.testing import capture_logs

from forebay.engine.submit import job_stream
from forebay.engine.submit.job_stream import SourceRows
from forebay.errors import ConflictError, DatabaseUnavailable, InvalidField, UnknownPipeline
from forebay.jobs import StreamProgress, submit_stream, summary
from forebay.testing import testbed
from forebay.types import JobState
from tests.engine._producing import Page, counts, inputs_of, ledgers, pages, papers, register, strangers


class Crash(Exception):
    """Raised by a source in the middle."""


@pytest.fixture(autouse=True)
def _stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """All batches are quick, however busy the machine is: their sizes depend on how long they take."""
    monkeypatch.setattr(job_stream, "time", SimpleNamespace(monotonic=lambda: 0.0))


@pytest.fixture
async def conn(dsn: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    conn = await asyncpg.connect(dsn)
    await register(conn)
    yield conn
    await conn.close()


def source(count: int, *, crash_at: int | None = None, start: int = 0) -> Iterator[Page]:
    for n in range(start, count):
        if n == crash_at:
            raise Crash
        yield Page(url=str(n))


async def urls(conn: asyncpg.Connection[Any], job_id: int) -> list[int]:
    return [int(row["url"]) for row in await inputs_of(conn, job_id)]


async def claimable(conn: asyncpg.Connection[Any]) -> list[int]:
    """The numbers of the items in the ready runs, in order."""
    rows = await conn.fetch("select generate_series(first_n, last_n) from forebay.ready order by 1")
    return [row[0] for row in rows]


async def test_a_whole_source(conn: asyncpg.Connection[Any], dsn: str) -> None:
    told: list[StreamProgress] = []
    submitted = await submit_stream(dsn, pages, source(1000), key="s", owner="ann", on_progress=told.append)
    assert (submitted.created, submitted.items) == (True, 1000)
    assert await urls(conn, submitted.job_id) == list(range(1000))
    assert await claimable(conn) == list(range(1, 1001))
    assert [progress.rows for progress in told[:3]] == [64, 192, 448], "the batches double"
    assert (told[-1].rows, told[-1].items, told[-1].duplicates) == (1000, 1000, 0)
    job = await conn.fetchrow("select * from forebay.job")
    assert job is not None
    assert (job["sealed"], job["total"], job["loaded"], job["state"]) == (True, 1000, 1000, "QUEUED")


async def test_an_async_source_and_an_async_listener(conn: asyncpg.Connection[Any], dsn: str) -> None:
    async def flow() -> AsyncIterator[Page]:
        for page in source(100):
            await asyncio.sleep(0)
            yield page

    told: list[int] = []

    async def listen(progress: StreamProgress) -> None:
        await asyncio.sleep(0)
        told.append(progress.items)

    async with asyncpg.create_pool(dsn, min_size=1, max_size=2) as pool:
        submitted = await submit_stream(pool, pages, flow(), key="s", on_progress=listen)
    assert await urls(conn, submitted.job_id) == list(range(100))
    assert told == [64, 100]


async def test_a_source_without_rows(conn: asyncpg.Connection[Any], dsn: str) -> None:
    for pipeline in (pages, ledgers):
        submitted = await submit_stream(dsn, pipeline, [], key="s")
        assert submitted.items == 0
        assert (await summary(conn, submitted.job_id)).state is JobState.DONE


async def test_goes_on_after_a_crash(conn: asyncpg.Connection[Any], dsn: str) -> None:
    with pytest.raises(Crash):
        await submit_stream(dsn, pages, source(1000, crash_at=300), key="s")
    loaded = await conn.fetchval("select loaded from forebay.job where not sealed")
    assert 64 <= loaded <= 300
    assert await claimable(conn) == list(range(1, loaded + 1)), "workers need not wait for the rest"
    submitted = await submit_stream(dsn, pages, source(1000), key="s")
    assert (submitted.created, submitted.items) == (False, 1000)
    assert await urls(conn, submitted.job_id) == list(range(1000))
    assert await claimable(conn) == list(range(1, 1001))


async def test_a_stream_that_nobody_continues_is_cancelled_when_its_items_have_ended(
    conn: asyncpg.Connection[Any], dsn: str
) -> None:
    for key in ("left", "paused"):
        with pytest.raises(Crash):
            await submit_stream(dsn, papers, source_of_papers(100), key=key)
    paused = await conn.fetchval("select id from forebay.job where key = 'paused'")
    states = "select state::text from forebay.job order by id"
    async with testbed(dsn, [papers], migrated=True) as bed:
        bed.clock.advance(40 * 86400)
        await bed.worker._sweeper.retain()
        assert [row["state"] for row in await conn.fetch(states)] == ["QUEUED"] * 2, "their items can still run"
        await bed.run()
        await conn.fetch("select forebay.pause($1)", paused)
        await bed.worker._sweeper.retain()
        assert [row["state"] for row in await conn.fetch(states)] == ["RUNNING", "PAUSED"], "they may be continued"
        bed.clock.advance(31 * 86400)
        with capture_logs() as logs:
            await bed.worker._sweeper.retain()
        assert [log["jobs"] for log in logs if log["event"] == "streams_cancelled"] == [1]
        assert [row["state"] for row in await conn.fetch(states)] == ["CANCELLED", "PAUSED"]
        assert await conn.fetchval("select actor from forebay.audit where action = 'cancel'") == "forebay"
        assert await conn.fetchval("select count(*) from forebay.job where finished_at is null") == 1


def source_of_papers(count: int) -> Iterator[dict[str, int]]:
    yield from ({"n": n} for n in range(count))
    raise Crash


async def test_a_complete_job_is_answered_without_reading_the_source(conn: asyncpg.Connection[Any], dsn: str) -> None:
    first = await submit_stream(dsn, pages, source(10), key="s")
    again = await submit_stream(dsn, pages, source(10, crash_at=0), key="s")
    assert (again.job_id, again.created, again.items) == (first.job_id, False, 10)


async def test_a_source_that_has_become_shorter(conn: asyncpg.Connection[Any], dsn: str) -> None:
    with pytest.raises(Crash):
        await submit_stream(dsn, pages, source(1000, crash_at=64), key="s")
    with pytest.raises(InvalidField, match=r"^source: ends after 50 rows, but 64 rows were loaded before$"):
        await submit_stream(dsn, pages, source(50), key="s")


CHILD = """
import asyncio, sys
from forebay.jobs import submit_stream
from forebay.settings import Settings
from tests.engine._producing import pages, Page

async def slowly():
    for n in range(100_000):
        if n % 64 == 0:
            await asyncio.sleep(0.01)
        yield Page(url=str(n))

async def main():
    def tell(progress):
        print(progress.rows, flush=True)
    prepared = Settings().prepared_statements
    await submit_stream(sys.argv[1], pages, slowly(), key="s", on_progress=tell, prepared_statements=prepared)

asyncio.run(main())
"""


async def test_goes_on_after_kill_9(conn: asyncpg.Connection[Any], dsn: str) -> None:
    told = 0
    for _ in range(2):
        child = await asyncio.create_subprocess_exec(sys.executable, "-c", CHILD, dsn, stdout=subprocess.PIPE)
        assert child.stdout is not None
        for _ in range(3):
            told = int(await child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        await child.communicate()
    submitted = await submit_stream(dsn, pages, source(8000), key="s")
    assert told <= submitted.items
    assert await urls(conn, submitted.job_id) == list(range(submitted.items))
    assert await claimable(conn) == list(range(1, submitted.items + 1))
    job = await conn.fetchrow("select total, loaded, sealed from forebay.job")
    assert job is not None
    assert tuple(job) == (submitted.items, submitted.items, True)


@pytest.mark.direct  # a pooler replaces its connections, and the batches are larger
async def test_lost_connections_cost_nothing(conn: asyncpg.Connection[Any], dsn: str) -> None:
    cuts = list(range(12))

    async def cut(progress: StreamProgress) -> None:
        if cuts:  # more of them only make smaller batches
            cuts.pop()
            await conn.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where application_name = 'forebay stream' and datname = current_database()"
            )

    submitted = await submit_stream(dsn, pages, source(1500), key="s", on_progress=cut)
    assert not cuts
    assert await urls(conn, submitted.job_id) == list(range(1500))
    assert await claimable(conn) == list(range(1, 1501))


async def test_a_batch_that_committed_unheard_is_not_sent_twice(
    conn: asyncpg.Connection[Any], dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from forebay.engine.submit import job_stream

    commit, failures = job_stream.JobStream._commit, [ConnectionResetError, asyncpg.DeadlockDetectedError]

    async def unheard(self: Any, rows: Any, began: float, **options: bool) -> int:
        done = await commit(self, rows, began, **options)
        if failures:
            raise failures.pop()
        return done

    monkeypatch.setattr(job_stream.JobStream, "_commit", unheard)
    submitted = await submit_stream(dsn, pages, source(500), key="s")
    assert await urls(conn, submitted.job_id) == list(range(500))
    assert not failures


async def test_a_database_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    from forebay.engine.submit import job_stream

    monkeypatch.setattr(job_stream, "_LONGEST_PAUSE", 0.01)
    with pytest.raises(DatabaseUnavailable):
        await submit_stream("postgresql://127.0.0.1:1/nowhere", pages, source(5), key="s")


async def test_of_two_that_stream_at_once_one_is_refused(conn: asyncpg.Connection[Any], dsn: str) -> None:
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def halting() -> AsyncIterator[Page]:
        for page in source(200):
            if page.url == "100":
                entered.set()
                await go_on.wait()
            yield page

    late = asyncio.create_task(submit_stream(dsn, pages, halting(), key="s"))
    await entered.wait()

    async def let_the_late_go_on(_: StreamProgress) -> None:
        go_on.set()
        await asyncio.wait([late])

    await submit_stream(dsn, pages, source(150), key="s", on_progress=let_the_late_go_on)
    words = r"key: another process streams to job \d+: it has read \d+ rows of its source, this one \d+"
    with pytest.raises(ConflictError, match=f"^{words}$"):
        await late
    job_id = await conn.fetchval("select id from forebay.job")
    stored = await urls(conn, job_id)
    assert stored == list(range(len(stored)))
    assert await claimable(conn) == list(range(1, len(stored) + 1))


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("begin_batch($1, 3, '{}')", ": it has read 64 rows of its source, this one 3"),
        ("append($1, 3, 1, 1, 0, '{65}', '{65}')", ", or it has ended"),
        ("seal($1, 3)", ": it has read 64 rows of its source, this one 3"),
    ],
)
async def test_in_sql_too_who_is_behind_is_refused(
    conn: asyncpg.Connection[Any], dsn: str, statement: str, words: str
) -> None:
    with pytest.raises(Crash):
        await submit_stream(dsn, pages, source(1000, crash_at=64), key="s")
    job_id = await conn.fetchval("select id from forebay.job")
    with pytest.raises(asyncpg.PostgresError, match=f"^key: another process streams to job {job_id}{words}$"):
        await conn.fetch(f"select forebay.{statement}", job_id)


async def test_a_cancelled_job_takes_no_more(conn: asyncpg.Connection[Any], dsn: str) -> None:
    async def cancel(progress: StreamProgress) -> None:
        await conn.execute("select forebay.cancel($1)", progress.job_id)

    with pytest.raises(ConflictError, match=r"^key: job \d+ takes no more items: it is CANCELLED$"):
        await submit_stream(dsn, pages, source(500), key="s", on_progress=cancel)
    assert (await counts(conn))["item"] == 64
    assert await conn.fetchval("select finished_at is not null from forebay.job")


# -- invalid rows and keys ----------------------------------------------------------------------------------------


def bad_rows(count: int) -> Iterator[Any]:
    for n in range(count):
        yield {"uri": n} if n % 10 == 3 else {"url": "x" * 2000} if n % 100 == 55 else Page(url=str(n))


async def test_a_bad_row_stops_the_stream(conn: asyncpg.Connection[Any], dsn: str) -> None:
    rows: list[Any] = [*source(99), {"uri": "?"}]
    with pytest.raises(InvalidField, match=r"^inputs\[99\]\.url: Field required$"):
        await submit_stream(dsn, pages, rows, key="s")
    assert await conn.fetchval("select loaded from forebay.job where not sealed") == 64
    submitted = await submit_stream(dsn, pages, source(100), key="s")
    assert await urls(conn, submitted.job_id) == list(range(100))


async def test_bad_rows_can_become_items_in_error(conn: asyncpg.Connection[Any], dsn: str) -> None:
    submitted = await submit_stream(dsn, pages, bad_rows(300), key="s", on_bad_row="error_item")
    bad = [n + 1 for n in range(300) if n % 10 == 3 or n % 100 == 55]
    assert submitted.items == 300
    assert await claimable(conn) == [n for n in range(1, 301) if n not in bad]
    rows = await conn.fetch("select n, input, error, verdict from forebay.item where status = 'ERROR' order by n")
    assert [row["n"] for row in rows] == bad
    assert json.loads(rows[0]["input"]) == {"uri": 3}
    assert json.loads(rows[0]["error"]) == {"class": "data", "reason": "inputs[3].url: Field required"}
    job = await summary(conn, submitted.job_id)
    assert (job.total, job.error, job.open) == (300, len(bad), 300 - len(bad))


@pytest.mark.parametrize("value", ["\ud800", "a\x00", b"\xff", object(), float("nan"), {"a": {1: {2}}}])
async def test_a_bad_row_of_any_kind_can_be_stored(conn: asyncpg.Connection[Any], dsn: str, value: Any) -> None:
    submitted = await submit_stream(dsn, pages, [value], key="s", on_bad_row="error_item")
    job = await summary(conn, submitted.job_id)
    assert (job.state, job.error, job.open) == (JobState.FAILED, 1, 0), "there is nothing to wait for"
    assert await claimable(conn) == []


async def test_equal_keys_are_left_out(conn: asyncpg.Connection[Any], dsn: str) -> None:
    told: list[StreamProgress] = []
    rows = [{"k": f"k{n % 150}", "n": n} for n in range(400)]
    submitted = await submit_stream(
        dsn, papers, rows, key="s", item_key=lambda row: str(row["k"]), on_progress=told.append
    )
    assert submitted.items == 150
    assert [row["n"] for row in await inputs_of(conn, submitted.job_id)] == list(range(150))
    assert (told[-1].rows, told[-1].items, told[-1].duplicates) == (400, 150, 250)
    assert await claimable(conn) == list(range(1, 151))


async def test_a_bad_item_key(conn: asyncpg.Connection[Any], dsn: str) -> None:
    rows = [{"k": "a"}, {"k": ""}]
    with pytest.raises(InvalidField, match=r"^keys\[1\]: must have 1 to 500 characters$"):
        await submit_stream(dsn, papers, rows, key="s", item_key=lambda row: row["k"])
    submitted = await submit_stream(
        dsn, papers, rows, key="t", item_key=lambda row: str(row["k"]), on_bad_row="error_item"
    )
    assert (await summary(conn, submitted.job_id)).error == 1


async def test_what_is_refused_before_anything_is_read(conn: asyncpg.Connection[Any], dsn: str) -> None:
    unread = source(5, crash_at=0)
    with pytest.raises(UnknownPipeline):
        await submit_stream(dsn, strangers, unread, key="s")
    with pytest.raises(InvalidField, match=r"^key: must have 1 to 500 characters$"):
        await submit_stream(dsn, pages, unread, key="")
    with pytest.raises(InvalidField, match=r"^on_bad_row: must be 'raise' or 'error_item'$"):
        await submit_stream(dsn, pages, unread, key="s", on_bad_row="ignore")  # type: ignore[arg-type]
    with pytest.raises(InvalidField, match=r"^priority: "):
        await submit_stream(dsn, pages, unread, key="s", priority=1000)
    assert await counts(conn) == {}


# -- sealing, with workers that are faster than the source --------------------------------------------------------


async def finished(dsn: str, pipeline: Any, *, settle_first: bool, rows: list[Any]) -> tuple[Any, Any]:
    """The state of the job and the result of its job item, if its items end before or after it is sealed."""
    async with testbed(dsn, [pipeline]) as bed:

        async def work(_: StreamProgress) -> None:
            if settle_first:
                await bed.finish()

        submitted = await submit_stream(dsn, pipeline, rows, key="s", on_progress=work, on_bad_row="error_item")
        await bed.finish()
        job = await bed.pool.fetchrow(
            "select state, total, done, error, finished_at is not null as over from forebay.job where id = $1",
            submitted.job_id,
        )
        own = await bed.pool.fetchrow(
            "select status, result from forebay.item where job_id = $1 and n = 0", submitted.job_id
        )
        return job and tuple(job), own and (own["status"], json.loads(own["result"]))


@pytest.mark.parametrize("settle_first", [True, False])
async def test_the_job_ends_when_it_is_sealed_and_its_items_have_ended(dsn: str, settle_first: bool) -> None:
    job, own = await finished(dsn, pages, settle_first=settle_first, rows=list(source(100)))
    assert job == ("DONE", 100, 100, 0, True)
    assert own is None


@pytest.mark.parametrize("settle_first", [True, False])
async def test_the_steps_after_all_run_once_all_items_have_ended(dsn: str, settle_first: bool) -> None:
    job, own = await finished(dsn, ledgers, settle_first=settle_first, rows=[*source(100), "?"])
    assert job == ("DONE", 101, 100, 1, True)
    assert own == ("DONE", {"close": 100})


async def test_a_job_of_bad_rows_only_runs_its_own_steps(dsn: str) -> None:
    job, own = await finished(dsn, ledgers, settle_first=False, rows=["?"])
    assert job == ("FAILED", 1, 0, 1, True)
    assert own == ("DONE", {"close": 0})


def test_rows_are_put_behind_others_without_copying_them() -> None:
    rows = SourceRows([b"0"])
    rows.add(SourceRows([b"1"], ["one"]))
    keys, data = rows.keys, rows.data
    rows.add(SourceRows([b"2"], faults={0: "wrong"}))
    rows.add(SourceRows([b"3"], ["three"]))
    assert (rows.data, rows.keys) == ([b"0", b"1", b"2", b"3"], [None, "one", None, "three"])
    assert rows.faults == {2: "wrong"}
    assert (rows.keys is keys, rows.data is data) == (True, True)
