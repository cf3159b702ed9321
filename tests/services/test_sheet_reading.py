"""Files of rows as the sheets pipeline reads them, without its processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forebay.errors import DataError
from forebay.pipelines.sheets.reading import SheetOptions, look, read_batch
from forebay.pipelines.sheets.workbook_reading import write_out
from forebay.services.spreadsheets import XlsxLayout
from tests.services.spreadsheets._tables import workbook


def _read(path: Path, layout: Any) -> list[Any]:
    batch = read_batch(path, layout, None, 100, 1 << 20, [])
    assert not batch.faults
    return [json.loads(each) for each in batch.data]


def test_columns_called_line_and_fault_are_columns(tmp_path: Path) -> None:
    path = tmp_path / "faults.csv"
    path.write_text("line,fault,machine\none,jam,A\ntwo,,B\n")
    looked = look(path, SheetOptions())
    assert _read(path, looked.layout) == [
        {"line": 2, "row": {"line": "one", "fault": "jam", "machine": "A"}},
        {"line": 3, "row": {"line": "two", "fault": "", "machine": "B"}},
    ]


def test_a_workbook_that_was_written_out_keeps_its_lines(tmp_path: Path) -> None:
    path, target = tmp_path / "rows.xlsx", tmp_path / "rows.csv"
    path.write_bytes(workbook(f'<row r="1">{_text("line", "fault")}</row><row r="4">{_text("x", "jam")}</row>'))
    found = look(path, SheetOptions()).layout
    assert isinstance(found, XlsxLayout)
    layout = write_out(path, found, target, 1 << 20)
    assert _read(target, layout) == [{"line": 4, "row": {"line": "x", "fault": "jam"}}]


def _text(*cells: str) -> str:
    return "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in cells)


@pytest.mark.parametrize("content", ["just text without any table", "name,price\n", "name,price\n\n,\n"])
def test_a_header_without_rows_is_a_problem(tmp_path: Path, content: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(content)
    with pytest.raises(
        DataError, match="the file has a header but no rows; set header=false if the first line is a row"
    ):
        look(path, SheetOptions())
    assert look(path, SheetOptions(header=False)).columns[0] == "column 1"


def test_names_of_columns_that_are_stored_with_each_row_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"{'x' * 140_000},b\n1,2\n")
    with pytest.raises(DataError) as refused:
        look(path, SheetOptions(header=True))
    assert str(refused.value) == "the names of the columns have 140001 characters; 131072 are allowed: shorten them"
