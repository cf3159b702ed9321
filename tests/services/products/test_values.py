"""Texts, numbers of trade items, currencies and prices, as sheets write them."""

# ruff: noqa: RUF001 - sheets are written in many scripts

from __future__ import annotations

import json
import re
from contextlib import suppress
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forebay.services.products.currencies import CODES, places
from forebay.services.products.gtins import check_digit, expand_upc_e, is_valid, read_gtin, same_gtin
from forebay.services.products.price_texts import read_currency
from forebay.services.products.prices import Mark, decimal_mark, read_price, read_quantity
from forebay.services.products.texts import Unreadable, clean, code, words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("  two\u00a0 \t\r\nspaces ", "two spaces"),
        ("zero\u200bwidth\ufeff \u202eand\u2066 marks", "zerowidth and marks"),
        ("soft\u00adhyphen", "softhyphen"),
        ("ﬁne Ｆｕｌｌ １２", "fine Full 12"),
        ("Acme™ Widget®", "Acme Widget"),
        ("a\u200db", "ab"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("nul\x00\ud800", "nul"),
        (12.0, "12"),
        (12.5, "12.5"),
        (float("nan"), ""),
        (float("inf"), ""),
        (4006381333931.0, "4006381333931"),
        (10**400, ""),
        (Decimal("1E+3"), "1000"),
        (Decimal("1E+999999"), ""),
        (True, "true"),
        (None, ""),
        ({"a": 1}, ""),
        (date(2026, 1, 2), "2026-01-02"),
    ],
)
def test_text(value: object, text: str) -> None:
    assert clean(value) == text


@given(st.text())
@example("क\u200d\u200da")
@example("a\u0308\u200b\u0308")
@example("\ufdfa" * 100)
def test_clean_text_is_clean_and_can_be_stored(text: str) -> None:
    found = clean(text, 50)
    assert clean(found, 50) == found
    assert len(found) <= 50
    assert "\x00" not in found
    json.dumps(found, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Café-Crème  1,5 L", ("cafe", "creme", "1p5l")),
        ("SSD 128 GB", ("ssd", "128gb")),
        ("Łódź IŞIK", ("lodz", "isik")),
        ("索尼耳机 WH", ("索尼", "尼耳", "耳机", "wh")),
        ("茶", ("茶",)),
    ],
)
def test_words(text: str, found: tuple[str, ...]) -> None:
    assert words(text) == found
    assert words("x " * 1000, most=5) == ("x",) * 5


def test_codes_are_the_same_however_they_are_written() -> None:
    assert code("AB-12/3 x") == code("ab.123X") == "ab123x"


