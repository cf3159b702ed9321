"""Cells as text: the same in the grid, in CSV and in XLSX, whatever they were read from."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

_NO_TEXT = re.compile("[\0\ud800-\udfff]")
# What a spreadsheet takes for a formula, also in wide letters; and what has been made harmless before. Where lists are
# separated by semicolons or tabs, a cell of CSV is divided there, and each part of it may be a formula.
_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
_DIGITS = r"[-+]?[0-9]+(?:[.,][0-9]+)*"
_FORMULA = re.compile(f"'*[{_SIGNS}\t\r\n]")
_HARMLESS = re.compile(f"'+[{_SIGNS}\t\r\n]")
_INNER_FORMULA = re.compile(rf"([;\t])(?!{_DIGITS}(?:[;\t]|\Z))('*[{_SIGNS}])")
_INNER_HARMLESS = re.compile(rf"([;\t])'('*[{_SIGNS}])")
_NUMBER = re.compile(_DIGITS)


def cell_text(value: object) -> str:
    """A value as people see it.

    Nothing is empty, truth is `true` or `false`, numbers are as JavaScript writes them, moments as ISO 8601, lists and
    objects are JSON. What no file can hold (NUL, halves of characters) becomes U+FFFD.
    """
    text = value if isinstance(value, str) else _text(value)
    if text.isascii() and "\0" not in text:
        return text
    return _NO_TEXT.sub("\ufffd", text)


def _text(value: object) -> str:
    match value:
        case None:
            text = ""
        case bool():
            text = "true" if value else "false"
        case float():
            text = number_text(value)
        case Decimal():
            text = format(value, "f")
        case datetime() | date() | time():
            text = value.isoformat()
        case dict() | list() | tuple():
            text = json.dumps(value, ensure_ascii=False, default=cell_text)
        case _:
            text = str(value)
    return text


def number_text(value: float) -> str:
    """A number as JavaScript writes it, so that a grid in a browser shows the same."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    text = repr(value)
    if "e" not in text:
        return text
    digits, _, exponent = text.partition("e")
    if -7 < int(exponent) < 21:
        return format(Decimal(text), "f")
    return f"{digits}e{int(exponent):+d}"


def number_shown(
    value: float, *, decimals: int = 0, digits: int = 0, gaps: Sequence[str] = (), is_percent: bool = False
) -> str:
    """A number of a spreadsheet as its format shows it: with the 15 digits that it has, and with the zeros of the
    format; `gaps` is what stands before, between and after so many `digits`. It is never rounded: what the file says is
    what counts."""
    value = float(f"{value:.15g}")
    if not math.isfinite(value):
        return number_text(value)
    if is_percent:
        value = float(Decimal(repr(value)) * 100)
    text = number_text(value)
    if digits and text.isdigit():
        text = text.zfill(digits)
        if gaps:
            more = len(text) - digits
            text = gaps[0] + text[:more] + "".join(map(str.__add__, text[more:], gaps[1:]))
    if decimals and "e" not in text:
        whole, _, rest = text.partition(".")
        text = f"{whole}.{rest.ljust(decimals, '0')}"
    return f"{text}%" if is_percent else text


def escaped(text: str) -> str:
    """A cell of CSV that no spreadsheet takes for a formula, nor a part of it. A plain number is none."""
    made = f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
    return _INNER_FORMULA.sub(r"\1'\2", made) if ";" in text or "\t" in text else made


def escaped_text(value: object) -> str:
    """A value as text that is no formula. Numbers, truth and moments are none, so only text is looked at."""
    text = cell_text(value)
    return escaped(text) if isinstance(value, str) else text


def unescaped(text: str) -> str:
    """What `escaped` was given."""
    made = text[1:] if _HARMLESS.match(text) else text
    return _INNER_HARMLESS.sub(r"\1\2", made)


# Moments in XLSX are days since an epoch.

_LAST = 2_958_465  # 9999-12-31


def moment_text(days: float, *, has_date: bool, has_time: bool, since_1904: bool, is_duration: bool = False) -> str:
    """The moment after so many days: a date, a time, or both with a T between, as its format says.

    Hours of a duration may be more than 24; a time is one of a day, whichever day that is. What is no moment stays a
    number.
    """
    if not has_date:
        return _clock(days, is_duration=is_duration)
    if since_1904:
        days += 1462
    if not 1 <= days < _LAST + 1 or 60 <= days < 61:  # 60 is a 29 February 1900, which never was
        return number_text(float(days))
    epoch = datetime(1899, 12, 31) if days < 60 else datetime(1899, 12, 30)  # noqa: DTZ001 - sheets know no zones
    try:
        moment = epoch + timedelta(milliseconds=round(days * 86_400_000))
    except OverflowError:
        return number_text(days)
    if not has_time or (moment.time() == time()):
        return moment.date().isoformat()
    return moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")


def _clock(days: float, *, is_duration: bool) -> str:
    if abs(days) > _LAST:
        return number_text(days)
    thousandths = round(abs(days) * 86_400_000)
    if not is_duration:
        thousandths %= 86_400_000
    minutes, thousandths = divmod(thousandths, 60_000)
    hours, minutes = divmod(minutes, 60)
    seconds, thousandths = divmod(thousandths, 1000)
    fraction = f".{thousandths:03d}" if thousandths else ""
    return f"{'-' if days < 0 else ''}{hours:02d}:{minutes:02d}:{seconds:02d}{fraction}"


class Moment(str):
    """A date, a time, or both, as `moment_text` writes them."""

    __slots__ = ()


class Percent(Decimal):
    """A number that people see with a % behind it: 0.19 is 19%."""


def moment_days(text: str) -> tuple[float, str] | None:
    """The days since the epoch of what `moment_text` has written, and the number format that shows it like this; None
    for what spreadsheets know no number for."""
    if found := _CLOCK.fullmatch(text):
        sign, hours, minutes, seconds, fraction = found.groups()
        day = (int(hours) * 3600 + int(minutes) * 60 + float(seconds + (fraction or ""))) / 86_400
        return (-day if sign else day), f"[hh]:mm:ss{_thousandths(fraction)}"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is not None or moment.year < 1900 or moment.microsecond % 1000:
        return None
    days = (moment - _EPOCH) / timedelta(days=1)
    days -= days < 61  # 29 February 1900 never was
    if "T" not in text:
        return days, "yyyy\\-mm\\-dd"
    return days, f"yyyy\\-mm\\-dd\\Thh:mm:ss{_thousandths('.' in text)}"


_CLOCK = re.compile(r"(-?)([0-9]{2,6}):([0-9]{2}):([0-9]{2})(\.[0-9]{3})?")
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 - sheets know no zones


def _thousandths(there: object) -> str:
    return ".000" if there else ""
