"""The paths of the second source: the same names, bodies and reports as there."""

# demands: S2-06, S2-09, S2-11, S2-14, S2-17, S2-18, S2-20, S2-29, S2-35, S2-36, S2-37, S2-38, S2-39, S2-42, S2-45
# demands: S2-46, S2-47, S2-48, S2-49, S2-50, S2-51, S2-52, S2-53, S2-54, S2-55, S2-56, S2-57, S2-58, S2-59, S2-60
# demands: S2-61, S2-62, S2-68, S2-69, S2-70, S2-71, S2-86, S2-94, S2-96, S2-100, S2-101, S2-102, S2-104, X-03

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from forebay import Context, Pipeline, Retry
from forebay.errors import PermanentError, TransientError
from forebay.pipelines.bookmarks.step_bookmark import Link
from forebay.types import Skip
from tests.api._service import Service, serving

URL = "https://example.org/a"

marks: Pipeline[Link] = Pipeline("bookmarks", Link)
"""The same steps without the web: what they do is tested elsewhere, here it is how they are reported on."""


def _unwanted(link: Link, step: str) -> bool:
    return link.only is not None and step not in link.only


@marks.step(retry=Retry(base=60, jitter=False))
async def screenshot(ctx: Context, link: Link) -> str | Skip:
    if link.is_image or _unwanted(link, "screenshot"):
        return Skip()
    if "blind" in link.url:
        raise PermanentError("Network timeout")
    if "shy" in link.url and ctx.attempt == 1:
        raise TransientError("Network timeout")
    return link.url


@marks.step()
async def metadata(ctx: Context, link: Link) -> str | Skip:
    if "mute" in link.url:
        raise PermanentError("it says nothing")
    return link.url


@marks.step(after=metadata)
async def images(ctx: Context, link: Link, url: str | None) -> str | Skip:
    return Skip() if _unwanted(link, "images") else link.url


@marks.step(after=metadata)
async def favicon(ctx: Context, link: Link, url: str | None) -> str | Skip:
    return link.favicon or Skip()


@pytest.fixture
async def service(dsn: str) -> Any:
    async with serving(dsn, marks) as running:
        yield running


async def add(service: Service, url: str, who: str = "ann", **more: Any) -> dict[str, Any]:
    async with service.client(who) as client:
        answer = await client.post("/api/v1/bookmarks/add/data", json={"url": url, **more})
    assert answer.status_code == 200, answer.text
    (row,) = answer.json()["data"]
    return dict(row)


async def test_adding_answers_with_the_row_at_once(service: Service) -> None:
    async with service.signed_in("ann") as browser:
        category = (await browser.post("/api/bookmarks/categories", json={"name": "Rivers"})).json()["id"]
        body = {"url": URL, "category_id": int(category), "update_access": True}
        answer = await browser.post("/api/v1/bookmarks/add/data", json=body)
    assert answer.status_code == 200
    (row,) = answer.json()["data"]
    assert isinstance(row["id"], int)
    assert (row["user_id"], row["url"], row["category_id"]) == ("ann", URL, int(category))
    other = await add(service, f"{URL}/b", category_id=int(category), update_access=False)
    assert other["category_id"] == 0
    async with service.client("ann") as client:
        wrong = await client.post("/api/v1/bookmarks/add/data", json={"url": "nonsense"})
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "url")


async def test_the_consumer_works_on_ten_and_reports_on_each(service: Service) -> None:
    rows = [await add(service, f"https://example.org/{n}") for n in range(9)]
    rows += [await add(service, "https://example.org/blind"), await add(service, "https://example.org/11")]
    async with service.client("ann") as client:
        report = (await client.get("/api/v1/bookmarks/add/tasks/queue-consumer")).json()
        assert (report["success"], report["message"]) == (True, "Queue processing completed")
        assert (report["processedCount"], report["archivedCount"], report["failedCount"]) == (10, 9, 1)
        assert [one["bookmarkId"] for one in report["results"]] == [row["id"] for row in rows[:10]]
        assert report["results"][0] == {
            "messageId": report["results"][0]["messageId"],
            "bookmarkId": rows[0]["id"],
            "success": True,
            "archived": True,
            "screenshotSuccess": True,
            "remainingDataSuccess": True,
        }
        blind = report["results"][9]
        assert (blind["success"], blind["archived"]) == (False, False)
        assert (blind["screenshotSuccess"], blind["remainingDataSuccess"]) == (False, True)
        assert blind["error"] == "Screenshot: Network timeout"
        rest = (await client.post("/api/v1/bookmarks/add/tasks/queue-consumer")).json()
        assert rest["message"] in ("Queue processing completed", "No messages to process")
        empty = (await client.post("/api/v1/bookmarks/add/tasks/queue-consumer")).json()
        assert (empty["message"], empty["processedCount"], empty["results"]) == ("No messages to process", 0, [])


