"""Files over HTTP: whole, in parts, by link; and nothing of them that a browser would run."""

# demands: S1-117

from __future__ import annotations

import hashlib
import io
import time
from datetime import datetime
from pathlib import Path

import pytest
from PIL import Image

from forebay.api.file_access import FileAccess
from forebay.db.pool import open_pool
from forebay.engine.db.writes import Writer
from forebay.pipelines.image_tools import store_thumbnails
from forebay.services import images
from forebay.storage import Blobs, open_store
from forebay.storage.signing import FileLink, open_signer
from forebay.types import Write
from tests.api._service import Service, put_file

DATA = bytes(range(256)) * 5000
TAG = f'"{hashlib.sha256(DATA).hexdigest()}"'


@pytest.fixture
async def video(service: Service) -> str:
    stored = await put_file(service, "ann", DATA, "ein Film ← 東京.mp4")
    return f"/api/files/{stored.file_id}"


async def test_a_file_and_its_link(service: Service, video: str) -> None:
    async with service.client("ann") as ann, service.client() as nobody:
        info = (await ann.get(video)).json()
        whole = await nobody.get(info["url"])
        head = await nobody.head(info["url"])
        saved = await nobody.get((await ann.get(video, params={"disposition": "attachment"})).json()["url"])
    assert (info["name"], info["mediaType"], info["size"]) == ("ein Film ← 東京.mp4", "video/mp4", len(DATA))
    assert (f'"{info["sha256"]}"', info["id"]) == (TAG, video.rpartition("/")[2])
    assert 3500 < datetime.fromisoformat(info["expiresAt"]).timestamp() - time.time() <= 3600
    assert (whole.status_code, whole.content) == (200, DATA)
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(DATA)))
    quoted = "ein%20Film%20%E2%86%90%20%E6%9D%B1%E4%BA%AC.mp4"
    assert whole.headers["content-disposition"] == f"inline; filename=\"ein Film _ __.mp4\"; filename*=UTF-8''{quoted}"
    assert saved.headers["content-disposition"].startswith("attachment; ")
    assert whole.headers["content-type"] == "video/mp4"
    assert whole.headers["etag"] == TAG
    assert whole.headers["content-security-policy"].startswith("default-src 'none'; media-src 'self'; ")
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert whole.headers["cache-control"].startswith("private, max-age=3")
    assert {**whole.headers, "cache-control": ""} == {**head.headers, "cache-control": ""}


_PARTS: list[tuple[str, int, slice | None]] = [
    ("bytes=0-0", 206, slice(0, 1)),
    ("bytes=10-19", 206, slice(10, 20)),
    ("bytes=1279990-", 206, slice(1279990, None)),
    ("bytes=-7", 206, slice(-7, None)),
    ("bytes=-99999999", 206, slice(0, None)),
    ("bytes=1279999-99999999999", 206, slice(-1, None)),
    ("bytes=1280000-", 416, None),
    ("bytes=-0", 416, None),
    ("bytes=20-10", 200, slice(0, None)),
    ("bytes=0-1,5-6", 200, slice(0, None)),
    ("lines=1-2", 200, slice(0, None)),
    ("bytes=a-b", 200, slice(0, None)),
    ("bytes=-", 200, slice(0, None)),
]


@pytest.mark.parametrize(("asked", "status", "part"), _PARTS)
async def test_parts(service: Service, video: str, asked: str, status: int, part: slice | None) -> None:
    async with service.client("ann") as ann:
        answer = await ann.get(f"{video}/content", headers={"range": asked})
        head = await ann.head(f"{video}/content", headers={"range": asked})
    assert (answer.status_code, head.status_code) == (status, status)
    if part is None:
        assert answer.headers["content-range"] == f"bytes */{len(DATA)}"
        assert answer.json()["detail"] == f"the file has {len(DATA)} bytes"
        return
    assert answer.content == DATA[part]
    assert answer.headers["content-length"] == head.headers["content-length"] == str(len(DATA[part]))
    assert ("content-range" in answer.headers) == (status == 206)
    if status == 206:
        start, end, _ = part.indices(len(DATA))
        assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/{len(DATA)}"


_CONDITIONS: list[tuple[dict[str, str], int, int | None]] = [
    ({"if-none-match": TAG}, 304, 0),
    ({"if-none-match": f'"x", W/{TAG}'}, 304, 0),
    ({"if-none-match": "*"}, 304, 0),
    ({"if-none-match": '"x"'}, 200, len(DATA)),
    ({"if-match": TAG}, 200, len(DATA)),
    ({"if-match": "*"}, 200, len(DATA)),
    ({"if-match": f"W/{TAG}"}, 412, None),
    ({"if-match": '"x"'}, 412, None),
    ({"range": "bytes=0-4", "if-range": TAG}, 206, 5),
    ({"range": "bytes=0-4", "if-range": '"x"'}, 200, len(DATA)),
    ({"range": "bytes=0-4", "if-none-match": TAG}, 304, 0),
]


