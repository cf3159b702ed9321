"""What is written is read back the same, in CSV and in XLSX, and no spreadsheet takes it for a formula."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

import openpyxl  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.errors import DataError
from forebay.services.spreadsheets import cell_text, escaped, look_at, read_rows, unescaped
from forebay.services.spreadsheets.cells import DateTimeText, Percent, number_text
from forebay.services.spreadsheets.writing import CsvFile
from forebay.services.spreadsheets.xlsx_writing import CUT, MAX_TEXT, XlsxFile, letters
from tests.services.spreadsheets._tables import file, good

Tabular = Literal["csv", "xlsx"]


def _made(kind: Tabular, columns: Sequence[str], rows: list[Any], *, escape: bool = True) -> bytes:
    made = CsvFile(columns, escape=escape) if kind == "csv" else XlsxFile(columns)
    return made.write(rows[:1]) + made.write(rows[1:]) + made.close()


def _page(data: bytes) -> Any:
    """The first sheet, as another program reads it."""
    return openpyxl.load_workbook(io.BytesIO(data)).worksheets[0]


_VALUES = [
    ("text", "text"),
    ("  spaces\tand\nlines\r\n", "  spaces\tand\nlines\r\n"),
    ("<&>\"'_x0041_ \x01\x1f\ufffe", "<&>\"'_x0041_ \x01\x1f\ufffe"),
    ("0012345678905", "0012345678905"),
    ("a\0b\ud800c", "a\ufffdb\ufffdc"),
    (None, ""),
    (True, "true"),
    (-12, "-12"),
    (12.5, "12.5"),
    (3.0, "3"),
    (1e-7, "1e-7"),
    (0.00001, "0.00001"),
    (1e21, "1e+21"),
    (1.5e20, "150000000000000000000"),
    (0.1 + 0.2, "0.30000000000000004"),
    (4006381333931, "4006381333931"),
    (10**30, "1" + "0" * 30),
    (float("nan"), "NaN"),
    (float("-inf"), "-Infinity"),
    (Decimal("12.50"), "12.50"),
    (date(2024, 2, 29), "2024-02-29"),
    (datetime(2024, 2, 29, 12, tzinfo=UTC), "2024-02-29T12:00:00+00:00"),
    ({"a": [1, "é"]}, '{"a": [1, "é"]}'),
]


@pytest.mark.parametrize(("value", "text"), _VALUES)
@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_values_are_the_same_text_everywhere(kind: Tabular, value: object, text: str) -> None:
    assert cell_text(value) == text
    assert good(_made(kind, ["a", "key"], [(value, "x")]), header=True) == [{"a": text, "key": "x"}]


_FORMULAS = {
    "=1+1": "'=1+1", "+x": "'+x", "-x": "'-x", "@x": "'@x", "\tx": "'\tx", "\rx": "'\rx", "\nx": "'\nx",
    "\uff1dx": "'\uff1dx", "'=x": "''=x", "-1+cmd|' /C calc'!A0": "'-1+cmd|' /C calc'!A0",
    # Where lists are separated by semicolons, or by tabs, a cell is divided there.
    'x;=HYPERLINK("http://a.test";"b")': 'x;\'=HYPERLINK("http://a.test";"b")',
    "x\t=1": "x\t'=1", ";=1;@a": ";'=1;'@a", "a;'=1": "a;''=1", "\t=1": "'\t'=1", "1;\uff1d1": "1;'\uff1d1",
    "-5;-6": "'-5;-6", "a;-5x": "a;'-5x", "a;-5\n": "a;'-5\n",
}  # fmt: skip


@pytest.mark.parametrize(("text", "harmless"), _FORMULAS.items())
def test_formulas_are_made_harmless_in_csv(text: str, harmless: str) -> None:
    data = _made("csv", ["a", "b"], [(text, 1)])
    assert good(data, header=True, delimiter=",")[0]["a"] == harmless
    assert unescaped(harmless) == text
    raw = _made("csv", ["a", "b"], [(text, 1)], escape=False)
    assert good(raw, header=True, delimiter=",")[0]["a"] == text


@pytest.mark.parametrize("text", [*_FORMULAS, "+49 30 1234", "- none"])
def test_a_text_in_a_workbook_is_no_formula_and_stays(text: str) -> None:
    data = _made("xlsx", ["=a", "b"], [(text, 1)])
    assert good(data, header=True) == [{"=a": text, "b": "1"}]
    cell = _page(data)["A2"]
    assert (cell.data_type, cell.value) == ("s", text.replace("\r", "_x000D_"))


@pytest.mark.parametrize(
    "value", ["-5", "+49", "-1.234,50", -5, -0.5, "it's", "'quoted'", "", "a; =b", "a;-5;+1,5", "a;b", "a\t7"]
)
def test_what_is_no_formula_stays(value: object) -> None:
    text = cell_text(value)
    assert escaped(text) == text
    assert unescaped(text) == text


def test_headers_are_escaped_too() -> None:
    assert look_at(file(_made("csv", ["=x", "b"], [("a", 1)])), header=True).columns == ("'=x", "b")


_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12) | st.text(
    ";\t'=+-@15.,x\n", max_size=8
)
_value = st.one_of(_text, st.integers(), st.floats(allow_nan=False), st.booleans(), st.none())


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
@given(rows=st.lists(st.tuples(_value, _value, st.just("x")), max_size=8))
def test_what_is_written_is_read_back(kind: Tabular, rows: list[tuple[object, ...]]) -> None:
    expected = [dict(zip(("a", "b", "c"), map(cell_text, row), strict=True)) for row in rows]
    assert good(_made(kind, ["a", "b", "c"], rows, escape=False), header=True) == expected
    found = [list(one.values()) for one in good(_made(kind, ["a", "b", "c"], rows), header=True)]
    texts = found if kind == "xlsx" else [list(map(_unescaped, one, row)) for one, row in zip(found, rows, strict=True)]
    assert texts == [list(one.values()) for one in expected]


def _unescaped(cell: str, value: object) -> str:
    return unescaped(cell) if isinstance(value, str) else cell


@given(_text)
def test_escaping_can_be_undone(text: str) -> None:
    assert unescaped(escaped(text)) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_keep_their_value(value: float) -> None:
    assert float(number_text(value)) == value


def test_the_same_rows_make_the_same_bytes() -> None:
    rows = [(n, f"text {n}") for n in range(1000)]
    assert _made("xlsx", ["a", "b"], rows) == _made("xlsx", ["a", "b"], rows)


@pytest.mark.parametrize(
    ("value", "cell", "code"),
    [
        (12.5, 12.5, "General"),
        (Decimal("12.50"), 12.5, "0.00"),
        (Decimal("1299.00"), 1299.0, "0.00"),
        (Decimal("1.4590"), 1.459, "0.0000"),
        (Decimal("1299.9"), 1299.9, "General"),
        (4006381333931, 4006381333931, "0"),
        (1234567890123456, "1234567890123456", "General"),  # a spreadsheet would lose its last digit
        (Decimal("0.10"), 0.1, "0.00"),
        (Percent("0.19"), 0.19, "0%"),
        (Percent("0.0725"), 0.0725, "0.00%"),
        (True, True, "General"),
        (date(2024, 2, 29), datetime(2024, 2, 29), "yyyy\\-mm\\-dd"),  # noqa: DTZ001 - sheets know no zones
        (DateTimeText("2024-02-29T18:00:00"), datetime(2024, 2, 29, 18), "yyyy\\-mm\\-dd\\Thh:mm:ss"),  # noqa: DTZ001
        (DateTimeText("36:30:00"), timedelta(hours=36, minutes=30), "[hh]:mm:ss"),
        (DateTimeText("1899-01-01"), "1899-01-01", "General"),
        (DateTimeText("soon"), "soon", "General"),
        ("7", "7", "General"),
    ],
)  # fmt: skip
def test_values_keep_their_types_and_what_people_see(value: object, cell: object, code: str) -> None:
    """openpyxl is the other program here: it tells dates and times by the format of their numbers."""
    found = _page(_made("xlsx", ["a"], [(value,)]))["A2"]
    assert (found.value, type(found.value), found.number_format) == (cell, type(cell), code)


@pytest.mark.parametrize(
    "text",
    [
        "1900-01-01", "1900-02-28", "1900-03-01", "2026-03-01", "9999-12-31", "2026-03-01T12:34:56",
        "2026-03-01T12:34:56.789", "00:00:01", "-12:00:00",
    ],
)  # fmt: skip
def test_moments_are_read_back(text: str) -> None:
    assert good(_made("xlsx", ["a", "b"], [(DateTimeText(text), "x")]), header=True) == [{"a": text, "b": "x"}]


def test_a_workbook_is_ready_to_work_with() -> None:
    """Columns as wide as what is in them, a header that stays, and filters."""
    page = _page(_made("xlsx", ["a", "name"], [("x" * 30, "y"), ("z" * 500, None)]))
    assert (page.freeze_panes, page.auto_filter.ref) == ("A2", "A1:B3")
    assert [page.column_dimensions[letter].width for letter in "AB"] == [62, 8]


@pytest.mark.parametrize("letter", ["x", "😀"])
def test_long_texts_are_cut_and_say_so(letter: str) -> None:
    units = len(letter.encode("utf-16-le")) // 2
    whole, long = letter * (MAX_TEXT // units), letter * (MAX_TEXT // units + 1)
    found = good(_made("xlsx", ["a", "b"], [(whole, long)]))[0]
    assert found["a"] == whole
    assert found["b"].endswith(letter + CUT)
    assert MAX_TEXT - 1 <= len(found["b"].encode("utf-16-le")) // 2 <= MAX_TEXT
    assert good(_made("csv", ["a", "b"], [(whole, long)]))[0]["b"] == long


def test_rows_that_a_sheet_cannot_hold_go_to_the_next() -> None:
    made = XlsxFile(["n", "text"], sheet="Rows", max_rows=11)
    data = made.write((n, "x") for n in range(25)) + made.close()
    assert look_at(file(data)).model_dump()["sheets"] == ("Rows", "Rows 2", "Rows 3")
    found = [good(data, sheet=sheet, header=True) for sheet in ("Rows", "Rows 2", "Rows 3")]
    assert [len(rows) for rows in found] == [10, 10, 5]
    assert [row["n"] for rows in found for row in rows] == [str(n) for n in range(25)]


def test_too_many_columns() -> None:
    with pytest.raises(DataError, match="16385 columns exceed the maximum of 16384 of a sheet: export CSV"):
        XlsxFile(["x"] * 16_385)
    assert [letters(number) for number in (0, 25, 26, 701, 702, 16_383)] == ["A", "Z", "AA", "ZZ", "AAA", "XFD"]


def test_csv_for_other_programs() -> None:
    assert CsvFile(["a", "b"], mark=False).close() == b"a,b\r\n"
    assert CsvFile(["a", "b"]).close() == b"\xef\xbb\xbfa,b\r\n"


def test_pieces_come_while_rows_do() -> None:
    made = CsvFile(["n", "t"])
    assert [made.write([(n, "=é")]) for n in range(2)] == ["\ufeffn,t\r\n0,'=é\r\n".encode(), "1,'=é\r\n".encode()]
    source = file(_made("xlsx", ["n", "t"], [(n, "=é") for n in range(3)]))
    with read_rows(source, look_at(source)) as reader:
        assert [row.line for row in reader] == [2, 3, 4]


def test_other_programs_read_what_is_written() -> None:
    rows = [("a <&> b", 12.5, None, "=x\n", "_y"), ("", 3, True, "é😀", " ")]
    book = openpyxl.load_workbook(io.BytesIO(_made("xlsx", list("abcde"), rows)))
    values = [[cell.value for cell in row] for row in book.worksheets[0].iter_rows()]
    assert values == [
        list("abcde"),
        ["a <&> b", 12.5, None, "=x\n", "_y"],
        [None, 3, True, "é😀", " "],
    ]
    assert book.worksheets[0].freeze_panes == "A2"
