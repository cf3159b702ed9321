"""The tasks of articles through the API, and what other parts of the service show of articles."""

# demands: S4-08, S4-09, S4-10, S4-11, S4-12, S4-13, S4-14, S4-15, S4-16, S4-17, S4-18, S4-19, S4-20, S4-22, S4-23
# demands: S4-24, S4-25, S4-45, S4-46, S4-47, S4-48, S4-49, S4-50, S4-51, S4-53, S4-107, S4-109, S4-110, S4-112
# demands: S4-113, S4-127, S4-128, S4-129, X-03

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from uuid import UUID

from forebay.pipelines.articles import owner_export, suggestions
from forebay.pipelines.articles.checks import check
from forebay.pipelines.articles.demo import submit_demo
from forebay.pipelines.articles.features import features
from forebay.pipelines.articles.priorities import rank_of
from forebay.pipelines.articles.settings import ArticlesSettings
from forebay.pipelines.articles.steps import articles, embed
from forebay.settings import Settings
from tests.api._service import Service, serving
from tests.pipelines.articles._bed import TinyModel, embedding, failing

if TYPE_CHECKING:
    import httpx

    from tests.conftest import NewDatabase


async def created(client: httpx.AsyncClient, title: str = "T", **given: Any) -> Any:
    answer = await client.post("/api/articles", json={"title": title, "content": "text", **given})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_tasks_are_counted_listed_repeated_and_cleared(service: Service) -> None:
    async with service.client("ann") as client, service.client("bob") as bob, service.client("root") as root:
        article = await created(client, "Task", embeddingPriority="low")
        (task,) = (await client.get("/api/articles/tasks", params={"article": article["id"]})).json()["tasks"]
        assert UUID(task["id"]).version == 8
        wanted = {"articleId": article["id"], "slug": "task", "operation": "create", "priority": "low", "attempts": 0}
        assert wanted.items() <= task.items()
        assert (task["status"], task["maxAttempts"], task["errorMessage"]) == ("pending", embed.retry.attempts, None)
        assert (await client.get(f"/api/articles/tasks/{task['id']}")).json() == task
        missing = await bob.get(f"/api/articles/tasks/{task['id']}")
        assert missing.status_code == 404
        assert f"there is no task {task['id']}" in missing.text
        assert (await bob.get("/api/articles/tasks")).json()["tasks"] == []
        none = {"pending": 0, "processing": 0, "completed": 0, "failed": 0}
        assert (await client.get("/api/articles/stats")).json() == none | {"pending": 1}
        assert (await bob.get("/api/articles/stats")).json() == none
        assert (await root.get("/api/articles/stats")).json()["pending"] >= 1
        model = TinyModel()
        async with embedding(service.dsn, model) as bed:
            with failing(model, lambda _: True):
                await bed.bed.finish()
            failed = (await client.get("/api/articles/tasks", params={"status": "failed"})).json()["tasks"]
            assert [one["errorMessage"] for one in failed] == ["the service does not answer"]
            assert (await client.post("/api/articles/tasks/retry")).json() == {"retried": 1}
            await bed.bed.finish()
        assert (await client.get("/api/articles/stats")).json() == none | {"completed": 1}
        events = [one["event"] for one in (await client.get(f"/api/articles/{article['id']}/log")).json()["entries"]]
        assert events[0] == "created"
        assert events.count("processing") == embed.retry.attempts + 1
        assert "completed" in events
        assert (await bob.get(f"/api/articles/{article['id']}/log")).status_code == 404
        again = await client.post(f"/api/articles/{article['id']}/embed")
        assert again.status_code == 201
        assert (await bob.post(f"/api/articles/{article['id']}/embed")).status_code == 404
        assert (await client.post("/api/articles/tasks/clear")).json() == {"cleared": 0}
        await service.admin.execute("update forebay.job set finished_at = finished_at - interval '1 day'")
        assert (await client.post("/api/articles/tasks/clear", json={"olderThanDays": 0})).json() == {"cleared": 1}
        await client.delete(f"/api/articles/{article['id']}")


async def test_lists_of_tasks_are_paged(service: Service) -> None:
    async with service.client("bob") as client:
        made = [(await created(client))["id"] for _ in range(3)]
        first = (await client.get("/api/articles/tasks", params={"pageSize": 2})).json()
        rest = (await client.get("/api/articles/tasks", params={"after": first["next"]})).json()
        assert [one["articleId"] for one in first["tasks"] + rest["tasks"]] == made[::-1]


async def test_all_that_need_it_are_queued_as_one_job(service: Service) -> None:
    async with service.client("ann") as client:
        nothing = (await client.post("/api/articles/reindex")).json()
        assert nothing == {"jobId": None, "created": False, "items": 0}
        made = [(await created(client, "Reindex"))["id"] for _ in range(3)]
        await service.admin.execute(
            "update forebay.article set embedding = 'stale' where id = any($1::bigint[])", [int(one) for one in made]
        )
        job = (await client.post("/api/articles/reindex")).json()
        assert (job["created"], job["items"]) == (True, 3)
        shown = (await client.get(f"/api/jobs/{job['jobId']}")).json()
        assert (shown["priority"], shown["counters"]["total"]) == (-10, 3)
        assert (await client.post(f"/api/jobs/{job['jobId']}/pause")).status_code in (200, 204)
        await created(client, "Another")
        single = (await client.get(f"/api/articles/{made[0]}")).json()
        assert (single["embedding"], single["jobId"]) == ("waiting", job["jobId"])


