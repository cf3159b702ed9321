"""Files reach a pipeline of somebody else: by form, by tus, and from a folder; no shared file knows of it."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from forebay.intake import uploads
from forebay.packages import intake_targets, job_hooks, larger_bodies
from tests.intake._notes import Notes, notes_service

TUS = {"tus-resumable": "1.0.0"}
BYTES = {**TUS, "content-type": "application/offset+octet-stream"}
TEXT = b"Each word of this text is counted once"


@pytest.fixture
async def notes(dsn: str, tmp_path: Path) -> AsyncIterator[Notes]:
    async with notes_service(dsn, tmp_path) as running:
        yield running


def described(**values: str) -> dict[str, str]:
    pairs = [f"{name} {base64.b64encode(value.encode()).decode()}" for name, value in values.items()]
    return {"upload-metadata": ",".join(pairs)}


async def test_by_form(notes: Notes) -> None:
    async with notes.service.client("ann") as ann:
        given = {"pipeline": "notes", "options": json.dumps({"language": "fr"}), "key": "once"}
        sent = [await ann.post("/api/jobs", data=given, files={"file": ("a.txt", TEXT)}) for _ in range(2)]
        assert [answer.status_code for answer in sent] == [201, 200]
        job = sent[0].json()["jobId"]
        assert sent[0].json() == {"jobId": job, "uploadId": job, "created": True, "items": 0}
        await notes.work()
        assert await notes.results() == ['["a.txt", "fr", 8]']
        found = (await ann.get(f"/api/jobs/{job}")).json()
        assert (found["state"], found["file"], found["counters"]["done"]) == ("DONE", "a.txt", 1)
    left = await notes.service.admin.fetch("select * from forebay.intake_part")
    assert left == []


async def test_by_tus_resumed_after_a_lost_connection(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "PART_BYTES", 10)

    async def breaking() -> AsyncIterator[bytes]:
        yield TEXT[:12]
        yield TEXT[12:15]
        raise httpx.ReadError("the connection was lost")

    async with notes.service.client("ann", **TUS) as ann, notes.service.client("bob", **TUS) as bob:
        length = {"upload-length": str(len(TEXT))}
        begun = await ann.post("/api/notes/uploads", headers={**length, **described(filename="b.txt")})
        place = begun.headers["location"]
        assert (begun.status_code, place) == (201, f"/api/notes/uploads/{begun.json()['uploadId']}")
        await ann.patch(place, content=breaking(), headers={**BYTES, "upload-offset": "0"})
        assert (await bob.head(place)).status_code == 404
        upto = int((await ann.head(place)).headers["upload-offset"])
        assert 0 < upto < len(TEXT)
        rest = await ann.patch(place, content=TEXT[upto:], headers={**BYTES, "upload-offset": str(upto)})
        assert (rest.status_code, rest.headers["upload-offset"]) == (204, str(len(TEXT)))
        hashes = await notes.service.admin.fetch("select sha256 from forebay.intake_part")
        assert all(len(row["sha256"]) == 32 for row in hashes)
        await notes.work()
        assert await notes.results() == ['["b.txt", "en", 8]']
        assert (await ann.get(f"/api/jobs/{begun.json()['jobId']}")).json()["state"] == "DONE"


async def test_by_a_folder(notes: Notes, tmp_path: Path) -> None:
    (tmp_path / "drop" / "c.txt").write_bytes(TEXT)
    (tmp_path / "drop" / "d.png").write_bytes(b"no text")
    async with notes.service.client("ann") as ann:
        assert [each["name"] for each in (await ann.get("/api/notes/sources")).json()["sources"]] == ["drop"]
        assert (await ann.get("/api/ingestion/sources")).json() == {"sources": []}
        begun = await ann.post("/api/notes/scan", json={})
        assert begun.status_code == 202, begun.text
        await notes.work()
        begun = await ann.post("/api/notes/scan", json={})  # a content is taken once
        await notes.work()
        assert await notes.results() == ['["c.txt", "de", 8]']
        scan = (await ann.get(f"/api/jobs/{begun.json()['scans'][0]['jobId']}/items/1")).json()
        seen = next(step["result"] for step in scan["steps"] if step["name"] == "scan")
        assert (seen["taken"], seen["known"]) == (0, 1)
        assert seen["left_out"] == {"d.png": "is image/png; accepted are text/*"}
        asked = {"pipeline": "notes", "file": "drop:c.txt", "options": {"language": "nl"}}
        assert (await ann.post("/api/jobs", json=asked)).status_code == 201
        refused = await ann.post("/api/jobs", json={**asked, "file": "drop:d.png"})
        assert refused.json()["errors"] == [{"field": "file", "reason": "is image/png; accepted are text/*"}]
        await notes.work()
        assert await notes.results() == ['["c.txt", "de", 8]', '["c.txt", "nl", 8]']
    taken = await notes.service.admin.fetch("select target, source from forebay.intake_taken")
    assert [tuple(row) for row in taken] == [("notes", "drop")]


async def test_what_is_not_accepted(dsn: str, tmp_path: Path) -> None:
    async with notes_service(dsn, tmp_path, max_file_bytes=10) as notes, notes.service.client("ann") as ann:
        big = await ann.post("/api/jobs", data={"pipeline": "notes"}, files={"file": ("a.txt", TEXT)})
        assert big.json()["errors"] == [{"field": "file", "reason": "has 38 bytes; 1 to 10 are allowed"}]
        none = await ann.post("/api/jobs", data={"pipeline": "notes"}, files={"other": ("a.txt", TEXT)})
        assert none.json()["errors"] == [{"field": "file", "reason": "must be a file: any kind"}]
        late = {"pipeline": "notes", "runAt": "2030-01-01T00:00:00Z"}
        later = await ann.post("/api/jobs", data=late, files={"file": ("a.txt", b"x")})
        assert (
            later.json()["errors"][0]["reason"]
            == "files are read at once: use options.paused, and resume the job later"
        )
        for field, value in (("unique", '{"periodSeconds": 60}'), ("coalesce", "true"), ("maxWaitSeconds", "1")):
            keyed = {"pipeline": "notes", "key": "k", field: value}
            bound = await ann.post("/api/jobs", data=keyed, files={"file": ("a.txt", b"x")})
            assert (bound.status_code, bound.json()["errors"][0]["field"]) == (422, field)
        kind = await ann.post("/api/notes/uploads", headers={"upload-length": "5", **described(filename="a.png")})
        assert kind.json()["errors"] == [{"field": "file", "reason": "is image/png; accepted are text/*"}]
        unknown = {"pipeline": "notes", "options": json.dumps({"language": "xx"})}
        (tmp_path / "drop" / "a.txt").write_bytes(b"x")
        for answer in (
            await ann.post("/api/jobs", data=unknown, files={"file": ("a.txt", b"x")}),
            await ann.post("/api/jobs", json={**unknown, "file": "drop:a.txt", "options": {"language": "xx"}}),
        ):
            assert answer.json()["errors"] == [{"field": "options.language", "reason": "is no language"}]
        spoken = await ann.options("/api/notes/uploads")
        assert spoken.headers["tus-max-size"] == "10"
        assert await notes.service.admin.fetchval("select count(*) from forebay.job") == 0


async def test_a_file_that_is_never_received_ends_its_job(notes: Notes) -> None:
    async with notes.service.client("ann") as ann:
        sent = await ann.post("/api/jobs", data={"pipeline": "notes"}, files={"file": ("a.txt", TEXT)})
        await notes.service.admin.execute("delete from forebay.intake_part")
        await notes.work()
        assert await notes.results() == ['"a.txt is incomplete: send it again"']
        job = (await ann.get(f"/api/jobs/{sent.json()['jobId']}")).json()
        assert (job["state"], job["counters"]["error"]) == ("FAILED", 1)


async def test_a_paused_file_waits_and_a_cancelled_one_is_not_received(notes: Notes) -> None:
    async with notes.service.client("ann") as ann:
        given = {"pipeline": "notes", "options": json.dumps({"paused": True})}
        paused = await ann.post("/api/jobs", data=given, files={"file": ("a.txt", TEXT)})
        cancelled = await ann.post("/api/jobs", data={"pipeline": "notes"}, files={"file": ("b.txt", TEXT)})
        await ann.post(f"/api/jobs/{cancelled.json()['jobId']}/cancel")
        await notes.work()
        counters = (await ann.get(f"/api/jobs/{paused.json()['jobId']}")).json()["counters"]
        assert (counters["total"], counters["pending"]) == (1, 1)
        await ann.post(f"/api/jobs/{paused.json()['jobId']}/resume")
        await notes.work()
        assert await notes.results() == ['["a.txt", "en", 8]']


async def test_what_is_left_is_deleted(notes: Notes) -> None:
    target, later = intake_targets()["notes"], datetime.now(UTC) + timedelta(days=2)
    admin = notes.service.admin
    async with notes.service.client("ann", **TUS) as ann, notes.worker() as bed:
        done = await ann.post("/api/jobs", data={"pipeline": "notes"}, files={"file": ("a.txt", TEXT)})
        begun = await ann.post("/api/notes/uploads", headers={"upload-length": "99", **described(filename="b.txt")})
        place, number = begun.headers["location"], begun.json()["jobId"]
        await ann.patch(place, content=TEXT, headers={**BYTES, "upload-offset": "0"})
        await bed.finish()
        (left,) = await target.tidy(bed.pool, timedelta(days=1), later)
        assert left.startswith(f"uploads/{begun.json()['uploadId']}/")
        await bed.finish()
        assert (await ann.get(f"/api/jobs/{number}")).json()["state"] == "CANCELLED"
        assert await job_hooks("notes").problem(admin, int(number)) == "the upload was never completed"
        await admin.execute("delete from forebay.item")
        await admin.execute("delete from forebay.job where id = $1", int(done.json()["jobId"]))
        assert await admin.fetchval("select count(*) from forebay.file") == 1
        assert await target.tidy(bed.pool, timedelta(days=1), later) == []
    assert await admin.fetchval("select count(*) from forebay.file") == 0
    assert await admin.fetchval("select array_agg(name) from forebay.intake_file") == ["b.txt"]


async def test_the_registry_knows_it(notes: Notes) -> None:
    assert {"notes", "sheets"} <= {*intake_targets()}
    assert larger_bodies()["PATCH /api/notes/uploads/"] == "upload"
    assert larger_bodies()["PATCH /api/uploads/"] == "upload"
