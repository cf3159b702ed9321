"""GTINs (EAN, UPC, ISBN): check digits, and damage by spreadsheets."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from forebay.services.products.texts import Unreadable, clean, latin_digits, shown

LENGTHS = (8, 12, 13, 14)
_NAME = re.compile(r"(gtin|ean|upc|isbn|jan|code)(?:[- ]?(8|1[0234]|a|e))?(\s*[:#.-]?\s*)(?=[\d='\"])", re.IGNORECASE)
_WHOLE = re.compile(r"(?<=\d)[.,]0+$")  # 4006381333931.0
_ROUNDED = re.compile(r"(\d(?:[.,]\d+)?)e\+?(\d{1,2})", re.IGNORECASE)
_SEPARATED = re.compile(r"[\s.\u2010-\u2015\u2212-]")
_SEVERAL = re.compile(r"(?<!\d)\d{8,14}(?!\d)")
_ISBN10 = re.compile(r"\d{9}[\dX]", re.IGNORECASE)


class Gtin(NamedTuple):
    """A GTIN in its shortest usual length, and what was corrected, if anything."""

    digits: str
    corrected: str | None = None


def check_digit(body: str) -> str:
    """The check digit of `body`."""
    total = sum(int(digit) * (1 if at % 2 else 3) for at, digit in enumerate(reversed(body)))
    return str(-total % 10)


def is_valid(digits: str) -> bool:
    """Whether these digits, padded with zeros, have the right check digit."""
    return bool(digits.strip("0")) and check_digit(digits[:-1]) == digits[-1]


def same_gtin(one: str, other: str) -> bool:
    """036000291452 and 0036000291452 are the same number."""
    return one.zfill(14) == other.zfill(14)


def read_gtin(value: object) -> Gtin:
    """Read the GTIN in a cell.

    Raises: Unreadable.
    """
    text = latin_digits(clean(value, 200))
    bare = _WHOLE.sub("", _without_name(text).strip("='\" "))
    if rounded := _ROUNDED.fullmatch(bare):
        return _unrounded(rounded[1].replace(",", "."), int(rounded[2]), text)
    digits = _SEPARATED.sub("", bare)
    if _ISBN10.fullmatch(digits) and _is_isbn10(digits):
        return Gtin(_from_isbn10(digits), f"{digits} is an ISBN-10")
    if not (digits.isascii() and digits.isdecimal()):
        return _first_of_several(text)
    if len(digits) > 14 and (found := _several(text)):
        return found
    if is_upc_e(digits) and (not is_valid(digits) or text[:3].lower() == "upc"):
        return Gtin(expand_upc_e(digits), f"{digits} is a UPC-E")
    return _complete(digits)


def is_upc_e(digits: str) -> bool:
    """Whether eight digits are a UPC-E; number systems other than 0 are hardly used."""
    return len(digits) == 8 and digits.startswith("0") and is_valid(expand_upc_e(digits))


def expand_upc_e(digits: str) -> str:
    """Expand a UPC-E to twelve digits; its last but one digit says where zeros were removed."""
    system, body, last, check = digits[0], digits[1:6], digits[6], digits[7]
    if last in "012":
        full = f"{body[:2]}{last}0000{body[2:]}"
    elif last == "3":
        full = f"{body[:3]}00000{body[3:]}"
    elif last == "4":
        full = f"{body[:4]}00000{body[4:]}"
    else:
        full = f"{body}0000{last}"
    return f"{system}{full}{check}"


def _without_name(text: str) -> str:
    """The number after a label such as EAN or GTIN-13. In EAN 8717801048538 the 8 belongs to the number."""
    named = _NAME.match(text)
    if named is None:
        return text
    size, separator, rest = named[2] or "", named[3], text[named.end() :]
    if not size.isdecimal() or separator.strip():
        return rest
    whole = size + rest
    if not separator:
        return rest if len(_digits_of(rest)) == int(size) else whole
    grouped = _digits_of(whole)  # 8 717801 048538 is a usual notation
    return whole if size == "8" and len(grouped) in LENGTHS and is_valid(grouped) else rest


def _digits_of(text: str) -> str:
    return "".join(filter(str.isdecimal, text))


def _complete(digits: str) -> Gtin:
    if len(digits) > 14 or len(digits) < 7:
        raise Unreadable(f"{shown(digits)} has {len(digits)} digits; GTINs have 8, 12, 13 or 14")
    if not digits.strip("0"):
        raise Unreadable("has only zeros")
    if not is_valid(digits):
        raise Unreadable(f"{digits} ends with {digits[-1]}, but its check digit is {check_digit(digits[:-1])}")
    if len(digits) in LENGTHS:
        return Gtin(_shortest(digits))
    padded = digits.zfill(8 if len(digits) == 7 else 12)
    return Gtin(padded, f"{digits} has lost its leading zeros")


def _shortest(digits: str) -> str:
    """Whether this is a padded EAN-8: no UPC begins with that many zeros."""
    if (filled := digits.zfill(14)).startswith("000000") and filled[6] != "0":
        return filled[6:]
    while len(digits) > 12 and digits.startswith("0"):
        digits = digits[1:]
    return digits


def _unrounded(mantissa: str, exponent: int, text: str) -> Gtin:
    """4.006381333931E+12 has all digits; 4.00638E+12 has not."""
    if len(mantissa.replace(".", "")) < exponent + 1:
        raise Unreadable(f"{shown(text)} was rounded by a spreadsheet: format the column as text and export it again")
    number = Decimal(f"{mantissa}E{exponent}")
    if number != number.to_integral_value():
        raise Unreadable(f"{shown(text)} is not a whole number")
    return Gtin(_complete(f"{number:.0f}").digits, f"{shown(text)} was written by a spreadsheet")


def _is_isbn10(digits: str) -> bool:
    values = [10 if each in "xX" else int(each) for each in digits]
    return any(values) and sum((10 - at) * each for at, each in enumerate(values)) % 11 == 0


def _from_isbn10(digits: str) -> str:
    body = f"978{digits[:9]}"
    return body + check_digit(body)


def _first_of_several(text: str) -> Gtin:
    found = _several(text)
    if found is None:
        raise Unreadable(f"{shown(text)} is not a number of 8, 12, 13 or 14 digits")
    return found


def _several(text: str) -> Gtin | None:
    numbers = _SEVERAL.findall(text)
    good = [each for each in numbers if len(each) in LENGTHS and is_valid(each)]
    if not good:
        return None
    why = "contains more than one number" if len(numbers) > 1 else "contains more than the number"
    return Gtin(_shortest(good[0]), f"{shown(text)} {why}; {good[0]} was used")
