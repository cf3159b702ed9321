"""Prices as shops of many countries write them, with all that stands beside the number."""

# ruff: noqa: RUF001 - prices are written in many scripts

from __future__ import annotations

import re
from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from forebay.services.products.currencies import CODES, find_mention, places
from forebay.services.products.prices import read_price
from forebay.services.products.texts import Unreadable


@pytest.mark.parametrize(
    ("value", "amount", "currency"),
    [
        # the point of an abbreviation is no decimal mark
        ("Rs.500", "500", "INR"),
        ("Rs.99", "99", "INR"),
        ("Rs. 99", "99", "INR"),
        ("Rs.1,299.00", "1299", "INR"),
        ("Rs.500/-", "500", "INR"),
        ("Fr.500", "500", "CHF"),
        ("Rp.500", "500", "IDR"),
        ("Rp.1.500.000", "1500000", "IDR"),
        ("S/.12.50", "12.50", "PEN"),
        ("L.E.300", "300", "EGP"),
        ("р.100", "100", "RUB"),
        ("$.75", "0.75", "USD"),
        ("USD .75", "0.75", "USD"),
        ("$.750.30", "750.30", "USD"),
        # four digits are no group of three
        ("1234.567", "1234.567", None),
        ("1234,567", "1234.567", None),
        ("12345.678 EUR", "12345.678", "EUR"),
        ("1 234.567 EUR", "1234.567", "EUR"),
        ("012.345", "12.345", None),
        # cents, raised, left out, or behind the symbol
        ("99:-", "99", None),
        ("99.=", "99", None),
        ("19⁹⁹ €", "19.99", "EUR"),
        ("19,99¹ €", "19.99", "EUR"),
        ("$12⁹⁹", "12.99", "USD"),
        ("19⁹⁹ USD", "19.99", "USD"),
        ("$12 ⁹⁹", "12.99", "USD"),
        ("$12₉₉", "12.99", "USD"),
        ("12\u200b⁹⁹ EUR", "12.99", "EUR"),
        ("１２⁹⁹ USD", "12.99", "USD"),
        ("12,⁹⁹ USD", "12.99", "USD"),
        ("$1,299⁹⁹", "1299.99", "USD"),
        ("1.299⁹⁹ EUR", "1299.99", "EUR"),
        ("1 299⁹⁹ EUR", "1299.99", "EUR"),
        ("12 EUR/m²", "12", "EUR"),
        ("99¢", "0.99", None),
        ("99 cents USD", "0.99", "USD"),
        ("35€ 99", "35.99", "EUR"),
        ("1 250€60", "1250.60", "EUR"),
        ("50 GBp", "0.50", "GBP"),
        ("50p", "0.50", "GBP"),
        ("٣٫٥٠٠", "3.5", None),
        ("٨٠٬٠٠٠ ريال سعودي", "80000", "SAR"),
        # code and symbol together
        ("$1,190.00 AUD", "1190", "AUD"),
        ("NZD $100.70", "100.70", "NZD"),
        ("SGD$4.90", "4.90", "SGD"),
        ("$ SGD4.90", "4.90", "SGD"),
        ("CA$1.23", "1.23", "CAD"),
        ("AU $5", "5", "AUD"),
        # names and symbols
        ("6790 Dinara", "6790", "RSD"),
        ("1128240 рублей", "1128240", "RUB"),
        ("423.923 KD", "423.923", "KWD"),
        ("1 Lek", "1", "ALL"),
        ("15.000 FCFA", "15000", "XOF"),
        ("1 د.إ", "1", "AED"),
        ("1 د.أ", "1", "JOD"),
        ("5 Canadian dollars", "5", "CAD"),
        ("1 Rf", "1", "MVR"),
        ("1 RF", "1", "RWF"),
        ("500 nt$", "500", "TWD"),
        ("12 kn", "12", "HRK"),
        ("80,000 تومان", "80000", None),  # ten rials, and no code of its own
        ("13800 ₶", "13800", None),
        # words that change nothing
        ("Cena: 55,72 zł brutto", "55.72", "PLN"),
        ("31,07 € (bez DPH)", "31.07", "EUR"),
        ("0,29 € + iva", "0.29", "EUR"),
        ("148.50 Inc GST", "148.50", None),
        ("Our Price: $149.95", "149.95", "USD"),
        ("500 руб. с НДС", "500", "RUB"),
        ("990 Ft/db", "990", "HUF"),
        ("40.00/each", "40", None),
        ("10,50 € 10,50 €", "10.50", "EUR"),
    ],
)
def test_price(value: str, amount: str, currency: str | None) -> None:
    found = read_price(value)
    assert (found.amount, found.currency) == (Decimal(amount), currency)


