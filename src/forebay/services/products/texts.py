"""Texts of cells: one spelling for what looks the same, and words to compare them by."""

from __future__ import annotations

import math
import re
import unicodedata
from datetime import date, datetime, time
from decimal import Decimal

LONGEST = 1000
# Invisible, or a lie about the direction; NUL and halves of characters cannot be stored.
_UNSEEN = re.compile(
    "[\x00\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
# Persian, Hindi and emoji need their joiners; next to Latin letters these are dirt.
_JOINERS = re.compile("(?<![\u0590-\U0010ffff])[\u200c\u200d]+|[\u200c\u200d]+(?![\u0590-\U0010ffff])")
_MARKS = re.compile("\\s?[\u2122\u00ae\u00a9\u2120]")  # else Acme(TM) becomes AcmeTM
_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_WORD = re.compile(r"[^\W_]+")
_IDEOGRAPHS = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_MARK_IN_NUMBER = re.compile(r"(?<=\d)[.,](?=\d)")
_UNIT = re.compile(r"(?<=\d)\s+(?=(?:[kmgt]b|m?l|cl|[kmc]?g|[mck]?m|[kmµ]?w|v|m?ah|[kmg]?hz|zoll|inch|in|oz|lbs?)\b)")

_LETTERS = {0x131: "i", 0xF8: "o", 0x142: "l", 0x111: "d"}  # these have no accent that could be taken off


class Unreadable(ValueError):
    """A value that is not what its field holds; the message ends a sentence that begins with the field's name."""


def clean(value: object, longest: int = LONGEST) -> str:
    """A cell as text in one line; empty for what has none."""
    text = _plain(value)[: 8 * longest]
    if text.isascii() and text.isprintable():  # most are, and have nothing but spaces to lose
        return " ".join(text.split())[:longest].rstrip()
    text = unicodedata.normalize("NFKC", visible(_MARKS.sub("", text)))
    text = _SPACE.sub(" ", _UNSEEN.sub("", text)).strip()[:longest]
    return _JOINERS.sub("", text).strip()


def visible(text: str) -> str:
    """A text without what nobody sees."""
    return _JOINERS.sub("", _UNSEEN.sub("", text))


def _plain(value: object) -> str:
    """Spreadsheets hold whole numbers as 12.0."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if not math.isfinite(value) else f"{value:.0f}" if value.is_integer() else repr(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 1 << 256 else ""  # longer ones cannot be written in decent time
    if isinstance(value, Decimal):
        return f"{value:f}" if value.is_finite() and abs(value.adjusted()) < 100 else ""
    return value.isoformat() if isinstance(value, date | datetime | time) else ""


def latin_digits(text: str) -> str:
    """With 0 to 9 for the digits of other scripts."""
    return text if text.isascii() else "".join(str(unicodedata.decimal(each, each)) for each in text)


def fold(text: str) -> str:
    """Without case and accents: for comparing only."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return "".join(each for each in parts if not unicodedata.combining(each))


def words(text: str, most: int = 60) -> tuple[str, ...]:
    """The words of a text for comparing: 1,5 L is 1.5l, and Chinese and Japanese give pairs of characters."""
    found: list[str] = []
    for word in _WORD.findall(_UNIT.sub("", _MARK_IN_NUMBER.sub("p", fold(text)))):
        found += _pairs(word) if _IDEOGRAPHS.search(word) else [word]
        if len(found) >= most:
            break
    return tuple(found[:most])


def _pairs(word: str) -> list[str]:
    found: list[str] = []
    end = 0
    for run in _IDEOGRAPHS.finditer(word):
        found += [word[end : run.start()]] if run.start() > end else []
        found += [run[0][at : at + 2] for at in range(max(1, len(run[0]) - 1))]
        end = run.end()
    return found + ([word[end:]] if end < len(word) else [])


def code(text: str) -> str:
    """An article number without what people write differently: case, spaces, dashes, dots and slashes."""
    return "".join(_WORD.findall(fold(text)))


def shown(value: str, longest: int = 60) -> str:
    """A value as messages quote it."""
    return repr(value if len(value) <= longest else value[: longest - 3] + "...")
