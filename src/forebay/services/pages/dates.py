"""Parses machine-readable dates of pages."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_COMPACT = re.compile(r"^(\d{4})[/.]?(\d{2})[/.]?(\d{2})(?:$|[T ])")
_OFFSET = re.compile(r"\s+(?=[+-]\d{2}:?\d{2}$)")
_YEARS = range(1970, 2101)


def read_date(text: str | None) -> datetime | None:
    """A time in UTC, which is also the default zone; dates in words are not parsed."""
    text = (text or "").strip()[:64]
    if not text:
        return None
    found = _iso(text) or _mail(text)
    if found is None:
        return None
    try:
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError:
        return None
    return found if found.year in _YEARS else None


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(_OFFSET.sub("", text))
    except ValueError:
        pass
    compact = _COMPACT.match(text)
    try:
        return datetime.fromisoformat("-".join(compact.groups())) if compact else None
    except ValueError:
        return None


def _mail(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
