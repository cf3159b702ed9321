"""Everything that belongs to the caller, as one archive."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from forebay.api.auth.authentication import Reader
from forebay.api.deps import FileAccessDep, RolePoolsDep
from forebay.api.files import disposition
from forebay.api.owner_archive import OwnerArchive
from forebay.api.strict_query import StrictRoute
from forebay.log import get_logger

router = APIRouter(prefix="/api", tags=["identity"], route_class=StrictRoute)

log = get_logger("api")


@router.get(
    "/me/export",
    response_class=StreamingResponse,
    responses={200: {"description": "A ZIP archive", "content": {"application/zip": {}}}},
)
async def export_everything(who: Reader, pools: RolePoolsDep, file_access: FileAccessDep) -> StreamingResponse:
    """Everything that belongs to the caller, as one ZIP archive that is made while it is sent: account, jobs, items,
    attempts, audit, files, and what pipelines keep besides."""
    archive = OwnerArchive(who, pools, lambda: file_access.store, partial(pools.own, who))
    log.info("owner_exported", owner=who.owner, by=who.actor)
    name = f"forebay-{who.owner}-{datetime.now(UTC):%Y-%m-%d}.zip"
    headers = {"Content-Disposition": disposition("attachment", name), "Cache-Control": "no-store"}
    return StreamingResponse(archive.stream(), media_type="application/zip", headers=headers)
