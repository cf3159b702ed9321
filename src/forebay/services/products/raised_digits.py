"""Digits beside a number that are none of its own: raised ones are cents or footnotes, others cannot be told.

Normalizing a text makes plain digits of them all, so they are looked at before: 12 and a raised 99 would be 1299.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from forebay.services.products.texts import Unreadable, shown, visible

_SMALL = "\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089"  # above the line or below it
_RAISED = re.compile(rf"(?<=\d)\s*([{_SMALL}]{{1,2}})(?![{_SMALL}])")
_NUMBER_BEFORE = re.compile("[\\d.,\u066b]*$")
_GROUPED = re.compile(r"[1-9]\d{0,2}([.,])\d{3}(?:\1\d{3})*")


class Lowered(NamedTuple):
    """A text with plain cents, and the footnotes that were left out of it."""

    text: str
    footnotes: tuple[str, ...] = ()


def lower(value: str) -> Lowered:
    """A price's text: two raised digits after a whole number are cents; others are the numbers of footnotes."""
    if value.isascii():
        return Lowered(value)
    text = visible(value)
    footnotes: list[str] = []

    def lowered(found: re.Match[str]) -> str:
        mark = _mark_of_cents(text[: found.start()]) if len(found[1]) == 2 else ""
        if not mark:
            footnotes.append(found[1])
        return mark + unicodedata.normalize("NFKC", found[1]) if mark else ""

    return Lowered(_RAISED.sub(lowered, text), tuple(footnotes))


def _mark_of_cents(before: str) -> str:
    """The mark to put between a number and its cents; none where it has digits after a mark already."""
    found = _NUMBER_BEFORE.search(unicodedata.normalize("NFKC", before))
    number = found[0] if found else ""
    if number.isdecimal():
        return "."
    grouped = _GROUPED.fullmatch(number)
    return "" if grouped is None else "," if grouped[1] == "." else "."


def check_digits(value: str) -> None:
    """Raises: Unreadable where a character that is no plain digit would become one of the number next to it."""
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
