"""Submitting: keys, coalescing, start times, and reading the job."""

# demands: S2-80, S2-81, S4-03, S4-27, S4-90, S5-02

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import asyncpg
import pytest
from pydantic import BaseModel, Field, PlainSerializer, computed_field

from forebay import Pipeline
from forebay.engine.submit.inputs import Encoder
from forebay.engine.submit.producer import submit, submit_many
from forebay.errors import InvalidField, NotFoundError
from forebay.jobs import items, summary, wait
from forebay.types import ItemStatus, JobState
from tests.engine._producing import Page, counts, inputs_of, pages, papers, register

NOW = datetime.now(UTC)


@pytest.fixture
async def conn(dsn: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    conn = await asyncpg.connect(dsn)
    await register(conn)
    yield conn
    await conn.close()


async def test_the_job_says_what_the_caller_said(conn: asyncpg.Connection[Any]) -> None:
    submitted = await submit(
        conn, pages, Page(url="u"), owner="ann", key="k", priority=-7, meta={"why": ["ü"], "none": None}
    )
    job = await conn.fetchrow(
        "select j.*, o.name from forebay.job j join forebay.owner o on o.id = j.owner_id where j.id = $1",
        submitted.job_id,
    )
    assert job is not None
    assert (job["name"], job["key"], job["priority"], job["total"]) == ("ann", "k", -7, 1)
    assert json.loads(job["meta"]) == {"why": ["ü"], "none": None}


async def test_a_key_belongs_to_a_pipeline_and_an_owner(conn: asyncpg.Connection[Any]) -> None:
    first = await submit(conn, pages, Page(url="1"), key="k")
    assert await submit(conn, pages, Page(url="2"), key="k") == first.__class__(first.job_id, created=False)
    others = [
        await submit(conn, pages, Page(url="3"), key="k", owner="ann"),
        await submit(conn, papers, {"url": "4"}, key="k"),
        await submit(conn, pages, Page(url="5")),
    ]
    assert all(other.created for other in others)
    assert await inputs_of(conn, first.job_id) == [Page(url="1").model_dump()]


async def test_coalescing_replaces_what_has_not_begun(conn: asyncpg.Connection[Any]) -> None:
    first = await submit(conn, pages, Page(url="old"), key="k", coalesce=True)
    second = await submit(conn, pages, Page(url="new"), key="k", coalesce=True)
    assert (second.job_id, second.created) == (first.job_id, False)
    assert await inputs_of(conn, first.job_id) == [Page(url="new").model_dump()]
    assert (await counts(conn))["ready"] == 1


async def test_coalescing_takes_over_priority_and_meta(conn: asyncpg.Connection[Any]) -> None:
    first = await submit(conn, pages, Page(url="old"), key="k", coalesce=True, meta={"by": "ann"})
    await submit(conn, pages, Page(url="new"), key="k", coalesce=True, priority=7, meta={"by": "bob"})
    assert await conn.fetchval("select meta ->> 'by' from forebay.job where id = $1", first.job_id) == "bob"
    lanes = "select l.priority from forebay.ready r join forebay.lane l on l.id = r.lane_id"
    assert [row[0] for row in await conn.fetch(lanes)] == [7]


@pytest.mark.parametrize("many", [1, 2, 1500])
@pytest.mark.parametrize(
    "when",
    [{"run_at": NOW + timedelta(hours=1)}, {"delay": 3600}, {"delay": timedelta(hours=1)}],
    ids=["run_at", "delay", "timedelta"],
)
async def test_work_for_later_is_scheduled(conn: asyncpg.Connection[Any], when: Any, many: int) -> None:
    if many == 1:
        await submit(conn, pages, Page(url="u"), **when)
    else:
        await submit_many(conn, pages, [Page(url="u")] * many, **when)
    run_at = await conn.fetchval("select min(run_at) from forebay.scheduled")
    now = NOW if "run_at" in when else datetime.now(UTC)
    assert abs((run_at - now) - timedelta(hours=1)) < timedelta(minutes=10)
    assert "ready" not in await counts(conn)


async def test_a_time_that_has_passed_is_now(conn: asyncpg.Connection[Any]) -> None:
    await submit(conn, pages, Page(url="u"), run_at=datetime(1, 1, 1, tzinfo=UTC))
    await submit_many(conn, pages, [Page(url="u")] * 1500, run_at=NOW - timedelta(days=1), delay=None)
    assert "scheduled" not in await counts(conn)


@pytest.mark.parametrize("count", [0, 1, 1000, 1001, 2600])
async def test_a_generator_of_any_length(conn: asyncpg.Connection[Any], count: int) -> None:
    def source() -> Iterator[Page]:
        for n in range(count):
            yield Page(url=str(n))

    submitted = await submit_many(conn, pages, source())
    assert submitted.items == count
    assert [row["url"] for row in await inputs_of(conn, submitted.job_id)] == [str(n) for n in range(count)]
    job = await summary(conn, submitted.job_id)
    assert (job.total, job.open, job.state) == (count, count, JobState.QUEUED if count else JobState.DONE)
    covered = await conn.fetchval("select coalesce(sum(last_n - first_n + 1), 0) from forebay.ready")
    assert covered == count


@pytest.mark.parametrize("count", [10, 3000])
async def test_the_first_of_equal_keys_stays(conn: asyncpg.Connection[Any], count: int) -> None:
    keys = [None if n % 5 == 4 else f"k{n % 3}" for n in range(count)]
    submitted = await submit_many(conn, pages, [Page(url=str(n)) for n in range(count)], keys=keys)
    urls = [int(row["url"]) for row in await inputs_of(conn, submitted.job_id)]
    assert urls == [n for n in range(count) if n < 3 or n % 5 == 4]
    assert submitted.items == len(urls)


async def test_a_large_job_has_a_lane_of_its_own(conn: asyncpg.Connection[Any]) -> None:
    small = await submit_many(conn, pages, [Page(url="u")] * 1000)
    large = await submit_many(conn, pages, (Page(url="u") for _ in range(1001)))
    lanes = await conn.fetch(
        "select j.id, l.job_id from forebay.job j join forebay.lane l on l.id = j.lane_id order by j.id"
    )
    assert [tuple(row) for row in lanes] == [(small.job_id, 0), (large.job_id, large.job_id)]


async def test_the_summary_and_the_items_of_a_job(conn: asyncpg.Connection[Any]) -> None:
    submitted = await submit_many(conn, pages, [Page(url=str(n)) for n in range(250)], owner="ann")
    await conn.execute(
        "update forebay.item set status = 'DONE', result = '{\"fetch\": 1}' where n = 2;"
        "update forebay.item set status = 'ERROR', verdict = 'ERROR', error = '{\"reason\": \"gone\"}' where n = 3;"
        "insert into forebay.lease (step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)"
        " select 1, 1, id, 1, 1, 1, now(), now(), '{[4,6)}' from forebay.job"
    )
    job = await summary(conn, submitted.job_id)
    assert (job.owner, job.pipeline, job.state, job.total) == ("ann", "pages", JobState.QUEUED, 250)
    found = [item async for item in items(conn, submitted.job_id)]
    assert [item.n for item in found] == list(range(1, 251))
    assert [item.input["url"] for item in found] == [str(n) for n in range(250)]
    assert (found[1].status, found[1].result) == (ItemStatus.DONE, {"fetch": 1})
    assert (found[2].status, found[2].error) == (ItemStatus.ERROR, {"reason": "gone"})
    assert [item.n for item in found if item.status is ItemStatus.PROCESSING] == [4, 5]


async def test_no_such_job(conn: asyncpg.Connection[Any]) -> None:
    for call in (summary(conn, 77), wait(conn, 77)):
        with pytest.raises(NotFoundError, match=r"^job_id: there is no job 77$"):
            await call
    with pytest.raises(NotFoundError, match=r"^job_id: there is no job 77$"):
        await anext(aiter(items(conn, 77)))
    empty = await submit_many(conn, pages, [])
    assert [item async for item in items(conn, empty.job_id)] == []


async def test_waiting_ends_with_the_job(conn: asyncpg.Connection[Any], dsn: str) -> None:
    job_id = (await submit(conn, pages, Page(url="u"))).job_id
    with pytest.raises(TimeoutError, match=rf"^job {job_id} is not over after 0\.05 s$"):
        await wait(conn, job_id, timeout=0.05)
    waiting = asyncio.create_task(wait(dsn, job_id, timeout=60))
    await asyncio.sleep(0)
    await conn.execute("update forebay.job set state = 'CANCELLED' where id = $1", job_id)
    assert not waiting.done(), "a job that is being cancelled is not over"
    await conn.execute("update forebay.job set finished_at = now() where id = $1", job_id)
    assert (await waiting).state is JobState.CANCELLED


# How inputs are stored.


class Aliased(BaseModel):
    web_url: str = Field(alias="webUrl")
    when: datetime

    @computed_field  # type: ignore[prop-decorator]
    @property
    def shout(self) -> str:
        return self.web_url.upper()


def test_an_input_is_stored_as_its_model_reads_it() -> None:
    pipeline = Pipeline("aliased", Aliased)
    value = Aliased(webUrl="u", when=NOW)
    data = Encoder(pipeline).encode(value)
    assert set(json.loads(data)) == {"webUrl", "when"}
    assert pipeline.input.validate_json(data) == value


def test_inputs_are_converted_by_their_type() -> None:
    pipeline = Pipeline("pages", Page)
    assert Encoder(pipeline).encode({"url": "u", "rank": "1.5"}) == b'{"url":"u","rank":1.5,"tags":[]}'  # type: ignore[arg-type]


def test_words_that_look_like_trouble_are_fine() -> None:
    value = {"note": "NaN and Infinity, \\u0000, null", "none": None, "n": 1e308}
    encoder = Encoder(Pipeline("plain", dict))
    assert json.loads(encoder.encode(value)) == value
    assert [json.loads(data) for data in encoder.encode_all([value, {}], 0)] == [value, {}]
    page = Page(url="null NaN \\u0000")
    assert json.loads(Encoder(pages).encode_all([page], 0)[0]) == page.model_dump()


def test_a_model_that_writes_nan_its_own_way_is_left_alone() -> None:
    class Odd(BaseModel):
        rank: Annotated[float, PlainSerializer(str, return_type=str)]

    assert Encoder(Pipeline("odd", Odd)).encode(Odd(rank=float("nan"))) == b'{"rank":"nan"}'


def test_many_inputs_are_encoded_as_each_would_be() -> None:
    cases: tuple[tuple[Any, list[Any]], ...] = (
        (Pipeline("a", dict), [{"a": 1}, {"b": None}, {1: 2}]),
        (Pipeline("b", dict[str, Any]), [{"a": 1}, {"b": "é"}]),
        (Pipeline[Any]("c", Any), [1, "x", None, [True]]),  # pyright: ignore[reportArgumentType]
        (pages, [Page(url="u"), Page(url="v", rank=2)]),
        (Pipeline("d", int), [1, 2]),
    )
    for pipeline, values in cases:
        encoder: Encoder[Any] = Encoder(pipeline)
        assert encoder.encode_all(values, 0) == [encoder.encode(value) for value in values]


def test_keys_of_a_dict_must_be_text_where_it_says_so() -> None:
    with pytest.raises(InvalidField, match=r"^inputs\[0\]\[1\]\.\[key\]: Input should be a valid string$"):
        Encoder(Pipeline("b", dict[str, Any])).encode_all([{1: 2}], 0)  # type: ignore[dict-item]
