"""Workbooks that other programs have written, with number formats, dates of both epochs, truth, errors, merged cells
and strings of every kind, all say the same.

The files of `tests/corpus/workbooks` are named after the programs that wrote them.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import openpyxl  # type: ignore[import-untyped]
import pytest

from forebay.pipelines.sheets.reading import Looked, SheetOptions, look, read_batch
from forebay.pipelines.sheets.workbook_reading import write_out
from forebay.services.products import normalize
from forebay.services.spreadsheets import XlsxLayout

FILES = sorted((Path(__file__).parents[1] / "corpus" / "workbooks").glob("*.xlsx"))

COLUMNS = ["Title", "Price", "EAN", "VAT", "When", "Since", "Time", "In stock", "Error", "Note", "Sum"]
PEN: dict[str, Any] = {
    "Title": 'Pen & "Ink" <1>', "Price": 12.5, "EAN": "0012345678905", "VAT": "19%", "When": "2026-03-01",
    "Since": "2026-03-01T18:30:00", "Time": "18:00:00", "In stock": True, "Error": "#N/A", "Note": "rich text",
    "Sum": 25,
}  # fmt: skip
MUG: dict[str, Any] = {"Title": "Mug ü €", "Price": 1.459, "EAN": 4006381333931, "In stock": False}


def _rows(path: Path, folder: Path) -> tuple[Looked, list[dict[str, Any]]]:
    looked = look(path, SheetOptions())
    assert isinstance(looked.layout, XlsxLayout)
    layout = write_out(path, looked.layout, folder / "rows.csv", 1 << 24)
    assert layout.warnings == []
    batch = read_batch(folder / "rows.csv", layout, None, 100, 1 << 20, [])
    assert batch.faults == {}
    return looked, [json.loads(each) for each in batch.data]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_another_program_wrote(path: Path, tmp_path: Path) -> None:
    looked, (pen, mug, merged) = _rows(path, tmp_path)
    assert looked.columns == COLUMNS
    assert (pen["line"], pen["kinds"], pen["row"]) == (2, "snspdddbssn", PEN)
    assert (mug["line"], mug["kinds"], mug["row"]) == (3, "snnssssb", {name: MUG.get(name, "") for name in COLUMNS})
    assert (merged["line"], merged["row"]["Title"], merged["row"]["Price"]) == (4, "merged", "")
    prices = [normalize(each["row"], looked.mapping).fields["price"] for each in (pen, mug)]
    assert [float(price) for price in prices] == [12.5, 1.459]


def test_what_openpyxl_writes(tmp_path: Path) -> None:
    """Its dates and truth are written in other ways than those of the others."""
    book = openpyxl.Workbook()
    book.iso_dates = True
    page = book.active
    assert page is not None
    page.append(["Title", "Price", "When", "Since", "In stock", "Error"])
    moment = datetime.datetime(2026, 3, 1, 18, 30)  # noqa: DTZ001 - sheets know no zones
    page.append(["Pen", 12.5, datetime.date(2026, 3, 1), moment, True, "#N/A"])
    page["B2"].number_format = "0.00"
    page.merge_cells("A3:C3")
    page["A3"] = "merged"
    book.save(tmp_path / "book.xlsx")
    _, (pen, merged) = _rows(tmp_path / "book.xlsx", tmp_path)
    assert pen["row"] == {
        "Title": "Pen", "Price": 12.5, "When": "2026-03-01", "Since": "2026-03-01T18:30:00", "In stock": True,
        "Error": "#N/A",
    }  # fmt: skip
    assert pen["kinds"] == "snddb"
    assert merged["row"]["Title"] == "merged"


def test_there_are_files_of_other_programs() -> None:
    assert len(FILES) >= 3
