"""The two cookies of a session: what they are called, and over which connections they go."""

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
        """A name that begins so is taken from this very site by HTTPS only: nobody else can plant such a cookie."""
        return f"__Host-{name}" if self.is_secure else name

    def give(self, response: Response, secret: str, seconds: float) -> None:
        self._set(response, self.session, secret, int(seconds), is_hidden=True)
        self._set(response, self.csrf, secrets.csrf_token(secret), int(seconds), is_hidden=False)

    def take_away(self, response: Response) -> None:
        for name in (self.session, self.csrf):
            self._set(response, name, "", 0, is_hidden=name == self.session)

    def _set(self, response: Response, name: str, value: str, seconds: int, *, is_hidden: bool) -> None:
        response.set_cookie(
            name, value, max_age=seconds, path="/", httponly=is_hidden, samesite="lax", secure=self.is_secure
        )


def cookies_of(request: Request) -> Cookies:
    """Secure as the settings say, else unless the request came by plain HTTP to an API for this machine only."""
    settings: Settings = request.app.state.settings
    if settings.secure_cookies is not None:
        return Cookies(settings.secure_cookies)
    return Cookies(request.url.scheme == "https" or not settings.is_local)
