"""Routes that are called very often, without the work that FastAPI does for each request.

Finding the route among all others, resolving its dependencies and closing what they opened takes longer than a submit.
A direct route has a fixed path, takes nothing but the request, and returns a response.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import Request

from forebay.api.problems import answer_to
from forebay.api.strict_query import StrictRoute

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp, Receive, Scope, Send


class DirectRoute(StrictRoute):
    """A route that `DirectRoutes` serves; for the documentation it is like any other."""


class DirectRoutes:
    """Serves the direct routes; all other requests go on."""

    def __init__(self, app: ASGIApp, routes: Iterable[BaseRoute]) -> None:
        self._app = app
        self._routes: dict[tuple[str, str], Any] = {
            (method, route.path): route
            for route in routes
            if isinstance(route, DirectRoute)
            for method in route.methods or ()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._routes.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if route is None or scope["query_string"]:  # which they do not know: the route says so
            await self._app(scope, receive, send)
            return
        scope["route"] = route
        request = Request(scope, receive, send)
        try:
            response = await route.endpoint(request)
        except Exception as error:
            response = answer_to(request, error)
        await response(scope, receive, send)
