"""Prices and quantities in the notations of many countries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Literal, NamedTuple, TypeAlias

from forebay.services.products.currencies import find_currency, is_krone, places
from forebay.services.products.texts import Unreadable, clean, fold, latin_digits, shown

Mark: TypeAlias = Literal[".", ","]

MOST = Decimal(10_000_000_000)
_FINEST = Decimal("0.000001")
_NUMBER = re.compile(r"\d(?:[\d.,' ]*\d)?|[.,]\d+")
_DASHED = re.compile(r"(?<=\d)[.,]\s?[-\u2010-\u2015\u2212]{1,2}(?=$|[^\d])")  # 12,- and 12.-
_MINUS = re.compile(r"^[^\d]*[-\u2010-\u2015\u2212]\s?[^\d]*$")
_EXACT = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?", re.IGNORECASE)
_SPOKEN = re.compile(
    r"\b(?:inkl|incl|including|excl|exkl|ttc|ht|mwst|ust|vat|tax|taxes|brutto|netto|gross|net|each|per|pro|je|stk|stuck"
    r"|piece|pc|unit|ea|uvp|rrp|msrp|price|preis|prix|precio|prezzo|nur|only|circa|ca)\b\.?|[/:*~()]"
)
_COUNTED = re.compile(
    r"\b(?:x|pcs?|pieces?|units?|stk|stuck|st|szt|uds?|pzs?|pezzi|pieces?|items?|ea|each|pack|packs|boxes|box)\b\.?|[x\u00d7()]"
)
_MARKS = {0x2019: "'", 0x2018: "'", 0xB4: "'", 0x60: "'", 0x66B: ",", 0x66C: "."}
_CENTS = {"ct", "cts", "cent", "cents", "¢"}


class Price(NamedTuple):
    """An amount, its currency where it is told, and what had to be guessed, if anything."""

    amount: Decimal
    currency: str | None = None
    guessed: str | None = None

    def text(self, currency: str | None = None) -> str:
        """The amount in its one spelling, with the digits that its currency has, or more where there are more."""
        least = places(self.currency or currency)
        whole, _, rest = f"{self.amount:f}".partition(".")
        rest = rest.rstrip("0").ljust(least, "0")
        if len(rest) == 3 and least < 3:
            rest += "0"  # 12.345 could be taken for 12,345
        return f"{whole}.{rest}" if rest else whole


def read_price(value: object, *, mark: Mark | None = None, currency: str | None = None) -> Price:
    """The price in a cell; `mark` and `currency` are those of its column or row, for what the cell leaves open.

    Raises: Unreadable.
    """
    text = clean(value, 200)
    if not isinstance(value, str):
        return _checked(Price(_exact(text)), text)
    body = _DASHED.sub("", _latin_digits(text)).strip()
    number = _only_number(body, text)
    before, after = body[: number.start()], body[number.end() :]
    if _is_negative(before, after):
        raise Unreadable(f"{shown(text)} is negative")
    told, cents, krone = _told(f"{before} {after}", text)
    amount, guessed = _amount(number[0], mark, told or currency)
    if krone and currency is None:
        guessed = f"{shown(text)} may be DKK, NOK or SEK: name the currency"
    return _checked(Price(amount / 100 if cents else amount, told, guessed), text)


def read_quantity(value: object, *, mark: Mark | None = None) -> int:
    """The whole number in a cell.

    Raises: Unreadable.
    """
    text = clean(value, 100)
    body = _latin_digits(text)
    number = _only_number(body, text)
    rest = _COUNTED.sub(" ", fold(f"{body[: number.start()]} {body[number.end() :]}")).strip(" +.")
    if rest:
        raise Unreadable(f"{shown(text)} is negative" if rest == "-" else f"{shown(text)} is no number of pieces")
    amount, _ = _amount(number[0], mark, None) if isinstance(value, str) else (_exact(text), None)
    if amount != amount.to_integral_value() or amount >= MOST:
        raise Unreadable(f"{shown(text)} is no whole number" if amount < MOST else f"{shown(text)} is too many")
    return int(amount)


def decimal_mark(values: Iterable[str]) -> Mark | None:
    """The mark that the unmistakable prices of a column have before their last digits; None when they disagree."""
    seen: set[Mark] = set()
    for value in values:
        for number in _NUMBER.findall(_latin_digits(clean(value, 200))):
            if (mark := _unmistakable(number)) is not None:
                seen.add(mark)
    return seen.pop() if len(seen) == 1 else None


def _unmistakable(number: str) -> Mark | None:
    last: Mark = "." if number.rfind(".") > number.rfind(",") else ","
    other: Mark = "," if last == "." else "."
    if last in number and other in number:
        return last
    if number.count(last) == 1:
        before, _, rest = number.partition(last)
        return last if len(rest) != 3 or before.strip("0") == "" else None
    return other if number.count(last) > 1 else None


def _latin_digits(text: str) -> str:
    return latin_digits(text.translate(_MARKS))


def _exact(text: str) -> Decimal:
    """Numbers that are numbers already."""
    if text.startswith("-"):
        raise Unreadable(f"{shown(text)} is negative")
    if not _EXACT.fullmatch(text):
        raise Unreadable(f"{shown(text)} is no number" if text else "is no number")
    return Decimal(text)


def _only_number(body: str, text: str) -> re.Match[str]:
    found = list(_NUMBER.finditer(body))
    if not found:
        raise Unreadable(f"{shown(text)} has no number in it")
    if len(found) > 1:
        raise Unreadable(f"{shown(text)} has more than one number in it: give one")
    return found[0]


def _is_negative(before: str, after: str) -> bool:
    in_brackets = before.strip().endswith("(") and after.strip().startswith(")")
    return in_brackets or any(_MINUS.fullmatch(each.strip(" ()")) for each in (before, after))


def _told(around: str, text: str) -> tuple[str | None, bool, bool]:
    """The currency that stands around a number, whether cents are meant, and whether it is one of the crowns."""
    rest = " ".join(_SPOKEN.sub(" ", fold(around)).split()).strip(" .,+;")
    if not rest:
        return None, False, False
    if rest in _CENTS:
        return None, True, False
    if is_krone(rest):
        return None, False, True
    parts = {find_currency(part) for part in ([rest] if find_currency(rest) else rest.split())}
    if None in parts:
        raise Unreadable(f"{shown(text)} has words that are no currency: {shown(rest, 40)}")
    if len(parts) > 1:
        raise Unreadable(f"{shown(text)} names more than one currency")
    return parts.pop(), False, False


def _amount(number: str, mark: Mark | None, currency: str | None) -> tuple[Decimal, str | None]:
    """The number that is written, and what was guessed about it."""
    plain = number.replace("'", "").replace(" ", "")
    found = mark if mark and _fits(plain, mark) else _unmistakable(plain)
    if found:
        _check_groups(number, found)
        return _decimal(plain, found), None
    if not set(plain) & set(".,"):
        _check_groups(number, ".")
        return Decimal(plain), None
    sign: Mark = "." if "." in plain else ","
    if places(currency) == 3:
        return _decimal(plain, sign), None
    amount = _decimal(plain, "," if sign == "." else ".")
    if places(currency) == 0:
        return amount, None
    return amount, f"{shown(number)} was read as {amount:f}, as prices seldom have three digits after the mark"


def _fits(plain: str, mark: Mark) -> bool:
    """Whether a number can be one of a column with that mark: 1.234,56 cannot be one with points."""
    other: Mark = "," if mark == "." else "."
    if plain.count(mark) > 1 or plain.rfind(other) > plain.rfind(mark) > -1:
        return False
    return bool(re.fullmatch(rf"\d*|\d{{1,3}}(?:\{other}\d{{2,3}})*\{other}\d{{3}}", plain.partition(mark)[0]))


def _check_groups(number: str, mark: Mark) -> None:
    """Digits stand in groups of three, or of two before the last as in India; else these are several numbers."""
    groups = re.split(r"[.,' ]", number.rpartition(mark)[0] if mark in number else number)
    inner = groups[1:]
    if inner and not (len(inner[-1]) == 3 and all(len(each) in {2, 3} for each in inner) and 0 < len(groups[0]) <= 3):
        raise Unreadable(f"{shown(number)} is no number, or more than one")


def _decimal(plain: str, mark: Mark) -> Decimal:
    other = "," if mark == "." else "."
    return Decimal("0" + plain.replace(other, "").replace(mark, "."))


def _checked(price: Price, text: str) -> Price:
    if price.amount == 0:
        raise Unreadable("is zero: leave it empty when it is not known")
    if price.amount >= MOST:
        raise Unreadable(f"{shown(text)} is no price: it is {MOST:,} or more")
    fine = price.amount.quantize(_FINEST)
    if fine == 0:
        raise Unreadable(f"{shown(text)} is no price: it is next to nothing")
    return price._replace(amount=fine.normalize())
