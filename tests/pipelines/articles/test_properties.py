"""The twelve properties of the background embedding queue, each for any articles that Hypothesis thinks of.

They share a database; each example has an owner of its own.
"""

# demands: S4-61, S4-62, S4-63, S4-64, S4-65, S4-66, S4-67, S4-68, S4-69, S4-70, S4-71, S4-72
# demands: S4-74, S4-75, S4-76, S4-77, S4-89, S4-94, S4-95

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forebay.pipelines.articles import db as rows
from forebay.search import db as index
from forebay.search.finding import Filter, Vector, find
from forebay.search.question import parse
from tests.pipelines.articles._bed import Bed, TinyModel, embedding, failing, lose_worker

if TYPE_CHECKING:
    from tests.api._service import Service
    from tests.conftest import NewDatabase

pytestmark = [
    # A thread of the worker uses the module `random` while Hypothesis draws.
    pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning"),
]

_numbers = itertools.count()

_words = st.sampled_from(["river", "weir", "lock", "dam", "mill", "water", "Strom", "川", "don't", "a/b", "💧"])
_texts = st.lists(_words, max_size=12).map(" ".join)
_contents = st.lists(_texts, min_size=1, max_size=4).map("\n\n".join)

hundred = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)


def someone() -> str:
    return f"owner {next(_numbers)}"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared(new_database: NewDatabase) -> AsyncIterator[Bed]:
    with new_database() as dsn:
        async with embedding(dsn) as bed:
            yield bed


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def other(shared: Bed) -> AsyncIterator[asyncpg.Connection[Any]]:
    """A connection of somebody else, who sees what is committed."""
    conn = await asyncpg.connect(shared.dsn)
    yield conn
    await conn.close()


@pytest_asyncio.fixture(loop_scope="session")
async def one_by_one(new_database: NewDatabase) -> AsyncIterator[Bed]:
    """A worker in the mode in which tasks run one at a time. It ends with its test: how the steps run is set for all
    workers of a process."""
    with new_database() as dsn:
        async with embedding(dsn, TinyModel(), own={"sequential": True}) as bed:
            yield bed


async def only_task(bed: Bed, article: int) -> asyncpg.Record:
    found = await bed.conn.fetch("select * from forebay.embedding_tasks where article_id = $1", article)
    task: asyncpg.Record = found[0]
    assert len(found) == 1
    return task


async def searched(bed: Bed, owner: str, text: str) -> list[int]:
    """The articles of an owner that a search finds, the best first."""
    async with bed.conn.transaction():
        await bed.conn.execute("select set_config('forebay.owner_id', $1, true)", str(await bed.owner(owner)))
        model = (await index.list_models(bed.conn))[0]
        vector = Vector(model["id"], bed.model.vector(text).tolist())
        found = await find(bed.conn, parse(text), Filter(kinds=("article",)), vector)
        refs = await bed.conn.fetch(
            "select id, ref from forebay.search_document where id = any($1::bigint[])", [hit.id for hit in found.hits]
        )
    by_id = {row["id"]: int(row["ref"]) for row in refs}
    return [by_id[hit.id] for hit in found.hits]


async def _seen(conn: asyncpg.Connection[Any], article: int) -> tuple[int, int]:
    """The number of versions of an article, and of its tasks."""
    row = await conn.fetchrow(
        """select (select count(*) from forebay.article_version where article_id = $1) as versions,
                  (select count(*) from forebay.article_task t
                   join forebay.item i on i.job_id = t.job_id and i.n = t.item where t.article_id = $1) as tasks""",
        article,
    )
    assert row is not None
    return row["versions"], row["tasks"]


# Feature: background-embedding-queue, Property 1: Article persistence precedes task queuing
@hundred
@given(first=_contents, second=_contents, commits=st.booleans())
async def test_property_1_article_persistence_precedes_task_queuing(
    shared: Bed, other: asyncpg.Connection[Any], first: str, second: str, commits: bool
) -> None:
    transaction = shared.conn.transaction()
    await transaction.start()
    article = await shared.create("T", first, owner=someone())
    await shared.update(article, second)
    assert await _seen(other, article) == (0, 0)
    order = await shared.conn.fetchrow(
        """select (select min(created_at) from forebay.article_version where article_id = $1) as saved,
                  (select min(queued_at) from forebay.article_task where article_id = $1) as queued""",
        article,
    )
    assert order is not None
    assert order["saved"] < order["queued"]
    await (transaction.commit() if commits else transaction.rollback())
    assert await _seen(other, article) == ((1 + (first != second), 1) if commits else (0, 0))


# Feature: background-embedding-queue, Property 2: Immediate response without embedding wait
@hundred
@given(first=_contents, second=_contents, priority=st.sampled_from(["high", "normal", "low"]))
async def test_property_2_immediate_response_without_embedding_wait(
    service: Service, first: str, second: str, priority: str
) -> None:
    """Nothing embeds here: a response that waited for it would never come."""
    async with service.client("ann") as client:
        body = {"title": "T", "content": first, "embeddingPriority": priority}
        created = await client.post("/api/articles", json=body)
        changed = await client.put(f"/api/articles/{created.json()['id']}", json={"content": second})
        assert (created.status_code, changed.status_code) == (201, 200)
        assert (created.json()["embedding"], changed.json()["embedding"]) == ("waiting", "waiting")
        task = (await client.get("/api/articles/tasks", params={"article": created.json()["id"]})).json()["tasks"]
        assert [one["status"] for one in task] == ["pending"]
        assert (await client.delete(f"/api/articles/{created.json()['id']}")).status_code == 200


