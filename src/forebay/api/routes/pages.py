"""The HTML pages that work without the web app: sign-in, and the API documentation. Packages add theirs."""

from __future__ import annotations

from functools import cache
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from forebay.api.pages import page
from forebay.api.strict_query import StrictRoute

router = APIRouter(include_in_schema=False, route_class=StrictRoute)

_page = cache(page)


@router.get("/sign-in")
async def sign_in(
    back: Annotated[str | None, Query(alias="next", max_length=4000, description="the path to open then")] = None,
) -> HTMLResponse:
    """The sign-in page. It sends the part of the link after #, which therefore never reaches the server's logs. Its
    script reads `next`, and opens only paths of this site."""
    return _page("sign_in", "Sign in")


@router.get("/api/docs")
async def docs() -> HTMLResponse:
    """The documentation of all routes, with forms to try them; loads nothing from other hosts."""
    return _page("docs", "API")
