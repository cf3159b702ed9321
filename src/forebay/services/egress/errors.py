"""Errors of requests to the network; steps may let them pass.

DataError
└── InvalidUrl         (also an InvalidField) the text is not a URL that may be fetched
PermanentError
├── Refused            the SSRF guard refused it; `code` and `reason` say why
├── AccessDenied       401, 403; a signed URL may have expired
└── UrlNotFound        404, 410, or a host that does not exist; steps may turn it into `NotFound`
TransientError
└── Unreachable        DNS or connection failure; `code` says which
"""

from __future__ import annotations

from forebay.errors import DataError, InvalidField, PermanentError, TransientError


class InvalidUrl(DataError, InvalidField):
    """The text is not a URL that may be fetched; raised by the API and within steps."""


class Refused(PermanentError):
    """The SSRF guard refused a request."""

    def __init__(self, code: str, reason: str, logged: str = "") -> None:
        """`logged` is for the log; `reason` is shown to the owner of the job."""
        super().__init__(f"refused by the egress guard: {reason}")
        self.code = code
        self.reason = reason
        self.logged = logged or reason


class AccessDenied(PermanentError):
    """The server does not allow it; a fresh URL may help if this one was signed for a while."""


class UrlNotFound(PermanentError):
    """The URL does not exist; a step that expects this returns `NotFound(str(error))`."""

    status: int | None = None  # the HTTP status, if there was a response


class Unreachable(TransientError):
    """The server could not be reached, or the connection broke; `code` says how."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
