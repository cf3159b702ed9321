"""The page for saving a link."""

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
    """The page that the bookmarklet opens, and that offers the bookmarklet."""
    return _add_page()
