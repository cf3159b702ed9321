"""Workbooks as other programs write them, and workbooks that want to do harm."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from datetime import datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.errors import DataError
from forebay.services.spreadsheets import (
    BadRow,
    Cursor,
    Row,
    XlsxLayout,
    look_at,
    read_rows,
    take,
    xlsx_file,
    xlsx_parts,
    xlsx_rows,
)
from forebay.services.spreadsheets.archives import WORKBOOK, opened
from forebay.services.spreadsheets.cells import moment_text, number_shown
from forebay.services.spreadsheets.xlsx_file import look_at_xlsx, open_xlsx
from forebay.services.spreadsheets.xlsx_parts import CellFormat, format_of
from tests.services.spreadsheets._tables import archive, bad, file, good, read, workbook

_HEADER = '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="str"><v>b</v></c></row>'
_STYLES = (
    '<numFmts><numFmt numFmtId="164" formatCode="dd.mm.yyyy\\ hh:mm"/>'
    '<numFmt numFmtId="165" formatCode="0000000000000"/></numFmts>'
    '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="46"/>'
    '<xf numFmtId="2"/><xf numFmtId="9"/><xf numFmtId="165"/></cellXfs>'
)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ('<c r="A2"><v>12.300000000000001</v></c>', "12.3"),
        ('<c r="A2"><v>1E+3</v></c>', "1000"),
        ('<c r="A2"><v>4006381333931</v></c>', "4006381333931"),
        ('<c r="A2" t="b"><v>1</v></c>', "true"),
        ('<c r="A2" t="b"><v>0</v></c>', "false"),
        ('<c r="A2" t="e"><v>#N/A</v></c>', "#N/A"),
        ('<c r="A2" t="str"><f>B1&amp;"x"</f><v>bx</v></c>', "bx"),
        ('<c r="A2"><f>1+1</f><v>2</v></c>', "2"),
        ('<c r="A2"><f>1+1</f></c>', ""),
        ('<c r="A2" t="d"><v>2024-02-29T12:00:00</v></c>', "2024-02-29T12:00:00"),
        ('<c r="A2" s="1"><v>45351</v></c>', "2024-02-29"),
        ('<c r="A2" s="1"><v>45351.5</v></c>', "2024-02-29"),
        ('<c r="A2" s="2"><v>45351.75</v></c>', "2024-02-29T18:00:00"),
        ('<c r="A2" s="3"><v>1.5</v></c>', "36:00:00"),
        ('<c r="A2" s="99"><v>7</v></c>', "7"),
        ('<c r="A2" s="4"><v>12.5</v></c>', "12.50"),
        ('<c r="A2" s="4"><v>12.345</v></c>', "12.345"),
        ('<c r="A2" s="4"><v>1E+30</v></c>', "1e+30"),
        ('<c r="A2" s="5"><v>0.07</v></c>', "7%"),
        ('<c r="A2" s="5"><v>0.0725</v></c>', "7.25%"),
        ('<c r="A2" s="6"><v>12345678905</v></c>', "0012345678905"),
        ('<c r="A2" s="6"><v>1.5</v></c>', "1.5"),
        ('<c r="A2" t="s"><v>0</v></c>', "plain"),
        ('<c r="A2" t="s"><v>1</v></c>', "rich text"),
        ('<c r="A2" t="s"><v>2</v></c>', "a\rb"),
        ('<c t="s"><v>0</v></c>', "plain"),
        ('<c r="A2" t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c>', "inline"),
    ],
)
def test_cells_become_text(cell: str, text: str) -> None:
    strings = (
        "<si><t>plain</t></si>"
        "<si><r><t>rich </t></r><r><rPr><b/></rPr><t>text</t></r><rPh><t>spoken</t></rPh></si>"
        "<si><t>a_x000D_b</t></si>"
    )
    rows = f'{_HEADER}<row r="2">{cell}<c r="B2"><v>1</v></c></row>'
    assert good(workbook(rows, strings=strings, styles=_STYLES)) == [{"a": text, "b": "1"}]


def test_days_since_1904() -> None:
    data = workbook(
        f'{_HEADER}<row><c s="1"><v>43889</v></c></row>', styles=_STYLES, about='<workbookPr date1904="1"/>'
    )
    assert good(data)[0]["a"] == "2024-02-29"


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (1, "1900-01-01"),
        (59, "1900-02-28"),
        (60, "60"),
        (61, "1900-03-01"),
        (2958465, "9999-12-31"),
        (1e9, "1000000000"),
    ],
)
def test_odd_days(days: float, text: str) -> None:
    assert moment_text(days, has_date=True, has_time=False, since_1904=False) == text


@pytest.mark.parametrize(
    ("days", "is_duration", "text"),
    [
        (45000.75, False, "18:00:00"),
        (0.75, False, "18:00:00"),
        (1.5, False, "12:00:00"),
        (1.5, True, "36:00:00"),
        (0.9999999999, False, "00:00:00"),
    ],
)
def test_times_are_of_a_day_and_durations_are_not(days: float, is_duration: bool, text: str) -> None:
    assert moment_text(days, has_date=False, has_time=True, since_1904=False, is_duration=is_duration) == text


@pytest.mark.parametrize(
    ("code", "value", "text"),
    [
        ("000-00-0000", 12_345_678, "012-34-5678"),
        ("00000-0000", 21_391_234, "02139-1234"),
        ("000\\-00\\-0000", 12_345_678, "012-34-5678"),
        ("(000) 000-0000;@", 301_234_567, "(030) 123-4567"),
        ("000-0000", 49_301_234_567, "4930123-4567"),
        ("000-00", 1.5, "1.5"),
    ],
)
def test_zeros_with_signs_between(code: str, value: float, text: str) -> None:
    found = format_of(code)
    assert found is not None
    assert number_shown(value, digits=found.digits, gaps=found.gaps) == text


@pytest.mark.parametrize(("number", "text"), [(20, "18:00:00"), (45, "18:00:00"), (46, "1080018:00:00")])
def test_built_in_formats_of_times(number: int, text: str) -> None:
    styles = f'<styleSheet><cellXfs><xf/><xf numFmtId="{number}"/></cellXfs></styleSheet>'
    assert good(workbook(f'{_HEADER}<row><c s="1"><v>45000.75</v></c></row>', styles=styles))[0]["a"] == text


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("General", None),
        ("0", None),
        ("0.00", CellFormat(decimals=2)),
        ('0 "days"', None),
        ("[Red]0.00", CellFormat(decimals=2)),
        ("#,##0\\d", None),
        ("#,##0.00 [$€-407];[Red]-#,##0.00 [$€-407]", CellFormat(decimals=2)),
        ('_-* #,##0.00\\ "€"_-', CellFormat(decimals=2)),
        ("$#,##0.000", CellFormat(decimals=3)),
        ("0.0##", CellFormat(decimals=1)),
        ("0.00E+00", None),
        ("# ?/?", None),
        ("0%", CellFormat(is_percent=True)),
        ("0.0 %", CellFormat(is_percent=True, decimals=1)),
        ("0000000000000", CellFormat(digits=13)),
        ("0" * 900, None),
        ("@", None),
        ("yyyy-mm-dd", CellFormat(has_date=True, has_time=False)),
        ("mmm", CellFormat(has_date=True, has_time=False)),
        ("[$-407]d. mmmm yyyy;@", CellFormat(has_date=True, has_time=False)),
        ("h:mm AM/PM", CellFormat(has_date=False, has_time=True)),
        ("[h]:mm", CellFormat(has_time=True, is_duration=True)),
        ("[mm]:ss", CellFormat(has_time=True, is_duration=True)),
        ("[mm]", CellFormat(has_time=True, is_duration=True)),
        ("000-00-0000", CellFormat(digits=9, gaps=("", "", "", "-", "", "-", "", "", "", ""))),
        ('00000"-"00', CellFormat(digits=7, gaps=("", "", "", "", "", "-", "", ""))),
        ("d/m/yy h:mm", CellFormat(has_date=True, has_time=True)),
    ],
)
def test_what_formats_mean(code: str, expected: CellFormat | None) -> None:
    assert format_of(code) == expected


def test_what_another_program_wrote() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["name", "when", "at", "for", "price", "ok"])
    sheet.append(["Zoë & Co", datetime.fromisoformat("2024-02-29T12:30"), time(7, 5), timedelta(hours=30), 12.5, True])
    sheet["C4"] = "alone"
    out = io.BytesIO()
    book.save(out)
    assert read(out.getvalue()) == [
        Row(
            2,
            {
                "name": "Zoë & Co",
                "when": "2024-02-29T12:30:00",
                "at": "07:05:00",
                "for": "30:00:00",
                "price": "12.5",
                "ok": "true",
            },
        ),
        Row(4, {"name": "", "when": "", "at": "alone", "for": "", "price": "", "ok": ""}),
    ]


def test_sheets_by_name() -> None:
    data = workbook(f"{_HEADER}<row><c><v>1</v></c></row>", sheets={"Other": f"{_HEADER}<row><c><v>2</v></c></row>"})
    assert good(data)[0]["a"] == "1"
    assert good(data, sheet="Other")[0]["a"] == "2"
    with pytest.raises(DataError, match="the workbook has no sheet 'None such'; it has 'Sheet1', 'Other'"):
        look_at(file(data), sheet="None such")


def test_bad_rows_do_not_spoil_others() -> None:
    rows = (
        f"{_HEADER}"
        '<row r="2"><c r="A2" t="s"><v>7</v></c></row>'
        '<row r="3"><c r="B3"><v>1</v></c><c r="A3"><v>2</v></c></row>'
        '<row r="4"><c r="XFE4"><v>1</v></c></row>'
        '<row r="5"><c r="C5"><v>1</v></c></row>'
        '<row r="6"><c r="A6" t="str"><v>x_x0000_</v></c></row>'
        '<row r="2"><c r="A2"><v>9</v></c></row>'
    )
    data = workbook(rows)
    assert bad(data) == [
        (2, "refers to a string that is not in the file"),
        (3, "has cells out of order"),
        (4, "has more than 16384 cells"),
        (5, "has 3 cells, but there are 2 columns"),
        (6, "has a NUL character"),
    ]
    assert read(data)[-1] == Row(7, {"a": "9", "b": ""})


def test_reading_goes_on_at_any_row() -> None:
    rows = "".join(f'<row r="{n * 2}"><c><v>{n}</v></c></row>' for n in range(1, 30))
    source = file(workbook(_HEADER + rows))
    layout = XlsxLayout.model_validate_json(look_at(source).model_dump_json())
    found: list[object] = []
    place: Cursor | None = None
    while True:
        with read_rows(source, layout, place) as reader:
            batch = take(reader, 4)
        found += batch.rows
        place = batch.next
        if batch.is_last:
            break
    assert found == read(workbook(_HEADER + rows))
    assert len(found) == 29


def test_a_cell_far_away_costs_nothing() -> None:
    """Two cells at two corners: a program that makes room for all between them would need 500 GB."""
    data = workbook('<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>')
    found = read(data, header=False)
    assert [row.line for row in found] == [1, 1_048_576]


# Harm.


def _bomb() -> bytes:
    """Half a megabyte that unpacks to 521 MiB."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook(_HEADER))) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made,
    ):
        for entry in source.infolist():
            if not entry.filename.endswith("sheet1.xml"):
                made.writestr(entry.filename, source.read(entry))
        with made.open("xl/worksheets/sheet1.xml", "w") as sheet:
            for _ in range(521):
                sheet.write(b" " * (1 << 20))
    return out.getvalue()


