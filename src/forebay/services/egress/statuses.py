"""Maps HTTP statuses to errors of steps, and reads Retry-After."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING

from forebay.errors import PermanentError, StepError, ThrottledError, TransientError
from forebay.services.egress.errors import AccessDenied, UrlNotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_AGAIN = {408, 421, 425}
_UNTOLD_S = 30.0  # wait without a Retry-After


def status_error(
    status: int, headers: Mapping[str, str], place: str, *, most_s: float = 3600.0, now: datetime | None = None
) -> StepError | None:
    """The error of a response; None for a success."""
    if status < 400:
        return None
    said = f"{place} answered {status} {_phrase(status)}".rstrip()
    if status in (404, 410):
        missing = UrlNotFound(said)
        missing.status = status
        return missing
    told = retry_after(headers, most_s=most_s, now=now)
    if status == 429 or (status == 503 and told is not None):
        wait = _UNTOLD_S if told is None else told
        why = "is rate limiting us" if status == 429 else "is not available"
        return ThrottledError(f"{place} {why} ({status})", retry_after=wait, says_when=True)
    if status >= 500 or status in _AGAIN:
        return TransientError(said)
    return AccessDenied(said) if status in (401, 403) else PermanentError(said)


def retry_after(headers: Mapping[str, str], *, most_s: float = 3600.0, now: datetime | None = None) -> float | None:
    """The seconds of a Retry-After, which may be a date, within limits."""
    text = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(text):
        return min(float(text[:20]), most_s)
    try:
        then = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, min((then - (now or datetime.now(UTC))).total_seconds(), most_s))


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
