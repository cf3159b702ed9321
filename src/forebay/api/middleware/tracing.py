"""A span for every request, in the trace of the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import SpanKind, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from forebay.api.metrics.process import METHODS

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_W3C = TraceContextTextMapPropagator()
_LONGEST = 500  # characters of client-supplied attributes


class Traced:
    """Opens a span for each request; that of a stream lasts as long as the stream."""

    def __init__(self, app: ASGIApp, tracer: Tracer) -> None:
        self._app = app
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        span = self._begin(scope)

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                _note_answer(span, scope, message["status"])
            await send(message)

        token = attach(set_span_in_context(span))
        try:
            await self._app(scope, receive, watched)
        finally:
            detach(token)
            span.end()

    def _begin(self, scope: Scope) -> Span:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        return self._tracer.start_span(
            _method(scope),
            context=_W3C.extract(headers, Context()),
            kind=SpanKind.SERVER,
            attributes=_attributes(scope, headers),
        )


def _method(scope: Scope) -> str:
    """The name of a span until its route is known; unknown methods do not create new names."""
    return scope["method"] if scope["method"] in METHODS else "HTTP"


def _attributes(scope: Scope, headers: dict[str, str]) -> dict[str, str | int]:
    """Attributes by the semantic conventions for HTTP servers, without the query, which may be private."""
    method = scope["method"]
    found: dict[str, str | int] = {
        "http.request.method": method if method in METHODS else "_OTHER",
        "url.scheme": scope["scheme"],
        "url.path": scope["path"][:_LONGEST],
        "network.protocol.version": scope["http_version"],
    }
    if server := scope.get("server"):
        found["server.address"], found["server.port"] = server[0], server[1] or 0
    if client := scope.get("client"):
        found["client.address"] = client[0]
    if agent := headers.get("user-agent"):
        found["user_agent.original"] = agent[:_LONGEST]
    return found


def _note_answer(span: Span, scope: Scope, status: int) -> None:
    if route := getattr(scope.get("route"), "path", None):
        span.update_name(f"{_method(scope)} {route}")
        span.set_attribute("http.route", route)
    span.set_attribute("http.response.status_code", status)
    if status >= 500:
        span.set_attribute("error.type", str(status))
        span.set_status(StatusCode.ERROR)
