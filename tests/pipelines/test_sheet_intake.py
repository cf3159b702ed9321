"""Files become items: tables and pictures, good rows and bad, once each, and whatever happens meanwhile."""

# demands: S5-01, S5-02, S5-26, S5-45, S5-46, S5-52, S5-55, S5-88

from __future__ import annotations

import asyncio
import hashlib
import io
import zipfile
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import openpyxl  # type: ignore[import-untyped]
import pytest
import pytest_asyncio
from PIL import Image

from forebay.engine.db.adapters import adapter_for
from forebay.engine.declare.limited import limited
from forebay.engine.submit.batch_size import BatchSize
from forebay.engine.submit.job_stream import JobStream, SourceRows
from forebay.errors import ConflictError, TransientError
from forebay.intake import db as incoming
from forebay.intake.db import FilePart, FileTerms, NewFile
from forebay.intake.local_files import LocalFile, submit_file
from forebay.pipelines.sheets import intake as sheet_intake
from forebay.pipelines.sheets import row_sources
from forebay.pipelines.sheets.db import sheets
from forebay.pipelines.sheets.db.sql import load
from forebay.pipelines.sheets.files import FILES
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.pipelines.sheets.steps import SheetRow
from forebay.pipelines.sheets.steps import sheets as sheet_rows
from forebay.pipelines.sheets.workbook_reading import FORMULA_WITHOUT_RESULT
from forebay.services.spreadsheets import ArchivePicture
from tests.pipelines._intake import Taking, dying_once, table, taking

_WAITING = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"


@pytest_asyncio.fixture(loop_scope="session")
async def take(dsn: str, tmp_path: Path) -> AsyncIterator[Taking]:
    async with taking(dsn, tmp_path) as taken:
        yield taken


async def test_a_table_becomes_items(take: Taking) -> None:
    job = await take.taken(table(["Name", "EAN", "Preis"], ["Pen", "4006381333931", "1,20 €"], ["Ink", "", "3,50 €"]))
    assert await take.job(job) == {
        "state": "DONE", "total": 2, "done": 0, "skipped": 0, "not_found": 2, "error": 0, "sealed": True, "loaded": 2,
        "pipeline": "sheets",
    }  # fmt: skip
    first, second = await take.items(job)
    assert first["input"] == {"line": 2, "row": {"Name": "Pen", "EAN": "4006381333931", "Preis": "1,20 €"}}
    assert first["normalized"]["fields"] == {
        "title": "Pen", "gtin": "4006381333931", "price": "1.20", "currency": "EUR",
    }  # fmt: skip
    assert second["input"]["line"] == 3
    sheet = await take.sheet(job)
    assert (sheet.kind, sheet.columns, sheet.problem) == ("csv", ["Name", "EAN", "Preis"], None)
    assert sheet.mapping["fields"] == {"title": "Name", "gtin": "EAN", "price": "Preis"}


async def test_rows_that_cannot_be_read_are_items_in_error_and_the_others_go_on(take: Taking) -> None:
    data = b'Name;SKU\nPen;1\nInk;2;3;4\n"Paper;3\nGlue;4\nNail\x00s;5\nT\xfcr;6\n'
    job = await take.taken(data, encoding="utf-8")
    items = await take.items(job)
    told = [(item["input"]["line"], item["status"], item["reason"]) for item in items]
    assert told == [
        (2, "NOT_FOUND", "no match at catalogue"),
        (3, "ERROR", "line 3 has 4 cells, but there are 2 columns"),
        (4, "ERROR", "line 4 has a quote that is not closed"),
        (5, "NOT_FOUND", "no match at catalogue"),
        (6, "ERROR", "line 6 has a NUL character"),
        (7, "ERROR", "line 7 is not utf-8: byte 0xfc at position 2 of its line"),
    ]
    assert items[1]["input"] == {"line": 3, "excerpt": "Ink | 2 | 3 | 4"}
    counters = await take.job(job)
    assert (counters["state"], counters["total"], counters["not_found"], counters["error"]) == ("FAILED", 6, 2, 4)
    # Run again they say what to do; nothing about them can be fixed here.
    await take.conn.execute("select forebay.reprocess($1, '{ERROR}')", job)
    await take.bed.finish()
    assert (await take.items(job))[1]["reason"] == (
        "line 3 could not be read: fix it in the file and upload the file again"
    )
    assert (await take.job(job))["error"] == 4


