"""The API over S3: what it streams from there, and links that lead there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from forebay.api.file_access import FileAccess
from tests.api._service import put_file, serving
from tests.storage._help import BIG
from tests.storage._s3 import S3
from tests.storage.conftest import s3_settings


def _given(s3: S3, folder: Path, **more: Any) -> dict[str, Any]:
    settings = s3_settings(s3, folder, **more)
    return {name: getattr(settings, name) for name in settings.model_fields_set}


async def test_content_is_streamed_from_there(dsn: str, s3: S3, tmp_path: Path) -> None:
    async with serving(dsn, **_given(s3, tmp_path)) as service:
        stored = await put_file(service, "ann", BIG, "big.mp4")
        async with service.client("ann") as ann:
            info = (await ann.get(f"/api/files/{stored.file_id}")).json()
            whole = await ann.get(info["url"])
            part = await ann.get(info["url"], headers={"range": "bytes=5-4000004"})
    assert info["url"].startswith("/files/")
    assert whole.content == BIG
    assert (part.status_code, part.content) == (206, BIG[5:4000005])


@pytest.mark.parametrize(("name", "shown"), [("a.png", True), ("a.html", False)])
async def test_links_lead_there(dsn: str, s3: S3, tmp_path: Path, name: str, shown: bool) -> None:
    async with serving(dsn, **_given(s3, tmp_path, storage_presign=True)) as service:
        stored = await put_file(service, "ann", name.encode(), name)
        async with service.client("ann") as ann:
            url = (await ann.get(f"/api/files/{stored.file_id}", params={"expiresS": 60})).json()["url"]
    assert url.startswith(f"{s3.endpoint}/tests/")
    async with httpx.AsyncClient(trust_env=False) as nobody:
        answer = await nobody.get(url)
        altered = await nobody.get(url.replace("X-Amz-Expires=", "X-Amz-Expires=9"))
    assert answer.content == name.encode()
    assert ("content-disposition" in answer.headers) == (not shown)
    assert altered.status_code == 403


async def test_a_store_that_is_away(dsn: str, s3: S3, tmp_path: Path) -> None:
    async with serving(dsn, **_given(s3, tmp_path)) as service:
        stored = await put_file(service, "ann", b"x", "x.png")
        away = service.app.state.settings.model_copy(update={"storage_endpoint": "http://127.0.0.1:1"})
        service.app.state.file_access = FileAccess(away)
        async with service.client("ann") as ann:
            answer = await ann.get(f"/api/files/{stored.file_id}/content")
    assert (answer.status_code, answer.json()["detail"]) == (503, "the file cannot be read at the moment")
