"""Shares over HTTP: answered at once, listed, found, watched, retried, deleted, and nobody else's."""

# demands: S1-02, S1-11, S1-20, S1-32, S1-36, S1-39, S1-47, S1-49, S1-69
# demands: S1-13, S1-15, S1-17, S1-74, S1-77, S1-84, S1-87, S1-88, S1-110, S1-116, S1-117, S1-125
# demands: X-03

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from forebay.pipelines.media.settings import MediaSettings
from forebay.pipelines.media.steps import media
from tests.api._service import Service, put_file, serving

URL = "https://example.org/film.mp4"


@pytest_asyncio.fixture(loop_scope="session")
async def service(dsn: str) -> AsyncIterator[Service]:
    async with serving(dsn, media) as running:
        yield running


async def shared(service: Service, who: str = "ann", **given: Any) -> dict[str, Any]:
    async with service.client(who) as client:
        answer = await client.post("/api/shares", json={"url": URL} | given)
        assert answer.status_code == 201, answer.text
        share: dict[str, Any] = answer.json()["shares"][0]
        return share


async def with_file(service: Service, share_id: str, data: bytes = b"0123456789") -> None:
    """As the step `download` leaves the share."""
    stored = await put_file(service, "ann", data, "media.mp4", "video/mp4")
    await service.admin.execute(
        "update forebay.share set file_id = $2, sha256 = $3, size = $4, kind = 'video', download_status = 'completed' "
        "where id = $1",
        int(share_id),
        stored.file_id,
        bytes.fromhex(stored.sha256),
        stored.size,
    )


async def test_a_link_is_answered_before_the_file_is_there(service: Service) -> None:
    share = await shared(service, title="A film", priority=7)
    assert share["url"] == URL
    assert (share["fileState"], share["file"], share["downloadStatus"]) == ("waiting", None, "pending")
    assert share["media"] == {"url": URL, "type": None, "isStored": False}
    assert (share["status"], share["priority"], share["transcriptStatus"]) == ("PENDING", 7, "pending")
    async with service.client("ann") as client:
        job = (await client.get(f"/api/jobs/{share['jobId']}")).json()
        assert (job["pipeline"], job["priority"]) == ("media", 7)
        assert job["subject"] == {"kind": "share", "id": share["id"], "title": "A film"}


async def test_a_file_is_played_in_ranges_by_a_signed_link(service: Service) -> None:
    share = await shared(service)
    await with_file(service, share["id"])
    async with service.client("ann") as client:
        ready = (await client.get(f"/api/shares/{share['id']}")).json()
    assert ready["fileState"] == "ready"
    assert ready["media"] == {"url": ready["file"]["url"], "type": "video", "isStored": True}
    assert ready["file"]["sha256"] == hashlib.sha256(b"0123456789").hexdigest()
    async with service.client() as anybody:
        part = await anybody.get(ready["file"]["link"], headers={"range": "bytes=2-4"})
        assert (part.status_code, part.content, part.headers["content-type"]) == (206, b"234", "video/mp4")
        assert (await anybody.get(ready["file"]["url"])).status_code == 401


async def test_several_links_each_with_a_priority(service: Service) -> None:
    links = [{"url": f"https://example.org/{n}.mp4", "priority": n} for n in (1, 2)] + [{"url": URL}]
    async with service.client("ann") as client:
        answer = await client.post("/api/shares", json={"shares": links, "priority": 5})
        assert [share["priority"] for share in answer.json()["shares"]] == [1, 2, 5]
        for wrong in ({}, {"url": URL, "shares": links}):
            answer = await client.post("/api/shares", json=wrong)
            assert (answer.status_code, answer.json()["detail"]) == (422, "url: give either `url` or `shares`")
        answer = await client.post("/api/shares", json={"shares": [{"url": "http://10.0.0.1/"}]})
        assert answer.status_code == 422
        assert "shares.0.url" in answer.text