async def test_without_background_processing_the_response_waits(new_database: NewDatabase) -> None:
    with new_database() as dsn:
        own = ArticlesSettings(enabled=False)
        async with (
            serving(dsn, articles, packages=[own]) as service,
            embedding(dsn) as bed,
            service.client("ann") as client,
            asyncio.TaskGroup() as group,
        ):
            told = asyncio.Event()
            await service.admin.add_listener("forebay_articles", lambda *_: told.set())
            saving = group.create_task(created(client, "Sync"))
            await told.wait()
            assert not saving.done()
            await bed.bed.finish()
            assert (await saving)["embedding"] == "fresh"
            await service.admin.reset()
        own = ArticlesSettings(enabled=False, sync_wait_s=0)
        async with (
            serving(dsn, articles, packages=[own], tokens=service.tokens) as service,
            service.client("ann") as client,
        ):
            assert (await created(client, "Late"))["embedding"] == "waiting"


async def test_what_other_parts_show_of_articles(service: Service) -> None:
    async with service.client("ann") as client:
        article = await created(client, "100% Suggested_")
        owner = await service.admin.fetchval("select id from forebay.owner where name = 'ann'")
        found = await suggestions.suggest(service.admin, owner, "100% sug", 5)
        assert [(one.kind, one.id) for one in found] == [("article", article["id"])]
        assert await suggestions.suggest(service.admin, owner, "100_", 5) == []
        job = (await client.get(f"/api/jobs/{article['jobId']}")).json()
        assert (job["subject"]["kind"], job["subject"]["id"]) == ("article", article["id"])
        archive = (await client.get("/api/me/export")).content
        assert b"articles.jsonl" in archive
    async with service.client("root") as root:
        metrics = (await root.get("/metrics")).text
        assert 'forebay_article_tasks{status="pending"}' in metrics
        assert 'forebay_articles{embedding="waiting"}' in metrics


async def test_all_articles_are_exported(service: Service) -> None:
    @asynccontextmanager
    async def connect() -> AsyncIterator[Any]:
        yield service.admin

    async with service.client("bob") as client:
        await created(client, "Exported")
    owner = await service.admin.fetchval("select id from forebay.owner where name = 'bob'")
    (file,) = owner_export.owner_export(connect, owner).values()
    lines = [json.loads(line) for line in "".join([part async for part in file]).splitlines()]
    assert len(lines) == await service.admin.fetchval("select count(*) from forebay.article where owner_id = $1", owner)
    assert lines[0]["content"] == "text"


async def test_the_views_have_the_columns_of_the_tables_that_they_stand_for(service: Service) -> None:
    wanted = "id article_id slug operation priority status attempts max_attempts created_at scheduled_at processed_at"
    columns = "select attname from pg_attribute where attrelid = $1::regclass and attnum > 0 order by attnum"
    tasks = [row[0] for row in await service.admin.fetch(columns, "forebay.embedding_tasks")]
    assert tasks[:14] == [*wanted.split(), "completed_at", "error_message", "metadata"]
    ranks = {
        name: await service.admin.fetchval("select forebay.priority_rank($1)", name)
        for name in ("high", "normal", "low")
    }
    assert ranks == {name: rank_of(name) for name in ranks}
    worker = await service.admin.fetch("select * from forebay.embedding_worker_status")
    assert len(worker) == 1
    assert list(worker[0].keys()) == [
        "id",
        "is_running",
        "last_heartbeat",
        "tasks_processed",
        "tasks_succeeded",
        "tasks_failed",
        "started_at",
    ]
    assert worker[0]["id"] == 1


def test_the_settings_of_the_source_have_its_defaults() -> None:
    own = ArticlesSettings()
    assert (own.enabled, own.max_retries, own.retry_backoff_base) == (True, 3, 1000)
    assert (own.cleanup_interval, own.cleanup_retention_days) == (24, 30)
    articles.tune(Settings().including(ArticlesSettings(max_retries=5, retry_backoff_base=250, sequential=True)))
    assert (embed.retry.attempts, embed.retry.base, embed.concurrency) == (6, 0.25, (1, 1))
    assert [limit.concurrency for limit in embed.limits if limit.name == "articles in sequence"] == [1]
    articles.tune(Settings())
    assert (embed.retry.attempts, embed.retry.base) == (4, 1.0)
    assert "articles in sequence" not in [limit.name for limit in embed.limits]


async def test_doctor_and_features() -> None:
    settings = Settings()
    assert [one.text for one in await check(settings)] == ["embedded in the background, up to 32 together"]
    off = Settings().including(ArticlesSettings(enabled=False))
    assert [one.text for one in await check(off)] == ["embedded before each response"]
    assert features(off) == {"articles": True, "article_queue": False}


async def test_the_demo_is_submitted_once(new_database: NewDatabase) -> None:
    with new_database() as dsn:
        async with embedding(dsn) as bed:
            for _ in range(2):
                assert await submit_demo(bed.conn, bed.settings, "ann") == "3 articles to search by meaning"
            assert await bed.conn.fetchval("select count(*) from forebay.article") == 3
