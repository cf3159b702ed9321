"""Superscript and other special digits next to a number: superscripts are cents or footnotes, others are rejected.

Unicode normalization converts all of them to plain digits, so they are handled before: 12 with a superscript 99 would
become 1299.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from forebay.services.products.texts import Unreadable, shown, visible

_SMALL = "\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089"  # superscript or subscript
_RAISED = re.compile(rf"(?<=\d)\s*([{_SMALL}]{{1,2}})(?![{_SMALL}])")
_NUMBER_BEFORE = re.compile("[\\d.,\u066b]*$")
_GROUPED = re.compile(r"[1-9]\d{0,2}([.,])\d{3}(?:\1\d{3})*")


class PlainDigits(NamedTuple):
    """A text with plain cents, and the footnotes that were removed."""

    text: str
    footnotes: tuple[str, ...] = ()


def to_plain_digits(value: str) -> PlainDigits:
    """Convert the text of a price: two superscript digits after a whole number are cents; others are footnotes."""
    if value.isascii():
        return PlainDigits(value)
    text = visible(value)
    footnotes: list[str] = []

    def lowered(found: re.Match[str]) -> str:
        mark = _mark_of_cents(text[: found.start()]) if len(found[1]) == 2 else ""
        if not mark:
            footnotes.append(found[1])
        return mark + unicodedata.normalize("NFKC", found[1]) if mark else ""

    return PlainDigits(_RAISED.sub(lowered, text), tuple(footnotes))


def _mark_of_cents(before: str) -> str:
    """The mark between a number and its cents; none if it already has decimals."""
    found = _NUMBER_BEFORE.search(unicodedata.normalize("NFKC", before))
    number = found[0] if found else ""
    if number.isdecimal():
        return "."
    grouped = _GROUPED.fullmatch(number)
    return "" if grouped is None else "," if grouped[1] == "." else "."


def check_digits(value: str) -> None:
    """Raises: Unreadable when a special digit would become part of the number next to it."""
    if value.isascii():
        return
    text = visible(value)
    for at, each in enumerate(text):
        if _becomes_digit(each) and (text[:at].rstrip()[-1:].isdecimal() or text[at + 1 :].lstrip()[:1].isdecimal()):
            raise Unreadable(f"{shown(text)} has {shown(each)} next to its number: write the number in plain digits")


def _becomes_digit(each: str) -> bool:
    if each.isascii() or each.isdecimal():
        return False
    return any(map(str.isdecimal, unicodedata.normalize("NFKC", each)))
