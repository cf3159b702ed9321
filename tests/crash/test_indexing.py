"""`kill -9` of a worker while it builds another model, switches to it, or writes vectors: nothing is lost or stale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncpg

from forebay.engine.db import registry
from forebay.pipelines.indexing.reindexing import reindex, start_reindex
from forebay.pipelines.indexing.steps import index
from forebay.search import db
from forebay.search.documents import Document, put_document
from tests.crash._rig import Watch, WorkerProcess, Workers
from tests.services.openai._stub import MODEL, Asked, Stub, serving_openai

if TYPE_CHECKING:
    from forebay.db.pool import Connection

KEY = "sk-hunter2"
KILLS = 3
NAME = f"{MODEL} of 127.0.0.1"
COUNT = 40  # documents: more than one range of a reindex
_INDEXED = """select d.ref, i.version = d.version as current, count(c.hash) as chunks
              from forebay.search_document d
              left join forebay.search_indexed i on i.document_id = d.id and i.model_id = $1
              left join forebay.search_chunk c on c.document_id = d.id and c.model_id = i.model_id
              group by d.id, i.version order by d.id"""
_CURRENT = """select count(*) = $2 from forebay.search_document d
              join forebay.search_indexed i on i.document_id = d.id and i.version = d.version and i.model_id = $1"""
_WRITES = """select exists (select from pg_stat_activity where datname = current_database()
             and wait_event_type = 'Lock' and query like '%write_chunks%')"""

_SWITCHES = """select exists (select from pg_stat_activity where datname = current_database()
               and wait_event_type = 'Lock' and query like '%activate_search_model%')"""
_LOCK = "select pg_advisory_xact_lock(hashtextextended('forebay.open_search_model', 4662))"


def start(workers: Workers, service: Stub, pipelines: str) -> WorkerProcess:
    return workers.start(
        pipelines=pipelines,
        egress_allow_networks="127.0.0.0/8",
        egress_host_shared="false",
        embedding_url=service.url,
        embedding_model=MODEL,
        embedding_key=KEY,
        embedding_dimensions="2",
    )


async def put(conn: Connection, owner: int, ref: str, text: str) -> int:
    async with conn.transaction():
        return (await put_document(conn, owner, Document("note", ref, "T", text))).id


async def test_a_model_is_built_to_the_end_however_often_a_worker_is_killed(workers: Workers, watch: Watch) -> None:
    """Each worker dies when it has sent texts and waits for their vectors; a document is edited meanwhile."""
    conn = await watch.conn()
    for pipeline in (index, reindex):
        await registry.register(conn, pipeline.definition())
    owner = await watch.one("select forebay.owner_id('ann')")
    former = (await db.open_model(conn, "former", 2))["id"]
    for n in range(COUNT):
        await put(conn, owner, str(n), f"text {n}")
    model = (await db.open_model(conn, NAME, 2))["id"]
    job = await start_reindex(conn, model)
    assert job is not None
    await put(conn, owner, "0", "text 0, edited")
    running: list[WorkerProcess] = []
    kills = list(range(KILLS))

    def kill_worker(asked: Asked) -> bool:
        if kills:
            kills.pop()
            running.pop().kill()
            running.append(start(workers, service, _PIPELINES))
            return True
        return False

    async with serving_openai(KEY) as service:
        service.before_answer = kill_worker
        assert await watch.one("select name from forebay.search_model where state = 'active'") == "former"
        running.append(start(workers, service, _PIPELINES))
        await watch.done([job])
        await watch.until("all are embedded", _CURRENT, model, COUNT)
        assert service.wrong == []
        await workers.stop_all()

    states = {row["id"]: row["state"] for row in await db.list_models(conn)}
    assert states == {former: "old", model: "active"}
    assert [tuple(row) for row in await watch.fetch(_INDEXED, model)] == [(str(n), True, 1) for n in range(COUNT)]
    assert len([worker for worker in workers.all if not worker.lives]) >= KILLS
    assert await watch.one("select bool_or(outcome = 'EXPIRED') from forebay.attempt")


async def test_the_former_model_is_searched_until_the_switch_has_committed(workers: Workers, watch: Watch) -> None:
    """The worker dies in the transaction that switches to the new model, which waits for a lock."""
    conn = await watch.conn()
    for pipeline in (index, reindex):
        await registry.register(conn, pipeline.definition())
    owner = await watch.one("select forebay.owner_id('ann')")
    former = (await db.open_model(conn, "former", 2))["id"]
    await put(conn, owner, "0", "text")
    model = (await db.open_model(conn, NAME, 2))["id"]
    job = await start_reindex(conn, model)
    assert job is not None
    other = await asyncpg.connect(watch.dsn)
    async with serving_openai(KEY) as service:
        async with other.transaction():
            await other.execute(_LOCK)
            first = start(workers, service, _PIPELINES)
            await watch.until("the model is being switched", _SWITCHES)
            first.kill()
        states = {row["id"]: row["state"] for row in await db.list_models(conn)}
        assert states == {former: "active", model: "building"}
        start(workers, service, _PIPELINES)
        await watch.done([job])
        await workers.stop_all()
    await other.close()
    states = {row["id"]: row["state"] for row in await db.list_models(conn)}
    assert states == {former: "old", model: "active"}


async def test_vectors_are_written_whole_or_not_at_all(workers: Workers, watch: Watch) -> None:
    """The worker dies in the transaction that writes vectors, which waits for the row of a document."""
    conn = await watch.conn()
    await registry.register(conn, index.definition())
    owner = await watch.one("select forebay.owner_id('ann')")
    ids = [await put(conn, owner, str(n), f"text {n}") for n in range(5)]
    other = await asyncpg.connect(watch.dsn)
    async with serving_openai(KEY) as service:
        async with other.transaction():
            await other.execute("select from forebay.search_document where id = $1 for update", ids[-1])
            first = start(workers, service, _INDEX)
            await watch.until("the vectors are being written", _WRITES)
            first.kill()
            assert await watch.one("select count(*) from forebay.search_indexed where document_id = $1", ids[-1]) == 0
            assert await watch.one("select count(*) from forebay.search_chunk where document_id = $1", ids[-1]) == 0
        await put(conn, owner, "0", "text 0, edited")
        start(workers, service, _INDEX)
        await watch.until("all are embedded", _CURRENT, 1, len(ids))
        await workers.stop_all()
    await other.close()
    assert [tuple(row) for row in await watch.fetch(_INDEXED, 1)] == [(str(n), True, 1) for n in range(len(ids))]


_INDEX = "forebay.pipelines.indexing.steps"
_PIPELINES = f"{_INDEX},forebay.pipelines.indexing.reindexing"
