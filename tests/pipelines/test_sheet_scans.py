"""Files out of declared sources: each content once, whoever scans, and however often."""

# demands: S5-01, S5-88

from __future__ import annotations

import random
import string
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from forebay.errors import TransientError
from forebay.intake.db import FileTerms, NewFile
from forebay.intake.scans import ScanRequest
from forebay.intake.sources import take as take_file
from forebay.pipelines.sheets.db import sheets
from forebay.pipelines.sheets.files import FILES
from forebay.pipelines.sheets.intake import sheet_scans
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.services.sources.folder import FolderSource
from tests.pipelines._intake import Taking, table, taking

DROP = """
name = "drop"
url = "file://{folder}"
owner = "ann"
patterns = ["*.csv", "*.zip"]
settle_s = 0
after = "{after}"
schedule = "0 0 1 1 *"

[sheet]
columns = {{ title = "Name" }}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "drop"
    made.mkdir()
    (tmp_path / "sources").mkdir()
    return made


def declare(folder: Path, after: str = "keep") -> SheetsSettings:
    sources = folder.parent / "sources"
    (sources / "drop.toml").write_text(DROP.format(folder=folder, after=after))
    return SheetsSettings(sources=sources, roots=str(folder.parent))


def put(folder: Path, name: str, data: bytes) -> None:
    (folder / name).write_bytes(data)


@pytest_asyncio.fixture(loop_scope="session")
async def take(dsn: str, tmp_path: Path, folder: Path) -> AsyncIterator[Taking]:
    async with taking(dsn, tmp_path, declare(folder)) as taken:
        yield taken


async def scanned(take: Taking, source: str = "drop") -> dict[str, Any]:
    job = await take.bed.submit(sheet_scans, ScanRequest(source=source), owner="ann")
    await take.bed.finish()
    item = await take.bed.item(job)
    return dict(item.result.get("scan") or {"reason": (item.error or {}).get("reason")})


async def names(take: Taking) -> list[tuple[str, int]]:
    rows = await take.conn.fetch(
        "select s.name, j.total from forebay.sheet s join forebay.job j on j.id = s.job_id order by s.id"
    )
    return [(row["name"], row["total"]) for row in rows]


async def test_each_content_is_taken_once(take: Taking, folder: Path) -> None:
    put(folder, "a.csv", table(["Name"], ["Pen"]))
    put(folder, "b.csv", table(["Name"], ["Ink"], ["Glue"]))
    put(folder, "notes.txt", b"not asked for")
    first = await scanned(take)
    assert (first["taken"], first["known"], first["unsettled"]) == (2, 0, 0)
    assert sorted(await names(take)) == [("a.csv", 1), ("b.csv", 2)]
    again = await scanned(take)
    assert (again["taken"], again["known"]) == (0, 2)
    put(folder, "a.csv", table(["Name"], ["Pen"], ["Pencil"], ["Paper"]))
    assert (await scanned(take))["taken"] == 1
    assert sorted(await names(take)) == [("a.csv", 1), ("a.csv", 3), ("b.csv", 2)]
    owners = await take.conn.fetch(
        "select distinct o.name from forebay.sheet s join forebay.owner o on o.id = s.owner_id"
    )
    assert [row["name"] for row in owners] == ["ann"]


async def test_a_file_that_was_cut_off_is_continued_by_the_next_attempt(
    take: Taking, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is stored without a second copy: nothing is left of the partial file."""
    offsets: list[int] = []
    read = FolderSource._read

    async def cut_off(self: FolderSource, path: str, version: str, offset: int) -> AsyncGenerator[bytes, None]:
        offsets.append(offset)
        async with aclosing(read(self, path, version, offset)) as chunks:
            async for chunk in chunks:
                if len(offsets) > 2:
                    yield chunk
                    continue
                if len(offsets) == 1:
                    yield chunk[:40]
                raise TransientError("the connection broke")

    monkeypatch.setattr(FolderSource, "_read", cut_off)
    put(folder, "a.csv", table(["Name", "Price"], *([f"Pen {n}", "1.50"] for n in range(50))))
    assert (await scanned(take))["taken"] == 1
    assert (await names(take), offsets) == ([("a.csv", 50)], [0, 40, 40])
    assert [each for each in take.blobs.store.spool.rglob("*") if each.is_file()] == []


async def test_a_content_that_stays_is_not_taken_again_when_its_job_is_old(take: Taking, folder: Path) -> None:
    put(folder, "a.csv", table(["Name"], ["Pen"]))
    assert (await scanned(take))["taken"] == 1
    await take.conn.execute("delete from forebay.item")
    await take.conn.execute("delete from forebay.job")
    later = datetime.now(UTC) + timedelta(days=40)
    assert (await sheets.tidy(take.bed.pool, timedelta(days=1), later))[0] == 1
    again = await scanned(take)
    assert (again["taken"], again["known"]) == (0, 1)


async def test_content_that_came_later_is_not_deleted_unread(dsn: str, tmp_path: Path, folder: Path) -> None:
    """Of a file that was asked for by its path, and changed once it was fetched."""
    put(folder, "a.csv", table(["Name"], ["Pen"]))
    async with taking(dsn, tmp_path, declare(folder, "delete")) as take:
        new = NewFile("a.csv", None, {}, "drop", "a.csv", "asked 1")
        await take_file(FILES, take.conn, "ann", new, FileTerms(), paused=False, actor="ann")
        await take.conn.execute("update forebay.queue set paused = true where name = 'sheet_intake.clean_up'")
        await take.bed.run()
        put(folder, "a.csv", table(["Name"], ["Pen"], ["Ink"]))
        await take.conn.execute("update forebay.queue set paused = false")
        await take.bed.finish()
    assert (folder / "a.csv").read_bytes() == table(["Name"], ["Pen"], ["Ink"])


