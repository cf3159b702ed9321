"""Serves the web app: its files, and index.html for every path that no other route has."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fastapi import Request, Response
from starlette.responses import HTMLResponse
from starlette.routing import Match, Route

from forebay.api.pages import page
from forebay.api.web_files import WebFiles

if TYPE_CHECKING:
    from starlette.types import Scope

    from forebay.api.web_files import WebFile
    from forebay.settings import Settings

_OTHERS = ("/api/", "/files/")  # paths below these are never pages of the app
_FOREVER = "public, max-age=31536000, immutable"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:{stored}; "
    "media-src 'self' blob:{stored}; connect-src 'self'; manifest-src 'self'; worker-src 'self'; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)

_web_files = WebFiles()


class AppRoute(Route):
    """Matches the paths that the app has or may have, so that all others keep their 404 and 405."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http" or scope["method"] not in {"GET", "HEAD"} or not _is_page(scope):
            return Match.NONE, {}
        return super().matches(scope)


def _is_page(scope: Scope) -> bool:
    path: str = scope["path"]
    if path == "/api" or path.startswith(_OTHERS):
        return False
    if _web_files.get(path.lstrip("/")) is not None:
        return True
    last = path.rpartition("/")[2]
    return not path.startswith("/assets/") and "." not in last and _accepts_html(scope)


def _accepts_html(scope: Scope) -> bool:
    accepted = b",".join(value for name, value in scope["headers"] if name == b"accept")
    return not accepted or b"text/html" in accepted or b"*/*" in accepted


async def serve(request: Request) -> Response:
    """A file of the app, or its index.html; query parameters are the app's."""
    settings: Settings = request.app.state.settings
    found = _web_files.get(request.url.path.lstrip("/"))
    if found is not None:
        return _answer(request, found, {})
    index = _web_files.get("index.html")
    if index is None:
        return _not_built()
    return _answer(request, index, {"content-security-policy": _policy(settings)})


def _answer(request: Request, found: WebFile, headers: dict[str, str]) -> Response:
    encoding, data = found.best(request.headers.get("accept-encoding", ""))
    headers |= {
        "cache-control": _FOREVER if found.is_immutable else "no-cache",
        "etag": found.etag,
        "vary": "accept-encoding",
    }
    if encoding:
        headers["content-encoding"] = encoding
    if found.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=found.media_type, headers=headers)


@cache
def _not_built() -> HTMLResponse:
    response = page("not_built", "The web app is not built")
    response.status_code = 503
    return response


def _policy(settings: Settings) -> str:
    return _POLICY.format(stored=f" {origin}" if (origin := _bucket_origin(settings)) else "")


def _bucket_origin(settings: Settings) -> str:
    """Where links to files point to with FOREBAY_STORAGE_PRESIGN; empty: to the API."""
    if not settings.storage_presign:
        return ""
    place = urlsplit(settings.storage_endpoint)
    return f"{place.scheme}://{place.netloc}" if place.netloc else "https://*.amazonaws.com"


route = AppRoute("/{path:path}", serve, methods=["GET"], include_in_schema=False)
