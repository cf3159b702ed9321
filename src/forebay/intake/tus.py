"""Resumable uploads of files of a target: the tus protocol (tus.io, version 1.0.0)."""

from __future__ import annotations

import base64
import binascii
import json
from functools import cache
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
from forebay.intake import db, uploads

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from forebay.db.pool import Connection
    from forebay.intake.db import IntakeFile
    from forebay.intake.target import IntakeTarget

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


@cache  # an application is made for each process, and in tests for each test
def upload_router(target: IntakeTarget) -> APIRouter:
    """The routes of uploads to one target."""
    router = APIRouter(prefix=target.uploads_path, tags=[target.name], route_class=StrictRoute)

    @router.options("", status_code=204)
    async def describe(request: Request) -> Response:
        """The supported version and extensions of tus."""
        most = str(target.max_bytes(request.app.state.settings))
        extra = {"Tus-Version": _VERSION, "Tus-Extension": "creation,termination", "Tus-Max-Size": most}
        return Response(status_code=204, headers=_SPEAKS | extra)

    @router.post("", status_code=201, responses=_KNOWN | _OTHER_VERSION)
    async def begin_upload(request: Request, length: Length, metadata: Metadata = "") -> Response:
        """Announce a file; responds with the URL for its content, and its job."""
        return await _begin(target, request, int(length), metadata)

    @router.head("/{upload_id}", status_code=200)
    async def look_at_upload(upload_id: Number, who: Reader, pools: RolePoolsDep) -> Response:
        """The number of bytes that are stored."""
        async with pools.of(who) as conn:
            file = await _find(conn, target, int(upload_id))
        told = {"Upload-Offset": str(file.received), "Upload-Length": str(file.size)}
        return Response(status_code=200, headers=_SPEAKS | told)

    @router.patch("/{upload_id}", status_code=204, openapi_extra=_BYTES, responses=_OTHER_VERSION | _NO_BYTES)
    async def go_on(request: Request, upload_id: Number, offset: Offset) -> Response:
        """Send the next bytes of a file, from the current offset; the last ones submit the job that receives it."""
        return await _go_on(target, request, int(upload_id), int(offset))

    @router.delete("/{upload_id}", status_code=204)
    async def give_up(upload_id: Number, who: Writer, pools: RolePoolsDep) -> Response:
        """End an incomplete upload; its content is deleted."""
        async with pools.of(who) as conn:
            file = await _find(conn, target, int(upload_id), or_given_up=True)
            if file.intake_job_id:
                raise Problem(409, "the upload is complete: cancel its job instead")
            await control.cancel(conn, file.job_id, who.actor)
            await db.give_up(conn, target.name, file.reference)
        return Response(status_code=204, headers=_SPEAKS)

    return router


async def _begin(target: IntakeTarget, request: Request, length: int, metadata: str) -> Response:
    who = await authorized(request, "write", makes_owner=True)
    _check_version(request)
    uploads.check_enabled(target, request.app.state.settings)
    about = uploads.announced(target, _described(target, metadata))
    added = await uploads.begin(target, request.app.state, who, about, length)
    answer = {"jobId": str(added.job_id), target.reference_field: str(added.reference), "created": added.created}
    place = {"Location": f"{target.uploads_path}/{added.reference}"}
    return JSONResponse(answer, 201 if added.created else 200, headers=_SPEAKS | place)


async def _go_on(target: IntakeTarget, request: Request, reference: int, offset: int) -> Response:
    who = await authorized(request, "write")
    _check_version(request)
    if media_type(request.headers) != "application/offset+octet-stream":
        raise Problem(415, "send application/offset+octet-stream")
    state = request.app.state
    async with state.pools.own(who) as conn:  # administrators can end uploads of others, but not continue them
        file = await _find(conn, target, reference)
    upto, size = file.received or 0, file.size or 0
    if offset != upto or file.is_whole:
        raise Problem(409, f"is {offset}; {upto} bytes have been received", field="Upload-Offset")
    body, writer = _body(request, size - upto), uploads.PartWriter(target, state, who, reference)
    while upto < size and (came := await writer.add(body, upto, size)):
        upto += came
    return Response(status_code=204, headers=_SPEAKS | {"Upload-Offset": str(upto)})


def _check_version(request: Request) -> None:
    spoken = request.headers.get("tus-resumable", _VERSION)
    if spoken != _VERSION:
        raise Problem(412, f"must be {_VERSION}", field="Tus-Resumable", headers={"Tus-Version": _VERSION})


async def _find(conn: Connection, target: IntakeTarget, reference: int, *, or_given_up: bool = False) -> IntakeFile:
    file = await db.get(conn, target.name, reference)
    if file is None or file.source is not None or (file.intake_job_id == 0 and not or_given_up):
        raise NotFoundError("upload", f"there is no upload {reference}")
    return file


async def _body(request: Request, most: int) -> AsyncIterator[bytes]:
    """The body. If the connection breaks, the received bytes are kept, and the client can continue after them."""
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


def _described(target: IntakeTarget, metadata: str) -> dict[str, Any]:
    """The decoded metadata.

    Raises: Problem 422 for invalid metadata.
    """
    values: dict[str, Any] = {"pipeline": target.name, "file": "upload"}
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