@pytest.mark.parametrize(
    ("value", "digits", "corrected"),
    [
        ("4006381333931", "4006381333931", None),
        ("96385074", "96385074", None),
        ("036000291452", "036000291452", None),
        ("0036000291452", "036000291452", None),
        ("04006381333931", "4006381333931", None),
        ("10614141000415", "10614141000415", None),
        ("EAN: 4 006381 333931", "4006381333931", None),
        ("ISBN 978-0-306-40615-7", "9780306406157", None),
        ("='4006381333931'", "4006381333931", None),
        (4006381333931, "4006381333931", None),
        (4006381333931.0, "4006381333931", None),
        ("4006381333931,00", "4006381333931", None),
        ("٤٠٠٦٣٨١٣٣٣٩٣١", "4006381333931", None),
        ("36000291452", "036000291452", "lost its leading zeros"),
        (36000291452.0, "036000291452", "lost its leading zeros"),
        ("4.006381333931E+12", "4006381333931", "written by a spreadsheet"),
        ("4,006381333931e12", "4006381333931", "written by a spreadsheet"),
        ("0-306-40615-2", "9780306406157", "ISBN-10"),
        ("080442957X", "9780804429573", "ISBN-10"),
        ("EAN 8717801048538", "8717801048538", None),
        ("EAN8717801048538", "8717801048538", None),
        ("EAN-8717801048538", "8717801048538", None),
        ("EAN 8 717801 048538", "8717801048538", None),
        ("GTIN 1334567890125", "1334567890125", None),
        ("GTIN1334567890125", "1334567890125", None),
        ("EAN 1061414100044", "1061414100044", None),
        ("GTIN1410614141000415", "10614141000415", None),
        ("EAN 13 4006381333931", "4006381333931", None),
        ("EAN-13: 36000291452", "036000291452", "lost its leading zeros"),
        ("EAN 13 36000291452", "036000291452", "lost its leading zeros"),
        ("EAN 8: 96385074", "96385074", None),
        ("EAN 8 96385074", "96385074", None),
        ("ISBN10-0-306-40615-2", "9780306406157", "ISBN-10"),
        ("04252614", "042100005264", "is a UPC-E"),
        ("UPC-E 04252614", "042100005264", "is a UPC-E"),
        ("UPC 01234565", "012345000065", "is a UPC-E"),
        ("01234565", "01234565", None),  # an EAN-8 as well
        ("0000096385074", "96385074", None),
        ("00000096385074", "96385074", None),
        ("000096385074", "96385074", None),
        ("4006381333931 / 96385074", "4006381333931", "more than one number"),
        ("4006381333931;4006381333931", "4006381333931", "more than one number"),
        ("4006381333931 (neu)", "4006381333931", "more than the number"),
        (
            "4.00638E+12",
            None,
            "'4.00638E+12' was rounded by a spreadsheet: format the column as text and export it again",
        ),
        ("4.0063813339311E+12", None, "'4.0063813339311E+12' is not a whole number"),
        ("4006381333932", None, "4006381333932 ends with 2, but its check digit is 1"),
        ("0000000000000", None, "has only zeros"),
        ("123456", None, "'123456' has 6 digits; GTINs have 8, 12, 13 or 14"),
        ("1" * 20, None, "has 20 digits"),
        ("none", None, "'none' is not a number of 8, 12, 13 or 14 digits"),
        ("9" * 150, None, "has 150 digits"),
    ],
)
def test_gtin(value: object, digits: str | None, corrected: str | None) -> None:
    if digits is None:
        with pytest.raises(Unreadable, match=re.escape(corrected or "")):
            read_gtin(value)
        return
    found = read_gtin(value)
    assert found.digits == digits
    assert (corrected is None) == (found.corrected is None)
    assert corrected is None or corrected in (found.corrected or "")


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("0123450", "01200000345"),
        ("0123451", "01210000345"),
        ("0123452", "01220000345"),
        ("0123453", "01230000045"),
        ("0123454", "01234000005"),
        ("0123455", "01234500005"),
        ("0123459", "01234500009"),
    ],
)
def test_a_short_upc_is_expanded_by_its_last_digit(short: str, full: str) -> None:
    check = check_digit(full)
    assert expand_upc_e(short + check) == full + check
    assert read_gtin(f"UPC {short}{check}").digits == full + check


BODIES = st.sampled_from([7, 11, 12, 13]).flatmap(lambda size: st.text("0123456789", min_size=size, max_size=size))


@given(BODIES.filter(lambda body: body.strip("0")))
def test_every_number_with_its_check_digit_is_read_and_read_again(body: str) -> None:
    number = body + check_digit(body)
    found = read_gtin(number)
    assert same_gtin(found.digits, number)
    assert found.corrected is None
    assert read_gtin(found.digits) == found
    assert read_gtin(number.zfill(14)).digits.zfill(14) == number.zfill(14)


@given(BODIES.filter(lambda body: body.strip("0")), st.data())
def test_one_wrong_digit_is_always_found(body: str, data: st.DataObject) -> None:
    number = body + check_digit(body)
    at = data.draw(st.integers(0, len(number) - 1))
    wrong = data.draw(st.sampled_from([each for each in "0123456789" if each != number[at]]))
    assert not is_valid(number[:at] + wrong + number[at + 1 :])


