"""CSV files of all sorts: how they are written is found out, and one bad row does not spoil the others."""

from __future__ import annotations

import codecs
import io
import itertools
import json
import re
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forebay.errors import ConfigError, DataError
from forebay.services.spreadsheets import AnyRow, BadRow, CsvLayout, Cursor, Row, look_at, read_rows, take
from forebay.services.spreadsheets.csv_file import CsvReader, look_at_csv
from forebay.services.spreadsheets.dialect import Dialect
from forebay.services.spreadsheets.records import Records, Stretch
from tests.services.spreadsheets._tables import bad, file, good, read

_ROWS = [{"name": "Müller", "price": "12,50 €"}, {"name": "Zoë", "price": "3"}]
_TEXT = "name;price\r\nMüller;12,50 €\r\nZoë;3\r\n"


@pytest.mark.parametrize(
    "data",
    [
        _TEXT.encode(),
        codecs.BOM_UTF8 + _TEXT.encode(),
        _TEXT.encode("cp1252"),
        _TEXT.encode("utf-16"),
        _TEXT.encode("utf-16-le"),
        _TEXT.encode("utf-16-be"),
        codecs.BOM_UTF16_BE + _TEXT.encode("utf-16-be"),
        _TEXT.encode("utf-32"),
        _TEXT.replace("\r\n", "\n").encode(),
        _TEXT.replace("\r\n", "\r").encode(),
        b"sep=;\r\n" + _TEXT.encode(),
    ],
    ids=["utf-8", "bom", "cp1252", "utf-16", "16-le", "16-be", "16-be-bom", "utf-32", "lf", "cr", "sep"],
)
def test_however_it_is_written(data: bytes) -> None:
    assert good(data) == _ROWS


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1250", "Nazwa;Cena\nŁódź żółta koszulka;12\nźrebię śliczne;4\n"),
        ("cp1251", "Название;Цена\nКрасная рубашка;100\nСиняя куртка большая;200\n"),  # noqa: RUF001
        ("cp1253", "Όνομα;Τιμή\nΚόκκινο πουκάμισο;10\n"),  # noqa: RUF001
        ("shift_jis", "商品名;価格\n赤いシャツ;100\n青いジャケット;200\n"),
        ("gb18030", "名称;价格\n红色衬衫;100\n蓝色夹克;200\n"),
        ("euc_kr", "이름;가격\n빨간 셔츠;100\n파란 재킷;200\n"),
    ],
)
def test_encodings_of_elsewhere(encoding: str, text: str) -> None:
    expected = good(text)
    assert good(text.encode(encoding)) == expected
    assert good(text.encode(encoding), encoding=encoding) == expected


def test_letters_that_come_late_count() -> None:
    data = b"name,note\n" + b"plain,text\n" * 200_000 + "Zoë,é\n".encode("cp1252")
    assert look_at_csv(file(data)).encoding == "cp1252"


def test_lines_of_another_encoding_are_bad_and_no_others() -> None:
    data = "name,n\nZoë,1\nJosé,2\n".encode() + "Jörg,3\n".encode("cp1252") + "Ünal,4\n".encode()
    assert [row["n"] for row in good(data)] == ["1", "2", "4"]
    assert bad(data) == [(4, "is not utf-8: byte 0xf6 at position 2 of its line")]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(delimiter: str) -> None:
    rows = [["name", "text"], ["a", "1,5; or | more"], ["b", "x"], ["c", "y"]]
    data = "\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)
    assert look_at_csv(file(data)).delimiter == delimiter
    assert good(data)[0] == {"name": "a", "text": "1,5; or | more"}


def test_a_delimiter_that_is_told_is_used() -> None:
    assert good("a:b\n1:2\n", delimiter=":") == [{"a": "1", "b": "2"}]
    with pytest.raises(DataError, match="delimiter: '::' must be one character, but not a quote or a line end"):
        look_at(file("a\n"), delimiter="::")
    with pytest.raises(
        DataError, match="encoding: 'klingon' is not supported; try utf-8, utf-16-le, cp1252 or shift_jis"
    ):
        look_at(file("a\n"), encoding="klingon")


def test_headers_are_told_from_data() -> None:
    assert good("name,price\nx,1\n") == [{"name": "x", "price": "1"}]
    assert good("x,1\ny,2,\n") == [{"column 1": "x", "column 2": "1"}, {"column 1": "y", "column 2": "2"}]
    assert good("a@b.example,https://x.example\n")[0]["column 1"] == "a@b.example"
    assert good("x,1\ny,2\n", header=True) == [{"x": "y", "1": "2"}]
    assert good("name,price\n", header=False) == [{"column 1": "name", "column 2": "price"}]


