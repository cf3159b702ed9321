"""Reads fields from the text in an image of a product."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from forebay.services.products.columns import FieldName
from forebay.services.products.gtins import LENGTHS, read_gtin
from forebay.services.products.prices import read_price
from forebay.services.products.texts import Unreadable, clean, words

_DIGITS = re.compile(r"(?<!\d)\d[\d \u00a0-]{6,20}\d(?!\d)")
_MOST_LINES = 200
_TITLE_WORDS = 12
_NAME_NOISE = re.compile(r"^(?:img|dsc|dscn|image|photo|picture|scan|screenshot|pxl|p)?[\d_ -]*$", re.IGNORECASE)


def fields_in(text: str, name: str) -> dict[FieldName, object]:
    """A GTIN, a price and a title: the lines with the most words, or else the name of the file."""
    lines = [line for line in (clean(line, 300) for line in text.splitlines()[:_MOST_LINES]) if line]
    found: dict[FieldName, object] = {}
    if gtin := next(filter(None, map(_gtin, lines)), None):
        found["gtin"] = gtin
    if price := next((line for line in lines if _is_price(line)), None):
        found["price"] = price
    title = _title([line for line in lines if line != price]) or _title_of(name)
    if title:
        found["title"] = title
    return found


def _gtin(line: str) -> str | None:
    for match in _DIGITS.finditer(line):
        digits = re.sub(r"\D", "", match[0])
        if len(digits) not in LENGTHS:
            continue
        try:
            return read_gtin(digits).digits
        except Unreadable:
            continue
    return None


def _is_price(line: str) -> bool:
    try:
        return read_price(line).is_plain
    except Unreadable:
        return False


def _title(lines: list[str]) -> str | None:
    """The lines with the most letters, in order, until there are enough words."""
    wordy = sorted((line for line in lines if _letters(line) >= 3), key=_letters, reverse=True)
    chosen: list[str] = []
    for line in wordy:
        if sum(len(words(each)) for each in chosen) + len(words(line)) > _TITLE_WORDS and chosen:
            break
        chosen.append(line)
    return " ".join(line for line in lines if line in chosen) or None


def _letters(line: str) -> int:
    return sum(map(str.isalpha, line))


def _title_of(name: str) -> str | None:
    stem = re.sub(r"[_\-.]+", " ", PurePosixPath(name.replace("\\", "/")).stem).strip()
    return None if _NAME_NOISE.match(stem) else stem
