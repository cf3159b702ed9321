"""Everything that belongs to a person, as one archive: all of it, and nothing of others."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from forebay.api.zip_stream import ZipStream
from forebay.pipelines.bookmarks.steps import bookmarks
from forebay.pipelines.sheets.steps import sheets
from forebay.storage import open_store
from forebay.storage.blobs import key_of
from forebay.storage.db import ObjectId
from tests.api._service import Service, put_file, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


async def archive(service: Service, who: str) -> dict[str, bytes]:
    async with service.client(who) as client:
        answer = await client.get("/api/me/export")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/zip"
    assert f"forebay-{who}-" in answer.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as found:
        assert found.testzip() is None
        return {name: found.read(name) for name in found.namelist()}


def lines(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.splitlines()]


async def submit(service: Service, who: str, *titles: str) -> str:
    async with service.client(who) as client:
        body = {"pipeline": "pages", "items": [{"title": title} for title in titles]}
        return str((await client.post("/api/jobs", json=body)).json()["jobId"])


async def test_the_archive_has_all_of_mine_and_nothing_of_others(dsn: str) -> None:
    async with serving(dsn, bookmarks, sheets) as service:
        job = await submit(service, "ann", "mine", "broken")
        other = await submit(service, "bob", "his secret")
        await service.work()
        async with service.client("ann") as ann:
            await ann.post("/api/bookmarks", json={"url": "https://example.org/rivers", "tags": ["water"]})
            await ann.put("/api/me/preferences", json={"columns": ["a"]})
        async with service.client("bob") as bob:
            await bob.post("/api/bookmarks", json={"url": "https://example.org/his-secret"})
        text = await put_file(service, "ann", b"my text", "../notes: a.txt", "text/plain")
        await put_file(service, "bob", b"his secret", "his.txt", "text/plain")

        found = await archive(service, "ann")
        assert not [name for name, data in found.items() if b"his" in data and name != "README.txt"]
        assert [item["status"] for item in lines(found["items.jsonl"]) if item["jobId"] == job] == ["DONE", "ERROR"]
        mine = next(item for item in lines(found["items.jsonl"]) if item["jobId"] == job)
        assert (mine["input"]["title"], mine["result"]) == ("mine", {"fetch": 0, "count": 1})
        assert job in {each["id"] for each in lines(found["jobs.jsonl"])}
        assert other not in {each["id"] for each in lines(found["jobs.jsonl"])}
        assert {each["step"] for each in lines(found["attempts.jsonl"])} >= {"fetch", "count"}
        assert {each["owner"] for each in lines(found["audit.jsonl"])} <= {"ann", None}
        assert json.loads(found["bookmarks.json"])["bookmarks"][0]["url"] == "https://example.org/rivers"
        assert b"example.org/rivers" in found["bookmarks.html"]
        assert found["sheets.jsonl"] == b""
        about = json.loads(found["account.json"])
        assert (about["name"], about["role"], about["preferences"]) == ("ann", "user", {"columns": ["a"]})
        assert service.tokens["ann"] not in found["account.json"].decode()
        (path,) = (each["path"] for each in lines(found["files.jsonl"]))
        assert path == f"files/{text.file_id}-notes_ a.txt"  # no part of the name leads out of the folder
        assert found[path] == b"my text"
        assert b"Everything that forebay keeps for ann" in found["README.txt"]


async def test_lost_contents_are_named(service: Service) -> None:
    lost = await put_file(service, "ann", b"gone", "gone.bin")
    row = await service.admin.fetchrow("select sha256, life from forebay.blob")
    assert row is not None
    await open_store(service.app.state.settings).delete(key_of(ObjectId(*row)))
    found = await archive(service, "ann")
    assert found["missing.txt"].decode() == f"files/{lost.file_id}-gone.bin\n"


async def test_pages_of_rows_follow_each_other(service: Service) -> None:
    """More jobs than a page has; the archive of somebody without anything is valid, too."""
    await service.admin.execute(
        "insert into forebay.job (owner_id, pipeline_id, steps, lane_id, state, finished_at)"
        " select o.id, p.id, 3, 0, 'DONE', now() from forebay.owner o, forebay.pipeline p, generate_series(1, 501)"
        " where o.name = 'ann' and p.name = 'pages'"
    )
    assert len(lines((await archive(service, "ann"))["jobs.jsonl"])) == 501
    assert lines((await archive(service, "bob"))["jobs.jsonl"]) == []


async def test_a_file_is_sent_while_it_is_read() -> None:
    """No more than what is being read is held: the first bytes come before the last are there."""
    read: list[int] = []

    async def content() -> AsyncIterator[bytes]:
        for number in range(8):
            read.append(number)
            yield b"x" * 70_000

    stream, sent = ZipStream(), list[bytes]()
    parts = stream.add("a", content(), datetime.now(UTC), compress=False)
    sent.append(await anext(parts))
    assert read == [0]
    sent += [part async for part in parts]
    sent.append(stream.close())
    with zipfile.ZipFile(io.BytesIO(b"".join(sent))) as found:
        assert found.read("a") == b"x" * 560_000