async def test_a_workbook_becomes_items_with_the_numbers_of_its_rows(take: Taking) -> None:
    book = openpyxl.Workbook()
    page = book.active
    assert page is not None
    page.append(["Title", "Brand", "Price", "When"])
    page.append(["Pen", "Stabilo", 1.5, date(2026, 3, 1)])
    page.append([])
    page.append(["Ink\nblack", "Pelikan", "=1+1", None])
    page.append(["Glue", "Uhu", 2, None, None, "extra"])
    data = io.BytesIO()
    book.save(data)
    job = await take.taken(data.getvalue(), "book.xlsx")
    pen, ink, glue = await take.items(job)
    assert pen["input"] == {
        "line": 2, "kinds": "ssnd", "row": {"Title": "Pen", "Brand": "Stabilo", "Price": 1.5, "When": "2026-03-01"},
    }  # fmt: skip
    assert pen["normalized"] == {"fields": {"title": "Pen", "brand": "Stabilo", "price": "1.50"}, "problems": []}
    (problem,) = ink["normalized"]["problems"]
    assert (problem["field"], problem["reason"]) == ("price", FORMULA_WITHOUT_RESULT)
    assert (await take.sheet(job)).layout["warnings"] == [f"1 cell of column 'Price': {FORMULA_WITHOUT_RESULT}"]
    assert (ink["input"]["line"], ink["input"]["row"]["Title"]) == (4, "Ink\nblack")
    assert (glue["status"], glue["reason"]) == ("ERROR", "line 5 has 6 cells, but there are 4 columns")
    assert (await take.sheet(job)).layout["sheet"] == "Sheet"


async def test_rows_of_the_same_key_are_one(take: Taking) -> None:
    rows = [
        ["A-1", "Pen"],
        ["a-1 ", "Pen again"],
        ["", "no key"],
        ["", "no key"],
        ["B" * 400, "long"],
        ["B" * 400, "x"],
    ]
    job = await take.taken(table(["SKU", "Name"], *rows), key=["SKU"])
    assert [item["input"]["row"]["Name"] for item in await take.items(job)] == ["Pen", "no key", "no key", "long"]
    counters = await take.job(job)
    assert (counters["total"], counters["loaded"]) == (4, 6)


@pytest.mark.parametrize(
    ("data", "options", "reason"),
    [
        (b"%PDF-1.7 ...", {}, "the file is a PDF: only tables and images are supported"),
        (b"a,b\n1,2\n", {"key": ["c"]}, "key: there is no column 'c'; the columns are a, b"),
        (b"a,b\n1,2\n", {"columns": {"title": "x"}}, "columns.title: names the column 'x'; the columns are 'a', 'b'"),
        (b"a,b\n1,2\n", {"columns": {"color": "a"}}, "columns.color: is not a field; the fields are"),
        (b"a,b\n1,2\n", {"encoding": "klingon"}, "encoding: 'klingon' is not supported; try utf-8"),
        (b",".join(b"c%d" % n for n in range(1001)) + b"\n1\n", {}, "the file has 1001 columns; 1000 are allowed"),
        (b"x" * (5 << 20) + b"\n1\n", {}, "line 1 is longer than 4 MiB"),
    ],
    ids=["no table", "no key", "no column", "no field", "no encoding", "wide", "long"],
)
async def test_a_file_that_cannot_be_read_says_why(
    take: Taking, data: bytes, options: dict[str, Any], reason: str
) -> None:
    job = await take.taken(data, **options)
    (item,) = await take.items(job)
    assert item["status"] == "ERROR"
    assert item["reason"].startswith(reason)
    sheet = await take.sheet(job)
    assert (sheet.problem or "").startswith(reason)
    assert (await take.job(job))["state"] == "FAILED"


