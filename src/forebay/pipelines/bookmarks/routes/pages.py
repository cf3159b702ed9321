"""The page on which a link is saved."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from forebay.api.pages import page
from forebay.api.strict_query import StrictRoute

router = APIRouter(include_in_schema=False, route_class=StrictRoute)


@cache
def _add_page() -> HTMLResponse:
    return page("add", "Save a link", files("forebay.pipelines.bookmarks") / "pages")


@router.get("/bookmarks/add")
async def add_bookmark() -> HTMLResponse:
    """Where the bookmarklet leads to, and where it can be had."""
    return _add_page()
