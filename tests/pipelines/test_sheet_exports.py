"""Exports of sheets: CSV, XLSX and JSON Lines have the cells of the grid, whatever is in them."""

# demands: S5-05, S5-06, S5-09, S5-28

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl  # type: ignore[import-untyped]
import psycopg
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forebay.engine.db import control
from forebay.pipelines.sheets.db import grid as grids
from forebay.pipelines.sheets.exports import ExportRequest, sheet_exports
from forebay.pipelines.sheets.grid_files import GridFile
from forebay.services.spreadsheets import FileFormat, escaped, unescaped
from forebay.services.spreadsheets.csv_escaping import escape_records
from tests.pipelines._sheets import OURS, Exports, Line, add_sheet, csv_cells, exporting, jsonl_cells, xlsx_cells

FOUND = {
    "title": "Kettle", "brand": "Acme", "sku": "K-1", "mpn": "M1", "gtin": "4006381333931", "price": "19.90",
    "currency": "EUR", "quantity": 3, "url": "https://shop.test/1", "image": "https://shop.test/1.png",
    "category": "Kitchen", "provider": "catalogue", "id": "77", "score": 0.93, "strategy": "gtin",
    "reasons": "same GTIN",
}  # fmt: skip
NASTY = [
    "x;=1", "x\t=1", "a;-5;b", "a;'-x", ";",
    "=1+1", "+1", "-1", "@x", "\tx", "\rx", "\nx", "'=x", "''", "'", '"', '""', ",", "a,b", 'a"b', "a\nb", "a\r\nb",
    " ", "", "\\.", "\\N", "\\", "NULL", "null", "ü", "日本", "\U0001f600", "\uff1d1",
    "\uff0b1", "\uff0d1", "\uff20x", "+49 30 1", "1,5", "-1.5", "_x0041_", "<b>&amp;",
    "\x01\x02\x7f", "\x0b", "%s", "$1", "{}", "007", "1e5", "\ufeff",
]  # fmt: skip


@pytest_asyncio.fixture(loop_scope="session")
async def exports(dsn: str, tmp_path: Path) -> AsyncIterator[Exports]:
    async with exporting(dsn, tmp_path) as opened:
        yield opened


async def test_a_row_of_every_kind(exports: Exports) -> None:
    lines = [
        Line({"Name": "kettle", "EAN": "4006381333931"}, FOUND),
        Line({"Name": "pan", "EAN": ""}, status="NOT_FOUND", reason="no provider knows it"),
        Line(status="ERROR", reason="has 3 cells, but there are 2 columns", more={"excerpt": "a | b | c"}),
        Line({"Name": "pot", "EAN": "1"}, status="PENDING"),
        Line({"Name": "cup", "EAN": "2"}, status="SKIPPED"),
    ]
    job = await add_sheet(exports.conn, ["Name", "EAN"], lines)
    columns, rows = await exports.grid(job)
    assert columns == ["Line", "Status", "Name", "EAN", *OURS]
    nothing = [None] * 14
    assert rows == [
        ["2", "DONE", "kettle", "4006381333931", "Kettle", "Acme", "4006381333931", "K-1", "M1", "19.90", "EUR", "3",
         "Kitchen", "https://shop.test/1", "https://shop.test/1.png", "catalogue", "0.93", "same GTIN", None],
        ["3", "NOT_FOUND", "pan", "", *nothing, "no provider knows it"],
        ["4", "ERROR", None, None, *nothing, "has 3 cells, but there are 2 columns"],
        ["5", "PENDING", "pot", "1", *nothing, None],
        ["6", "SKIPPED", "cup", "2", *nothing, None],
    ]  # fmt: skip
    await agree(exports, job)


async def agree(exports: Exports, job: int, *show: str) -> None:
    """The grid and all files have the same cells."""
    columns, rows = await exports.grid(job, *show)
    shown = [columns, *([cell or "" for cell in row] for row in rows)]
    assert csv_cells(await exports.made(job, "csv", show=show)) == shown
    assert csv_cells(await exports.made(job, "csv", show=show, raw=True), raw=True) == shown
    assert xlsx_cells(await exports.made(job, "xlsx", show=show)) == shown
    lines = jsonl_cells(await exports.made(job, "jsonl", show=show))
    assert lines == [dict(zip(columns, row, strict=True)) for row in rows]


