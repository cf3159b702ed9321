"""A random id for every request: problems contain it, and so does what is logged meanwhile."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from forebay.log import in_request

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_LONGEST = 200  # characters of a path


class RequestIds:
    """Names the request. An id that the caller sends is not used: it would be what the caller likes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with in_request(secrets.token_hex(8), method=scope["method"], path=_path(scope["path"])):
            await self._app(scope, receive, send)


def _path(path: str) -> str:
    """Who knows the link of a file may read it: it is not logged."""
    return "/files/…" if path.startswith("/files/") else path[:_LONGEST]
