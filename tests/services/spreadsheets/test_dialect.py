"""How CSV files are written: delimiters, quotes and spaces, as files of other programs have them."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from forebay.services.spreadsheets.csv_file import look_at_csv
from forebay.services.spreadsheets.dialect import Dialect
from tests.services.spreadsheets._tables import bad, file, good, read


def _dialect(data: str) -> Dialect:
    found = look_at_csv(file(data))
    return Dialect(found.delimiter, found.quote, found.escape, found.spaced)


def _cells(data: str, **told: object) -> list[list[str]]:
    return [list(row.values()) for row in good(data, **told)]


@pytest.mark.parametrize(
    "data",
    [
        "4006381333931;1,50\n4006381333948;2,75\n",
        "Mug;1,50;2,00\nHat;2,50;3,00\n",
        "a\t1,5\nb\t2,5\n",
        "Name|Text\nMug|blue, large, new\nHat|red, small, old\n",
    ],
)
def test_decimal_commas_and_commas_of_text_divide_nothing(data: str) -> None:
    rows = [line.split(_dialect(data).delimiter) for line in data.splitlines()]
    assert _dialect(data).delimiter != ","
    assert _cells(data, header=False) == rows


def test_one_column_is_not_divided() -> None:
    assert good("title\nShoes, red\nHat\nSocks\n") == [{"title": name} for name in ("Shoes, red", "Hat", "Socks")]
    assert _cells("Blue mug\nRed hat\nOld sock\nNew shoe\n", header=False)[0] == ["Blue mug"]
    assert good("price\n1,50\n2,75\n") == [{"price": "1,50"}, {"price": "2,75"}]
    assert good("time\n10:30:00\n11:45:10\n12:00:00\n") == [
        {"time": time} for time in ("10:30:00", "11:45:10", "12:00:00")
    ]
    assert good("phone\n+318855443322\n+552244331122\n+12233445567\n")[0] == {"phone": "+318855443322"}


@pytest.mark.parametrize(
    "cells",
    [
        ["Smith, John", "Doe, Jane"],
        ["red, green, blue", "black, white, grey", "pink, lime, cyan"],
    ],
)
def test_phrases_with_commas_below_one_name_are_one_column(cells: list[str]) -> None:
    assert good("name\n" + "\n".join(cells) + "\n") == [{"name": cell} for cell in cells]


def test_a_title_above_columns_with_spaces_is_still_a_title() -> None:
    assert good("Sales\nname, price\nMug, 12\nCup, 13\n")[0] == {"name": "Mug", "price": " 12"}


@pytest.mark.parametrize(
    "cells",
    [
        ["+49 30 123", "+49 30 124", "+49 40 999"],
        ["555 123 4567", "555 222 3333", "555 987 6543"],
        ["2024-01-01 12:00", "2024-01-02 13:00", "2024-01-03 14:30"],
        ["01.02.2024 12:00:05", "02.02.2024 13:00:06", "03.02.2024 14:30:07"],
    ],
)
def test_telephones_and_moments_are_not_divided(cells: list[str]) -> None:
    assert _cells("\n".join(cells) + "\n", header=False) == [[cell] for cell in cells]


@pytest.mark.parametrize(
    "rows",
    [
        [["date", "time"], ["2024-01-01", "12:00"], ["2024-01-02", "13:00"], ["2024-01-03", "14:30"]],
        [["x", "y"], ["1", "2"], ["3", "4"], ["5", "6"]],
    ],
)
def test_spaces_divide_these_where_the_columns_have_names(rows: list[list[str]]) -> None:
    assert _cells("\n".join(map(" ".join, rows)) + "\n") == rows[1:]


@pytest.mark.parametrize("delimiter", [" ", "#", ":", "+", "\x1f", "\x1e", "~", "^"])
def test_unusual_delimiters_that_divide_every_row(delimiter: str) -> None:
    rows = [["name", "size", "stock"], ["mug", "300", "5"], ["hat", "54", "12"], ["sock", "42", "7"]]
    data = "\n".join(delimiter.join(row) for row in rows) + "\n"
    assert _dialect(data).delimiter == delimiter
    assert _cells(data) == rows[1:]


def test_columns_that_are_lined_up_by_spaces() -> None:
    data = "id      carat       cut\n1      0.23     Ideal\n2      0.21   Premium\n10     0.23      Good\n"
    assert _cells(data) == [["1", "0.23", "Ideal"], ["2", "0.21", "Premium"], ["10", "0.23", "Good"]]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_single_quotes(delimiter: str) -> None:
    rows = [["name", "text"], ["mug", f"blue{delimiter} large"], ["hat", "it''s red"], ["sock", "x"]]
    data = "\n".join(delimiter.join(f"'{cell}'" for cell in row) for row in rows)
    assert _dialect(data) == Dialect(delimiter, "'")
    assert _cells(data) == [["mug", f"blue{delimiter} large"], ["hat", "it's red"], ["sock", "x"]]


def test_apostrophes_are_no_quotes() -> None:
    data = "name,text\nmug,it's 'blue'\nhat,'tis red\nsock,the dogs' own\n"
    assert _dialect(data).quote == '"'
    assert _cells(data)[1] == ["hat", "'tis red"]


def test_spaces_around_quotes() -> None:
    assert _cells('id, text\n1, "x, y"\n2, "z"\n') == [["1", "x, y"], ["2", "z"]]
    assert _cells('"a" ; "b"\n"1" ; "x; y"\n"2" ; "z"\n') == [["1", "x; y"], ["2", "z"]]


def test_quotes_after_a_backslash() -> None:
    data = 'id,text\n1,"a \\"mug\\", blue"\n2,"a hat"\n3,"a \\"sock\\""\n'
    assert _cells(data) == [["1", 'a "mug", blue'], ["2", "a hat"], ["3", 'a "sock"']]


def test_backslashes_that_escape_nothing_stay() -> None:
    assert _cells('id,path\n1,C:\\temp\n2,"D:\\new, old"\n') == [["1", "C:\\temp"], ["2", "D:\\new, old"]]


def test_quotes_inside_of_quotes_in_every_row_are_text() -> None:
    data = '1;"the "blue" mug"\n2;"the "red" hat"\n3;"the "old" sock"\n'
    assert _cells(data) == [["1", 'the "blue" mug'], ["2", 'the "red" hat'], ["3", 'the "old" sock']]


def test_a_quote_inside_of_quotes_in_one_row_is_a_fault_of_it() -> None:
    data = "id,text\n" + "".join(f'{n},"text, {n}"\n' for n in range(9)) + '9,"the "blue" mug"\n'
    assert bad(data) == [(11, 'has a quote inside a quoted cell: write it twice ("")')]
    assert len(good(data)) == 9


def test_a_header_with_a_fault_still_names_the_columns() -> None:
    assert look_at_csv(file("na\0me|size\nmug|300\nhat|54\n")).columns == ("name", "size")
    assert good('na"me,"si"ze\nmug,300\nhat,54\n')[1] == {'na"me': "hat", '"si"ze': "54"}


def test_a_dialect_is_kept_with_the_layout() -> None:
    data = "'id';'text'\n'1';'a; b'\n'2';'c'\n"
    layout = look_at_csv(file(data))
    again = type(layout).model_validate_json(layout.model_dump_json())
    assert (again.quote, again.delimiter, again.start.line) == ("'", ";", 1)
    old = layout.model_dump(mode="json", exclude={"quote", "escape", "spaced", "notes"})
    assert type(layout).model_validate(old).quote == '"'  # kept before there were others


# Whatever is written comes back.

_names = st.lists(st.sampled_from(["sku", "Name", "Price", "text", "Brand"]), min_size=2, max_size=5, unique=True)
_words = st.lists(st.sampled_from(["mug", "blue", "Größe", "No 5", "it's", 'a "b"', "x, y", "p; q", "r|s"]), min_size=1)
_prices = st.decimals(0, 999, places=2).map(str)


@st.composite
def _tables(draw: st.DrawFn) -> list[list[str]]:
    """An article number, then prices and texts."""
    names = draw(_names)
    kinds = draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names)))
    count = draw(st.integers(3, 12))
    rows = [
        [f"A-{number}", *(draw(_prices) if kind else " ".join(draw(_words)) for kind in kinds[1:])]
        for number in range(count)
    ]
    return [names, *rows]


@given(
    _tables(),
    st.sampled_from(",;\t|"),
    st.sampled_from([('"', True), ('"', False), ("'", True)]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
)
def test_what_programs_write_is_read_back(
    table: list[list[str]], delimiter: str, quoted: tuple[str, bool], end: str, encoding: str
) -> None:
    out = io.StringIO(newline="")
    quote, is_all = quoted
    # The first is the usual: quotes only where they are needed.
    plain = csv.writer(out, delimiter=delimiter, quotechar=quote, lineterminator=end)
    every = csv.writer(out, delimiter=delimiter, quotechar=quote, lineterminator=end, quoting=csv.QUOTE_ALL)
    (every if is_all else plain).writerows(table)
    assume(quote == '"' or out.getvalue().count('"') * 2 < out.getvalue().count("'"))
    rows = read(out.getvalue().encode(encoding))
    assert [list(row.cells.values()) for row in rows] == table[1:]  # type: ignore[union-attr]
    assert list(rows[0].cells) == table[0]  # type: ignore[union-attr]
