"""What holds for every request: a body no larger than allowed, and headers that keep browsers careful."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from forebay.api.problems import answer, unexpected

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


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
        except Exception as error:
            answered = unexpected(scope.get("path", ""), error)
            if not begun and scope["type"] == "http":
                await answered(scope, receive, send)


class _TooLarge(BaseException):
    pass


class BodyLimit:
    """Refuses bodies that are too large, by what they say and by what they are."""

    def __init__(self, app: ASGIApp, most: int, most_uploaded: int) -> None:
        self._app = app
        self._most = most
        self._most_uploaded = most_uploaded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        is_upload = headers.get("content-type", "").startswith("multipart/form-data")
        most = self._most_uploaded if is_upload else self._most
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

    async def _refuse(self, most: int, scope: Scope, receive: Receive, send: Send) -> None:
        detail = f"the request has more than {most} bytes"
        await answer(413, detail, headers={"Connection": "close"})(scope, receive, send)
