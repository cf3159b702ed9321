"""What somebody may want to go to, while they type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from forebay.api.auth.authentication import Reader
from forebay.api.deps import RolePoolsDep
from forebay.api.models import Model
from forebay.api.problems import Problem
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import lists
from forebay.hooks import Suggestion
from forebay.packages import suggesters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection

router = APIRouter(prefix="/api", tags=["search"], route_class=StrictRoute)

_MOST = 8


class SuggestedThing(Model):
    kind: str = Field(description="job, or a kind of things that a package has")
    id: str
    title: str
    detail: str | None


class SuggestionList(Model):
    suggestions: list[SuggestedThing]


@router.get("/suggest")
async def suggest(
    who: Reader, pools: RolePoolsDep, q: Annotated[str, Query(min_length=1, max_length=100)]
) -> SuggestionList:
    """Up to eight things of the caller whose names begin with a text, contain it, or are similar to it."""
    if "\0" in q:
        raise Problem(422, "must not contain a NUL character", field="query.q")
    text = q.strip()
    if not text:
        return SuggestionList(suggestions=[])
    async with pools.own(who) as conn:
        jobs = await _jobs(conn, who.owner_id, text)
        found = [each for ask in suggesters() for each in await ask(conn, who.owner_id, text, _MOST)]
    known = {each.job_id for each in found}
    found = [*(job for job in jobs if job.id not in known), *found]
    found.sort(key=lambda each: -each.score)  # stable: each package has sorted its own
    return SuggestionList(
        suggestions=[
            SuggestedThing(kind=each.kind, id=each.id, title=each.title, detail=each.detail) for each in found[:_MOST]
        ]
    )


async def _jobs(conn: Connection, owner_id: int, text: str) -> Sequence[Suggestion]:
    """Jobs by their number, with or without #, and by the beginnings of their keys and files."""
    rows = await lists.suggested_jobs(conn, owner_id, text.removeprefix("#"), _MOST)
    return [
        Suggestion("job", str(row["id"]), row["name"] or f"#{row['id']}", f"{row['pipeline']} {row['state']}", 1.0)
        for row in rows
    ]
