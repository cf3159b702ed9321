"""What can go wrong on the way out, as errors that steps may let through.

DataError
└── InvalidUrl         (an InvalidField, too) the text is no URL that may be fetched
PermanentError
├── Refused            the guard said no; `code` and `reason` say why
└── UrlNotFound      404, 410, or a host that does not exist; steps may turn it into `NotFound`
TransientError
└── Unreachable        no answer from the DNS, no connection, or it broke; `code` says which
"""

from __future__ import annotations

from forebay.errors import DataError, InvalidField, PermanentError, TransientError


class InvalidUrl(DataError, InvalidField):
    """The text is not a URL that may be fetched; raised by the API and within steps."""


class Refused(PermanentError):
    """The guard of the way out said no."""

    def __init__(self, code: str, reason: str, logged: str = "") -> None:
        """`logged` is what the operator's log says instead of `reason`, which the owner of the work reads."""
        super().__init__(f"refused by the egress guard: {reason}")
        self.code = code
        self.reason = reason
        self.logged = logged or reason


class UrlNotFound(PermanentError):
    """What was asked for is not there; a step that expects that returns `NotFound(str(error))`."""

    status: int | None = None  # of HTTP, if it was that which said so


class Unreachable(TransientError):
    """The other side was not reached, or not to the end; `code` says how."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
