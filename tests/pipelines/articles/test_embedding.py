"""The step `embed`: what it embeds, when, and what it leaves alone."""

# demands: S4-01, S4-02, S4-105, S4-26, S4-54, S4-55, S4-58, S4-59, S4-60, S4-78, S4-84, S4-92, S4-96, S4-98

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import asyncpg
import pytest
import pytest_asyncio

from forebay.errors import ConfigError, DataError, ResourceError, TransientError
from forebay.pipelines.articles import chores
from forebay.pipelines.articles import db as rows
from forebay.pipelines.articles.batches import ArticleBatches, Vectors
from tests.pipelines.articles._bed import Bed, TinyModel, embedding, failing

if TYPE_CHECKING:
    from forebay import Context
    from tests.conftest import NewDatabase


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared(new_database: NewDatabase) -> AsyncIterator[Bed]:
    with new_database() as dsn:
        async with embedding(dsn) as bed:
            yield bed


@pytest_asyncio.fixture(loop_scope="session")
async def bed(shared: Bed) -> AsyncIterator[Bed]:
    shared.model.calls.clear()
    yield shared
    shared.model.fail = None
    await shared.bed.finish()


async def test_an_article_is_embedded_after_it_was_saved(bed: Bed) -> None:
    article = await bed.create("Weirs", "A weir is a low dam.")
    assert await bed.state(article) == "waiting"
    await bed.bed.finish()
    shown = await bed.show(article)
    assert (shown["embedding"], shown["embedded_version"]) == ("fresh", 1)
    assert len(await bed.chunks(article)) == 1


async def test_only_chunks_that_have_changed_are_embedded(bed: Bed) -> None:
    parts = [f"# Part {n}\n\n" + " ".join(f"word{n}x{i}" for i in range(60)) for n in range(8)]
    article = await bed.create("Long", "\n\n".join(parts))
    await bed.bed.finish()
    first = await bed.chunks(article)
    assert len(first) >= 8
    bed.model.calls.clear()
    parts[5] += " changed"
    await bed.update(article, "\n\n".join(parts))
    await bed.bed.finish()
    second = await bed.chunks(article)
    (texts,) = bed.model.calls
    assert len(texts) == len(second.keys() - first.keys()) < 3
    assert {key: first[key] for key in first.keys() & second.keys()}.items() <= second.items()