@pytest.mark.parametrize(
    ("value", "amount", "note"),
    [
        ("From $109.90", "109.90", "is the lowest of several prices"),
        ("ab 3,63 EUR", "3.63", "is the lowest of several prices"),
        ("$24.99 with card", "24.99", "'with card' next to the price was ignored"),
        ("$15.95/mo", "15.95", "'mo' next to the price was ignored"),
        ("5 € / m", "5", "'m' next to the price was ignored"),
        ("129,00 € (-15%)", "129", "'(-15%)' next to the price was ignored"),
        ("e-shop 5 Kč", "5", "'e shop' next to the price was ignored"),
        ("$12.99¹", "12.99", "the superscript '¹' was ignored as a footnote"),
        ("$12.99 ¹", "12.99", "the superscript '¹' was ignored as a footnote"),
        ("$12.99¹²", "12.99", "the superscript '¹²' was ignored as a footnote"),
        ("$5²", "5", "the superscript '²' was ignored as a footnote"),
        ("$0.99¢", "0.99", "'$0.99¢' was read as 0.99, not as hundredths"),
        ("£0.99p", "0.99", "'£0.99p' was read as 0.99, not as hundredths"),
        ("11,33 Br", "11.33", "was read as BYN, but may be ETB: name the currency"),
        ("kr.123,45", "123.45", "may be DKK, NOK, SEK or ISK: name the currency"),
        ("1,250 KD", "1.250", "was read as 1.250, because prices in KWD have three decimals"),
        ("Rp.150.000", "150000", "was read as 150000, because prices rarely have three decimals"),
    ],
)
def test_what_was_guessed_is_told(value: str, amount: str, note: str) -> None:
    found = read_price(value)
    assert found.amount == Decimal(amount)
    assert note in (found.guessed or "")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("$5.95-10.95", "more than one number"),
        ("£6.95 - £9.95", "more than one number"),
        ("$10 $15", "more than one number"),
        ("$10$15", "more than one number"),
        ("2 $15", "more than one number"),
        ("3,49 zł 1,75 zł", "more than one number"),
        ("5.00 trên 5", "more than one number"),
        ("12x de R$ 44,00 sem juros", "more than one number"),
        ("12.99 50", "more than one"),
        ("12.99 1 EUR", "more than one"),
        ("¹12.99", "has '¹' next to its number: write the number in plain digits"),
        ("$12⁹⁹¹", "has '⁹' next to its number"),
        ("$12①", "has '①' next to its number"),
        ("$2½", "has '½' next to its number"),
        ("m² 500 EUR", "has '²' next to its number"),
        ("0,99 ct", "'0,99 ct' may be 0.99 or 0.0099: write it in the unit of its currency"),
        ("$99¢", "'$99¢' may be 99 or 0.99"),
        ("-$5.95", "is negative"),
        ("$5.95-", "is negative"),
        ("($5.95)", "is negative"),
        ("EUR-5", "is negative"),
        ("1.26K", "is not a price: it contains 'k'"),
        ("€1.26K", "is not a price: it contains 'k'"),
        ("$5 million", "is not a price: it contains 'million'"),
        ("5 € Mio.", "is not a price: it contains 'mio'"),
        ("5 €k", "is not a price: it contains 'k'"),
        ("5 тыс. руб.", "is not a price: it contains 'тыс'"),
        ("Save $5", "is not a price: it contains 'save'"),
        ("40% OFF", "no number"),
        ("%15", "no number"),
        ("#15", "words that are not a currency: '#'"),
        ("Rs .99", "'Rs .99' may be .99 or 99: write a digit before the mark"),
        ("12 pieces", "words that are not a currency: 'pieces'"),
        ("12 stk", "words that are not a currency: 'stk'"),
        ("Canon R 5 camera", "words that are not a currency: 'Canon camera'"),
        ("Model 500 in EUR", "words that are not a currency: 'Model in'"),
        ("5 € $", "names more than one currency"),
    ],
)
def test_no_price(value: str, why: str) -> None:
    with pytest.raises(Unreadable, match=re.escape(why)):
        read_price(value)