# Feature: background-embedding-queue, Property 3: Embedding failure isolation
@hundred
@given(contents=st.lists(_contents, min_size=1, max_size=2), after=_contents)
async def test_property_3_embedding_failure_isolation(shared: Bed, contents: list[str], after: str) -> None:
    with failing(shared.model, lambda _: True):
        made = [await shared.create("T", content, owner=someone()) for content in contents]
        await shared.bed.finish()
    for article, content in zip(made, contents, strict=True):
        row = await rows.get(shared.conn, article)
        assert row is not None
        assert (row["content"], row["embedding"]) == (content, "failed")
        assert await shared.update(article, after) == 1 + (content != after)
        assert await rows.delete(shared.conn, article, None) is not None


# Feature: background-embedding-queue, Property 4: Task persistence across restarts
@hundred
@given(contents=st.lists(_contents, min_size=1, max_size=3), claims=st.integers(0, 3))
async def test_property_4_task_persistence_across_restarts(shared: Bed, contents: list[str], claims: int) -> None:
    """A worker claims some of the tasks and is never seen again."""
    owner = someone()
    made = [await shared.create("T", content, owner=owner) for content in contents]
    lost = await lose_worker(shared, owner, claims)
    assert (await shared.counts(owner))["processing"] == lost <= claims
    shared.bed.clock.advance(3600)
    await shared.bed.run()
    assert [await shared.state(article) for article in made] == ["fresh"] * len(made)


