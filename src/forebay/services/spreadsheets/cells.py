"""Cells as text: the same in the grid, in CSV and in XLSX."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

_NO_TEXT = re.compile("[\0\ud800-\udfff]")
# What a spreadsheet would run as a formula, also in full-width characters; and what is already escaped. With semicolons
# or tabs as list separators, a CSV cell is split there, and each part may be a formula.
_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
_DIGITS = r"[-+]?[0-9]+(?:[.,][0-9]+)*"
_FORMULA = re.compile(f"'*[{_SIGNS}\t\r\n]")
_HARMLESS = re.compile(f"'+[{_SIGNS}\t\r\n]")
_INNER_FORMULA = re.compile(rf"([;\t])(?!{_DIGITS}(?:[;\t]|\Z))('*[{_SIGNS}])")
_INNER_HARMLESS = re.compile(rf"([;\t])'('*[{_SIGNS}])")
_NUMBER = re.compile(_DIGITS)


def cell_text(value: object) -> str:
    """A value as text.

    None is empty, booleans are `true` or `false`, numbers are as in JavaScript, dates and times as ISO 8601, lists and
    objects are JSON. Characters that no file can store (NUL, surrogates) become U+FFFD.
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
    """A number as in JavaScript, so that a grid in a browser shows the same."""
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
    """A number of a spreadsheet in its format: with its 15 digits, and with the zeros of the format; `gaps` is the text
    before, between and after `digits`. It is never rounded."""
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
    """Escape a CSV cell that a spreadsheet would run as a formula, whole or in part. Plain numbers are not escaped."""
    made = f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
    return _INNER_FORMULA.sub(r"\1'\2", made) if ";" in text or "\t" in text else made


def escaped_text(value: object) -> str:
    """A value as text, escaped if it would be a formula. Only texts can be formulas."""
    text = cell_text(value)
    return escaped(text) if isinstance(value, str) else text


def unescaped(text: str) -> str:
    """The inverse of `escaped`."""
    made = text[1:] if _HARMLESS.match(text) else text
    return _INNER_HARMLESS.sub(r"\1\2", made)


# Dates and times in XLSX are days since an epoch.

_LAST = 2_958_465  # 9999-12-31


def moment_text(days: float, *, has_date: bool, has_time: bool, since_1904: bool, is_duration: bool = False) -> str:
    """The date and time for a number of days: a date, a time, or both with a T, depending on the format.

    Hours of a duration may exceed 24; a time is a time of day, on any day. Invalid values stay numbers.
    """
    if not has_date:
        return _clock(days, is_duration=is_duration)
    if since_1904:
        days += 1462
    if not 1 <= days < _LAST + 1 or 60 <= days < 61:  # 60 is 29 February 1900, which did not exist
        return number_text(float(days))
    epoch = datetime(1899, 12, 31) if days < 60 else datetime(1899, 12, 30)  # noqa: DTZ001 - spreadsheets have no time zones
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


class DateTimeText(str):
    """A date, a time, or both, in the format of `moment_text`."""

    __slots__ = ()


class Percent(Decimal):
    """A number that is shown as a percentage: 0.19 is 19%."""


def moment_days(text: str) -> tuple[float, str] | None:
    """The inverse of `moment_text`: days since the epoch, and the number format; None if spreadsheets cannot represent
    it."""
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
    days -= days < 61  # 29 February 1900 did not exist
    if "T" not in text:
        return days, "yyyy\\-mm\\-dd"
    return days, f"yyyy\\-mm\\-dd\\Thh:mm:ss{_thousandths('.' in text)}"


_CLOCK = re.compile(r"(-?)([0-9]{2,6}):([0-9]{2}):([0-9]{2})(\.[0-9]{3})?")
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 - spreadsheets have no time zones


def _thousandths(there: object) -> str:
    return ".000" if there else ""
