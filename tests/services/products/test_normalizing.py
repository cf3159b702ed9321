"""Rows of any columns become canonical fields, and what was refused or corrected is reported."""

# demands: S5-27

# ruff: noqa: RUF001 - sheets are written in many scripts

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forebay.errors import InvalidField
from forebay.services.products.columns import FIELDS, Columns, choose_columns, suggest
from forebay.services.products.normalizing import Normalized, normalize

GERMAN = [
    {
        "Art.-Nr.": "A-1",
        "Bezeichnung": "Stift",
        "Hersteller": "Stabilo",
        "EAN-Code": "4006381333931",
        "VK-Preis": "1,20 €",
    },
    {"Art.-Nr.": "A-2", "Bezeichnung": "Heft", "Hersteller": "Brunnen", "EAN-Code": "", "VK-Preis": "1.234,00"},
]


@pytest.mark.parametrize(
    ("headers", "fields"),
    [
        (["Art.-Nr.", "Bezeichnung", "Hersteller", "EAN-Code", "VK-Preis"], ["sku", "title", "brand", "gtin", "price"]),
        (["Référence", "Libellé", "Marque", "Code-barres", "Prix TTC"], ["sku", "title", "brand", "gtin", "price"]),
        (["código", "nombre", "marca", "código de barras", "precio"], ["sku", "title", "brand", "gtin", "price"]),
        (
            ["productName", "brand_name", "UPC", "unitPrice", "currencyCode"],
            ["title", "brand", "gtin", "price", "currency"],
        ),
        (["商品名", "ブランド", "価格", "数量"], ["title", "brand", "price", "quantity"]),
        (["Артикул", "Наименование", "Цена", "Кол-во"], ["sku", "title", "price", "quantity"]),
        (["Produktname (DE)", "Menge", "Bild-URL", "Link"], ["title", "quantity", "image", "url"]),
        (["Título", "Quantidade", "Preço"], ["title", "quantity", "price"]),
        (["Ürün Adı", "Fiyat"], ["title", "price"]),
        (["foo", "bar", ""], []),
    ],
)
def test_columns_are_known_by_their_names(headers: list[str], fields: list[str]) -> None:
    found = {each.column: each.field for each in suggest(headers, [])}
    assert [found[header] for header in headers if header in found] == fields


def test_columns_are_known_by_what_stands_in_them() -> None:
    rows = [
        {"a": "4006381333931", "b": "$5.00", "c": "EUR", "d": "https://x.example/a.jpg", "e": "https://x.example/a"},
        {"a": "0036000291452", "b": "", "c": "USD", "d": "https://x.example/b.png?w=1", "e": "https://x.example/b"},
    ]
    found = {each.column: (each.field, each.reason) for each in suggest(list("abcde"), rows)}
    assert {column: field for column, (field, _) in found.items()} == {
        "a": "gtin", "b": "price", "c": "currency", "d": "image", "e": "url",
    }  # fmt: skip
    assert found["a"][1] == "100 % of the values look like it"


def test_a_name_that_its_content_belies_loses_to_content() -> None:
    rows: list[dict[str, object]] = [{"EAN": f"part {n}", "Nr": "4006381333931"} for n in range(10)]
    assert {each.column: each.field for each in suggest(["EAN", "Nr"], rows)} == {"Nr": "gtin"}


def test_each_column_serves_one_field_and_the_first_of_two_equals_wins() -> None:
    found = suggest(["Name", "Titel", "Preis", "Price"], [])
    assert [(each.field, each.column) for each in found] == [("title", "Name"), ("price", "Preis")]


def test_what_the_user_says_wins() -> None:
    headers = ["Art.-Nr.", "Bezeichnung", "Hersteller", "EAN-Code", "VK-Preis"]
    columns = choose_columns(headers, GERMAN, {"title": "Hersteller", "gtin": None}, currency="euro")
    assert columns.fields == {"title": "Hersteller", "sku": "Art.-Nr.", "price": "VK-Preis"}
    assert (columns.decimal_mark, columns.currency) == (",", "EUR")
    assert choose_columns(headers, GERMAN, mark=".").decimal_mark == "."


@pytest.mark.parametrize(
    ("given_", "field", "why"),
    [
        ({"colour": "a"}, "mapping.colour", "is not a field; the fields are title"),
        ({"title": "Name"}, "mapping.title", "names the column 'Name'; the columns are 'a', 'b'"),
    ],
)
def test_a_mapping_that_cannot_be_is_refused(given_: dict[str, str | None], field: str, why: str) -> None:
    with pytest.raises(InvalidField, match=why) as refused:
        choose_columns(["a", "b"], [], given_)
    assert refused.value.field == field
    with pytest.raises(InvalidField, match="currency: 'xx' is not a currency"):
        choose_columns(["a"], [], currency="xx")


def test_a_row() -> None:
    headers = list(GERMAN[0])
    found = normalize(GERMAN[0], choose_columns(headers, GERMAN))
    assert found.model_dump(mode="json") == {
        "fields": {
            "title": "Stift", "brand": "Stabilo", "sku": "A-1", "gtin": "4006381333931", "price": "1.20",
            "currency": "EUR",
        },
        "problems": [],
    }  # fmt: skip
    assert list(found.fields) == [field for field in FIELDS if field in found.fields]


ALL = Columns(fields={field: field for field in FIELDS})


def _of(**row: object) -> Normalized:
    return normalize(row, ALL)