def test_bombs_are_refused() -> None:
    data = _bomb()
    assert len(data) < 600_000
    with pytest.raises(DataError, match=r"sheet1.xml' grows from \d+ to 546308096 bytes when unpacked"):
        look_at(file(data))


def test_an_entry_that_lies_about_its_size_gives_no_more() -> None:
    data = bytearray(workbook(f"{_HEADER}<row><c><v>1</v></c></row>" + " " * 100_000))
    with zipfile.ZipFile(io.BytesIO(data)) as made:
        size = made.getinfo("xl/worksheets/sheet1.xml").file_size
    lie = bytes(data).replace(size.to_bytes(4, "little"), (1000).to_bytes(4, "little"))
    assert lie != bytes(data)
    with pytest.raises(DataError, match="the archive is truncated or damaged: "):
        read(lie)


def test_shared_strings_are_bounded_one_by_one() -> None:
    data = workbook(f'{_HEADER}<row><c t="s"><v>0</v></c></row>', strings=f"<si><t>{'x' * (5 << 20)}</t></si>")
    with pytest.raises(DataError, match="has a string of more than 4194304 characters"):
        look_at(file(data))


def test_one_string_in_many_cells_is_too_long_a_row() -> None:
    cells = '<c t="s"><v>0</v></c>' * 1000
    data = workbook(f"{_HEADER}<row>{cells}</row><row><c><v>1</v></c></row>", strings=f"<si><t>{'x' * 30_000}</t></si>")
    assert bad(data) == [(2, "is longer than 4 MiB")]
    assert good(data) == [{"a": "1", "b": ""}]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("<row><c><v>1</v>", "is damaged: mismatched tag"),
        (f'<row {"x" * (6 << 20)}="1"/>', "has a tag of more than 4194304 bytes"),
        (f"<!--{'x' * (6 << 20)}--><row/>", "has a tag of more than 4194304 bytes"),
        (
            "".join(f"<{'t' * 90}{n}/>" for n in range(20_000)),
            "has names of more than 1048576 characters, which spreadsheets do not have",
        ),
    ],
    ids=["cut", "attribute", "comment", "names"],
)
def test_markup_that_wants_memory(rows: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        read(workbook(_HEADER + rows), header=True)


def test_entities_are_refused() -> None:
    with zipfile.ZipFile(io.BytesIO(workbook(_HEADER))) as made:
        entries = {entry.filename: made.read(entry) for entry in made.infolist()}
    laughs = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
    entries["xl/worksheets/sheet1.xml"] = laughs + entries["xl/worksheets/sheet1.xml"]
    with pytest.raises(DataError, match=r"sheet1\.xml declares a document type, which spreadsheets do not have"):
        look_at(file(archive(entries)))


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        ("_rels/.rels", "the file is not a workbook: '_rels/.rels' is missing"),
        ("xl/workbook.xml", "the file is not a workbook: 'xl/workbook.xml' is missing"),
        ("xl/worksheets/sheet1.xml", "the sheet 'Sheet1' is missing in the file"),
    ],
)
def test_parts_that_are_missing(missing: str, reason: str) -> None:
    with zipfile.ZipFile(io.BytesIO(workbook(_HEADER))) as made:
        entries = {entry.filename: made.read(entry) for entry in made.infolist() if entry.filename != missing}
    with pytest.raises(DataError, match=reason):
        look_at(file(archive(entries)))


