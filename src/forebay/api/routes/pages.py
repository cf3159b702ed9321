"""The HTML pages: home, sign-in, and the API documentation. Packages add theirs."""

from __future__ import annotations

from functools import cache

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from forebay.api.pages import home_page, page
from forebay.api.strict_query import StrictRoute

router = APIRouter(include_in_schema=False, route_class=StrictRoute)

_home, _page = cache(home_page), cache(page)


@router.get("/")
async def home() -> HTMLResponse:
    """The home page: the sections of the packages, and the latest jobs."""
    return _home()


@router.get("/sign-in")
async def sign_in() -> HTMLResponse:
    """The sign-in page. It sends the part of the link after #, which therefore never reaches the server's logs."""
    return _page("sign_in", "Sign in")


@router.get("/api/docs")
async def docs() -> HTMLResponse:
    """The documentation of all routes, with forms to try them; loads nothing from other hosts."""
    return _page("docs", "API")