async def test_types_of_a_workbook_are_kept(exports: Exports) -> None:
    """Numbers, dates and truth of the file, and prices of ours, are such in a workbook and in JSON, as the grid shows
    them; a text that looks like one of them stays a text."""
    names = ["Name", "Price", "EAN", "VAT", "When", "Since", "In stock", "Text", "Formula"]
    row = {
        "Name": "Pen", "Price": Decimal("12.50"), "EAN": 4006381333931, "VAT": "19%", "When": "2026-03-01",
        "Since": "2026-03-01T02:00:00", "In stock": True, "Text": "12.50", "Formula": "",
    }  # fmt: skip
    job = await add_sheet(exports.conn, names, [Line(row, FOUND, more={"kinds": "snnpddbsf"})], kind="xlsx")
    await agree(exports, job)
    _, cells = await exports.grid(job)
    assert cells[0][2:11] == [
        "Pen", "12.50", "4006381333931", "19%", "2026-03-01", "2026-03-01T02:00:00", "true", "12.50", "",
    ]  # fmt: skip
    page = openpyxl.load_workbook(io.BytesIO(await exports.made(job, "xlsx"))).worksheets[0]
    values = [cell.value for cell in page[2]]
    assert values[2:11] == [
        "Pen", 12.5, 4006381333931, 0.19, datetime(2026, 3, 1), datetime(2026, 3, 1, 2), True, "12.50", None,  # noqa: DTZ001
    ]  # fmt: skip
    names = [cell.value for cell in page[1]]
    found = {name: values[names.index(name)] for name in ("Line", "Found price", "Found quantity", "Score")}
    assert found == {"Line": 2, "Found price": 19.9, "Found quantity": 3, "Score": 0.93}
    (line,) = (await exports.made(job, "jsonl")).decode().splitlines()
    told = json.loads(line)
    assert (told["Price"], told["In stock"], told["Text"], told["Found quantity"]) == (12.5, True, "12.50", 3)
    assert '"Price": 12.50' in line


async def test_what_was_read_and_its_warnings_are_columns_to_choose(exports: Exports) -> None:
    read = {
        "fields": {"title": "Pen", "price": "1.50", "currency": "EUR", "gtin": "4006381333931"},
        "problems": [
            {"field": "price", "kind": "corrected", "reason": "was taken for 1.50", "column": "Preis"},
            {"field": "url", "kind": "refused", "reason": "is no address", "column": None},
        ],
    }
    lines = [
        Line({"Name": "Pen", "Preis": "1,5"}, FOUND, read=read),
        Line({"Name": "x", "Preis": ""}, status="PENDING"),
    ]
    job = await add_sheet(exports.conn, ["Name", "Preis"], lines)
    columns, rows = await exports.grid(job, "read", "warnings")
    assert columns[4:16] == [
        "Read title", "Read brand", "Read GTIN", "Read SKU", "Read MPN", "Read price", "Read currency", "Read quantity",
        "Read category", "Read link", "Read image", "Warnings",
    ]  # fmt: skip
    shown = dict(zip(columns, rows[0], strict=True))
    assert (shown["Read title"], shown["Read price"], shown["Read GTIN"]) == ("Pen", "1.50", "4006381333931")
    assert shown["Warnings"] == "Preis: was taken for 1.50; url: is no address"
    assert rows[1][4:16] == [None] * 12
    await agree(exports, job, "read", "warnings")
    assert (await exports.grid(job, "warnings"))[0] == ["Line", "Status", "Name", "Preis", "Warnings", *OURS]
    await agree(exports, job, "warnings")


async def test_nasty_cells(exports: Exports) -> None:
    lines = [Line({"a": text, "b": f"x{text}"}, {"title": text, "category": text}) for text in NASTY]
    await agree(exports, await add_sheet(exports.conn, ["a", "b"], lines))