def test_a_workbook_that_does_not_say_where_it_begins() -> None:
    with zipfile.ZipFile(io.BytesIO(workbook(_HEADER))) as made:
        entries = {entry.filename: made.read(entry) for entry in made.infolist()}
    entries["_rels/.rels"] = b"<Relationships/>"
    with pytest.raises(DataError, match="the file is not a workbook: its main part is missing"):
        look_at(file(archive(entries)))


def test_a_sheet_without_rows() -> None:
    with pytest.raises(DataError, match="the sheet 'Sheet1' has no rows"):
        look_at(file(workbook("")))


_whole = workbook(f"{_HEADER}<row><c><v>1</v></c></row>", strings="<si><t>x</t></si>", styles=_STYLES)


@given(st.integers(0, len(_whole) - 1), st.binary(min_size=1, max_size=8))
def test_no_damage_breaks_the_reader(place: int, damage: bytes) -> None:
    data = _whole[:place] + damage + _whole[place + len(damage) :]
    try:
        rows = read(data, header=True)
    except DataError:
        return
    assert all(isinstance(row, Row | BadRow) for row in rows)


@given(st.text(st.sampled_from('<>/rowcvtis"= 1A'), max_size=60))
def test_no_markup_breaks_the_reader(rows: str) -> None:
    with suppress(DataError):
        read(workbook(_HEADER + rows), header=True)


