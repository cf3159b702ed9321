"""What the answers of Lark mean: it reports errors by a code in the body, with various HTTP statuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from forebay.errors import ConfigError, PermanentError, StepError, ThrottledError, TransientError
from forebay.services.egress.statuses import retry_after, status_error

if TYPE_CHECKING:
    from collections.abc import Mapping

OK = 0
THROTTLED = 99991400
INVALID_TOKENS = frozenset((99991661, 99991663, 99991664, 99991668, 99991671))
_NO_RIGHT = frozenset((99991672, 99991679))
_WRONG_APP = frozenset((10003, 10014, 10015))
_RESET = "x-ogw-ratelimit-reset"
_MOST_S = 3600.0
_UNTOLD_S = 1.0
_LONGEST = 200


class TokenRejected(PermanentError):
    """The token is not valid, or no longer: a new one is fetched once."""


def answer_error(
    status: int, headers: Mapping[str, str], body: bytes, place: str, *, is_content: bool = False
) -> StepError | None:
    """The error of an answer; None for a success. `is_content`: the body of a success is a file, not an answer."""
    if is_content and status < 400:
        return None
    code, told = _code_and_text(body)
    if status < 400 and code == OK:
        return None
    return _known_error(status, headers, code, told, place) or _other_error(status, headers, code, told, place)


def _known_error(status: int, headers: Mapping[str, str], code: int | None, told: str, place: str) -> StepError | None:
    if code == THROTTLED or status == 429:
        return ThrottledError(f"{place} is rate limiting us", retry_after=reset_after(headers), says_when=True)
    if code in INVALID_TOKENS or status == 401:
        return TokenRejected(f"{place} rejected the token ({code or status})")
    if code in _WRONG_APP:
        return ConfigError(f"Lark does not know the app ({code}): check FOREBAY_ATTACHMENTS_LARK_APP_ID and its secret")
    if code in _NO_RIGHT:
        return ConfigError(f"the Lark app lacks a permission ({code}): {told}")
    return None


def _other_error(status: int, headers: Mapping[str, str], code: int | None, told: str, place: str) -> StepError:
    if code is not None and (status < 400 or (code != OK and status < 500 and status != 404)):
        return PermanentError(f"{place} answered {status} with code {code}: {told}")
    return status_error(status, headers, place) or TransientError(f"{place} sent an answer that is not JSON")


def reset_after(headers: Mapping[str, str]) -> float:
    """Seconds until the limit is reset."""
    text = headers.get(_RESET, "").strip()
    if text.isdecimal() and len(text) < 10:
        return min(float(text), _MOST_S)
    told = retry_after(headers, most_s=_MOST_S)
    return _UNTOLD_S if told is None else told


def _code_and_text(body: bytes) -> tuple[int | None, str]:
    try:
        parsed: Any = json.loads(body)
        code, text = parsed["code"], parsed.get("msg", "")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None, ""
    is_code = isinstance(code, int) and not isinstance(code, bool)
    return (code if is_code else None), str(text)[:_LONGEST]