async def test_nasty_names(exports: Exports) -> None:
    names = [name for name in dict.fromkeys(" ".join(text.split()) for text in NASTY) if name]
    names += ["Line", "Status", "Error", "Error 2", "Score", "x" * 500, "x" * 500 + "y"]
    lines = [Line({name: f"cell {place}" for place, name in enumerate(names)})]
    job = await add_sheet(exports.conn, names, lines)
    columns, rows = await exports.grid(job)
    assert columns[:2] == ["Line 2", "Status 2"]
    assert columns[-3:] == ["Score 2", "Why", "Error 3"]
    assert columns[2 : 2 + len(names)] == names
    assert rows[0][2 : 2 + len(names)] == [f"cell {place}" for place in range(len(names))]
    await agree(exports, job)


async def test_a_thousand_columns(exports: Exports) -> None:
    names = [f"column {n}" for n in range(1000)]
    lines = [Line({name: f"{line} {name}" for name in names}, FOUND) for line in range(5)]
    await agree(exports, await add_sheet(exports.conn, names, lines))


async def test_pictures_have_their_names(exports: Exports) -> None:
    lines = [Line(image="a.png", found=FOUND), Line(image="=b.png", status="ERROR", reason="no picture")]
    job = await add_sheet(exports.conn, None, lines, kind="images", name="pictures.zip")
    columns, rows = await exports.grid(job)
    assert columns == ["Line", "Status", "Image", *OURS]
    assert [row[2] for row in rows] == ["a.png", "=b.png"]
    await agree(exports, job)


async def test_a_sheet_that_is_not_read_yet(exports: Exports) -> None:
    await agree(exports, await add_sheet(exports.conn, None, []))


async def test_a_cell_too_long_for_a_workbook_is_cut_and_counted(exports: Exports) -> None:
    long = "\U0001f600" * 200_000  # two units each, and more than csv.reader takes unless it is told to
    job = await add_sheet(exports.conn, ["a", "b"], [Line({"a": long, "b": "x" * 32_767}), Line({"a": "", "b": long})])
    export = await exports.ask(job, "xlsx")
    await exports.bed.run()
    rows = xlsx_cells(await exports.content(export))
    assert rows[1][2] == rows[2][3] == "\U0001f600" * 16_380 + "… [cut]"
    assert rows[1][3] == "x" * 32_767
    result = (await exports.bed.item(export)).result["write"]
    assert (result["rows"], result["cut"]) == (2, 2)


async def test_the_file_is_the_owners_and_named_after_the_sheet(exports: Exports) -> None:
    job = await add_sheet(exports.conn, ["a"], [Line({"a": "1"})], name="../stock 2026.xlsx")
    export = await exports.ask(job, "csv")
    await exports.bed.run()
    file = await exports.conn.fetchrow(
        """select f.name, f.media_type, o.name as owner, k.sheet_id = e.sheet_id as is_of_sheet, e.rows,
                  e.written_at is not null as is_written
           from forebay.sheet_export e join forebay.file f on f.id = e.file_id
           join forebay.sheet_file k on k.file_id = f.id join forebay.owner o on o.id = f.owner_id
           where e.job_id = $1""",
        export,
    )
    assert file is not None
    assert dict(file) == {
        "name": "stock 2026.csv",
        "media_type": "text/csv",
        "owner": "ann",
        "is_of_sheet": True,
        "rows": 1,
        "is_written": True,
    }


async def test_an_export_that_is_reprocessed_is_written_anew(exports: Exports) -> None:
    job = await add_sheet(exports.conn, ["a"], [Line({"a": "old"})])
    export = await exports.ask(job, "csv")
    await exports.bed.run()
    await exports.conn.execute(
        "update forebay.item set input = jsonb_set(input, '{row,a}', '\"new\"') where job_id = $1", job
    )
    await control.reprocess(exports.conn, export, ["DONE"], None, "ann", reset_attempts=True)
    await exports.bed.run()
    assert csv_cells(await exports.content(export))[1][2] == "new"
    assert await exports.conn.fetchval("select count(*) from forebay.file") == 1
    assert await exports.conn.fetchval("select count(*) from forebay.sheet_file") == 1