@pytest.mark.parametrize(
    ("value", "currency"),
    [("eur", "EUR"), ("€", "EUR"), (" US$ ", "USD"), ("zł", "PLN"), ("Kč", "CZK"), ("CHF", "CHF"), ("Fr.", "CHF")],
)
def test_currency(value: str, currency: str) -> None:
    assert read_currency(value) == currency


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("kr", "'kr' may be DKK, NOK, SEK or ISK: write the code"),
        ("XXQ", "'XXQ' is not a currency: write its code, such as EUR or USD"),
        ("", "'' is not a currency: write its code"),
    ],
)
def test_no_currency(value: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read_currency(value)


@pytest.mark.parametrize(
    ("value", "amount", "currency"),
    [
        ("1.234,56 €", "1234.56", "EUR"),
        ("$1,234.56", "1234.56", "USD"),
        ("1 234,56 EUR", "1234.56", "EUR"),
        ("1\u202f234,56\u00a0€", "1234.56", "EUR"),
        ("CHF 1'234.50", "1234.50", "CHF"),
        ("Fr. 1’234.–", "1234.00", "CHF"),
        ("12,- €", "12.00", "EUR"),
        ("₹1,23,456.78", "123456.78", "INR"),
        ("1.234.567 Ft", "1234567.00", "HUF"),
        ("¥1200", "1200", "JPY"),
        ("￥1,200", "1200", "JPY"),
        ("12.345 KWD", "12.345", "KWD"),
        ("R$ 9,90", "9.90", "BRL"),
        ("9,90 zł", "9.90", "PLN"),
        ("99 ct", "0.99", None),
        ("USD $5", "5.00", "USD"),
        ("19,99 € inkl. MwSt.", "19.99", "EUR"),
        ("٣٫٥٠", "3.50", None),
        (".99", "0.99", None),
        ("0,125", "0.1250", None),
        ("12", "12.00", None),
        (12, "12.00", None),
        (19.990000000000002, "19.99", None),
        (Decimal("7.5"), "7.50", None),
    ],
)
def test_price(value: object, amount: str, currency: str | None) -> None:
    found = read_price(value)
    assert (found.text(), found.currency, found.guessed) == (amount, currency, None)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("-5 €", "is negative"),
        ("€ -5", "is negative"),
        ("5-", "is negative"),
        ("(5,00)", "is negative"),
        ("\u22125", "is negative"),
        (-5, "is negative"),
        ("0,00 €", "is zero: leave it empty if it is unknown"),
        (0, "is zero"),
        ("4006381333931", "'4006381333931' is not a price: it is 10,000,000,000 or more"),
        (1e300, "is not a price"),
        (1e-300, "is not a price: it is too small"),
        ("10-20 €", "'10-20 €' contains more than one number: use one"),
        ("10 20", "more than one"),
        ("1,2,3", "'1,2,3' is not a number, or more than one"),
        ("1.23.4567", "more than one"),
        ("on request", "'on request' contains no number"),
        ("12 pieces", "'12 pieces' has words that are not a currency: 'pieces'"),
        ("5 € $", "'5 € $' names more than one currency"),
        (True, "is not a number"),
        ([1], "is not a number"),
        ("9" * 10_000, "is not a price"),
    ],
)
def test_no_price(value: object, why: str) -> None:
    with pytest.raises(Unreadable, match=re.escape(why)):
        read_price(value)


def test_what_a_price_leaves_open_its_column_and_its_row_decide() -> None:
    assert read_price("1.234").text() == "1234.00"
    assert "was read as 1234" in (read_price("1.234").guessed or "")
    assert read_price("1.234", mark=".").text() == "1.2340"
    assert read_price("1.234", mark=",").text() == "1234.00"
    assert read_price("1.234,50", mark=".").text() == "1234.50"  # it says otherwise itself
    assert read_price("1.234", currency="KWD").amount == Decimal("1.234")
    assert "DKK" in (read_price("99 kr").guessed or "")
    assert read_price("99 kr", currency="SEK").guessed is None


@pytest.mark.parametrize(
    ("values", "mark"),
    [(["1.234", "5,90"], ","), (["1,234", "5.90 $"], "."), (["1.5", "2,5"], None), (["1.234", "12"], None), ([], None)],
)
def test_mark_of_a_column(values: list[str], mark: Mark | None) -> None:
    assert decimal_mark(values) == mark


def _grouped(whole: int, group: str) -> str:
    return f"{whole:,}".replace(",", group)


@given(
    st.integers(1, 10**12 - 1),
    st.sampled_from([(",", "."), (".", ","), (" ", ","), ("'", "."), ("\u00a0", ","), ("", "."), ("", ",")]),
    st.sampled_from(["{} {}", "{1} {0}", "{1}{0}", "{0}{1}"]),
    st.sampled_from(sorted(code for code in CODES if places(code) == 2)),
)
def test_every_notation_gives_the_same_price(cents: int, marks: tuple[str, str], order: str, currency: str) -> None:
    written = f"{_grouped(cents // 100, marks[0])}{marks[1]}{cents % 100:02}"
    found = read_price(order.format(written, currency))
    assert (found.amount, found.currency) == (Decimal(cents) / 100, currency)
    assert read_price(found.text()).amount == found.amount
    assert read_price(float(Decimal(cents) / 100)).amount == found.amount


@given(st.text(st.sampled_from("0123456789.,'-() €$krEUR\u2212"), max_size=30))
def test_no_text_does_worse_than_be_refused(text: str) -> None:
    for read in (read_price, read_quantity, read_gtin):
        with suppress(Unreadable):
            read(text)


@pytest.mark.parametrize(
    ("value", "number"),
    [("12", 12), (12.0, 12), ("1,000", 1000), ("12 pcs", 12), ("x 3", 3), ("5 Stück", 5), ("0", 0), ("7.0", 7)],
)
def test_quantity(value: object, number: int) -> None:
    assert read_quantity(value) == number


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("-3", "negative"),
        (-3, "negative"),
        ("1.5", "'1.5' is not a whole number"),
        ("many", "no number"),
        ("12 €", "'12 €' is not a quantity"),
        ("2²", "has '²' next to its number"),
        ("2½", "has '½' next to its number"),
        (1e15, "'1000000000000000' is too large"),
    ],
)
def test_no_quantity(value: object, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read_quantity(value)
