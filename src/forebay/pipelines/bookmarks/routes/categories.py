"""The tags and categories of bookmarks."""

from __future__ import annotations

from fastapi import APIRouter, Response

from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import Number, RolePoolsDep
from forebay.api.problems import Problem
from forebay.api.strict_query import StrictRoute
from forebay.errors import NotFoundError
from forebay.pipelines.bookmarks import db as rows
from forebay.pipelines.bookmarks.models import Category, CategoryList, NewCategory, TagList, TagUse

router = APIRouter(prefix="/api/bookmarks", tags=["bookmarks"], route_class=StrictRoute)


@router.get("/tags")
async def list_tags(who: Reader, pools: RolePoolsDep) -> TagList:
    """The tags in use, the most used first; at most 1000."""
    async with pools.own(who) as conn:
        found = await rows.tags(conn, who.owner_id, 1000)
    return TagList(tags=[TagUse(**dict(row)) for row in found])


@router.get("/categories")
async def list_categories(who: Reader, pools: RolePoolsDep) -> CategoryList:
    """Categories by name."""
    async with pools.own(who) as conn:
        found = await rows.categories(conn, who.owner_id)
    return CategoryList(categories=[Category(**dict(row)) for row in found])


@router.post("/categories", status_code=201, responses={200: {"model": Category}})
async def add_category(body: NewCategory, who: Writer, pools: RolePoolsDep, response: Response) -> Category:
    """Add a category. If one of that name exists, it is returned with status 200."""
    async with pools.own(who) as conn:
        row = await rows.add_category(conn, who.owner_id, body.name)
    if row is None:  # added concurrently
        raise Problem(503, "try again", headers={"Retry-After": "1"})
    values = dict(row)
    response.status_code = 201 if values.pop("created") else 200
    return Category(**values)


@router.put("/categories/{category_id}")
async def rename_category(category_id: Number, body: NewCategory, who: Writer, pools: RolePoolsDep) -> Category:
    """Rename a category."""
    async with pools.own(who) as conn:
        row = await rows.rename_category(conn, int(category_id), body.name)
    if row is None:
        raise NotFoundError("category", f"there is no category {category_id}")
    return Category(**dict(row))


@router.delete("/categories/{category_id}", status_code=204)
async def delete_category(category_id: Number, who: Writer, pools: RolePoolsDep) -> None:
    """Delete a category; its bookmarks stay."""
    async with pools.own(who) as conn:
        if not await rows.delete_category(conn, int(category_id)):
            raise NotFoundError("category", f"there is no category {category_id}")