async def test_the_consumer_touches_no_other_pipeline_and_ends_with_its_bookmarks(service: Service) -> None:
    await add(service, URL)
    await service.admin.execute("""select forebay.submit('pages', '{"title": "x"}', 'ann')""")
    async with service.client("ann") as client:
        report = (await client.post("/api/v1/bookmarks/add/tasks/queue-consumer")).json()
    assert (report["processedCount"], report["archivedCount"]) == (1, 1)
    states = await service.admin.fetch("select pipeline, state::text from forebay.jobs order by pipeline")
    assert [tuple(row) for row in states] == [("bookmarks", "DONE"), ("pages", "QUEUED")]


async def test_a_failure_that_a_retry_has_made_good_is_reported_as_success(service: Service) -> None:
    row = await add(service, "https://example.org/shy")
    async with service.client("ann") as client:
        first = (await client.post("/api/v1/bookmarks/add/tasks/queue-consumer")).json()["results"][0]
        assert (first["archived"], first.get("screenshotSuccess")) == (False, None)  # it waits for its retry
        await service.admin.execute("update forebay.scheduled set run_at = now() - interval '1 second'")
        await service.admin.execute("select forebay.promote()")
        (second,) = (await client.post("/api/v1/bookmarks/add/tasks/queue-consumer")).json()["results"]
    assert (second["bookmarkId"], second["archived"], second["screenshotSuccess"]) == (row["id"], True, True)


async def test_who_consumes_what(service: Service) -> None:
    """Owners their own, the service everybody's, nobody nothing."""
    await add(service, URL, "ann")
    await add(service, URL, "bob")
    path = "/api/v1/bookmarks/add/tasks/queue-consumer"
    async with service.signed_in("ann") as browser:
        refused = await browser.get(path)
        reason = "use POST with the CSRF header, or a token"
        assert (refused.status_code, refused.json()["detail"]) == (403, reason)
    async with service.client() as nobody, service.client("bob") as bob:
        assert (await nobody.get(path)).status_code == 401
        assert (await bob.get(path)).json()["processedCount"] == 1
    async with service.client("service", **{"x-forebay-owner": ""}) as everyone:
        assert (await everyone.get(path)).json()["processedCount"] == 1


async def test_invalid_messages_are_reported_with_the_reason_and_do_not_come_again(service: Service) -> None:
    await service.admin.execute("""select forebay.submit('bookmarks', '{"bookmarkId": 7, "url": "x"}', 'ann')""")
    path = "/api/v1/bookmarks/add/tasks/queue-consumer"
    async with service.client("ann") as client:
        (result,) = (await client.get(path)).json()["results"]
        assert (result["bookmarkId"], result["success"]) == (7, False)
        assert result["error"].endswith("input.isImage: Field required")
        assert (await client.get(path)).json()["processedCount"] == 0
        letters = (await client.get("/api/dead-letters")).json()["deadLetters"]
    assert {letter["reason"] for letter in letters} == {"input.isImage: Field required"}


async def test_single_steps_run_here_and_now_for_the_owner_that_the_service_names(service: Service) -> None:
    row = await add(service, URL)
    body = {"id": row["id"], "url": URL, "userId": "ann"}
    path = "/api/v1/bookmarks/add/tasks"
    async with service.client("service") as client, service.client("ann") as ann:
        done = await client.post(f"{path}/screenshot", json=body)
        assert (done.status_code, done.json()["success"]) == (200, True)
        item = (await ann.get(f"/api/jobs/{done.json()['jobId']}/items/1")).json()
        assert item["result"]["screenshot"] == URL
        assert "images" not in item["result"]
        done = await client.post(f"{path}/remaining", json={**body, "favIcon": "https://example.org/i.png"})
        item = (await ann.get(f"/api/jobs/{done.json()['jobId']}/items/1")).json()
        assert (item["result"]["favicon"], item["result"]["images"]) == ("https://example.org/i.png", URL)
        assert "screenshot" not in item["result"]
        refused = await ann.post(f"{path}/screenshot", json=body)
        assert (refused.status_code, refused.json()["detail"]) == (403, "only the service token may do this")
        for wrong, status in (
            ({"userId": "bob"}, 404),
            ({"userId": "nobody"}, 404),
            ({"id": 999}, 404),
            ({"userId": ""}, 422),
        ):
            assert (await client.post(f"{path}/screenshot", json=body | wrong)).status_code == status, wrong
        other = await client.post(f"{path}/screenshot", json=body | {"url": "https://example.org/other"})
        reason = f"url: is not the URL of bookmark {row['id']}"
        assert (other.status_code, other.json()["detail"]) == (422, reason)