def test_every_column_has_a_name_of_its_own() -> None:
    assert look_at(file('a,a,,a 2," b\n c"\n1,2,3,4,5\n'), header=True).columns == (
        "a",
        "a 2",
        "column 3",
        "a 2 2",
        "b c",
    )


def test_lines_are_counted_through_quoted_ones() -> None:
    rows = read('a,b\n"one\ntwo\r\nthree",1\n\n,,\nx,2\n')
    assert rows == [Row(2, {"a": "one\ntwo\r\nthree", "b": "1"}), Row(7, {"a": "x", "b": "2"})]


def test_rows_of_another_length() -> None:
    data = "a,b\n1\n1,2,,\n1,2,3\n"
    assert read(data) == [
        Row(2, {"a": "1", "b": ""}),
        Row(3, {"a": "1", "b": "2"}),
        BadRow(4, "has 3 cells, but there are 2 columns", "1 | 2 | 3"),
    ]


def test_a_quote_that_is_never_closed_spoils_its_line_only() -> None:
    data = 'a,b\n1,"x\n' + "".join(f"{n},y\n" for n in range(2, 1000))
    rows = read(data)
    assert rows[0] == BadRow(2, "has a quote that is not closed", '1,"x')
    assert [row.line for row in rows] == list(range(2, 1001))
    assert all(isinstance(row, Row) for row in rows[1:])


def test_quotes_inside_quotes() -> None:
    data = 'a,b\n"x"y,1\n2,3\n'
    assert bad(data) == [(2, 'has a quote inside a quoted cell: write it twice ("")')]
    assert good(data) == [{"a": "2", "b": "3"}]


def test_nul_is_refused_where_it_stands() -> None:
    data = "a,b\n1,x\0y\n2,z\n"
    assert bad(data) == [(2, "has a NUL character")]
    assert good(data) == [{"a": "2", "b": "z"}]


def test_a_line_that_is_too_long_is_left_out() -> None:
    data = b"a,b\n1,2\n" + b"x" * (5 << 20) + b"\n3,4\n" + b'"' + b"y" * 999 + b"\n" + b"y\n" * 20_000
    rows = read(data)
    assert rows[0] == Row(2, {"a": "1", "b": "2"})
    assert rows[1] == BadRow(3, "is longer than 4 MiB")
    assert rows[2] == Row(4, {"a": "3", "b": "4"})
    assert rows[3] == BadRow(5, "has a quote that is not closed within 10000 lines or 4 MiB", '"' + "y" * 199)


def test_too_many_columns() -> None:
    with pytest.raises(DataError, match="line 1 has 20001 cells; 16384 are allowed"):
        look_at(file("a" + "," * 20_000 + "\n1\n"))
    assert bad("a,b\n1" + "," * 20_000 + "\n") == [(2, "has 20001 cells; 16384 are allowed")]
    with pytest.raises(DataError, match="line 1 is longer than 4 MiB"):
        look_at(file(b"a," * (10 << 20)))


@pytest.mark.parametrize(("data", "why"), [(b"", "the file is empty"), (b"\n\n", "the file has no rows")])
def test_files_without_rows(data: bytes, why: str) -> None:
    with pytest.raises(DataError, match=f"^{why}$"):
        look_at(file(data))
    assert read(b" ", header=True) == []


def test_an_alphabet_that_needs_a_package_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "chardet", None)
    told = "detecting the encoding of this file needs a package that is not installed: pip install 'forebay[sheets]'"
    data = "имя,цена\nпиццы,1\n".encode("cp1251")
    with pytest.raises(ConfigError, match=re.escape(f"{told}; or set the encoding")):
        look_at(file(data))
    assert good(data, encoding="cp1251")[0]["имя"] == "пиццы"


# Going on after a crash.


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_reading_goes_on_at_any_row(encoding: str) -> None:
    text = "name,n\n" + "".join(f'"Zoë\n{n}",{n}\n' if n % 3 else f"broken,{n},,x\n" for n in range(50))
    source = file(text.encode(encoding))
    layout = look_at(source)
    everything = read(text.encode(encoding))
    assert len(everything) == 50
    for size in (1, 7, 50):
        found: list[object] = []
        place: Cursor | None = None
        while True:
            # As a process that knows only what was kept.
            kept = CsvLayout.model_validate_json(layout.model_dump_json())
            with read_rows(source, kept, place) as reader:
                batch = take(reader, size)
            found += batch.rows
            place = Cursor.model_validate_json(json.dumps(batch.next.model_dump()))
            if batch.is_last:
                break
        assert found == everything