async def test_pictures_become_items_and_files(take: Taking) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("pens/pen.png", picture("red"))
        packed.writestr("ink.png", picture("blue"))
        packed.writestr("broken.png", picture("green")[:40])
    job = await take.taken(archive.getvalue(), "pictures.zip")
    pen, ink, broken = await take.items(job)
    assert (await take.job(job))["pipeline"] == "sheet_images"
    assert pen["input"]["image"]["name"] == "pens/pen.png"
    seen = pen["result"]["examine"]
    assert (seen["sha256"], seen["width"], seen["height"]) == (hashlib.sha256(picture("red")).hexdigest(), 64, 48)
    assert pen["normalized"]["fields"] == {"title": "pen"}
    assert ink["status"] == "NOT_FOUND"
    assert broken["status"] == "ERROR"
    assert broken["reason"].startswith("broken.png ")
    await take.conn.execute("select forebay.reprocess($1, '{ERROR}')", job)
    await take.bed.finish()
    assert (await take.items(job))[2]["reason"] == (
        f"image {broken['input']['line']} could not be read: fix it in the archive and upload the archive again"
    )
    owned = await take.conn.fetch("select f.name from forebay.file f join forebay.sheet_file s on s.file_id = f.id")
    assert sorted(row["name"] for row in owned) == ["ink.png", "pen.png", "pictures.zip"]


