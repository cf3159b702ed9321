"""Maps responses other than 200 to errors of steps.

429, 503 with Retry-After            ThrottledError   waits as long as the service asks
408, 409, 425, 5xx                   TransientError
401 … 405, 3xx, no quota,
an unknown model                     ConfigError      names the setting to check
the other 4xx                        DataError        the request is invalid
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from forebay.errors import ConfigError, DataError, StepError, ThrottledError, TransientError
from forebay.services.egress.statuses import retry_after

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forebay.services.openai.service import Service

_LONGEST_WAIT, _DEFAULT_WAIT = 3600.0, 30.0
_TRANSIENT = {408, 409, 425}
_NO_MODEL = {"model_not_found", "model_not_available"}


class _Error(BaseModel):
    message: str = ""
    code: str | int | None = None


class _Envelope(BaseModel):
    error: _Error | str


def answer_error(service: Service, status: int, headers: Mapping[str, str], body: bytes) -> StepError:
    """The error of a response."""
    code, message = _read(body)
    reason = plain(service.without_key(message))[:200]
    text = f"the {service.name} answered {status}{f': {reason}' if reason else ''}"
    if code == "insufficient_quota" or status == 402:
        return ConfigError(f"{text}. Its account is used up")
    if status == 429 or (status == 503 and "retry-after" in headers):
        return ThrottledError(text, retry_after=_wait(headers))
    if status in {401, 403}:
        return ConfigError(f"{text}. Check {service.setting}_KEY")
    if status in {404, 405} or status < 400 or code in _NO_MODEL:
        return ConfigError(f"{text}. Check {service.setting}_URL and {service.setting}_MODEL")
    if status in _TRANSIENT or status >= 500:
        return TransientError(text)
    return DataError(text)


def event_error(service: Service, body: bytes) -> TransientError | None:
    """The error in an event of a stream; None for other events."""
    if b'"error"' not in body:
        return None
    _, message = _read(body)
    reason = plain(service.without_key(message))[:200]
    return TransientError(f"the {service.name} broke off: {reason}") if reason else None


def _read(body: bytes) -> tuple[str | None, str]:
    """The code and the message of an error, if they can be read."""
    try:
        error = _Envelope.model_validate_json(body).error
    except ValidationError:
        return None, ""
    return (None, error) if isinstance(error, str) else (None if error.code is None else str(error.code), error.message)


def plain(text: str) -> str:
    """A text on one line, without control characters."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _wait(headers: Mapping[str, str]) -> float:
    seconds = retry_after(headers, most_s=_LONGEST_WAIT)
    return _DEFAULT_WAIT if seconds is None else max(seconds, 1.0)