def test_a_batch_ends_with_the_row_that_makes_it_large() -> None:
    source = file("a,b\n" + "xxxxx,yyyyy\n" * 10)
    with read_rows(source, look_at(source)) as reader:
        assert [len(take(reader, 100, most_bytes=25).rows) for _ in range(4)] == [3, 3, 3, 1]
        assert take(reader, 100) == ([], Cursor(offset=124, line=11), True)


# Anything at all.


@given(st.binary(max_size=3000), st.sampled_from([None, True, False]))
def test_no_bytes_break_the_reader(data: bytes, header: bool | None) -> None:
    source = io.BytesIO(data)
    try:
        layout = look_at_csv(source, header=header)
    except DataError:
        return
    reader = CsvReader(source, layout)
    lines = [row.line for row in reader]
    assert lines == sorted(set(lines))
    assert reader.cursor.offset == len(data)


_cells = st.text(st.sampled_from('ab,;"\n\r\té '), max_size=6)


@given(st.lists(st.lists(_cells, min_size=1, max_size=3), min_size=1, max_size=12))
def test_any_place_is_good_to_go_on(rows: list[list[str]]) -> None:
    data = ("h\n" + "\n".join(",".join(row) for row in rows)).encode()
    layout = look_at_csv(io.BytesIO(data), header=True, delimiter=",")
    source = io.BytesIO(data)
    reader = CsvReader(source, layout)
    everything = list(reader)
    again = CsvReader(io.BytesIO(data), layout)
    for done, _ in enumerate(again, 1):
        assert list(CsvReader(io.BytesIO(data), layout, again.cursor)) == everything[done:]


# Many lines at once, and one by one.


class OneByOne(Records):
    def _many(self) -> Stretch | None:
        return None


def _all(records: Records) -> list[tuple[int, list[str] | BadRow, Cursor]]:
    found: list[tuple[int, list[str] | BadRow, Cursor]] = []
    while stretch := records.take():
        for count, (line, record) in enumerate(zip(stretch.lines, stretch.records, strict=True), 1):
            found.append((line, record, stretch.after(count)))
    return found


_odd = st.sampled_from(
    [b'"', b'""', b"\0", b"\xff", b"\r", b"\r\n", b"\n", b"\n\n", b",", b"a", "é".encode(), b"b,c\n", b"\n\0"]
)


@given(
    st.lists(_odd | st.just(b"x,y,z\n"), max_size=80).map(b"".join),
    st.sampled_from(["utf-8", "cp1252", "utf-16-le", "shift_jis"]),
    st.sampled_from([1, 2, 5, 16, 64, 1 << 18]),
)
@example(b'a,b\n"x\ny",1\nc,d\n"open\n' + b"e,f\n" * 20, "utf-8", 16)
@example(b"a,b\n\n\n,,\nc\n" * 3, "utf-8", 8)
@example(b'"' + b"\n" * 10_050 + b'",1\nx,y\n', "utf-8", 1 << 18)
@example(b"x," * 20_000 + b"\nx,y\n", "utf-8", 1 << 18)
def test_lines_are_read_the_same_many_at_once_and_one_by_one(data: bytes, encoding: str, chunk: int) -> None:
    told = (Cursor(offset=0), encoding, Dialect(","), "\n")
    many, few = Records(io.BytesIO(data), *told, chunk=chunk), OneByOne(io.BytesIO(data), *told)
    assert _all(many) == _all(few)
    assert many.cursor == few.cursor


@given(
    st.lists(st.sampled_from(["1,2\n", "1\n", "1,2,3\n", "\n", '"a\nb",2\n', '"x"y,1\n']), max_size=40),
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 30)), min_size=1),
)
def test_batches_of_any_size_hold_the_same_rows(rows: list[str], sizes: list[tuple[int, int]]) -> None:
    source = file("a,b\n" + "".join(rows))
    layout = look_at_csv(source, header=True, delimiter=",")
    expected = list(CsvReader(source, layout))
    place, found = layout.start, list[AnyRow]()
    for most_rows, most_bytes in itertools.cycle(sizes):
        with read_rows(source, layout, place) as reader:
            batch = take(reader, most_rows, most_bytes)
            alone = take(reader, most_rows) if not batch.is_last else None
        found += batch.rows
        assert alone is None or alone.rows == expected[len(found) : len(found) + most_rows]
        assert len(batch.rows) <= most_rows
        if batch.is_last:
            break
        assert len(batch.rows) == most_rows or batch.next.offset - place.offset >= most_bytes
        place = batch.next
    assert found == expected