@pytest.mark.parametrize(("headers", "status", "size"), _CONDITIONS)
async def test_conditions(service: Service, video: str, headers: dict[str, str], status: int, size: int | None) -> None:
    async with service.client("ann") as ann:
        answer = await ann.get(f"{video}/content", headers=headers)
    assert answer.status_code == status
    if size is None:
        assert answer.json()["detail"] == "the file is not the one that If-Match names"
    else:
        assert (len(answer.content), answer.headers["etag"]) == (size, TAG)


_KINDS = [
    ("a.png", None, "image/png", True),
    ("a.txt", None, "text/plain; charset=utf-8", True),
    ("a.pdf", None, "application/pdf", True),
    ("a.mp3", None, "audio/mpeg", True),
    ("a.html", None, "application/octet-stream", False),
    ("a.svg", None, "application/octet-stream", False),
    ("a.png", "text/html", "application/octet-stream", False),
    ("a.png", "image/svg+xml; charset=utf-8", "application/octet-stream", False),
    ("a.js", None, "application/octet-stream", False),
    ("a.xml", "application/xhtml+xml", "application/octet-stream", False),
    ("a", "image/png\r\nset-cookie: a=b", "application/octet-stream", False),
    ("a", None, "application/octet-stream", False),
]


@pytest.mark.parametrize(("name", "given", "served", "shown"), _KINDS)
async def test_what_could_run_is_saved(
    service: Service, name: str, given: str | None, served: str, shown: bool
) -> None:
    stored = await put_file(service, "ann", b"<script>alert(1)</script>", name, given)
    async with service.client("ann") as ann:
        answer = await ann.get(f"/api/files/{stored.file_id}/content")
    assert answer.headers["content-type"] == served
    assert answer.headers["content-disposition"].startswith("inline" if shown else "attachment")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert policy.startswith("sandbox; ") == (name not in {"a.pdf", "a.mp3"})


async def test_a_name_cannot_add_headers(service: Service) -> None:
    stored = await put_file(service, "ann", b"x", 'a"; filename=evil.exe\r\nset-cookie: a=b\u202egnp.png')
    async with service.client("ann") as ann:
        answer = await ann.get(f"/api/files/{stored.file_id}/content")
    assert "set-cookie" not in answer.headers
    quoted = answer.headers["content-disposition"].split('"')
    assert quoted[1] == "a_; filename=evil.exe set-cookie: a=bgnp.png"
    assert quoted[2].startswith("; filename*=UTF-8''a%22%3B%20filename%3Devil.exe")


async def test_an_empty_file(service: Service) -> None:
    stored = await put_file(service, "ann", b"", "empty.txt")
    async with service.client("ann") as ann:
        whole = await ann.get(f"/api/files/{stored.file_id}/content")
        part = await ann.get(f"/api/files/{stored.file_id}/content", headers={"range": "bytes=0-"})
    assert (whole.status_code, whole.content, whole.headers["content-length"]) == (200, b"", "0")
    assert part.status_code == 416


async def test_links_end(service: Service, video: str) -> None:
    signer = open_signer(service.app.state.settings)
    owner = await service.admin.fetchval("select id from forebay.owner where name = 'ann'")
    bob = await service.admin.fetchval("select id from forebay.owner where name = 'bob'")
    number, soon = int(video.rpartition("/")[2]), int(time.time()) + 60
    grants: dict[str, tuple[FileLink, int]] = {
        "good": (FileLink(number, owner, soon, inline=True), 200),
        "over": (FileLink(number, owner, soon - 61, inline=True), 410),
        "no such file": (FileLink(number + 99, owner, soon, inline=True), 404),
        "another owner's": (FileLink(number, bob, soon, inline=True), 404),
    }
    async with service.client() as nobody:
        for name, (grant, status) in grants.items():
            answer = await nobody.get(f"/files/{signer.sign(grant)}")
            assert answer.status_code == status, name
            if status == 410:
                assert answer.json()["detail"] == "the link has expired: ask for a new one"
        good = signer.sign(grants["good"][0])
        for place in range(len(good)):
            forged = good[:place] + ("A" if good[place] != "A" else "B") + good[place + 1 :]
            assert (await nobody.get(f"/files/{forged}")).status_code == 404, place
        for wrong in (f"{good}=", f"{good}A", good[:-4], "", "%00", "é" * 20):
            assert (await nobody.get(f"/files/{wrong}")).status_code == 404, wrong
        assert (await nobody.get("/files/x")).json()["detail"] == "there is no such link"
    async with service.client("ann") as ann:
        for seconds, status in ((0, 422), (604801, 422), (5, 200)):
            assert (await ann.get(video, params={"expiresS": seconds})).status_code == status


