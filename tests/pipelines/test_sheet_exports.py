"""Exports of sheets: CSV, XLSX and JSON Lines have the cells of the grid, whatever is in them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.pipelines._sheets import OURS, Exports, Line, add_sheet, csv_cells, exporting, jsonl_cells, xlsx_cells

FOUND = {
    "title": "Kettle", "brand": "Acme", "sku": "K-1", "mpn": "M1", "gtin": "4006381333931", "price": "19.90",
    "currency": "EUR", "quantity": 3, "url": "https://shop.test/1", "image": "https://shop.test/1.png",
    "category": "Kitchen", "provider": "catalogue", "id": "77", "score": 0.93, "strategy": "gtin",
    "reasons": "same GTIN",
}  # fmt: skip
NASTY = [
    "=1+1", "+1", "-1", "@x", "\tx", "\rx", "\nx", "'=x", "''", "'", '"', '""', ",", "a,b", 'a"b', "a\nb", "a\r\nb",
    " ", "", "\\.", "\\N", "\\", "NULL", "null", "ü", "日本", "\U0001f600", "\uff1d1",
    "\uff0b1", "\uff0d1", "\uff20x", "+49 30 1", "1,5", "-1.5", "_x0041_", "<b>&amp;",
    "\x01\x02\x7f", "\x0b", "%s", "$1", "{}", "007", "1e5", "\ufeff",
]  # fmt: skip


@pytest.fixture
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


async def agree(exports: Exports, job: int) -> None:
    """The grid and all files have the same cells."""
    columns, rows = await exports.grid(job)
    shown = [columns, *([cell or "" for cell in row] for row in rows)]
    assert csv_cells(await exports.made(job, "csv")) == shown
    assert csv_cells(await exports.made(job, "csv", raw=True), raw=True) == shown
    assert xlsx_cells(await exports.made(job, "xlsx")) == shown
    assert xlsx_cells(await exports.made(job, "xlsx", raw=True), raw=True) == shown
    assert jsonl_cells(await exports.made(job, "jsonl")) == [dict(zip(columns, row, strict=True)) for row in rows]


async def test_nasty_cells(exports: Exports) -> None:
    lines = [Line({"a": text, "b": f"x{text}"}, {"title": text, "reasons": text}) for text in NASTY]
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