def test_what_goes_wrong_outside_is_not_the_archives_fault() -> None:
    with pytest.raises(ValueError, match="mine"), opened(file(_whole), WORKBOOK):
        raise ValueError("mine")


@pytest.mark.parametrize("row", ["<row></row>", '<row r="2"/>', '<row r="2"></row>', "<x:row xmlns:x='x'/>"])
@pytest.mark.parametrize("before", [1000, 1 << 20], ids=["before", "while they are read"])
def test_more_rows_than_a_spreadsheet_has_are_refused_early(
    monkeypatch: pytest.MonkeyPatch, row: str, before: int
) -> None:
    """Empty ones, too: millions of them are packed into nearly nothing, and each takes its time."""
    monkeypatch.setattr(xlsx_rows, "MAX_ROWS", 1000)
    monkeypatch.setattr(xlsx_file, "MAX_ROWS", before)
    header = '<row r="1"><c r="A1" t="str"><v>Name</v></c></row>'
    assert good(workbook(header + row * 999), header=True) == []
    with pytest.raises(DataError) as refused:
        good(workbook(header + row * 1002), header=True)
    reason = "the sheet has more than 1000 rows, the maximum of spreadsheets"
    assert str(refused.value) in (reason, reason.replace("the sheet", "the sheet 'Sheet1'"))


