"""Unknown query parameters are rejected: a misspelt one would be ignored otherwise."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from fastapi import Request, Response
from fastapi.routing import APIRoute

from forebay.api.problems import Problem

if TYPE_CHECKING:
    from fastapi.dependencies.models import Dependant


class StrictRoute(APIRoute):
    """A route that answers 422 to unknown query parameters."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        known = frozenset(_parameters(self.dependant))

        async def strict(request: Request) -> Response:
            if query := request.scope["query_string"]:
                _check(query, known)
            return await handle(request)

        return strict


def _parameters(dependant: Dependant) -> Iterator[str]:
    """The query parameters of a route and its dependencies."""
    yield from (field.alias for field in dependant.query_params)
    for needed in dependant.dependencies:
        yield from _parameters(needed)


def _check(query: bytes, known: frozenset[str]) -> None:
    for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name not in known:
            takes = f"this route takes {', '.join(sorted(known))}" if known else "this route takes none"
            raise Problem(422, f"unknown parameter; {takes}", field=f"query.{name[:100]}")
