"""Shares over HTTP: answered at once, listed, found, watched, retried, deleted, and nobody else's."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from typing import Any

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