async def test_articles_of_several_owners_share_a_call(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    """The articles whose tasks come while the model works on the first are the next batch."""
    made = [
        await bed.create(f"Of {owner}", f"text of {owner} {n}", owner=owner)
        for owner in ("ann", "bob")
        for n in range(8)
    ]
    came, embed = asyncio.Semaphore(0), ArticleBatches.embed

    def counted(batches: ArticleBatches, ctx: Context, article_id: int) -> Awaitable[Vectors | None]:
        came.release()
        return embed(batches, ctx, article_id)

    async def all_came(_texts: Sequence[str]) -> None:
        for _ in made:
            await came.acquire()

    monkeypatch.setattr(ArticleBatches, "embed", counted)
    bed.model.during = all_came
    await bed.bed.finish()
    assert [len(call) for call in bed.model.calls] == [1, 15]
    assert [await bed.state(article) for article in made] == ["fresh"] * 16


async def test_a_rejected_text_fails_alone(bed: Bed) -> None:
    def fail(texts: Sequence[str]) -> None:
        if any("poison" in text for text in texts):
            raise DataError("the service rejects the text")

    bed.model.fail = fail
    made = [await bed.create("T", f"text {n}" if n != 3 else "poison") for n in range(6)]
    await bed.bed.finish()
    assert [await bed.state(article) for article in made] == ["failed" if n == 3 else "fresh" for n in range(6)]
    assert (await bed.show(made[3]))["embedding_problem"] == "the service rejects the text"


async def test_a_failed_article_is_read_and_changed_and_tried_again(bed: Bed) -> None:
    def fail(_: Sequence[str]) -> None:
        raise TransientError("the service does not answer")

    bed.model.fail = fail
    article = await bed.create("Tried", "one two")
    await bed.bed.finish()
    assert await bed.state(article) == "failed"
    row = await rows.get(bed.conn, article)
    assert row is not None
    assert row["content"] == "one two"
    bed.model.fail = None
    assert await rows.retry_failed(bed.conn, await bed.owner(), "ann") >= 1
    assert await bed.state(article) == "waiting"
    job = (await bed.show(article))["job_id"]
    assert await bed.conn.fetchval("select priority from forebay.job where id = $1", job) == 10
    await bed.bed.finish()
    assert await bed.state(article) == "fresh"


async def test_a_deleted_article_has_no_vectors(bed: Bed) -> None:
    article, other = await bed.create("Gone", "a b c"), await bed.create("Stays", "d e f")
    await bed.bed.finish()
    job = await rows.delete(bed.conn, article, None)
    assert job is not None
    await bed.bed.finish()
    assert (await bed.bed.item(job)).status == "DONE"
    assert await bed.chunks(article) == {}
    assert len(await bed.chunks(other)) == 1


async def test_an_article_deleted_while_it_is_embedded_leaves_nothing(bed: Bed) -> None:
    article = await bed.create("Racing", "a b c")

    async def during(texts: Sequence[str]) -> None:
        await rows.delete(bed.conn, article, None)

    bed.model.during = during
    await bed.bed.finish()
    assert await bed.chunks(article) == {}
    assert not await bed.conn.fetchval("select count(*) from forebay.search_document where ref = $1", str(article))


async def test_an_older_result_never_replaces_a_newer_one(bed: Bed) -> None:
    """The text is changed while its older version is being embedded."""
    article = await bed.create("Changing", "old words")

    async def during(texts: Sequence[str]) -> None:
        await bed.update(article, "new words")

    bed.model.during = during
    await bed.bed.run()
    assert bed.model.calls == [["Changing\nold words"], ["Changing\nnew words"]]
    shown = await bed.show(article)
    assert (shown["embedding"], shown["embedded_version"]) == ("fresh", 2)
    (vector,) = (await bed.chunks(article)).values()
    assert abs(sum(a * b for a, b in zip(vector, bed.model.vector("Changing\nnew words"), strict=True)) - 1) < 0.01


async def test_rapid_edits_wait_for_each_other_but_not_for_ever(bed: Bed) -> None:
    article = await bed.create("Edited", "0")
    await bed.bed.finish()
    bed.model.calls.clear()
    delay, longest = timedelta(seconds=60), timedelta(seconds=100)
    for n in range(1, 4):
        await bed.update(article, str(n), delay=delay, max_wait=longest)
    job = (await bed.show(article))["job_id"]
    due = await bed.conn.fetchrow(
        "select s.run_at, j.created_at from forebay.scheduled s, forebay.job j where s.job_id = $1 and j.id = $1", job
    )
    assert due is not None
    assert due["run_at"] <= due["created_at"] + longest
    await bed.bed.run()
    assert bed.model.calls == []
    await bed.bed.finish()
    assert bed.model.calls == [["Edited\n3"]]


async def test_embedding_is_switched_off_and_on(bed: Bed) -> None:
    article = await bed.create("Switched", "a b c")
    await bed.bed.finish()
    await rows.update(bed.conn, article, None, rows.ArticleValues(None, None, skip_embedding=True), rows.Embedding())
    assert await bed.state(article) == "off"
    assert await bed.chunks(article) == {}
    await rows.update(bed.conn, article, None, rows.ArticleValues(None, None, skip_embedding=False), rows.Embedding())
    await bed.bed.finish()
    assert (await bed.state(article), len(await bed.chunks(article))) == ("fresh", 1)


async def test_a_reindex_finds_what_needs_it_and_is_paused_and_resumed(bed: Bed) -> None:
    stored = [await bed.create("Stored", f"t {n}", owner="carl") for n in range(4)]
    await bed.bed.finish()
    await bed.conn.execute(
        "delete from forebay.search_document where ref = any($1::text[])", [str(one) for one in stored[:2]]
    )
    await bed.conn.execute(
        "update forebay.article set embedding = 'stale', embedded_version = null where id = any($1::bigint[])",
        stored[:2],
    )
    owner = await bed.owner("carl")
    made = await rows.reindex(bed.conn, owner, -10, "carl")
    assert made is not None
    assert (made.created, made.items) == (True, 2)
    assert await rows.reindex(bed.conn, owner, -10, "carl") is None  # all of them have tasks
    await bed.conn.execute("select forebay.pause($1)", made.job_id)
    await bed.bed.run()
    assert (await bed.bed.job(made.job_id)).done == 0
    assert await bed.state(stored[0]) == "waiting"
    await bed.conn.execute("select forebay.resume($1)", made.job_id)
    await bed.bed.finish()
    assert (await bed.bed.job(made.job_id)).done == 2
    assert [await bed.state(one) for one in stored] == ["fresh"] * 4


async def test_what_has_no_vectors_is_queued_by_a_chore(bed: Bed) -> None:
    article = await bed.create("Left", "behind", owner="dora")
    job = (await bed.show(article))["job_id"]
    await bed.conn.execute("select forebay.cancel($1, 'dora')", job)
    await bed.bed.run()
    assert await bed.state(article) == "stale"
    ctx = bed.context()
    assert await chores.queue_unembedded(ctx) == 1
    assert await chores.queue_unembedded(ctx) == 0
    await bed.bed.finish()
    assert await bed.state(article) == "fresh"


async def test_completed_tasks_are_cleared(bed: Bed) -> None:
    article = await bed.create("Cleared", "soon", owner="emil")
    await bed.bed.finish()
    owner, later = await bed.owner("emil"), datetime.now(UTC) + timedelta(days=3660)
    assert (await bed.counts("emil"))["completed"] == 1
    assert await rows.clear_completed(bed.conn, owner, datetime.now(UTC) - timedelta(days=30)) == 0
    assert await rows.clear_completed(bed.conn, owner, later) == 1
    assert await bed.counts("emil") == {"pending": 0, "processing": 0, "completed": 0, "failed": 0}
    assert await bed.state(article) == "fresh"
    assert await chores.clear_all(bed.context(), later) > 0
    assert (
        await bed.conn.fetchval(
            "select count(*) from forebay.article_task t join forebay.job j on j.id = t.job_id where j.state = 'DONE'"
        )
        == 0
    )


async def test_listeners_are_told_of_each_change(bed: Bed) -> None:
    told: list[str] = []
    conn = await asyncpg.connect(bed.dsn)
    try:
        await conn.add_listener("forebay_articles", lambda *given: told.append(str(given[3])))
        article = await bed.create("Told", "a b")
        await bed.bed.finish()
        await conn.execute("select 1")
    finally:
        await conn.close()
    mine = [one for one in told if f'"id" : "{article}"' in one]
    assert ['"waiting"' in mine[0], '"fresh"' in mine[-1]] == [True, True]


async def test_a_wrong_configuration_parks_the_step_and_costs_no_attempt(new_database: NewDatabase) -> None:
    def fail(_: Sequence[str]) -> None:
        raise ConfigError("FOREBAY_EMBEDDING_KEY is missing")

    with new_database() as dsn:
        async with embedding(dsn, TinyModel(fail=fail)) as bed:
            made = [await bed.create("T", str(n)) for n in range(3)]
            await bed.bed.run()
            parked = await bed.conn.fetchval("select parked from forebay.queue where name = 'articles.embed'")
            assert "FOREBAY_EMBEDDING_KEY is missing" in parked
            assert [await bed.state(one) for one in made] == ["waiting"] * 3
            bed.model.fail = None
            bed.bed.clock.advance(3600)
            await bed.bed.finish()
            assert [await bed.state(one) for one in made] == ["fresh"] * 3
            assert await bed.conn.fetchval("select max(attempts) from forebay.embedding_tasks") == 1


async def test_a_machine_at_its_limit_costs_no_attempt(new_database: NewDatabase) -> None:
    left = [2]

    def fail(_: Sequence[str]) -> None:
        if left[0]:
            left[0] -= 1
            raise ResourceError("out of memory")

    with new_database() as dsn:
        async with embedding(dsn, TinyModel(fail=fail), own={"max_retries": 0}) as bed:
            article = await bed.create("T", "x")
            await bed.bed.finish()
            assert await bed.state(article) == "fresh"


async def test_retries_come_after_one_two_and_four_seconds(new_database: NewDatabase) -> None:
    with new_database() as dsn:
        async with embedding(dsn) as bed:
            with failing(bed.model, lambda _: True):
                await bed.create("T", "x")
                delays: list[float] = []
                await bed.bed.run()
                while (due := await bed.bed.next_due()) is not None:
                    delays.append(round((due - bed.bed.clock.now()).total_seconds()))
                    bed.bed.clock.advance(delays[-1] + 0.1)
                    await bed.bed.run()
            assert delays == [1, 2, 4]


async def test_without_a_model_articles_are_found_by_their_words(new_database: NewDatabase) -> None:
    with new_database() as dsn:
        async with embedding(dsn, embedding_model="") as bed:
            article = await bed.create("Words", "only")
            await bed.bed.finish()
            assert await bed.state(article) == "off"
            assert await bed.conn.fetchval("select count(*) from forebay.search_document") == 1
        async with embedding(dsn) as bed:
            assert await chores.queue_unembedded(bed.context()) == 1
            await bed.bed.finish()
            assert await bed.state(article) == "fresh"
