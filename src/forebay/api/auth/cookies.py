"""The two cookies of a session: their names and attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.identity import secrets

if TYPE_CHECKING:
    from fastapi import Request, Response

    from forebay.settings import Settings

COOKIE = "forebay_session"
CSRF_COOKIE = "forebay_csrf"


@dataclass(frozen=True, slots=True)
class Cookies:
    """The cookies of one request."""

    is_secure: bool

    @property
    def session(self) -> str:
        return self._named(COOKIE)

    @property
    def csrf(self) -> str:
        return self._named(CSRF_COOKIE)

    def _named(self, name: str) -> str:
        """Browsers accept a `__Host-` cookie only over HTTPS from this host, so no other site can set it."""
        return f"__Host-{name}" if self.is_secure else name

    def write(self, response: Response, secret: str, seconds: float) -> None:
        self._set(response, self.session, secret, int(seconds), is_hidden=True)
        self._set(response, self.csrf, secrets.csrf_token(secret), int(seconds), is_hidden=False)

    def clear(self, response: Response) -> None:
        for name in (self.session, self.csrf):
            self._set(response, name, "", 0, is_hidden=name == self.session)

    def _set(self, response: Response, name: str, value: str, seconds: int, *, is_hidden: bool) -> None:
        response.set_cookie(
            name, value, max_age=seconds, path="/", httponly=is_hidden, samesite="lax", secure=self.is_secure
        )


def cookies_of(request: Request) -> Cookies:
    """Secure as FOREBAY_SECURE_COOKIES says; by default, except for plain HTTP to an API that listens locally."""
    settings: Settings = request.app.state.settings
    if settings.secure_cookies is not None:
        return Cookies(settings.secure_cookies)
    return Cookies(request.url.scheme == "https" or not settings.is_local)
