"""Files of owners: metadata, content, and signed links for anyone."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response

from forebay.api import files as answers
from forebay.api.auth.authentication import Principal, Reader
from forebay.api.deps import FileAccessDep, FileId, RolePoolsDep, SettingsDep
from forebay.api.models import Id, Model
from forebay.api.problems import Problem
from forebay.api.strict_query import StrictRoute
from forebay.errors import InvalidField, NotFoundError
from forebay.storage import db as files
from forebay.storage.blobs import key_of
from forebay.storage.signing import FileLink

if TYPE_CHECKING:
    from forebay.api.file_access import FileAccess
    from forebay.api.role_pools import RolePools
    from forebay.settings import Settings
    from forebay.storage.db import File

router = APIRouter(tags=["files"], route_class=StrictRoute)

_BYTES: dict[str, Any] = {"content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}
_CONTENT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file", **_BYTES},
    206: {"description": "The requested `Range`", **_BYTES},
    304: {"description": "Unchanged: `If-None-Match` matches"},
    412: {"description": "`If-Match` does not match"},
    416: {"description": "The range is outside the file"},
}
_WEBP: dict[str, Any] = {"image/webp": {"schema": {"type": "string", "format": "binary"}}}
_THUMBNAIL = _CONTENT | {200: {"description": "The thumbnail", "content": _WEBP}}
Disposition = Annotated[
    Literal["inline", "attachment"],
    Query(description="`inline` shows images, PDF, sound, video and plain text; other types are always downloaded"),
]


class FileInfo(Model):
    id: Id
    name: str
    media_type: str
    size: int
    sha256: str
    created_at: datetime
    url: str
    expires_at: datetime


@router.get("/api/files/{file_id}")
async def get_file(
    file_id: FileId,
    who: Reader,
    pools: RolePoolsDep,
    file_access: FileAccessDep,
    settings: SettingsDep,
    disposition: Disposition = "inline",
    expires_s: Annotated[
        int | None, Query(alias="expiresS", ge=1, le=604800, description="how long the link is valid")
    ] = None,
) -> FileInfo:
    """The metadata of a file, with a link to its content that works without signing in until it expires."""
    file = await _find(pools, who, file_id)
    url, expires_at = await link_to(file_access, settings, file, inline=disposition == "inline", expires_s=expires_s)
    return FileInfo(
        id=str(file.id),
        name=file.name,
        media_type=file.media_type,
        size=file.size,
        sha256=file.object.sha256.hex(),
        created_at=file.created_at,
        url=url,
        expires_at=expires_at,
    )


async def link_to(
    file_access: FileAccess, settings: Settings, file: File, *, inline: bool, expires_s: int | None = None
) -> tuple[str, datetime]:
    """A link to the content of a file, and its expiry."""
    expires_at = int(time.time() + (expires_s or settings.link_s))
    grant = FileLink(file.id, file.owner_id, expires_at, inline)
    url = await _link(file_access, file, grant, presign=settings.storage_presign)
    return url, datetime.fromtimestamp(expires_at, UTC)


async def _link(file_access: FileAccess, file: File, grant: FileLink, *, presign: bool) -> str:
    if (
        presign
        and (own := await file_access.store.sign(key_of(file.object), grant.expires_at - time.time())) is not None
    ):
        return own
    return f"/files/{file_access.signer.sign(grant)}"


@router.get("/api/files/{file_id}/content", responses=_CONTENT, response_class=Response)
@router.head("/api/files/{file_id}/content", responses=_CONTENT, response_class=Response)
async def get_content(
    file_id: FileId,
    who: Reader,
    pools: RolePoolsDep,
    file_access: FileAccessDep,
    request: Request,
    disposition: Disposition = "inline",
) -> Response:
    """Download a file as its owner."""
    file = await _find(pools, who, file_id)
    return await answers.answer(
        file_access.store,
        file,
        request.headers,
        inline=disposition == "inline",
        cache="private, no-cache",
        head=request.method == "HEAD",
    )


@router.get("/api/files/{file_id}/thumbnail", responses=_THUMBNAIL, response_class=Response)
@router.head("/api/files/{file_id}/thumbnail", responses=_THUMBNAIL, response_class=Response)
async def get_thumbnail(
    file_id: FileId,
    who: Reader,
    pools: RolePoolsDep,
    file_access: FileAccessDep,
    request: Request,
    w: Annotated[Literal["160", "320", "640"], Query(description="width in pixels; no image is enlarged")] = "320",
) -> Response:
    """A small version of a picture in WebP. The content of a file never changes, so browsers may keep it."""
    async with pools.of(who) as conn:
        file = await files.thumbnail(conn, file_id, int(w))
    if file is None:
        raise NotFoundError("file", f"there is no thumbnail of file {file_id}")
    return await answers.answer(
        file_access.store,
        file,
        request.headers,
        inline=True,
        cache="private, max-age=31536000, immutable",
        head=request.method == "HEAD",
    )


async def _find(pools: RolePools, who: Principal, file_id: int) -> File:
    async with pools.of(who) as conn:
        file = await files.get(conn, file_id)
    if file is None:
        raise NotFoundError("file", f"there is no file {file_id}")
    return file


_GONE: dict[int | str, dict[str, Any]] = {410: {"description": "The link has expired"}}


@router.get("/files/{token}", responses=_CONTENT | _GONE, response_class=Response)
@router.head("/files/{token}", responses=_CONTENT | _GONE, response_class=Response)
async def follow_link(
    token: Annotated[str, Path(description="part of the `url` of a file", max_length=200)],
    pools: RolePoolsDep,
    file_access: FileAccessDep,
    request: Request,
) -> Response:
    """Download a file by a signed link."""
    grant = _granted(file_access, token)
    left = grant.expires_at - int(time.time())
    if left <= 0:
        raise Problem(410, "the link has expired: ask for a new one")
    holder = Principal("link", grant.owner_id, "", "user", frozenset({"read"}))
    file = await _find(pools, holder, grant.file_id)
    return await answers.answer(
        file_access.store,
        file,
        request.headers,
        inline=grant.inline,
        cache=f"private, max-age={left}",
        head=request.method == "HEAD",
    )


def _granted(file_access: FileAccess, token: str) -> FileLink:
    """Raises: Problem 404 when the signature is invalid."""
    try:
        return file_access.signer.read(token)
    except InvalidField as error:
        raise Problem(404, "there is no such link") from error