@pytest.mark.parametrize(
    ("row", "field", "kind", "why"),
    [
        ({"price": "-1"}, "price", "refused", "'-1' is negative"),
        ({"price": "1.234"}, "price", "corrected", "was read as 1234"),
        ({"gtin": "4.00638E+12"}, "gtin", "refused", "rounded by a spreadsheet"),
        ({"gtin": "36000291452"}, "gtin", "corrected", "lost its leading zeros"),
        ({"title": "..."}, "title", "refused", "has no words"),
        ({"title": "x" * 600}, "title", "corrected", "truncated after 500"),
        ({"currency": "kr"}, "currency", "refused", "DKK, NOK, SEK or ISK"),
        ({"currency": "USD", "price": "5 €"}, "currency", "corrected", "is USD, but the price says EUR; USD was kept"),
        ({"url": "example.org/a"}, "url", "corrected", "no https://"),
        ({"url": "ftp://example.org/"}, "url", "refused", "must begin with http"),
        ({"image": "javascript:alert(1)"}, "image", "refused", "must begin with http"),
        ({"url": "http://u:p@example.org/"}, "url", "refused", "password"),
        ({"quantity": "some"}, "quantity", "refused", "contains no number"),
    ],
)
def test_problems_name_field_column_and_reason(row: dict[str, object], field: str, kind: str, why: str) -> None:
    [problem] = _of(**row).problems
    assert (problem.field, problem.column, problem.kind) == (field, field, kind)
    assert why in problem.reason
    assert (field in _of(**row).fields) == (kind == "corrected")


def test_rows_that_an_earlier_version_normalized_are_still_read() -> None:
    stored = {"fields": {}, "problems": [{"field": "price", "kind": "mended", "reason": "was read as 1234"}]}
    assert [problem.kind for problem in Normalized.model_validate(stored).problems] == ["corrected"]


@pytest.mark.parametrize("nothing", ["", " ", "-", "N/A", "#REF!", "null", None, float("nan"), [], {}])
def test_nothing_is_no_problem(nothing: object) -> None:
    assert _of(**dict.fromkeys(FIELDS, nothing)) == Normalized(fields={}, problems=[])


def test_spellings() -> None:
    found = _of(
        sku="='00012'", mpn="0012.50", brand=" No Brand ", quantity=3.0, price=5, currency="jpy", url="www.a.example"
    )
    assert found.fields == {
        "sku": "00012", "mpn": "0012.50", "price": "5", "currency": "JPY", "quantity": 3, "url": "https://www.a.example/",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("price", "column", "option", "currency"),
    [
        ("$12.99", "CAD", None, "CAD"),
        ("$12.99", None, "CAD", "CAD"),
        ("$12.99", None, None, "USD"),
        ("¥128", "CNY", None, "CNY"),
        ("Rs 500", "PKR", None, "PKR"),
        ("99 kr", "NOK", None, "NOK"),
        ("99 kr", None, "SEK", "SEK"),
        ("99 kr", "kr", "SEK", "SEK"),
        ("99 kr", None, None, None),
        ("CAD 5", "$", None, "CAD"),
        ("$ 5", "C$", None, "CAD"),
        ("5", "$", "AUD", "AUD"),
        ("5 €", None, "USD", "EUR"),
        ("5 €", "USD", None, "USD"),
        ("8.29", "£ 8.29", None, "GBP"),
        ("17,95", "DKK/stk", None, "DKK"),
        ("34.44", "Price: $ 34.44", None, "USD"),
        ("5.00", "ID:", "EUR", "EUR"),
    ],
)
def test_a_symbol_is_what_the_row_or_else_the_sheet_says(
    price: str, column: str | None, option: str | None, currency: str | None
) -> None:
    columns = ALL.model_copy(update={"currency": option})
    assert normalize({"price": price, "currency": column}, columns).fields.get("currency") == currency


def test_a_currency_that_contradicts_the_price_is_told() -> None:
    row = {"price": "5 €", "currency": "USD"}
    [problem] = normalize(row, ALL).problems
    assert (problem.field, problem.reason) == ("currency", "is USD, but the price says EUR; USD was kept")
    [problem] = normalize({"price": "5 €"}, ALL.model_copy(update={"currency": "USD"})).problems
    assert (problem.field, problem.reason) == (
        "price", "says EUR, which was kept; the currency of the whole sheet is USD",
    )  # fmt: skip
    [problem] = _of(price="8.29", currency="£ 8.29").problems
    assert (problem.field, problem.reason) == ("currency", "'£ 8.29' contains more than the currency; GBP was used")


def test_cells_that_are_numbers_are_not_guessed_at() -> None:
    """As number cells of workbooks, beside texts in the same column that have commas."""
    columns = ALL.model_copy(update={"decimal_mark": ","})
    for number in (1.459, Decimal("1.459")):
        found = normalize({"price": number, "quantity": 3.0, "gtin": 4006381333931, "sku": 12.0}, columns)
        assert found.fields == {"price": "1.4590", "quantity": 3, "gtin": "4006381333931", "sku": "12"}
        assert not found.problems
    assert normalize({"price": "1.459"}, columns).fields["price"] == "1459.00"


CELLS = st.one_of(st.none(), st.text(max_size=40), st.integers(), st.floats(), st.booleans(), st.lists(st.integers()))


@given(st.dictionaries(st.sampled_from(FIELDS), CELLS))
@example({"price": 12.345})
@example({"price": "1.234"})
@example({"price": "1,234 KWD"})
def test_any_row_is_read_and_what_was_read_stays_the_same(row: dict[str, object]) -> None:
    found = normalize(row, ALL)
    assert Normalized.model_validate_json(found.model_dump_json()) == found
    again = normalize({str(field): value for field, value in found.fields.items()}, ALL)
    assert again.fields == found.fields
    assert {each.field for each in found.problems if each.kind == "refused"}.isdisjoint(
        set(found.fields) - {"currency"}
    )