async def test_a_file_that_is_deleted_is_gone(service: Service, video: str) -> None:
    async with service.client("ann") as ann:
        url = (await ann.get(video)).json()["url"]
        await service.admin.execute("delete from forebay.file")
        assert [(await ann.get(path)).status_code for path in (video, f"{video}/content", url)] == [404, 404, 404]
        unknown = await ann.get("/api/files/99999999999999999999")
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "file: there is no file '99999999999999999999'")


async def test_content_that_the_store_has_lost(service: Service, video: str) -> None:
    folder = Path(service.app.state.settings.data_dir) / "blobs"
    for file in folder.glob("??/*"):
        file.unlink()
    async with service.client("ann") as ann:
        answer = await ann.get(f"{video}/content")
    assert (answer.status_code, answer.json()["detail"]) == (503, "the file cannot be read at the moment")


@pytest.mark.parametrize("url", ["ftp://example.test/x", "s3://UPPER case"])
async def test_a_store_that_is_not_set_up(service: Service, video: str, url: str) -> None:
    service.app.state.file_access = FileAccess(service.app.state.settings.model_copy(update={"storage_url": url}))
    async with service.client("ann") as ann:
        answer = await ann.get(f"{video}/content")
    assert (answer.status_code, answer.json()["detail"][:28]) == (503, "this is not configured here:")


# Thumbnails.


async def put_picture(service: Service, data: bytes) -> int:
    """A picture of ann with its thumbnails, as a step leaves it."""
    owner_id = await service.admin.fetchval("select id from forebay.owner where name = 'ann'")
    async with await open_pool(service.dsn, size=2, name="forebay tests") as pool:
        blobs = Blobs(pool, open_store(service.app.state.settings))
        stored = await blobs.put(data, owner_id=owner_id, name="mill.png", media_type="image/png")
        writes: list[Write] = [stored.write(), await store_thumbnails(blobs, stored, images.picture(data))]
        async with pool.acquire() as conn:
            await Writer().apply(conn, writes)
    return stored.file_id


def png(width: int, height: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(out, "PNG")
    return out.getvalue()


async def test_thumbnails_of_a_picture(service: Service) -> None:
    file_id = await put_picture(service, png(480, 300))
    path = f"/api/files/{file_id}/thumbnail"
    async with service.client("ann") as ann, service.client("bob") as bob:
        small = await ann.get(path, params={"w": "160"})
        assert (small.status_code, small.headers["content-type"]) == (200, "image/webp")
        assert small.headers["cache-control"] == "private, max-age=31536000, immutable"
        assert small.headers["content-security-policy"].startswith("sandbox")
        assert Image.open(io.BytesIO(small.content)).size == (160, 100)
        assert Image.open(io.BytesIO((await ann.get(path)).content)).size == (320, 200)
        assert Image.open(io.BytesIO((await ann.get(path, params={"w": "640"})).content)).size == (480, 300)
        assert (await ann.head(path)).headers["content-length"] == str(len((await ann.get(path)).content))
        again = await ann.get(path, params={"w": "160"}, headers={"if-none-match": small.headers["etag"]})
        assert again.status_code == 304
        assert (await ann.get(path, params={"w": "200"})).status_code == 422
        assert (await bob.get(path)).status_code == 404
    async with service.admin.transaction():
        bob_id = await service.admin.fetchval("select id from forebay.owner where name = 'bob'")
        await service.admin.execute("select forebay.enter('forebay_api', $1, null)", bob_id)
        assert await service.admin.fetchval("select count(*) from forebay.picture") == 0


async def test_what_is_no_picture_has_no_thumbnail(service: Service, video: str) -> None:
    async with service.client("ann") as ann:
        answer = await ann.get(f"{video}/thumbnail")
    number = video.rpartition("/")[2]
    assert (answer.status_code, answer.json()["detail"]) == (404, f"file: there is no thumbnail of file {number}")


async def test_thumbnails_go_with_their_picture(service: Service) -> None:
    file_id = await put_picture(service, png(480, 300))
    assert await service.admin.fetchval("select count(*) from forebay.file") == 4
    async with service.admin.transaction():
        ann_id = await service.admin.fetchval("select id from forebay.owner where name = 'ann'")
        await service.admin.execute("select forebay.enter('forebay_api', $1, null)", ann_id)
        await service.admin.execute("delete from forebay.file where id = $1", file_id)
    assert await service.admin.fetchval("select count(*) from forebay.file") == 0
    assert await service.admin.fetchval("select count(*) from forebay.blob where touched_at is null") == 0
