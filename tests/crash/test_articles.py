"""`kill -9` of a worker while it embeds articles, or removes what is left of one: the next one does it, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncpg

from forebay.engine.db import registry
from forebay.pipelines.articles import db as rows
from forebay.pipelines.articles.db import ArticleValues, Embedding
from forebay.pipelines.articles.steps import articles
from forebay.search.documents import Document, IndexJob, put_document
from tests.crash._rig import Watch, Workers
from tests.services.openai._stub import MODEL, Asked, serving_openai

if TYPE_CHECKING:
    from tests.crash._rig import WorkerProcess

KEY = "sk-hunter2"
KILLS = 3
_FRESH = "select count(*) = $1 from forebay.article a where a.embedding = 'fresh' and a.embedded_version = a.version"
_INDEX = """select d.ref::bigint as article, count(*) as chunks, array_agg(i.version = d.version) as current
            from forebay.search_document d
            join forebay.search_indexed i on i.document_id = d.id
            join forebay.search_chunk c on c.document_id = d.id and c.model_id = i.model_id
            group by d.ref order by 1"""
_OUTCOMES = "select array_agg(outcome::text order by token) as ended from forebay.attempt group by job_id, n"

_REMOVES = """select exists (select from pg_stat_activity where datname = current_database()
              and wait_event_type = 'Lock' and query like '%forebay.delete_document%')"""


async def test_each_article_is_embedded_once_however_often_a_worker_is_killed(workers: Workers, watch: Watch) -> None:
    """Each worker dies when it has sent the texts of a batch and waits for their vectors."""
    conn = await watch.conn()
    await registry.register(conn, articles.definition())
    owner, me = await watch.one("select forebay.owner_id('ann')"), await watch.one("select current_user")
    running: list[WorkerProcess] = []
    kills = list(range(KILLS))

    def kill_worker(asked: Asked) -> bool:
        if kills:
            kills.pop()
            running.pop().kill()
            running.append(start())
            return True
        return False

    async with serving_openai(KEY) as service:
        service.before_answer = kill_worker

        def start() -> WorkerProcess:
            return workers.start(
                pipelines=_STEPS,
                egress_allow_networks="127.0.0.0/8",
                egress_host_shared="false",
                embedding_url=service.url,
                embedding_model=MODEL,
                embedding_key=KEY,
                embedding_dimensions="2",
                articles_max_retries="10",
            )

        made: list[int] = []
        for n in range(8):
            new = ArticleValues(f"Article {n}", f"text {n}", wanted="a", excerpt="", words=2)
            made.append((await rows.create_in(conn, me, owner, None, new, Embedding()))["id"])
        running.append(start())
        await watch.until("all articles are embedded", _FRESH, len(made))
        assert service.wrong == []

    assert [tuple(row) for row in await watch.fetch(_INDEX)] == [(article, 1, [True]) for article in made]
    assert await watch.one("select count(*) from forebay.search_model") == 1
    ended = [row["ended"] for row in await watch.fetch(_OUTCOMES)]
    assert len(ended) == len(made)
    assert all(one[-1] == "DONE" and set(one[:-1]) <= {"EXPIRED"} for one in ended), ended
    assert any("EXPIRED" in one for one in ended)
    assert len([worker for worker in workers.all if not worker.lives]) == KILLS
    await workers.stop_all()


async def test_what_is_left_of_a_deleted_article_is_removed_by_the_next_worker(workers: Workers, watch: Watch) -> None:
    """The worker dies in the transaction that removes it, which waits for the row of the document."""
    conn = await watch.conn()
    await registry.register(conn, articles.definition())
    owner, me = await watch.one("select forebay.owner_id('ann')"), await watch.one("select current_user")
    new = ArticleValues("Article", "text", wanted="a", excerpt="", words=1)
    article = (await rows.create_in(conn, me, owner, None, new, Embedding()))["id"]
    await rows.delete(conn, article, None)
    left = await put_document(
        conn, owner, Document("article", str(article), "Article", "text"), IndexJob(submits=False)
    )
    other = await asyncpg.connect(watch.dsn)
    async with other.transaction():
        await other.execute("select from forebay.search_document where id = $1 for update", left.id)
        first = workers.start(pipelines=_STEPS, embedding_model="")
        await watch.until("it is being removed", _REMOVES)
        first.kill()
    await other.close()
    assert await watch.one("select count(*) from forebay.search_document") == 1
    workers.start(pipelines=_STEPS, embedding_model="")
    await watch.until("it is removed", "select count(*) = 0 from forebay.search_document")
    await watch.until("the task has ended", "select count(*) = 0 from forebay.job where finished_at is null")
    await workers.stop_all()


_STEPS = "forebay.pipelines.articles.steps"
