"""Uploads that can be resumed: the tus protocol (tus.io, version 1.0.0), for files of rows."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from forebay.api.auth.authentication import Reader, Writer, authorized
from forebay.api.deps import Number, RolePoolsDep
from forebay.api.middleware.guards import media_type
from forebay.api.problems import Problem
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import control
from forebay.errors import NotFoundError
from forebay.pipelines.sheets import uploads
from forebay.pipelines.sheets.db import sheets
from forebay.pipelines.sheets.settings import SheetsSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from forebay.db.pool import Connection
    from forebay.pipelines.sheets.db.sheets import Sheet
    from forebay.settings import Settings

router = APIRouter(prefix="/api/uploads", tags=["sheets"], route_class=StrictRoute)

_VERSION = "1.0.0"
_FIELDS = ("filename", "options", "key", "priority", "meta")
_SPEAKS = {"Tus-Resumable": _VERSION}
Length = Annotated[str, Header(alias="Upload-Length", pattern="^[0-9]{1,18}$")]
Offset = Annotated[str, Header(alias="Upload-Offset", pattern="^[0-9]{1,18}$")]
Metadata = Annotated[
    str,
    Header(
        alias="Upload-Metadata",
        max_length=20_000,
        description=f"pairs of a name and a value in Base64, separated by commas; names: {', '.join(_FIELDS)}",
    ),
]


_OTHER_VERSION: dict[int | str, dict[str, Any]] = {412: {"description": f"Tus-Resumable is not {_VERSION}"}}
_NO_BYTES: dict[int | str, dict[str, Any]] = {415: {"description": "Not application/offset+octet-stream"}}
_KNOWN: dict[int | str, dict[str, Any]] = {200: {"description": "Announced before, by the same key"}}
_BYTES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/offset+octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.options("", status_code=204)
async def describe(request: Request) -> Response:
    """What is spoken here, for clients of tus."""
    most = str(request.app.state.settings.api_max_upload_bytes)
    extra = {"Tus-Version": _VERSION, "Tus-Extension": "creation,termination", "Tus-Max-Size": most}
    return Response(status_code=204, headers=_SPEAKS | extra)


@router.post("", status_code=201, responses=_KNOWN | _OTHER_VERSION)
async def begin_upload(request: Request, length: Length, metadata: Metadata = "") -> Response:
    """Announce a file of rows; answers where its bytes are to be sent, and the job that its rows will be items of."""
    who = await authorized(request, "write", makes_owner=True)
    _check_version(request)
    settings: Settings = request.app.state.settings
    if not settings.of(SheetsSettings).enabled:
        raise Problem(404, "is switched off here: FOREBAY_SHEETS_ENABLED")
    about = uploads.described(_described(metadata))
    added = await uploads.begin(request.app.state, who, about, int(length))
    answer = {"jobId": str(added.job_id), "sheetId": str(added.id), "created": added.created}
    place = {"Location": f"/api/uploads/{added.id}"}
    return JSONResponse(answer, 201 if added.created else 200, headers=_SPEAKS | place)


@router.head("/{upload_id}", status_code=200)
async def look_at_upload(upload_id: Number, who: Reader, pools: RolePoolsDep) -> Response:
    """How much of a file has come, and is safe."""
    async with pools.of(who) as conn:
        sheet = await _find(conn, int(upload_id))
    told = {"Upload-Offset": str(sheet.received), "Upload-Length": str(sheet.size)}
    return Response(status_code=200, headers=_SPEAKS | told)


@router.patch("/{upload_id}", status_code=204, openapi_extra=_BYTES, responses=_OTHER_VERSION | _NO_BYTES)
async def go_on(request: Request, upload_id: Number, offset: Offset) -> Response:
    """Send the next bytes of a file, from where it stands; with the last of them its reading begins."""
    who = await authorized(request, "write")
    _check_version(request)
    if media_type(request.headers) != "application/offset+octet-stream":
        raise Problem(415, "send application/offset+octet-stream")
    state = request.app.state
    async with state.pools.own(who) as conn:  # an administrator ends uploads of others, and adds nothing to them
        sheet = await _find(conn, int(upload_id))
    upto, size = sheet.received, sheet.size or 0
    if int(offset) != upto or sheet.intake_job_id is not None:
        raise Problem(409, f"is {offset}; {upto} bytes have come so far", field="Upload-Offset")
    body, pieces = _body(request, size - upto), uploads.Pieces(state, who, sheet.id)
    while upto < size and (came := await pieces.add(body, upto, size)):
        upto += came
    return Response(status_code=204, headers=_SPEAKS | {"Upload-Offset": str(upto)})


@router.delete("/{upload_id}", status_code=204)
async def give_up(upload_id: Number, who: Writer, pools: RolePoolsDep) -> Response:
    """Give an upload up; what has come of it goes."""
    async with pools.of(who) as conn:
        sheet = await _find(conn, int(upload_id), or_given_up=True)
        if sheet.intake_job_id:
            raise Problem(409, "the upload is complete: cancel its job instead")
        await control.cancel(conn, sheet.job_id, who.actor)
        await sheets.give_up(conn, sheet.id)
    return Response(status_code=204, headers=_SPEAKS)


def _check_version(request: Request) -> None:
    spoken = request.headers.get("tus-resumable", _VERSION)
    if spoken != _VERSION:
        raise Problem(412, f"must be {_VERSION}", field="Tus-Resumable", headers={"Tus-Version": _VERSION})


async def _find(conn: Connection, upload_id: int, *, or_given_up: bool = False) -> Sheet:
    sheet = await sheets.get(conn, sheet_id=upload_id)
    if sheet is None or sheet.source is not None or (sheet.intake_job_id == 0 and not or_given_up):
        raise NotFoundError("upload", f"there is no upload {upload_id}")
    return sheet


async def _body(request: Request, most: int) -> AsyncIterator[bytes]:
    """What is sent. When the line breaks, what came so far is kept: the client goes on behind it."""
    seen = 0
    try:
        async for chunk in request.stream():
            seen += len(chunk)
            if seen > most:
                raise Problem(413, f"has more bytes than were announced: {most} are missing", field="body")
            if chunk:
                yield chunk
    except ClientDisconnect:
        return


def _described(metadata: str) -> dict[str, Any]:
    """Raises: Problem 422 for what nobody can read."""
    values: dict[str, Any] = {"pipeline": uploads.PIPELINE, "file": "upload"}
    for pair in filter(None, (part.strip() for part in metadata.split(","))):
        name, _, encoded = pair.partition(" ")
        if name not in _FIELDS:
            raise Problem(422, f"there is no {name[:50]!r}; there are {', '.join(_FIELDS)}", field="Upload-Metadata")
        values["file" if name == "filename" else name] = _decoded(name, encoded)
    for name in ("options", "meta", "priority"):
        if name in values:
            values[name] = _parsed(name, values[name])
    return values


def _decoded(name: str, encoded: str) -> str:
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise Problem(422, f"{name} must be UTF-8 in Base64", field="Upload-Metadata") from error


def _parsed(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Problem(422, f"{name} must be JSON", field="Upload-Metadata") from error
