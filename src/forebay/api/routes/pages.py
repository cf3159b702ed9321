"""The pages until the web app comes: home, signing in, and the API with forms to try it. Packages have their own."""

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
    """What the packages offer, what is being worked on, and where everything is."""
    return _home()


@router.get("/sign-in")
async def sign_in() -> HTMLResponse:
    """The part of the link after # never reaches the server's logs: the page sends it."""
    return _page("sign_in", "Sign in")


@router.get("/api/docs")
async def docs() -> HTMLResponse:
    """Every route, what it does and what it takes, with a form to try it; nothing is fetched from elsewhere."""
    return _page("docs", "API")