async def test_a_step_that_fails_is_told_with_its_name(service: Service) -> None:
    row = await add(service, "https://example.org/blind")
    async with service.client("service") as client:
        answer = await client.post(
            "/api/v1/bookmarks/add/tasks/screenshot",
            json={"id": row["id"], "url": "https://example.org/blind", "userId": "ann"},
        )
    assert (answer.status_code, answer.json()["detail"]) == (502, "Screenshot: Network timeout")


async def test_the_names_of_the_old_queue(service: Service) -> None:
    db = service.admin
    await db.execute("select forebay.offer_pgmq()")
    row = await add(service, URL)
    message = f'{{"bookmarkId": {row["id"]}, "url": "{URL}", "userId": "ann", "favIcon": null, "isImage": false}}'
    sent = await db.fetchval("select pgmq_public.send('add-bookmark-url-queue', $1::text::jsonb)", message)
    assert await db.fetchval("select count(*) from pgmq_public.add_bookmark_url_queue") == 2
    assert await db.fetchval("select count(*) from pgmq.q_add_bookmark_url_queue") == 2
    async with service.client("ann") as client:
        await client.post("/api/v1/bookmarks/add/tasks/queue-consumer")
    archived = await db.fetch(
        "select msg_id, message from pgmq_public.add_bookmark_url_queue_archive order by archived_at desc limit 10"
    )
    assert {one["msg_id"] for one in archived} >= {sent}
    assert await db.fetchval("select count(*) from pgmq.a_add_bookmark_url_queue") == len(archived) == 2
    again = await db.fetchval("select pgmq_public.send('add-bookmark-url-queue', $1::text::jsonb)", message)
    assert [one["msg_id"] for one in await db.fetch("select * from pgmq_public.read('add-bookmark-url-queue')")] == [
        again
    ]
    assert await db.fetchval("select pgmq_public.archive('add-bookmark-url-queue', $1)", again) is True
    assert await db.fetchval("select pgmq_public.delete('add-bookmark-url-queue', $1)", again) is False
    other = await db.fetchval("""select job_id from forebay.submit('pages', '{"title": "x"}', 'ann')""")
    assert await db.fetchval("select pgmq_public.archive('add-bookmark-url-queue', $1)", other) is False
    reason = "sleep_seconds: must be 0: messages are not hidden here, workers take them by themselves"
    with pytest.raises(Exception, match=reason):
        await db.fetch("select pgmq_public.read('add-bookmark-url-queue', 30, 10)")
    with pytest.raises(Exception, match="queue_name: there is no queue 'other' here; there is add-bookmark-url-queue"):
        await db.fetchval("select pgmq_public.send('other', '{}')")


async def test_messages_that_failed_for_good_stay_until_they_are_archived_by_hand(service: Service) -> None:
    db = service.admin
    await db.execute("select forebay.offer_pgmq()")
    await add(service, "https://example.org/blind")
    async with service.client("ann") as client:
        (result,) = (await client.post("/api/v1/bookmarks/add/tasks/queue-consumer")).json()["results"]
        assert result["archived"] is False
        queued = await db.fetchval("select array_agg(msg_id) from pgmq_public.add_bookmark_url_queue")
        assert queued == [result["messageId"]]
        assert await db.fetchval("select count(*) from pgmq_public.add_bookmark_url_queue_archive") == 0
        assert await db.fetchval("select pgmq_public.archive('add-bookmark-url-queue', $1)", queued[0]) is True
        assert await db.fetchval("select count(*) from pgmq_public.add_bookmark_url_queue") == 0
        assert await db.fetchval("select count(*) from pgmq_public.add_bookmark_url_queue_archive") == 1
        assert await db.fetchval("select pgmq_public.archive('add-bookmark-url-queue', $1)", queued[0]) is False
        assert (await client.get("/api/dead-letters")).json()["deadLetters"] == []
        item = (await client.get(f"/api/jobs/{queued[0]}/items/1")).json()
    assert (item["status"], item["error"]["reason"]) == ("ERROR", "Network timeout")


async def test_the_old_names_are_not_taken_from_the_extension(service: Service) -> None:
    await service.admin.execute("create schema pgmq; create table pgmq.meta (queue_name text)")
    with pytest.raises(Exception, match="pgmq: the extension of that name is here, and has these names already"):
        await service.admin.execute("select forebay.offer_pgmq()")


async def test_two_consumers_at_once_do_no_harm(service: Service) -> None:
    for n in range(3):
        await add(service, f"https://example.org/{n}")
    path = "/api/v1/bookmarks/add/tasks/queue-consumer"
    async with service.client("ann") as client, service.client("service", **{"x-forebay-owner": ""}) as everyone:
        answers = await asyncio.gather(client.get(path), everyone.get(path))
    assert {answer.status_code for answer in answers} <= {200, 429}
    assert await service.admin.fetchval("select count(*) from forebay.job where state = 'DONE'") == 3
    assert await service.admin.fetchval("select count(*) from forebay.attempt") == 3 * 4
