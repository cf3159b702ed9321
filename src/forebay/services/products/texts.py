"""Normalizes texts of cells, and splits them into words for comparisons."""

from __future__ import annotations

import math
import re
import unicodedata
from datetime import date, datetime, time
from decimal import Decimal

LONGEST = 1000
# Invisible characters and bidirectional marks; NUL and surrogates cannot be stored.
_UNSEEN = re.compile(
    "[\x00\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
# Persian, Hindi and emoji need joiners; next to Latin letters they are removed.
_JOINERS = re.compile("(?<![\u0590-\U0010ffff])[\u200c\u200d]+|[\u200c\u200d]+(?![\u0590-\U0010ffff])")
_MARKS = re.compile("\\s?[\u2122\u00ae\u00a9\u2120]")  # otherwise Acme(TM) becomes AcmeTM
_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_WORD = re.compile(r"[^\W_]+")
_IDEOGRAPHS = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_MARK_IN_NUMBER = re.compile(r"(?<=\d)[.,](?=\d)")
_UNIT = re.compile(r"(?<=\d)\s+(?=(?:[kmgt]b|m?l|cl|[kmc]?g|[mck]?m|[kmµ]?w|v|m?ah|[kmg]?hz|zoll|inch|in|oz|lbs?)\b)")

_LETTERS = {0x131: "i", 0xF8: "o", 0x142: "l", 0x111: "d"}  # letters without a decomposition


class Unreadable(ValueError):
    """An invalid value; the message completes a sentence that begins with the name of the field."""


def clean(value: object, longest: int = LONGEST) -> str:
    """A cell as text on one line; may be empty."""
    text = _plain(value)[: 8 * longest]
    if text.isascii() and text.isprintable():  # most cells are; only spaces need to be removed
        return " ".join(text.split())[:longest].rstrip()
    text = unicodedata.normalize("NFKC", visible(_MARKS.sub("", text)))
    text = _SPACE.sub(" ", _UNSEEN.sub("", text)).strip()[:longest]
    return _JOINERS.sub("", text).strip()


def visible(text: str) -> str:
    """A text without invisible characters."""
    return _JOINERS.sub("", _UNSEEN.sub("", text))


def _plain(value: object) -> str:
    """A value as text; spreadsheets store whole numbers as 12.0."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if not math.isfinite(value) else f"{value:.0f}" if value.is_integer() else repr(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 1 << 256 else ""  # longer integers take too long to convert
    if isinstance(value, Decimal):
        return f"{value:f}" if value.is_finite() and abs(value.adjusted()) < 100 else ""
    return value.isoformat() if isinstance(value, date | datetime | time) else ""


def latin_digits(text: str) -> str:
    """Replace digits of other scripts by 0 to 9."""
    return text if text.isascii() else "".join(str(unicodedata.decimal(each, each)) for each in text)


def fold(text: str) -> str:
    """Without case and accents, for comparisons."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return "".join(each for each in parts if not unicodedata.combining(each))


def words(text: str, most: int = 60) -> tuple[str, ...]:
    """The words of a text for comparisons: 1,5 L is 1.5l; Chinese and Japanese become pairs of characters."""
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
    """An article number without case, spaces, dashes, dots and slashes."""
    return "".join(_WORD.findall(fold(text)))


def shown(value: str, longest: int = 60) -> str:
    """A value, quoted for messages."""
    return repr(value if len(value) <= longest else value[: longest - 3] + "...")
