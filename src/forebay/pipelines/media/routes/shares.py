"""Shares: add links to media, watch their downloads, retry and delete them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request, Response

from forebay.api import idempotency, paging
from forebay.api.auth.authentication import Reader, Writer, authorized
from forebay.api.deps import After, FileAccessDep, Number, PageSize, RolePoolsDep, SettingsDep
from forebay.api.models import Reference
from forebay.api.problems import Problem
from forebay.api.routes.files import link_to
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import control
from forebay.errors import NotFoundError
from forebay.log import get_logger
from forebay.pipelines.media import db as rows
from forebay.pipelines.media.db import ShareFilter
from forebay.pipelines.media.kinds import DownloadStatus, ShareKind
from forebay.pipelines.media.links import shared_url
from forebay.pipelines.media.models import AddedShares, NewShares, RetriedShare, Share, SharePage, share_of
from forebay.pipelines.media.settings import MediaSettings
from forebay.pipelines.media.synchronous import wait_for_files
from forebay.storage import db as files
from forebay.telemetry.tracing import submitting

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    import asyncpg

    from forebay.api.auth.authentication import Principal
    from forebay.api.file_access import FileAccess
    from forebay.api.quota import Quotas
    from forebay.api.role_pools import RolePools
    from forebay.db.pool import Connection
    from forebay.settings import Settings

router = APIRouter(prefix="/api/shares", tags=["media"], route_class=StrictRoute)

log = get_logger("api")

_New = tuple[str, str | None, int]  # URL, title, priority


@router.post("", status_code=201, openapi_extra=idempotency.TAKES_KEY)
async def add_shares(body: NewShares, request: Request, response: Response) -> AddedShares:
    """Share links to media; responds once they are stored. Workers find out what they lead to, and download it. A link
    to a playlist becomes one share for each of its entries. Files are uploaded to `/api/media/uploads`."""
    who = await authorized(request, "write", makes_owner=True)
    idempotent = await idempotency.of(request)
    state = request.app.state
    new = _given(body, state.settings)
    quotas: Quotas = state.quotas
    quota = await quotas.of(state.pools.owners, who.owner_id)
    pools: RolePools = state.pools
    async with pools.own(who) as conn:
        if (known := await idempotent.answer(conn, who)) is not None:
            response.status_code = known.status
            return _for(who, AddedShares.model_validate(known.body))
        for _ in new:
            quota.admit()
        ids = await _add(conn, who, new)
        added = AddedShares(shares=list(await _shown(conn, ids)))
        await idempotent.keep(conn, who, 201, added.model_dump(mode="json", by_alias=True))
    own = state.settings.of(MediaSettings)
    if not own.async_downloads:
        await wait_for_files(pools, who, ids, own.sync_s)
        async with pools.own(who) as conn:
            added = AddedShares(shares=list(await _shown(conn, ids)))
    return _for(who, added)


def _given(body: NewShares, settings: Settings) -> list[_New]:
    """Validate the request; a link that may never be fetched is rejected.

    Raises: InvalidUrl, Problem.
    """
    if not settings.of(MediaSettings).enabled:
        raise Problem(403, "media is turned off: FOREBAY_MEDIA_ENABLED is false")
    if (body.url is None) == (body.shares is None):
        raise Problem(422, "give either `url` or `shares`", field="url")
    if body.url is not None:
        return [(str(shared_url(body.url, settings)), body.title, body.priority)]
    return [
        (
            str(shared_url(each.url, settings, f"shares.{place}.url")),
            each.title,
            body.priority if each.priority is None else each.priority,
        )
        for place, each in enumerate(body.shares or ())
    ]


async def _add(conn: Connection, who: Principal, new: Sequence[_New]) -> list[int]:
    ids: list[int] = []
    for url, title, priority in new:
        with submitting("media") as now:
            share_id, job_id = await rows.add(conn, who.owner_id, url, title, priority, now.trace)
            now.made(job_id)
        log.info("share_queued", share=share_id, job=job_id, owner=who.owner)
        ids.append(share_id)
    return ids


def _for(who: Principal, added: AddedShares) -> AddedShares:
    """What this caller may see: only the ids without the scope `read`."""
    return added if who.can_read else AddedShares(shares=[Reference(id=share.id) for share in added.shares])


@router.get("")
async def list_shares(
    who: Reader,
    pools: RolePoolsDep,
    size: PageSize,
    after: After = None,
    q: Annotated[str | None, Query(max_length=1000, description="words of titles, authors and transcripts")] = None,
    state: Annotated[list[DownloadStatus] | None, Query(description="of the download; several: any of them")] = None,
    kind: Annotated[list[ShareKind] | None, Query(description="several: any of them")] = None,
    playlist_id: Annotated[
        str | None,
        Query(alias="playlistId", pattern="^[0-9]{1,18}$", description="the entries of this playlist"),
    ] = None,
) -> SharePage:
    """List shares, newest first. Entries of playlists are listed by `playlistId`, and found by `q`."""
    words = q.strip() or None if q is not None else None
    if words is not None and "\0" in words:
        raise Problem(422, "must not contain a NUL character", field="query.q")
    where = ShareFilter(state or (), kind or (), None if playlist_id is None else int(playlist_id), words)
    start = None if after is None else paging.decode(after, paging.integer)[0]
    async with pools.own(who) as conn:
        ids = await rows.find(conn, where, start, size + 1)
        page = await _shown(conn, ids[:size])
    more = ids[size - 1] if len(ids) > size else None
    paging.tell("shares", ids[:size], more)
    return SharePage(shares=page, next=None if more is None else paging.encode(more))


async def _shown(conn: Connection, ids: Sequence[int]) -> list[Share]:
    found = await rows.show(conn, ids)
    pictures = await files.pictures(conn, [row["poster_id"] for row in found if row["poster_id"] is not None])
    return [share_of(row, pictures) for row in found]


@router.get("/{share_id}")
async def get_share(
    share_id: Number, who: Reader, pools: RolePoolsDep, file_access: FileAccessDep, settings: SettingsDep
) -> Share:
    """A share with the progress of its download, and a signed link to its file once that is there."""
    async with pools.own(who) as conn:
        found = await rows.show(conn, [int(share_id)])
        if not found:
            raise _not_there(share_id)
        row = found[0]
        pictures = await files.pictures(conn, [row["poster_id"]] if row["poster_id"] is not None else [])
        link = await _signed(conn, file_access, settings, row)
    return share_of(row, pictures, link)


async def _signed(
    conn: Connection, file_access: FileAccess, settings: Settings, row: asyncpg.Record
) -> tuple[str, datetime] | None:
    file = None if row["file_id"] is None else await files.get(conn, row["file_id"])
    return None if file is None else await link_to(file_access, settings, file, inline=True)


@router.post("/{share_id}/retry", status_code=201)
async def retry_share(share_id: Number, request: Request, who: Writer, pools: RolePoolsDep) -> RetriedShare:
    """Work on a share again that failed, or whose file was deleted, ahead of other work. What was downloaded before is
    not fetched again."""
    quotas: Quotas = request.app.state.quotas
    quota = await quotas.of(pools.owners, who.owner_id)
    async with pools.own(who) as conn:
        quota.admit()
        job_id = await rows.retry(conn, int(share_id))
        if job_id is None:
            raise _not_there(share_id)
    return RetriedShare(job_id=str(job_id))


@router.delete("/{share_id}", status_code=204)
async def delete_share(share_id: Number, who: Writer, pools: RolePoolsDep) -> None:
    """Delete a share with its file and transcript; a download that is running is cancelled."""
    async with pools.own(who) as conn:
        gone = await rows.delete(conn, int(share_id))
        if gone is None:
            raise _not_there(share_id)
        if gone["is_open"] and gone["is_entry"]:
            await control.cancel_item(conn, gone["job_id"], gone["item_n"], who.actor)
        elif gone["is_open"]:
            await control.cancel(conn, gone["job_id"], who.actor)


def _not_there(share_id: str) -> NotFoundError:
    return NotFoundError("share", f"there is no share {share_id}")