def test_more_shared_strings_than_memory_has_places_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_parts, "MAX_STRINGS", 1000)
    row = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'
    with pytest.raises(DataError, match="the workbook shares more than 1000 strings between its cells"):
        good(workbook(row, strings="<si><t>x</t></si>" + "<si/>" * 1000))


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ('<c r="A2"><v>1.459</v></c>', "n"),
        ('<c r="A2"><v>1459</v></c>', "n"),
        ('<c r="A2" s="4"><v>1.459</v></c>', "n"),
        ('<c r="A2"><v>nan</v></c>', "s"),
        ('<c r="A2"><v>1e999</v></c>', "s"),
        ('<c r="A2" t="str"><v>1.459</v></c>', "s"),
        ('<c r="A2" t="inlineStr"><is><t>1.459</t></is></c>', "s"),
        ('<c r="A2" t="s"><v>0</v></c>', "s"),
        ('<c r="A2" t="b"><v>1</v></c>', "b"),
        ('<c r="A2" t="e"><v>#N/A</v></c>', "s"),
        ('<c r="A2" s="1"><v>45351</v></c>', "d"),
        ('<c r="A2" t="d"><v>2024-02-29</v></c>', "d"),
        ('<c r="A2" s="5"><v>0.5</v></c>', "p"),
        ('<c r="A2" s="6"><v>5</v></c>', "s"),
        ('<c r="A2"><f>1+1</f><v>2</v></c>', "n"),
        ('<c r="A2"><f>1+1</f></c>', "f"),
        ('<c r="A2"><f>1+1</f><v></v></c>', "f"),
        ('<c r="A2"><f>1+1</f><v/></c>', "f"),
        ('<c r="A2"><f t="shared" si="0"/><v></v></c>', "f"),
        ('<c r="A2" t="str"><f>""</f><v></v></c>', ""),
        ('<c r="B2"><v>1</v></c>', "sn"),
    ],
)
def test_what_cells_are_is_kept(cell: str, kind: str) -> None:
    data = workbook(
        f'{_HEADER}<row r="2">{cell}</row><row r="3"><c r="A3"><v>1</v></c></row>',
        styles=_STYLES,
        strings="<si><t>plain</t></si>",
    )
    source = file(data)
    with open_xlsx(source, look_at_xlsx(source)) as reader:
        kinds = [kinds for line, _, kinds in reader.typed() if line == 2]
    assert kinds == ([kind] if kind else [])


def test_a_row_of_nothing_but_formulas_without_results_is_a_row() -> None:
    data = workbook(f'{_HEADER}<row r="2"><c r="A2"><f>1</f></c><c r="B2"><f>2</f></c></row>')
    assert good(data) == [{"a": "", "b": ""}]