async def test_a_process_that_dies_costs_no_picture_and_known_ones_are_not_unpacked_again(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = row_sources.IN_CHILD.process_limits.returns  # unconfined, as it takes notes
    monkeypatch.setattr(row_sources, "IN_CHILD", limited(dying_once, memory_mb=768, sandbox=False, returns=kept))
    monkeypatch.setattr(row_sources, "_UNPACKED", 2)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        for n in range(6):
            packed.writestr(f"{n}.png", picture("red") + bytes([n]))
    async with taking(dsn, tmp_path, SheetsSettings(ingest_min_rows=1, ingest_max_rows=1)) as take:
        job = await take.taken(archive.getvalue(), "pictures.zip")
        assert [item["status"] for item in await take.items(job)] == ["NOT_FOUND"] * 6
        assert [item["input"]["line"] for item in await take.items(job)] == [1, 2, 3, 4, 5, 6]
    assert _asked(tmp_path) == ["0.png 1.png", "2.png 3.png", "2.png 3.png", "4.png 5.png"]


def _asked(folder: Path) -> list[str]:
    (notes,) = folder.rglob("*.asked")
    return notes.read_text().splitlines()


def test_pictures_are_unpacked_within_bounds() -> None:
    sizes = [1, 1, 16 << 20, 64 << 20, *[1] * 600]
    groups = list(row_sources._groups([ArchivePicture(n, str(n), size) for n, size in enumerate(sizes)]))
    assert [len(group) for group in groups] == [2, 1, 1, 512, 88]
    assert [one.number for group in groups for one in group] == list(range(604))


async def test_one_picture_is_a_file_of_one_item(take: Taking) -> None:
    job = await take.taken(picture("red"), "a red pen.png")
    (only,) = await take.items(job)
    assert only["input"]["image"]["name"] == "a red pen.png"
    assert only["normalized"]["fields"] == {"title": "a red pen"}
    job = await take.taken(picture("red"), "pen.png", catalogue="pens")
    assert (await take.sheet(job)).problem == "a catalogue is a table: these are pictures"


async def test_a_file_that_did_not_come_whole(take: Taking) -> None:
    job = await take.add(table(["a"], ["1"]))
    await take.conn.execute("delete from forebay.intake_part where start = 0")
    await take.bed.finish()
    sheet = await take.sheet(job)
    assert sheet.problem == "rows.csv is incomplete: send it again"


async def test_a_job_that_is_cancelled_takes_no_more_rows(take: Taking) -> None:
    job = await take.add(table(["a"], *([n] for n in range(100))))
    await take.conn.execute("select forebay.cancel($1)", job)
    await take.bed.finish()
    assert (await take.job(job))["total"] == 0
    sheet = await take.sheet(job)
    state = await take.conn.fetchval("select state::text from forebay.job where id = $1", sheet.intake_job_id)
    assert state == "CANCELLED"


async def test_rows_without_a_sheet(take: Taking) -> None:
    job = await take.bed.submit(sheet_rows, SheetRow(line=2, row={"Name": "Pen"}), owner="ann")
    await take.bed.finish()
    assert ((await take.bed.item(job)).error or {})["reason"] == (
        "the job has no sheet: upload a file, and its rows become items"
    )


async def test_a_file_is_handed_in_once(take: Taking) -> None:
    data, store = table(["Name"], ["Pen"]), take.blobs.store
    file = LocalFile(NewFile("a.csv", len(data)), data)
    first = await submit_file(FILES, take.conn, store, "ann", file, FileTerms("march"))
    again = await submit_file(FILES, take.conn, store, "ann", file, FileTerms("march"))
    assert (first.created, again.created, again.job_id) == (True, False, first.job_id)
    await take.bed.finish()
    assert (await take.job(first.job_id))["total"] == 1
    owner_id = await take.conn.fetchval("select forebay.owner_id('ann')")
    half = await sheets.add(take.conn, owner_id, NewFile("b.csv", len(data)), FileTerms("april"))
    await take._put(half.reference, 0, data[:5])
    with pytest.raises(ConflictError, match=r"^key: another process uploads the same file$"):
        await submit_file(FILES, take.conn, store, "ann", file, FileTerms("april"))
    await take.conn.execute("select forebay.cancel($1)", half.job_id)
    with pytest.raises(ConflictError, match=r"^key: the upload was cancelled$"):
        await submit_file(FILES, take.conn, store, "ann", file, FileTerms("april"))


async def test_columns_that_are_said_later_count_after_a_restart(take: Taking) -> None:
    job = await take.taken(table(["Stuff", "Other"], ["Pen", "Ink"]), columns={"title": "Other"})
    assert (await take.items(job))[0]["normalized"]["fields"] == {"title": "Ink"}
    sheet = await take.sheet(job)
    await sheets.change(take.conn, job, {**sheet.mapping, "fields": {"title": "Stuff"}}, ["b", "a"])
    await take.conn.execute("select forebay.reprocess($1, '{NOT_FOUND}', restart => true)", job)
    await take.bed.finish()
    assert (await take.items(job))[0]["normalized"]["fields"] == {"title": "Pen"}
    assert (await take.sheet(job)).providers == ["b", "a"]


async def test_what_is_left_of_uploads_is_cleared_away(take: Taking) -> None:
    data = table(["a"], ["1"])
    done = await take.taken(data)
    owner_id = await take.conn.fetchval("select forebay.owner_id('ann')")
    left = await sheets.add(take.conn, owner_id, NewFile("left.csv", 1000))
    await take._put(left.reference, 0, b"half")
    later = datetime.now(UTC) + timedelta(days=2)
    count, objects = await sheets.tidy(take.bed.pool, timedelta(days=1), later)
    assert count == 0
    assert len(objects) == 1
    assert objects[0].startswith(f"uploads/{left.reference}/")
    assert (await take.sheet(left.job_id)).problem == "the upload was never completed"
    await take.bed.finish()
    assert (await take.job(left.job_id))["state"] == "CANCELLED"
    await take.conn.execute("delete from forebay.item where job_id = $1", done)
    await take.conn.execute("delete from forebay.job where id = $1", done)
    count, _ = await sheets.tidy(take.bed.pool, timedelta(days=1), later)
    assert count == 1
    assert await take.conn.fetchval("select count(*) from forebay.file") == 0


async def test_of_two_requests_for_the_same_bytes_one_counts(take: Taking) -> None:
    owner_id = await take.conn.fetchval("select forebay.owner_id('ann')")
    added = await sheets.add(take.conn, owner_id, NewFile("rows.csv", 20))
    names = [await incoming.begin_part(take.conn, "sheets", added.reference, 0) or "" for _ in range(2)]
    async with take.bed.pool.acquire() as other:

        async def late() -> bool:
            async with other.transaction():
                return await incoming.end_part(other, "sheets", added.reference, FilePart(0, 10, names[1]))

        async with take.conn.transaction():
            assert await incoming.end_part(take.conn, "sheets", added.reference, FilePart(0, 10, names[0]))
            second = asyncio.create_task(late())
            async with asyncio.timeout(30):
                while not await take.bed.pool.fetchval(_WAITING):  # noqa: ASYNC110 - the server is another process
                    await asyncio.sleep(0.01)
        assert not await second
    assert (await take.sheet(added.job_id)).received == 10


async def test_a_reader_that_was_overtaken_tries_again_and_loses_nothing(
    take: Taking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another reader of the same file, which was given up, commits a batch after this one has looked how far it is."""
    reopen, pending = JobStream.reopen, [True]

    async def overtaken(self: JobStream, job_id: int) -> None:
        await reopen(self, job_id)
        if pending:
            pending.pop()
            stale = JobStream(adapter_for(take.bed.pool))
            await reopen(stale, job_id)
            await stale.send(SourceRows([b'{"line": 2, "row": {"a": "1"}}']), BatchSize())

    monkeypatch.setattr(JobStream, "reopen", overtaken)
    job = await take.taken(table(["a"], ["1"], ["2"], ["3"]))
    assert [item["input"]["line"] for item in await take.items(job)] == [2, 3, 4]
    counters = await take.job(job)
    assert (counters["total"], counters["sealed"]) == (3, True)
    reasons = await take.conn.fetch("select reason from forebay.attempt where outcome = 'ERROR'")
    assert [row["reason"].partition(":")[0] for row in reasons] == ["another worker reads the same file"]


async def test_rows_that_never_come_end_their_job(take: Taking) -> None:
    job = await take.add(table(["a"], ["1"]))
    await take.conn.execute("delete from forebay.intake_part where start = 0")
    await take.bed.finish()
    counters = await take.job(job)
    assert (counters["state"], counters["sealed"], counters["error"]) == ("FAILED", True, 1)
    assert [item["reason"] for item in await take.items(job)] == ["rows.csv is incomplete: send it again"]


async def test_an_unexpected_error_ends_the_job_with_the_last_attempt(
    take: Taking, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise ValueError("zip() argument 2 is longer")

    monkeypatch.setattr(sheet_intake, "_note_layout", broken)
    job = await take.taken(table(["a"], ["1"]))
    counters = await take.job(job)
    assert (counters["state"], counters["sealed"], counters["error"]) == ("FAILED", True, 1)
    (item,) = await take.items(job)
    expected = "an unexpected error, see the log of the worker (ValueError: zip() argument 2 is longer)"
    assert item["reason"] == expected
    assert await take.conn.fetchval("select max(attempt) from forebay.attempt where reason like 'ValueError%'") == 5


async def test_the_sheet_of_a_row_is_found_by_keys(take: Taking) -> None:
    await take.conn.execute("set plan_cache_mode = force_generic_plan")
    await take.conn.execute(f"prepare get_sheet(bigint, bigint) as {load('get_sheet')}")
    plan = "\n".join(row[0] for row in await take.conn.fetch("explain execute get_sheet(null, 1)"))
    assert "Seq Scan" not in plan
    assert "Index Cond: ((target = 'sheets'::text) AND (reference = s.id))" in plan


async def test_a_file_that_is_read_once_more_is_the_one_that_was_received(take: Taking) -> None:
    job = await take.taken(table(["a"], ["1"]))
    sheet = await take.sheet(job)
    await take.conn.execute("select forebay.reprocess($1, '{DONE}')", sheet.intake_job_id)
    await take.bed.finish()
    again = await take.sheet(job)
    assert (again.problem, again.file_id) == (None, sheet.file_id)
    assert (await take.job(job))["total"] == 1


async def test_what_was_found_wrong_is_kept_when_the_worker_is_lost_right_after(
    take: Taking, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, lost = sheets.write_read, [True]

    def breaking(sheet_id: int, problem: str | None = None) -> Any:
        if lost:
            lost.pop()
            raise TransientError("the worker is lost here")
        return write(sheet_id, problem)

    monkeypatch.setattr(sheets, "write_read", breaking)
    job = await take.taken(b"%PDF-1.7 ...")
    assert len(await take.items(job)) == 1
    assert (await take.sheet(job)).problem == "the file is a PDF: only tables and images are supported"


async def test_a_job_that_retention_has_deleted_stops_no_tidying(take: Taking) -> None:
    owner_id = await take.conn.fetchval("select forebay.owner_id('ann')")
    left = await sheets.add(take.conn, owner_id, NewFile("left.csv", 1000))
    await take.conn.execute("delete from forebay.job where id = $1", left.job_id)
    later = datetime.now(UTC) + timedelta(days=2)
    assert (await sheets.tidy(take.bed.pool, timedelta(days=1), later))[0] == 1


def picture(colour: str) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (64, 48), colour).save(data, "PNG")
    return data.getvalue()
