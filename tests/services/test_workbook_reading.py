"""Workbooks as rows of JSON: numbers stay numbers, and prices are what the cells say."""

from __future__ import annotations

import io
import json
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl  # type: ignore[import-untyped]
import pytest

from forebay.errors import DataError
from forebay.pipelines.sheets.reading import ReadBatch, SheetOptions, look, read_batch
from forebay.pipelines.sheets.workbook_reading import WrittenOut, write_out
from forebay.services.products import normalize
from forebay.services.spreadsheets import CsvLayout, XlsxLayout
from tests.services.spreadsheets._tables import workbook

_MUCH = 1 << 30


def _book(*rows: list[Any], formats: dict[str, str] | None = None) -> bytes:
    book = openpyxl.Workbook()
    page = book.active
    assert page is not None
    for row in rows:
        page.append(row)
    for place, code in (formats or {}).items():
        page[place].number_format = code
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def _written(folder: Path, data: bytes, most: int = _MUCH) -> tuple[Path, WrittenOut]:
    path, target = folder / "book.xlsx", folder / "rows.csv"
    path.write_bytes(data)
    layout = look(path, SheetOptions()).layout
    assert isinstance(layout, XlsxLayout)
    return target, write_out(path, layout, target, most)


def _batch(folder: Path, data: bytes) -> ReadBatch:
    target, layout = _written(folder, data)
    return read_batch(target, layout, None, 1000, 1 << 24, [])


def _inputs(folder: Path, data: bytes) -> list[dict[str, Any]]:
    return [json.loads(each) for each in _batch(folder, data).data]


def test_cells_keep_their_kinds(tmp_path: Path) -> None:
    formats = {"B2": "0.00", "C2": "0000000000000", "D2": "0%", "E2": "yyyy-mm-dd"}
    data = _book(
        ["Name", "Price", "EAN", "VAT", "When", "In stock", "Note"],
        ["Pen", 12.5, 12345678905, 0.19, date(2026, 3, 1), True, "12.50"],
        ["Ink", 1e30, None, None, None, None, None],
        formats=formats,
    )
    pen, ink = _inputs(tmp_path, data)
    assert pen == {
        "line": 2,
        "kinds": "snspdb",
        "row": {
            "Name": "Pen", "Price": 12.5, "EAN": "0012345678905", "VAT": "19%", "When": "2026-03-01", "In stock": True,
            "Note": "12.50",
        },
    }  # fmt: skip
    assert ink["row"]["Price"] == "1e+30"
    assert b'"Price": 12.50,' in _batch(tmp_path, data).data[0]


def test_three_digits_after_the_point_are_no_thousands_in_a_number_cell(tmp_path: Path) -> None:
    data = _book(["Title", "Price"], ["Pen", 1.459], ["Ink", 1.539], ["Glue", 1234.567], ["Cap", "1.459"])
    (tmp_path / "book.xlsx").write_bytes(data)
    mapping = look(tmp_path / "book.xlsx", SheetOptions()).mapping
    assert mapping.fields == {"title": "Title", "price": "Price"}
    prices = [normalize(one["row"], mapping).fields["price"] for one in _inputs(tmp_path, data)]
    assert [float(price) for price in prices[:3]] == [1.459, 1.539, 1234.567]
    assert prices[3] == "1459.00"  # a text, which is read as before


def test_formulas_without_a_result_are_told(tmp_path: Path) -> None:
    data = _book(["Title", "Price", "Sum"], ["Pen", "=1+1", 3], ["Ink", "=B2*2", "=1"], ["Glue", 5, 6])
    _, layout = _written(tmp_path, data)
    assert layout.no_result == {"Price": 2, "Sum": 1}
    advice = "open the file in a spreadsheet program, save it there, and upload it again"
    assert layout.warnings == [
        f"2 cells of column 'Price': a formula without a saved result is read as empty; {advice}",
        f"1 cell of column 'Sum': a formula without a saved result is read as empty; {advice}",
    ]
    assert [one.get("kinds") for one in _inputs(tmp_path, data)] == ["sfn", "sff", "snn"]


def test_a_table_whose_columns_are_called_like_ours_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("line,fault,kinds,name\nfirst,none,s,Pen\n")
    found = look(path, SheetOptions())
    assert isinstance(found.layout, CsvLayout)
    (data,) = read_batch(path, found.layout, None, 10, 1 << 20, []).data
    assert json.loads(data)["row"] == {"line": "first", "fault": "none", "kinds": "s", "name": "Pen"}


def test_a_row_too_long_for_what_comes_between_keeps_its_number(tmp_path: Path) -> None:
    cell = '<c t="inlineStr"><is><t>{}</t></is></c>'
    rows = [cell.format("Name"), cell.format("Pen"), cell.format("é" * 3_000_000), cell.format("Ink")]
    batch = _batch(tmp_path, workbook("".join(f"<row>{row}</row>" for row in rows)))
    assert [json.loads(each)["line"] for each in batch.data] == [2, 3, 4]
    assert batch.faults == {1: "line 3 is longer than 4 MiB"}


def test_strings_that_cells_share_are_counted_for_each_of_them(tmp_path: Path) -> None:
    """2 KB of workbook would be 20 MB of rows, and a little more of it terabytes."""
    rows = '<row><c t="inlineStr"><is><t>Name</t></is></c></row>' + '<row><c t="s"><v>0</v></c></row>' * 200
    data = workbook(rows, strings=f"<si><t>{'x' * 100_000}</t></si>")
    assert len(data) < 3000
    with pytest.raises(DataError) as refused:
        _written(tmp_path, data, 10_000_000)
    assert str(refused.value) == (
        "the rows of the file take more than 10000000 bytes, the maximum for a file of "
        f"{len(data)} bytes (FOREBAY_SHEETS_MAX_READ_BYTES at most): split the file"
    )
    assert (tmp_path / "rows.csv").stat().st_size <= 10_000_000
