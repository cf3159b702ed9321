"""What holds for every request: a body no larger than allowed, and headers that keep browsers careful."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from forebay.api.problems import answer, unexpected
from forebay.log import get_logger

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
_CLIENT_LEFT = 499
_SMALL = 64 << 10
_MIDDLING = 1 << 20  # lists of items

log = get_logger("api")


class SecurityHeaders:
    """Adds the headers that every answer should have, unless its route has set them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class CatchAll:
    """Whatever else goes wrong is logged once, and answered without our insides."""

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
                await Response(status_code=_CLIENT_LEFT)(scope, receive, send)  # nobody reads it, but it is counted
        except Exception as error:
            answered = unexpected(scope.get("path", ""), error)
            if not begun and scope["type"] == "http":
                await answered(scope, receive, send)


class _TooLarge(BaseException):
    pass


def media_type(headers: Headers) -> str:
    """What a body says that it is, without its parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


class BodyLimit:
    """Refuses bodies that are too large, by what they say and by what they are. Most bodies are read before it is known
    who sends them: only submits, whose route asks first, may be large."""

    def __init__(self, app: ASGIApp, most: int, most_uploaded: int) -> None:
        self._app = app
        self._most = most
        self._most_uploaded = most_uploaded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        most = self._most_of(scope, headers)
        said = headers.get("content-length", "0")
        if said.isdigit() and int(said) > most:
            await self._refuse(most, scope, receive, send)
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
            await self._refuse(most, scope, receive, send)

    def _most_of(self, scope: Scope, headers: Headers) -> int:
        if scope["path"] == "/api/jobs" and scope["method"] == "POST":
            return self._most_uploaded if media_type(headers) == "multipart/form-data" else self._most
        if scope["path"].startswith("/api/uploads/") and scope["method"] == "PATCH":
            return self._most_uploaded
        return min(self._most, _MIDDLING if scope["path"].startswith("/api/jobs/") else _SMALL)

    async def _refuse(self, most: int, scope: Scope, receive: Receive, send: Send) -> None:
        detail = f"the request has more than {most} bytes"
        await answer(413, detail, headers={"Connection": "close"})(scope, receive, send)
