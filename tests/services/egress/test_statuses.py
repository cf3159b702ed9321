"""What servers say about patience."""

# demands: S3-59, S3-63, S3-64

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from forebay.errors import ThrottledError, TransientError
from forebay.services.egress.statuses import retry_after, status_error

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("99999999999999999999", 3600),
        ("Sun, 15 Nov 2026 12:01:30 GMT", 90),
        ("Sun, 15 Nov 2026 13:01:30 +0100", 90),
        ("Sun, 15 Nov 2026 12:01:30 -0000", 90),
        ("Sun, 15 Nov 2026 11:00:00 GMT", 0),
        ("Mon, 15 Nov 2027 12:00:00 GMT", 3600),
        ("soon", None),
        ("-5", None),
        ("1.5", 1.5),
        ("", None),
    ],
)
def test_retry_after(text: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": text}, now=NOON) == seconds


def test_throttled_without_a_time() -> None:
    error = status_error(429, {}, "http://a/")
    assert isinstance(error, ThrottledError)
    assert error.retry_after == 30
    assert str(error) == "http://a/ is rate limiting us (429); retrying in 30 s"
    assert type(status_error(503, {}, "http://a/")) is TransientError
    assert isinstance(status_error(503, {"retry-after": "0"}, "http://a/"), ThrottledError)
    assert status_error(304, {}, "http://a/") is None
