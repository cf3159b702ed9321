"""The client's address behind a proxy: headers of trusted proxies are used, those of others are ignored and logged."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Container

    from starlette.types import ASGIApp, Receive, Scope, Send

    from forebay.api.metrics.process import Meter

_HEADER = b"x-forwarded-for"
_HEADERS = frozenset((_HEADER, b"x-forwarded-proto"))  # what the middleware of uvicorn looks at
_MOST_TOLD = 100  # addresses: anyone can send the header

log = get_logger("api")


@cache
def trusted_hosts(trusted: str) -> Container[str]:
    """The trusted proxies of the setting."""
    middleware: Any = ProxyHeadersMiddleware(_nothing, trusted)
    hosts: Container[str] = middleware.trusted_hosts
    return hosts


async def _nothing(*_: object) -> None:
    """An application, for who only wants to know who is trusted."""


class Forwarded:
    """Puts the caller's address in the place of its proxy's, when that is one of `trusted`."""

    def __init__(self, app: ASGIApp, trusted: str, meter: Meter) -> None:
        self._app = app
        self._believing: Any = ProxyHeadersMiddleware(app, trusted)  # type: ignore[arg-type] # its own types of the same
        self._meter = meter
        self._told = set[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _HEADERS.isdisjoint(name for name, _ in scope["headers"]):
            await self._app(scope, receive, send)
            return
        if (client := scope.get("client")) is not None:
            self._look(client[0], scope)
        await self._believing(scope, receive, send)

    def _look(self, address: str, scope: Scope) -> None:
        if address in self._believing.trusted_hosts or all(name != _HEADER for name, _ in scope["headers"]):
            return
        self._meter.forwarded_ignored += 1
        if address not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(address)
            log.warning("forwarded_header_ignored", by=address, setting="FOREBAY_TRUSTED_PROXIES")
