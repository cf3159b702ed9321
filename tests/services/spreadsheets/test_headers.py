"""Where tables begin, and which of them name their columns."""

from __future__ import annotations

import pytest

from forebay.services.spreadsheets.csv_file import CsvReader, look_at_csv
from forebay.services.spreadsheets.headers import looks_like_header
from forebay.services.spreadsheets.rows import BadRow, columns_of
from tests.services.spreadsheets._tables import file, good, read


@pytest.mark.parametrize(
    "data",
    [
        "Name,Price,Image,Image\nMug,1.50,a.png,b.png\nHat,2.75,c.png,d.png\n",
        "Name,2023,2024\nMug,10,12\nHat,20,24\n",
        "id,100022,100025,10011\nid1,TRUE,TRUE,FALSE\nid2,TRUE,FALSE,TRUE\nid3,TRUE,TRUE,TRUE\n",
        "col1,col2\nval1,val2\n",
        "firstName,last_name\nJo,Doe\nAnn,Roe\n",
        "comment,parent\ncomment1,A3001\ncomment2,A3001\n",
        "Country,yes,flag\nFrance,oui,fr.png\nSpain,si,es.png\n",
        "name,city\nJo,Rome\n",
        "date\n2020-12-30 01:25:58+01\n2020-12-31 02:25:58+01\n",
    ],
)
def test_rows_that_name_columns(data: str) -> None:
    found = look_at_csv(file(data))
    assert found.has_header
    assert found.start.line == 1


@pytest.mark.parametrize(
    "data",
    [
        "Mug,1.50\nHat,2.75\n",
        "Rome,2023,10\nParis,2024,12\n",
        "Rome,2023,2021\nParis,2024,2022\n",
        "AC,Ascension Island\nAD,Andorra\nAE,Emirates\nAF,Afghanistan\n",
        "SKU-AbaukE\nSKU-pVnkBD\nSKU-d2IFUA\nSKU-AG7Mz8\n",
        "Blue mug 300 ml\nGreen towel\nRed hat\n",
        "Home,Home\nGet the tour,Get the tour\nFAQ,FAQ\n",
        "red,Mug\nblue,Hat\nred,Sock\n",
        "a@b.example,x\nc@d.example,y\n",
    ],
)
def test_rows_that_are_the_first_of_their_kind(data: str) -> None:
    assert not look_at_csv(file(data)).has_header


def test_a_row_alone_names_columns_unless_it_has_data() -> None:
    assert looks_like_header(["name", "price"])
    assert not looks_like_header(["name", "1.50"])
    assert not looks_like_header(["", " "])


@pytest.mark.parametrize(
    ("above", "notes"),
    [
        ("Payments over 500\n", ["Payments over 500"]),
        ("Payments over 500,,,\n\nas of 1 March,,,\n", ["Payments over 500,,,", "as of 1 March,,,"]),
        (
            "# made by hand, do not change, please, at all\n# second\n",
            ["# made by hand, do not change, please, at all", "# second"],
        ),
        ("\n   \n", []),
    ],
)
def test_lines_above_the_header_are_notes(above: str, notes: list[str]) -> None:
    data = above + "Name,Price,Unit,Stock\nMug,1.50,piece,3\nHat,2.75,piece,4\nSock,2.00,pair,5\n"
    found = look_at_csv(file(data))
    assert found.columns == ("Name", "Price", "Unit", "Stock")
    assert found.notes == tuple(notes)
    assert [row.line for row in CsvReader(file(data), found)] == [above.count("\n") + n for n in (2, 3, 4)]


def test_a_header_that_is_told_of_is_the_first_line() -> None:
    data = "Title\nName,Price\nMug,1.50\nHat,2.75\n"
    assert look_at_csv(file(data)).columns == ("Name", "Price")
    assert look_at_csv(file(data), header=True).start.line == 1


def test_sparse_rows_without_a_header_are_rows() -> None:
    data = "A-1,,,\nA-2,4,5,6\nA-3,7,8,9\nA-4,1,2,3\n"
    found = look_at_csv(file(data))
    assert (found.notes, found.has_header, len(good(data))) == ((), False, 4)


def test_rows_wider_than_the_header_lose_nothing() -> None:
    assert good("Name,Price\nMug,1.50,blue\nHat,2.75,red\n")[0] == {"Name": "Mug", "Price": "1.50", "column 3": "blue"}
    # R gives no name to the column that numbers the rows.
    assert good('"mpg","cyl"\n"1",21.5,6\n"2",22.8,4\n')[1] == {"column 1": "2", "mpg": "22.8", "cyl": "4"}


def test_one_row_that_is_too_wide_is_bad() -> None:
    rows = read("Name,Price\nMug,1.50\nHat,2.75,red\nSock,2.00\n")
    assert rows[1] == BadRow(3, "has 3 cells, but there are 2 columns", "Hat | 2.75 | red")


def test_names_of_many_columns() -> None:
    assert columns_of(["a", "a", "a 2", "", "a"]) == ("a", "a 2", "a 2 2", "column 4", "a 3")
    assert len(set(columns_of(["a"] * 16_384))) == 16_384
