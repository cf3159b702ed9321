"""Cursors: the position after a page, as an opaque string."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter

from forebay.api.problems import Problem
from forebay.log import get_logger, is_debug_enabled

log = get_logger("api")

_LONGEST = 400
_LIST = TypeAdapter(list[Any])


def encode(*parts: float | str | datetime) -> str:
    """A cursor for these values."""
    plain = [part.astimezone(UTC).isoformat() if isinstance(part, datetime) else part for part in parts]
    return base64.urlsafe_b64encode(json.dumps(plain, separators=(",", ":")).encode()).decode().rstrip("=")


def decode(cursor: str, *kinds: Callable[[Any], Any]) -> tuple[Any, ...]:
    """The values of a cursor.

    Raises: Problem 422 for an invalid cursor.
    """
    try:
        return tuple(kind(part) for kind, part in zip(kinds, _unpacked(cursor), strict=True))
    except (ValueError, TypeError, binascii.Error, RecursionError) as error:
        raise Problem(
            422, "is not a cursor of this list: use `next` of the previous page", field="query.after"
        ) from error


def _unpacked(cursor: str) -> list[Any]:
    if len(cursor) > _LONGEST:
        raise ValueError
    padded = cursor + "=" * (-len(cursor) % 4)
    return _LIST.validate_json(base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True))


def tell(what: str, keys: Sequence[object], more: object) -> None:
    """Log where a page begins and ends, and where the next one continues."""
    if is_debug_enabled():
        first, last = (keys[0], keys[-1]) if keys else (None, None)
        log.debug("page_served", list=what, rows=len(keys), first=first, last=last, next=more)


def integer(value: Any) -> int:
    """A number that the database can hold."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise ValueError
    return value


def number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError
    return float(value)


def small(value: Any) -> int:
    if integer(value) >= 2**31:
        raise ValueError
    return int(value)


def name(value: Any) -> str:
    """A text that the database can hold."""
    if not isinstance(value, str) or "\0" in value:
        raise ValueError
    return value


def moment(value: Any) -> datetime:
    found = datetime.fromisoformat(value)
    if found.tzinfo is None:
        raise ValueError
    try:
        return found.astimezone(UTC)
    except OverflowError as error:
        raise ValueError from error