@pytest.mark.parametrize("kind", ["csv", "xlsx", "jsonl"])
async def test_it_is_of_one_moment(exports: Exports, monkeypatch: pytest.MonkeyPatch, kind: FileFormat) -> None:
    """What is written while it is being read is not in it, wherever that is."""
    monkeypatch.setattr(grids, "_STEP", 2)
    job = await add_sheet(exports.conn, ["a"], [Line({"a": f"old {n}"}) for n in range(9)])
    before = await exports.made(job, kind)
    data = bytearray()

    async def take(piece: bytes) -> None:
        data.extend(piece)

    numbers: list[tuple[int, int]] = []
    async with exports.bed.pool.acquire() as conn, grids.reading(conn, job, grids.GridSelection()) as grid:
        await exports.conn.execute(
            'update forebay.item set input = \'{"row": {"a": "new"}}\', status = \'ERROR\' where job_id = $1', job
        )
        await GridFile(grid, kind).write(take, lambda rows, upto: numbers.append((rows, upto)))
    assert bytes(data) == before
    assert numbers == [(2, 2), (4, 4), (6, 6), (8, 8), (9, 9)]


async def test_a_sheet_that_is_gone_or_anothers(exports: Exports) -> None:
    job = await add_sheet(exports.conn, ["a"], [Line({"a": "1"})])
    gone = await exports.ask(job, "csv")
    theirs = await exports.bed.submit(sheet_exports, ExportRequest(job_id=job, name="x", format="csv"), owner="bob")
    await exports.bed.finish()
    await exports.conn.execute("delete from forebay.sheet")
    await exports.conn.execute("delete from forebay.job where id = $1", job)
    later = await exports.bed.submit(sheet_exports, ExportRequest(job_id=job, name="x", format="csv"), owner="ann")
    await exports.bed.finish()
    assert (await exports.bed.item(gone)).status == "DONE"
    reasons = [((await exports.bed.item(each)).error or {})["reason"] for each in (theirs, later)]
    assert reasons == [f"the sheet was deleted: there is no job {job}"] * 2  # ids of others are not told apart


async def test_a_store_that_fails_ends_the_reading(exports: Exports, tmp_path: Path) -> None:
    """The transaction is not left open, and the export is tried again."""
    job = await add_sheet(exports.conn, ["a"], [Line({"a": "x" * 1000}) for _ in range(5000)])
    spool = exports.blobs.store.spool
    spool.parent.mkdir(parents=True, exist_ok=True)
    spool.write_text("in the way")
    export = await exports.ask(job, "csv")
    await exports.bed.run()
    assert (await exports.bed.item(export)).status == "PENDING"
    idle = await exports.conn.fetchval(
        "select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'"
    )
    assert idle == 0
    spool.unlink()
    await exports.bed.finish()
    assert len(csv_cells(await exports.content(export))) == 5001


_TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
_LEADING = st.builds(str.__add__, st.text("';=+-@\t\r\n\uff1d\uff0b\uff0d\uff20019.,", max_size=9), _TEXTS)


@given(texts=st.lists(_TEXTS | _LEADING, min_size=1, max_size=50))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_files_of_the_database_are_escaped_as_everything_else_is(
    database: psycopg.Connection[Any], texts: list[str]
) -> None:
    rows = "select place, '-5', t from unnest(%s::text[]) with ordinality o(t, place)"
    with database.cursor() as cursor, cursor.copy(f"copy ({rows}) to stdout (format csv)", [texts]) as pieces:
        block = b"".join(pieces)
    made = list(csv.reader(io.StringIO(escape_records(block).decode(), newline="")))
    assert made == [[str(place), "-5", escaped(text)] for place, text in enumerate(texts, 1)]
    assert [unescaped(cell) for _, _, cell in made] == texts
    by_database = database.execute(f"select forebay.harmless(t) from ({rows}) o order by place", [texts])
    assert [cell for (cell,) in by_database] == [escaped(text) for text in texts]


@pytest.fixture
def database(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, cursor_factory=psycopg.ClientCursor) as conn:
        yield conn


def test_records_that_need_no_escape_stay_as_they_are() -> None:
    block = b'1,a,"b, -c;",,""\n2,it\'s,"x""y","a\nb",\n'
    assert escape_records(block) is block
    # Of the others, only the cells that need it change: an empty text stays quoted.
    assert escape_records(block + b'3,"",-x,"=""\n",\n4,-5,a,,\n') == block + b'3,"",\'-x,"\'=""\n",\n4,-5,a,,\n'
