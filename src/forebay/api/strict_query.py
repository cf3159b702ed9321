"""A query parameter that a route does not know is a mistake of the caller's: taken for nothing, it would hide there."""

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
    """Answers 422 to query parameters that it does not know."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        known = frozenset(_parameters(self.dependant))

        async def strict(request: Request) -> Response:
            if query := request.scope["query_string"]:
                _check(query, known)
            return await handle(request)

        return strict


def _parameters(dependant: Dependant) -> Iterator[str]:
    """The names of what a route, and all that it depends on, take from the query."""
    yield from (field.alias for field in dependant.query_params)
    for needed in dependant.dependencies:
        yield from _parameters(needed)


def _check(query: bytes, known: frozenset[str]) -> None:
    for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name not in known:
            takes = f"there are {', '.join(sorted(known))}" if known else "this route takes none"
            raise Problem(422, f"there is no such parameter; {takes}", field=f"query.{name[:100]}")