async def test_what_was_taken_is_deleted_or_moved(dsn: str, tmp_path: Path, folder: Path) -> None:
    put(folder, "a.csv", table(["Name"], ["Pen"]))
    async with taking(dsn, tmp_path, declare(folder, "move")) as take:
        await scanned(take)
    left = [path.relative_to(folder) for path in folder.glob("**/*") if path.is_file()]  # noqa: ASYNC240
    assert [path.parent for path in left] == [Path("taken")]


async def test_a_file_that_cannot_be_read_keeps_no_other_from_being_taken(take: Taking, folder: Path) -> None:
    put(folder, "a.csv", b"%PDF-1.7")
    put(folder, "b.csv", table(["Name"], ["Ink"]))
    assert (await scanned(take))["taken"] == 2
    problems = await take.conn.fetch("select name, problem from forebay.sheet order by name")
    assert [tuple(row) for row in problems] == [
        ("a.csv", "the file is a PDF: only tables and images are supported"),
        ("b.csv", None),
    ]


async def test_a_file_that_changed_since_is_refused_and_taken_by_the_next_scan(take: Taking, folder: Path) -> None:
    put(folder, "a.csv", table(["Name"], ["Pen"]))
    await take.conn.execute("update forebay.queue set paused = true where name = 'sheet_intake.receive'")
    assert (await scanned(take))["taken"] == 1
    put(folder, "a.csv", table(["Name"], ["Pen"], ["Ink"]))
    await take.conn.execute("update forebay.queue set paused = false")
    assert (await scanned(take))["taken"] == 1
    found = await take.conn.fetch(
        """select f.problem, j.error, j.total from forebay.intake_file f join forebay.job j on j.id = f.job_id
           order by f.reference"""
    )
    assert [(row["error"], row["total"]) for row in found] == [(1, 1), (0, 2)]
    assert "a.csv has changed" in found[0]["problem"]


async def test_a_source_that_is_not_declared_holds_up_no_other(take: Taking, folder: Path) -> None:
    put(folder, "a.csv", table(["Name"], ["Pen"]))
    missing = await scanned(take, "nowhere")
    assert (
        missing["reason"]
        == "there is no source 'nowhere': declare it in the folder FOREBAY_SHEETS_SOURCES, or enable it"
    )
    assert (await scanned(take))["taken"] == 1


async def test_schedules_are_made_for_sources_that_have_one(take: Taking) -> None:
    row = await take.conn.fetchrow("select cron, input::text as input from forebay.schedule where name = 'scan drop'")
    assert row is not None
    assert (row["cron"], row["input"]) == ("0 0 1 1 *", '{"source": "drop"}')


async def test_options_that_cannot_be_are_told_by_the_scan(dsn: str, tmp_path: Path, folder: Path) -> None:
    declared = declare(folder)
    path = folder.parent / "sources" / "drop.toml"
    path.write_text(path.read_text().replace("columns =", "colums ="))
    async with taking(dsn, tmp_path, declared) as take:
        told = await scanned(take)
        assert told["reason"] == "source drop: sheet.colums: Extra inputs are not permitted"


async def test_a_declaration_that_is_wrong_stops_no_other_source(
    dsn: str, tmp_path: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    declared = declare(folder)
    (tmp_path / "sources" / "bad.toml").write_text('name = "bad"\nowner = "ann"\n')
    put(folder, "a.csv", table(["Name"], ["Pen"]))
    async with taking(dsn, tmp_path, declared) as take:
        assert caplog.text.count("sources_declared_wrongly") == 1
        told = await scanned(take, "bad")
        assert told["reason"] == "declarations of sources are invalid:\nbad.toml: url: Field required"
        assert (await scanned(take))["taken"] == 1
        schedules = await take.conn.fetch("select name from forebay.schedule")
        assert [row["name"] for row in schedules if row["name"].startswith("scan ")] == ["scan drop"]


async def test_the_schedules_of_sources_remain_while_their_declarations_cannot_be_read(
    dsn: str, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = declare(folder)
    async with taking(dsn, tmp_path, declared):
        pass
    for turn, folder_of_sources, kept in ((1, tmp_path / "not mounted", ["scan drop"]), (2, tmp_path / "none", [])):
        monkeypatch.setattr(sheet_scans, "schedules", [])  # as in a process that starts
        (tmp_path / "none").mkdir(exist_ok=True)
        settings = declared.model_copy(update={"sources": folder_of_sources})
        async with taking(dsn, tmp_path, settings) as take:
            take.bed.clock.advance(120 * turn)
            await take.bed.worker._sweeper.tidy()
            schedules = await take.conn.fetch("select name from forebay.schedule where name like 'scan %'")
            assert [row["name"] for row in schedules] == kept


async def test_a_path_of_any_length_is_taken_once(take: Taking) -> None:
    chosen = random.Random(5)  # what repeats itself would be packed, and fit into an index
    path = "/".join("".join(chosen.choices(string.ascii_letters + string.digits, k=199)) for _ in range(20))
    new = NewFile(path[-500:], 1, {}, "drop", path, "v1")
    offered = [new, new, replace(new, version="v2"), replace(new, path=f"{path}x")]
    added = [
        await take_file(FILES, take.conn, "ann", each, FileTerms(), paused=False, actor="scan") for each in offered
    ]
    assert [each.created for each in added] == [True, False, True, True]
