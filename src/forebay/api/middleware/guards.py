"""Limits on the size of bodies, security headers, and the response to unexpected errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect
from starlette.responses import Response

from forebay.api.problems import answer, unexpected
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.datastructures import Headers
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from forebay.packages import BodySize

_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
MAX_BODY = "forebay.max_body"  # in the scope of a request: the bytes that its body may have
_CLIENT_LEFT = 499
_SMALL = 64 << 10
_MEDIUM = 1 << 20

# Bodies that may be larger than 64 KiB: method and path (with a final slash: all paths below), and the limit.
# Packages add theirs: `PipelinePackage.larger_bodies`.
# Uploads and submits authenticate the caller before they read the body; other bodies are read first.
_LARGER: dict[str, BodySize] = {
    "POST /api/jobs": "body",
    "POST /api/jobs/": "medium",  # lists of items
}

log = get_logger("api")


class SecurityHeaders:
    """Adds security headers to every response, unless its route has set them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                names = {name for name, _ in given}
                message["headers"] = given + [header for header in _HEADERS if header[0] not in names]
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class CatchAll:
    """Logs an unexpected error once, and responds without internal details."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            log.debug("client_left", path=scope.get("path", ""))
            if not begun and scope["type"] == "http":
                await Response(status_code=_CLIENT_LEFT)(scope, receive, send)  # not sent, but counted
        except Exception as error:
            answered = unexpected(scope.get("path", ""), error)
            if not begun and scope["type"] == "http":
                await answered(scope, receive, send)


class _TooLarge(BaseException):
    pass


def media_type(headers: Headers) -> str:
    """What a body says that it is, without its parameters."""
    return _without_parameters(headers.get("content-type", ""))


def _without_parameters(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


class BodyLimit:
    """Rejects bodies that are too large, by their Content-Length and by their actual size."""

    def __init__(self, app: ASGIApp, most: int, most_uploaded: int, larger: Mapping[str, BodySize]) -> None:
        self._app = app
        self._larger = _LARGER | dict(larger)
        self._body = most
        self._uploaded = most_uploaded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(reversed(scope["headers"]))  # the first of each counts, as for routes
        if b"content-length" in headers and b"transfer-encoding" in headers:
            # Proxies and servers disagree on which of them counts, and thereby on where the next request begins.
            detail = "the request has Content-Length and Transfer-Encoding: send one of them"
            await answer(400, detail, headers={"Connection": "close"})(scope, receive, send)
            return
        most, setting = self._limit(scope, headers)
        scope[MAX_BODY] = most
        declared = headers.get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > most:
            await _too_large(most, setting)(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                raise _TooLarge
            return message

        try:
            await self._app(scope, counted, send)
        except _TooLarge:
            await _too_large(most, setting)(scope, receive, send)

    def _limit(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str | None]:
        """The most bytes, and the setting that raises it."""
        size = self._size(f"{scope['method']} {scope['path']}")
        if isinstance(size, int):
            return size, None
        if size == "body":
            kind = _without_parameters(headers.get(b"content-type", b"").decode("latin-1"))
            size = "upload" if kind == "multipart/form-data" else size
        match size:
            case "upload":
                return self._uploaded, "FOREBAY_API_MAX_UPLOAD_BYTES"
            case "import":  # read whole, like a JSON document, but mostly markup
                return self._body * 4, "FOREBAY_API_MAX_BODY_BYTES"
            case "body":
                return self._body, "FOREBAY_API_MAX_BODY_BYTES"
            case _:
                fixed = _SMALL if size is None else _MEDIUM
                return min(self._body, fixed), "FOREBAY_API_MAX_BODY_BYTES" if self._body <= fixed else None

    def _size(self, asked: str) -> BodySize | None:
        """What the most exact entry says."""
        if (exact := self._larger.get(asked)) is not None:
            return exact
        found: tuple[str, BodySize | None] = ("", None)
        for place, size in self._larger.items():
            if place.endswith("/") and asked.startswith(place) and len(place) > len(found[0]):
                found = place, size
        return found[1]


def _too_large(most: int, setting: str | None) -> Response:
    raised_by = f": raise {setting}, or send less" if setting else ""
    return answer(413, f"the request has more than {most} bytes{raised_by}", headers={"Connection": "close"})
