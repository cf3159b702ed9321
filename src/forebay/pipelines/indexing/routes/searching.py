"""Search everything that an owner has, and find what is similar."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request

from forebay.api import paging
from forebay.api.auth.authentication import Reader
from forebay.api.deps import After, RolePoolsDep
from forebay.api.problems import Problem
from forebay.api.routes.jobs import aware
from forebay.api.strict_query import StrictRoute
from forebay.errors import NotFoundError
from forebay.pipelines.indexing.models import KindCount, SearchHit, SearchPage, SearchQuestion, hit_of, known_kinds
from forebay.search import db, finding
from forebay.search.finding import Filter, Found, Hit, Mode
from forebay.search.question import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.api.auth.authentication import Principal
    from forebay.api.role_pools import RolePools
    from forebay.db.pool import Connection
    from forebay.search.query_model import QueryModel

router = APIRouter(prefix="/api/search", tags=["search"], route_class=StrictRoute)

Words = Annotated[
    str,
    Query(
        min_length=1,
        max_length=400,
        description='what to look for; `"a phrase"` must occur as it is, and `-word` must not occur',
    ),
]
Kinds = Annotated[list[str] | None, Query(alias="kind", max_length=20, description="only these kinds")]
Tags = Annotated[list[str] | None, Query(alias="tag", max_length=20, description="only what has all of these tags")]
Since = Annotated[datetime | None, Query(description="written at this time or later")]
Until = Annotated[datetime | None, Query(description="written before this time")]
Size = Annotated[int, Query(alias="pageSize", ge=1, le=100)]


@router.get("")
async def search(
    request: Request,
    who: Reader,
    pools: RolePoolsDep,
    q: Words,
    mode: Annotated[Mode, Query(description="by the words, by the meaning, or by both")] = "both",
    kind: Kinds = None,
    tag: Tags = None,
    since: Since = None,
    until: Until = None,
    after: After = None,
    size: Size = 20,
) -> SearchPage:
    """Search everything that the caller has, the best first. Work that is pending does not delay it: what is not
    embedded yet is found by its words."""
    where = Filter(_clean_all(kind, "kind"), _clean_all(tag, "tag"), aware(since, "since"), aware(until, "until"))
    return await searched(request, pools, who, SearchQuestion(q=_clean(q, "q"), mode=mode), where, after, size)


async def searched(
    request: Request,
    pools: RolePools,
    who: Principal,
    asked: SearchQuestion,
    where: Filter,
    after: str | None,
    size: int,
) -> SearchPage:
    """One page of hits."""
    start = 0 if after is None else min(paging.decode(after, paging.integer)[0], 2 * finding.MOST)
    question, model = parse(asked.q), _model(request)
    async with pools.own(who) as conn:
        chosen = await model.choose(conn)
    vector, note = await model.vector(chosen, question.words) if asked.mode != "words" else (None, None)
    mode: Mode = "words" if vector is None else asked.mode
    async with pools.own(who) as conn:
        found = await finding.find(conn, question, where, vector, words=mode != "meaning")
        counted = found
        if where.kinds:
            every = Filter((), where.tags, where.since, where.until)
            counted = await finding.find(conn, found.question, every, vector, words=mode != "meaning")
        hits = await _shown(conn, found.hits[start : start + size], found.question.words, chosen.id)
        kinds = await _kinds(conn, counted)
    more = start + size if len(found.hits) > start + size else None
    return SearchPage(
        hits=hits,
        kinds=kinds,
        mode=mode,
        corrected=found.corrected,
        notes=[] if note is None else [note],
        next=None if more is None else paging.encode(more),
    )


@router.get("/similar")
async def similar(
    request: Request,
    who: Reader,
    pools: RolePoolsDep,
    of_kind: Annotated[str, Query(alias="ofKind", max_length=50)],
    ref: Annotated[str, Query(min_length=1, max_length=200)],
    kind: Kinds = None,
    size: Size = 20,
) -> list[SearchHit]:
    """What is like one of the caller's documents, the most similar first."""
    of_kind, ref, where = _clean(of_kind, "ofKind"), _clean(ref, "ref"), Filter(_clean_all(kind, "kind"))
    async with pools.own(who) as conn:
        chosen = await _model(request).choose(conn)
        found = await finding.find_similar(conn, of_kind, ref, where, chosen.id)
        if found is None:
            raise NotFoundError("ref", f"there is no {of_kind[:50]} {ref[:40]!r} in the index")
        return await _shown(conn, found[:size], "", chosen.id)


def _model(request: Request) -> QueryModel:
    model: QueryModel = request.app.state.query_model
    return model


def _clean(text: str, field: str) -> str:
    if "\0" in text:
        raise Problem(422, "must not contain a NUL character", field=f"query.{field}")
    return text


def _clean_all(texts: list[str] | None, field: str) -> list[str]:
    return [_clean(text, field) for text in texts or ()]


async def _shown(conn: Connection, hits: Sequence[Hit], words: str, model_id: int | None) -> list[SearchHit]:
    by_id, kinds = {hit.id: hit for hit in hits}, known_kinds()
    rows = await db.show(conn, list(by_id), words, model_id, [hit.chunk for hit in hits])
    return [hit_of(row, by_id[row["id"]], kinds) for row in rows]


async def _kinds(conn: Connection, found: Found) -> list[KindCount]:
    known = known_kinds()
    counts = await db.count_by_kind(conn, [hit.id for hit in found.hits])
    return [
        KindCount(kind=kind, title=known[kind].title if kind in known else kind, count=count)
        for kind, count in counts.items()
    ]