# Feature: background-embedding-queue, Property 5: Sequential task processing
@settings(hundred, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(contents=st.lists(_contents, min_size=2, max_size=3))
async def test_property_5_sequential_task_processing(one_by_one: Bed, contents: list[str]) -> None:
    """In the mode in which tasks run one at a time."""
    bed, owners = one_by_one, [someone() for _ in contents]
    bed.model.calls.clear()
    made = [await bed.create("T", content, owner=owner) for content, owner in zip(contents, owners, strict=True)]
    await bed.bed.finish()
    assert [await bed.state(article) for article in made] == ["fresh"] * len(made)
    assert bed.model.most_at_once == 1
    assert len(bed.model.calls) == len(made)  # each article by itself


# Feature: background-embedding-queue, Property 6: Retry with exponential backoff
@hundred
@given(failures=st.integers(0, 5), content=_contents)
async def test_property_6_retry_with_exponential_backoff(shared: Bed, failures: int, content: str) -> None:
    left = [failures]

    def is_next(_: Sequence[str]) -> bool:
        left[0] -= 1
        return left[0] >= 0

    owner, delays = someone(), list[float]()
    with failing(shared.model, is_next):
        article = await shared.create("T", content, owner=owner)
        job = (await shared.show(article))["job_id"]
        await shared.bed.run()
        while (
            due := await shared.conn.fetchval("select run_at from forebay.scheduled where job_id = $1", job)
        ) is not None:
            delays.append(round((due - shared.bed.clock.now()).total_seconds(), 1))
            shared.bed.clock.advance(delays[-1] + 0.2)
            await shared.bed.run()
    assert len(delays) == min(failures, 3)
    # Longer while many tasks fail, as in these examples.
    assert all(delay >= least for delay, least in zip(delays, (1.0, 2.0, 4.0), strict=False))
    assert await shared.state(article) == ("fresh" if failures <= 3 else "failed")
    task = await only_task(shared, article)
    assert (task["attempts"], task["max_attempts"]) == (min(failures, 3) + 1, 4)
    assert (task["error_message"] is not None) == (failures > 3)


# Feature: background-embedding-queue, Property 7: Status tracking throughout lifecycle
@hundred
@given(content=_contents, fails=st.booleans())
async def test_property_7_status_tracking_throughout_lifecycle(
    shared: Bed, other: asyncpg.Connection[Any], content: str, fails: bool
) -> None:
    seen: list[str] = []
    article = await shared.create("T", content, owner=someone())

    async def look() -> None:
        seen.append(await other.fetchval("select status from forebay.embedding_tasks where article_id = $1", article))

    async def during(_: Sequence[str]) -> None:
        await look()

    await look()
    shared.model.during = during
    with failing(shared.model, lambda _: fails and len(seen) > 1):
        await shared.bed.finish()
    await look()
    assert seen == ["pending", "processing", "failed" if fails else "completed"]


# Feature: background-embedding-queue, Property 8: Bulk operation completeness
@hundred
@given(states=st.lists(st.sampled_from(["fresh", "stale", "failed", "waiting", "off", "cancelled"]), max_size=6))
async def test_property_8_bulk_operation_completeness(shared: Bed, states: list[str]) -> None:
    owner = someone()
    made: list[tuple[str, int]] = []
    for state in states:
        article = await shared.create("T", "x", owner=owner, skip=state == "off")
        made.append((state, article))
        if state in ("fresh", "stale", "failed"):
            await shared.conn.execute("select forebay.cancel(job_id, 'x') from forebay.article where id = $1", article)
            await shared.conn.execute(
                """update forebay.article set embedding = $2, embedded_version = case when $2 = 'fresh' then 1 end
                   where id = $1""",
                article,
                state,
            )
        elif state == "cancelled":
            await shared.conn.execute("select forebay.cancel(job_id, 'x') from forebay.article where id = $1", article)
    job = await rows.reindex(shared.conn, await shared.owner(owner), -10, owner)
    needed = [article for state, article in made if state in ("stale", "failed", "cancelled")]
    queued = await shared.conn.fetch(
        "select t.article_id from forebay.article_task t where t.job_id = $1 order by t.item",
        None if job is None else job.job_id,
    )
    assert [row["article_id"] for row in queued] == needed
    assert (0 if job is None else job.items) == len(needed)
    for _, article in made:
        await rows.delete(shared.conn, article, None)


# Feature: background-embedding-queue, Property 9: Search availability during processing
@hundred
@given(word=_words, before=_contents, after=_contents)
async def test_property_9_search_availability_during_processing(
    shared: Bed, word: str, before: str, after: str
) -> None:
    """The vectors of the last embedded text are found while a newer text waits, which is found by its words."""
    owner = someone()
    article = await shared.create(f"about {word}", before, owner=owner)
    await shared.bed.finish()
    await shared.update(article, f"unheardof {after}")
    waiting = await shared.create("waiting", f"unheardof {after}", owner=owner)
    assert await shared.state(waiting) == "waiting"
    near, by_words = (
        await searched(shared, owner, f"about {word}\n{before}"),
        await searched(shared, owner, "unheardof"),
    )
    assert near[0] == article
    assert set(by_words) >= {article, waiting}


# Feature: background-embedding-queue, Property 10: Search index consistency after completion
@hundred
@given(contents=st.lists(_contents, min_size=1, max_size=4))
async def test_property_10_search_index_consistency_after_completion(shared: Bed, contents: list[str]) -> None:
    owner = someone()
    article = await shared.create("T", contents[0], owner=owner)
    for content in contents[1:]:
        await shared.update(article, content)
    await shared.bed.finish()
    assert await shared.state(article) == "fresh"
    fresh = await shared.create("T", contents[-1], owner=owner)
    await shared.bed.finish()
    assert await shared.chunks(article) == await shared.chunks(fresh)
    assert set(await searched(shared, owner, f"T\n{contents[-1]}")) == {article, fresh}


# Feature: background-embedding-queue, Property 11: Comprehensive audit logging
@hundred
@given(failures=st.integers(0, 4), content=_contents)
async def test_property_11_comprehensive_audit_logging(shared: Bed, failures: int, content: str) -> None:
    left = [failures]

    def is_next(_: Sequence[str]) -> bool:
        left[0] -= 1
        return left[0] >= 0

    with failing(shared.model, is_next):
        article = await shared.create("T", content, owner=someone())
        await shared.bed.finish()
    log = await shared.conn.fetch(
        "select event, attempt, at, reason from forebay.embedding_log where article_id = $1 "
        "order by attempt nulls first, event = 'processing' desc",
        article,
    )
    attempts = min(failures, 3) + 1
    last = "failed" if failures > 3 else "completed"
    ends = ["retried"] * (attempts - 1) + [last]
    assert [row["event"] for row in log] == ["created", *(event for end in ends for event in ("processing", end))]
    assert all(row["at"] is not None for row in log)
    assert all(row["reason"] for row in log if row["event"] in ("retried", "failed"))


# Feature: background-embedding-queue, Property 12: Accurate queue statistics
@hundred
@given(
    actions=st.lists(st.sampled_from(["create", "update", "fail", "work", "claim", "retry"]), min_size=1, max_size=6)
)
async def test_property_12_accurate_queue_statistics(shared: Bed, actions: list[str]) -> None:
    owner = someone()
    article: int | None = None
    for turn, action in enumerate(actions):
        if action == "update" and article is not None:
            await shared.update(article, f"text {turn}")
        elif action in ("create", "update"):
            article = await shared.create("T", f"text {turn}", owner=owner)
        elif action == "retry":
            await rows.retry_failed(shared.conn, await shared.owner(owner), owner)
        elif action == "claim":
            await lose_worker(shared, owner, 1)
        else:
            shared.bed.clock.advance(3600)
            with failing(shared.model, lambda _, fails=action == "fail": fails):  # type: ignore[misc]
                await shared.bed.finish()
        counted = await shared.conn.fetch(
            "select status from forebay.embedding_tasks where owner_id = $1", await shared.owner(owner)
        )
        actual = Counter(row["status"] for row in counted)
        assert await shared.counts(owner) == {
            status: actual[status] for status in ("pending", "processing", "completed", "failed")
        }
    shared.bed.clock.advance(3600)
    await shared.bed.finish()