# (thousands, decimal mark, order of number and currency, currencies that are written so)
NOTATIONS = [
    (",", ".", "{1}{0}", ["$", "US$", "£", "CA$", "A$", "₹", "Rs.", "Rs", "R", "₱", "₦", "KSh", "NT$", "฿", "₪"]),
    (",", ".", "{1} {0}", ["USD", "GBP", "Rs.", "AED", "RM", "KSh", "GH₵", "S/.", "Q", "B/."]),
    (",", ".", "{0} {1}", ["USD", "dollars", "baht", "درهم", "جنيه", "ج.م", "د.إ", "ر.س", "KD", "MXN"]),
    (".", ",", "{0} {1}", ["€", "EUR", "kr.", "TL", "₺", "din.", "lei", "RSD", "KM", "Ft", "₫", "ден"]),
    (".", ",", "{1} {0}", ["€", "R$", "Rp", "Rp.", "kr.", "Gs.", "$", "Bs.", "CLP", "COL$", "Kz"]),
    (" ", ",", "{0} {1}", ["€", "Kč", "zł", "kr", "Ft", "₽", "руб.", "р.", "грн", "₴", "лв.", "₸", "сом", "֏"]),
    ("\u202f", ",", "{0}\u00a0{1}", ["€", "CHF", "FCFA", "DA", "DT", "$ CA"]),
    ("'", ".", "{1} {0}", ["CHF", "Fr.", "SFr."]),
    ("\u2019", ".", "{1} {0}", ["CHF", "Fr."]),
    ("", ".", "{0} {1}", ["€", "USD", "zł"]),
    ("", ",", "{0}{1}", ["€", "Kč", "zł", "kr"]),
]  # fmt: skip
NOTATION = st.sampled_from([(*each[:3], name) for each in NOTATIONS for name in each[3]])
AROUND = st.sampled_from(["{}", "Price: {}", "{} incl. VAT", "inkl. MwSt. {}", "Cena {}", "{} / ks", "{}*", " {} "])


def _written(cents: int, thousands: str, mark: str) -> str:
    return f"{cents // 100:,}".replace(",", thousands) + f"{mark}{cents % 100:02}"


@given(st.integers(1, 10**11), NOTATION, AROUND)
def test_every_notation_is_read_back(cents: int, notation: tuple[str, str, str, str], around: str) -> None:
    thousands, mark, order, name = notation
    text = around.format(order.format(_written(cents, thousands, mark), name))
    found = read_price(text)
    assert found.amount == Decimal(cents) / 100
    assert found.codes


@given(
    st.decimals("0.001", 10**9, places=3, allow_nan=False),
    st.integers(0, 3),
    NOTATION,
    st.sampled_from(["{}", "{}-", "{}.-", "{}:-", "{}/-", "{} K", "({})", "{}{}", "{} {}", "{} – {}", "-{}", "{}%"]),
)
@example(Decimal("1.459"), 3, ("", ".", "{0} {1}", "EUR"), "{}")
def test_no_amount_is_wrong_by_a_power_of_ten_unless_it_says_so(
    amount: Decimal, digits: int, notation: tuple[str, str, str, str], around: str
) -> None:
    """Whatever is done to a price, it is read as it is, or refused; three digits after a lone mark are told."""
    thousands, mark, order, name = notation
    whole, _, rest = f"{amount:.{digits}f}".partition(".")
    number = f"{int(whole):,}".replace(",", thousands) + (mark + rest if rest else "")
    text = around.format(*[order.format(number, name)] * around.count("{"))
    with suppress(Unreadable):
        found = read_price(text)
        assume(not digits or places(found.currency))  # nobody writes 1,000 guaraníes as 1,000.000
        assert found.amount == Decimal(f"{amount:.{digits}f}") or found.guessed, (text, found)


@given(
    st.sampled_from(sorted(CODES)), st.integers(1, 10**9), st.sampled_from(["{1} {0}", "{0} {1}", "{1}{0}", "{0}{1}"])
)
def test_every_code_is_its_own_currency(code: str, amount: int, order: str) -> None:
    found = read_price(order.format(amount, code))
    assert (found.amount, found.currency) == (Decimal(amount), code)
    assert found.text().rpartition(".")[2 if places(code) else 0].isdigit() == bool(places(code))
    naming = find_mention(code)
    assert naming is not None
    assert naming.codes == (code,)
