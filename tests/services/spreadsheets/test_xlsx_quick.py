"""The shorter way to rows gives what the parser gives, whatever the markup."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.errors import DataError
from forebay.services.spreadsheets.xlsx_parts import CellFormat, SharedStrings, Workbook
from forebay.services.spreadsheets.xlsx_quick import SheetRows
from forebay.services.spreadsheets.xlsx_rows import FoundRow, SheetMarkup

_LONG = "x" * 1_500_000
_FORMATS = [None, CellFormat(has_date=True), CellFormat(decimals=2), CellFormat(digits=5), CellFormat(is_percent=True)]


def _book() -> Workbook:
    strings = SharedStrings()
    strings.fill(["zero", "one & two", "nul\0", _LONG])
    return Workbook([], list(_FORMATS), strings, since_1904=False)


def _parsed(xml: bytes) -> list[FoundRow] | str:
    book = _book()
    markup = SheetMarkup("sheet", book)
    try:
        markup.feed(xml)
        markup.feed(b"", is_last=True)
    except DataError as error:
        return str(error).partition(":")[0]
    finally:
        book.strings.close()
    return markup.taken()


def _read(xml: bytes, size: int) -> list[FoundRow] | str:
    book = _book()
    rows = SheetRows("sheet", book)
    found: list[FoundRow] = []
    try:
        for start in range(0, len(xml), size):
            found += rows.feed(xml[start : start + size])
        found += rows.feed(b"", is_last=True)
    except DataError as error:
        return str(error).partition(":")[0]
    finally:
        book.strings.close()
    return found


_texts = st.one_of(
    st.sampled_from(
        ["", "1", "0", "007", "12345678901234567", "1.50", "-3", "1E3", "a &amp; b", "&lt;&amp;lt;", "&#65;"]
    ),
    st.sampled_from(["&nix;", "_x0041_", "_x0000_", "a\r\nb", "a\tb\nc", "]]>", "ä€😀", "\ufffe", "true", " x ", "3"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
)
_kinds = st.sampled_from(["", "", ' t="n"', ' t="s"', ' t="b"', ' t="e"', ' t="str"', ' t="inlineStr"', ' t="d"'])
_letters = st.sampled_from(["A", "B", "C", "D", "AA", "XFD", "XFE", "a", ""])
_styles = st.sampled_from(["", "", "", "", ' s="0"', ' s="1"', ' s="2"', ' s="3"', ' s="4"', ' s="9"', ' s=""'])


@st.composite
def _cells(draw: st.DrawFn) -> str:
    text = draw(_texts)
    inside = draw(
        st.sampled_from(
            [
                f"<v>{text}</v>", f"<v>{text}</v>", f"<is><t>{text}</t></is>", f"<f>{text}</f><v>{text}</v>", "",
                f'<is><t xml:space="preserve">{text}</t></is>', f"<is><r><t>{text}</t></r></is>", "<v/>", text,
                f"<is><t>{text}</t><rPh><t>{text}</t></rPh></is>", f"<!--<v>{text}</v>--><v>1</v>", "<row/>",
                f"<![CDATA[{text}]]>", f"<v><![CDATA[{text}]]></v>", "<rPh>", "</row><row>",
            ]
        )
    )  # fmt: skip
    place = draw(st.sampled_from([f' r="{draw(_letters)}{draw(st.integers(1, 9))}"'] * 5 + [""]))
    return f"<c{place}{draw(_styles)}{draw(_kinds)}>{inside}</c>"


@st.composite
def _plain_cells(draw: st.DrawFn) -> str:
    """Cells as programs write them, so that the shorter way is taken."""
    number = draw(st.integers(0, 5))
    place = f' r="{"ABCDEF"[number]}{draw(st.integers(1, 9))}"'
    text = draw(st.sampled_from(["1", "0", "1.50", "2", "3", "a &amp; b", "_x0041_", "", "x", "9" * 20]))
    inside = draw(
        st.sampled_from(
            [f"<v>{text}</v>", f"<is><t>{text}</t></is>", f"<f>A1</f><v>{text}</v>", "<f>A1</f>", "<f>A1</f><v/>", ""]
        )
    )
    return f"<c{place}{draw(_styles)}{draw(_kinds)}>{inside}</c>"


_attributes = st.sampled_from(
    ["", "", ' r="1"', ' r="2"', ' r="7"', ' r="3" spans="1:2"', ' r="4" r="5"', ' r="2" a="1" a="2"', ' spans="1:2"']
)
_between = st.sampled_from(
    [
        "",
        "",
        "",
        "",
        "\n",
        " ",
        "x",
        "<!-- <row> -->",
        "<!--",
        "-->",
        "<?x <row> ?>",
        "</sheetData>",
        "<v>",
        "<c><v>1</v></c>",
        '<c r="A3"><v>1</v></c>',
    ]
)


def _rows(cells: st.SearchStrategy[str], between: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    row = st.builds(
        lambda attributes, inside, more: f"<row{attributes}>{''.join(inside)}</row>{more}",
        _attributes, st.lists(cells, max_size=5), between,
    )  # fmt: skip
    return st.lists(row, max_size=6).map("".join)


_heads = st.sampled_from(
    ["", "", '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>', "<?xml version='1.0' encoding='utf-8'?>",
     '<?xml version="1.0" encoding="ISO-8859-1"?>', "<!-- <sheetData> -->", "<!DOCTYPE x>"]
)  # fmt: skip
_sizes = st.sampled_from([7, 50, 100_000])


@given(_heads, _rows(st.one_of(_cells(), _plain_cells()), _between), _sizes)
def test_it_is_what_the_parser_gives(head: str, rows: str, size: int) -> None:
    xml = f"{head}<worksheet><sheetData>{rows}</sheetData></worksheet>".encode()
    assert _read(xml, size) == _parsed(xml)


@given(_heads, _rows(_plain_cells(), st.sampled_from(["", "\n"])), _sizes)
def test_so_it_is_for_rows_as_programs_write_them(head: str, rows: str, size: int) -> None:
    xml = f"{head}<worksheet><sheetData>{rows}</sheetData></worksheet>".encode()
    assert _read(xml, size) == _parsed(xml)


@pytest.mark.parametrize(
    "cells",
    [
        '<c r="A1" t="s"><v>3</v></c><c r="B1" t="s"><v>3</v></c><c r="C1" t="s"><v>3</v></c><c r="D1"><v>1</v></c>',
        '<c r="A1" t="s"><v>2</v></c><c r="B1" t="s"><v>9</v></c><c r="C1"><v>1</v></c>',
        '<c r="XFD1"><v>1</v></c><c r="XFE1"><v>2</v></c>',
        '<c r="B1"><v>1</v></c><c r="A1"><v>2</v></c>',
    ],
    ids=["long", "strings", "wide", "order"],
)
def test_rows_with_faults(cells: str) -> None:
    xml = f'<sheetData><row r="1">{cells}</row><row r="5"/><row r="3"><c r="A3"><v>1</v></c></row></sheetData>'.encode()
    found = _read(xml, 1000)
    assert found == _parsed(xml)
    assert found[0][2], found


def test_cells_outside_of_rows_are_ignored() -> None:
    cell = '<c r="A1"><v>1</v></c>'
    xml = f"<sheetData>{cell}<row>{cell}</row>{cell}<row/><c><v>2</v></c></sheetData>".encode()
    expected = [(1, ["1"], None, "n"), (2, [], None, "")]
    assert _read(xml, 1000) == _parsed(xml) == expected
    regular = f'<sheetData><row r="1">{cell}</row>'.encode()
    assert _read(regular + b"<c><v>2</v></c></sheetData>", len(regular)) == expected[:1]


def test_the_shorter_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is around the rows comes to the parser, and rows that are odd."""
    fed: list[bytes] = []
    feed = SheetMarkup.feed

    def noted(self: SheetMarkup, piece: bytes, *, is_last: bool = False) -> None:
        fed.append(piece)
        feed(self, piece, is_last=is_last)

    monkeypatch.setattr(SheetMarkup, "feed", noted)
    plain, odd = b'<row r="1"><c r="A1" t="str"><v>a</v></c></row>', b'<row r="2"><c r="A2"><v>&#49;</v></c></row>'
    book = _book()
    rows = SheetRows("sheet", book)
    found = [*rows.feed(b"<x><sheetData>" + plain), *rows.feed(odd), *rows.feed(plain + b"</sheetData></x>")]
    found += rows.feed(b"", is_last=True)
    book.strings.close()
    assert fed == [b"<x><sheetData>", odd, b"</sheetData></x>"]
    assert found == [(1, ["a"], None, "s"), (2, ["1"], None, "n"), (3, ["a"], None, "s")]
