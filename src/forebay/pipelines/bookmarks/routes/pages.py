"""The former address of the page for saving a link."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import RedirectResponse

from forebay.api.strict_query import StrictRoute

router = APIRouter(include_in_schema=False, route_class=StrictRoute)


@router.get("/bookmarks/add")
async def add_bookmark() -> RedirectResponse:
    """Bookmarklets of earlier releases open it; browsers add the part after #, which has the link, to the new one."""
    return RedirectResponse("/save", status_code=308)