async def test_shares_are_listed_by_state_kind_and_words(service: Service) -> None:
    film = await shared(service, title="The water mill")
    await shared(service, title="Another")
    await with_file(service, film["id"])
    async with service.client("ann") as client:

        async def listed(**query: Any) -> list[str]:
            answer = await client.get("/api/shares", params=query)
            assert answer.status_code == 200, answer.text
            return [share["title"] for share in answer.json()["shares"]]

        assert await listed() == ["Another", "The water mill"]
        assert await listed(state="completed") == await listed(kind="video") == ["The water mill"]
        assert await listed(q="mills") == await listed(q="water -another") == ["The water mill"]
        assert await listed(q="nothing") == await listed(playlistId=film["id"]) == []
        first = (await client.get("/api/shares", params={"pageSize": 1})).json()
        assert await listed(pageSize=1, after=first["next"]) == ["The water mill"]
        suggested = (await client.get("/api/suggest", params={"q": "water"})).json()
        assert [each["title"] for each in suggested["suggestions"] if each["kind"] == "share"] == ["The water mill"]
    async with service.client("bob") as other:
        assert (await other.get("/api/shares")).json() == {"shares": [], "next": None}
        assert (await other.get(f"/api/shares/{film['id']}")).status_code == 404
        assert (await other.delete(f"/api/shares/{film['id']}")).status_code == 404
        assert (await other.post(f"/api/shares/{film['id']}/retry")).status_code == 404


async def test_a_failed_share_is_retried_ahead_of_new_work(service: Service) -> None:
    share = await shared(service)
    async with service.client("ann") as client:
        answer = await client.post(f"/api/shares/{share['id']}/retry")
        assert answer.status_code == 409
        assert f"share {share['id']} is still being worked on by job {share['jobId']}" in answer.text
        await client.post(f"/api/jobs/{share['jobId']}/cancel")
        again = (await client.post(f"/api/shares/{share['id']}/retry")).json()
        found = (await client.get(f"/api/shares/{share['id']}")).json()
        assert (found["jobId"], found["downloadStatus"], found["fileState"]) == (again["jobId"], "retry", "retrying")
        assert (await client.get(f"/api/jobs/{again['jobId']}")).json()["priority"] == 1


async def test_a_deleted_share_takes_its_file_and_its_job_along(service: Service) -> None:
    share = await shared(service)
    await with_file(service, share["id"])
    async with service.client("ann") as client:
        assert (await client.delete(f"/api/shares/{share['id']}")).status_code == 204
        assert (await client.get(f"/api/shares/{share['id']}")).status_code == 404
        assert (await client.get(f"/api/jobs/{share['jobId']}")).json()["state"] == "CANCELLED"
        assert f"there is no share {share['id']}" in (await client.delete(f"/api/shares/{share['id']}")).text
    assert await service.admin.fetchval("select count(*) from forebay.file") == 0


async def test_a_response_waits_for_the_file_if_it_must(dsn: str) -> None:
    async with serving(dsn, media, packages=[MediaSettings(async_downloads=False, sync_s=0.2)]) as service:
        share = await shared(service)
        assert share["fileState"] == "waiting"  # there is no worker: it responds in time, and says so
    own = MediaSettings(enabled=False)
    async with serving(dsn, media, packages=[own], tokens=service.tokens) as service, service.client("ann") as client:
        answer = await client.post("/api/shares", json={"url": URL})
        assert (answer.status_code, answer.json()["detail"]) == (
            403,
            "media is turned off: FOREBAY_MEDIA_ENABLED is false",
        )


async def test_responses_that_wait_for_downloads_leave_the_api_to_others(dsn: str) -> None:
    """They hold no thread and no connection, and nothing is downloaded here: without a worker they just wait."""
    count = 24  # more than the API has connections
    own = MediaSettings(async_downloads=False, sync_s=60.0)
    async with serving(dsn, media, packages=[own], api_pool_size=4) as service:
        waiting = [asyncio.create_task(shared(service, title=f"Film {n}")) for n in range(count)]
        async with service.client("bob") as bob:
            await _until_added(service, count)
            assert (await bob.get("/api/shares")).json()["shares"] == []
            assert not any(task.done() for task in waiting)
        await service.admin.execute("update forebay.share set download_status = 'failed'")
        assert {share["downloadStatus"] for share in await asyncio.gather(*waiting)} == {"failed"}


async def _until_added(service: Service, count: int) -> None:
    while await service.admin.fetchval("select count(*) from forebay.share") < count:  # noqa: ASYNC110 - of the database
        await asyncio.sleep(0.01)


def test_the_settings_have_the_names_of_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (MediaSettings().async_downloads, MediaSettings().downloads) == (True, 3)
    monkeypatch.setenv("FOREBAY_ASYNC_DOWNLOADS_ENABLED", "false")
    monkeypatch.setenv("FOREBAY_DOWNLOAD_WORKERS", "7")
    assert (MediaSettings().async_downloads, MediaSettings().downloads) == (False, 7)
