"""Files as responses: ranges, conditional requests, and headers that keep browsers from running the content."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import Response, StreamingResponse

from forebay.api.problems import Problem
from forebay.errors import ConfigError, ContentMissing, ResourceError, TransientError, one_line
from forebay.log import get_logger
from forebay.storage import names
from forebay.storage.blobs import key_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.datastructures import Headers

    from forebay.storage.db import File
    from forebay.storage.store import Store

log = get_logger("api")

_RANGE = re.compile(r"bytes=(?:([0-9]{1,19})-([0-9]{1,19})?|-([0-9]{1,19}))")
_TAG = re.compile(r'(?:W/)?"[^"]*"')


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes from `start` to before `end`."""

    start: int
    end: int


async def answer(store: Store, file: File, headers: Headers, *, inline: bool, cache: str, head: bool) -> Response:
    """The file, or the requested range of it.

    Raises: Problem 412, 416 or 503.
    """
    tag = f'"{file.object.sha256.hex()}"'
    sent = {"etag": tag, "cache-control": cache, "accept-ranges": "bytes"}
    _check(headers, tag)
    if _has_it(headers, tag):
        return Response(status_code=304, headers=sent)
    sent |= _careful(file, inline=inline)
    part = _range(headers, tag, file.size)
    start, end = (0, file.size) if part is None else (part.start, part.end)
    sent["content-length"] = str(end - start)
    if part is not None:
        sent["content-range"] = f"bytes {start}-{end - 1}/{file.size}"
    status = 200 if part is None else 206
    if head or start == end:
        return Response(status_code=status, headers=sent)
    chunks = await _opened(store, file, start, end)
    return StreamingResponse(chunks, status, sent)


def _careful(file: File, *, inline: bool) -> dict[str, str]:
    """Files are untrusted: one is shown inline only if its type cannot run scripts, and then in a sandbox."""
    shown = inline and names.is_shown(file.media_type)
    return {
        "content-type": names.served_type(file.media_type),
        "content-disposition": disposition("inline" if shown else "attachment", file.name),
        "content-security-policy": _policy(file.media_type),
        "x-content-type-options": "nosniff",
    }


def _policy(media_type: str) -> str:
    """No scripts; a sandbox except for sound, video and PDF, which browsers do not show in one."""
    if media_type == "application/pdf" or media_type.startswith(("audio/", "video/")):
        return "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'"
    return "sandbox; default-src 'none'"


def disposition(kind: str, name: str) -> str:
    """The name in ASCII for old clients, and in UTF-8 for the others (RFC 6266)."""
    plain = "".join(char if " " <= char <= "~" and char not in '"\\%' else "_" for char in name)
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


async def _opened(store: Store, file: File, start: int, end: int) -> AsyncIterator[bytes]:
    try:
        return await store.open(key_of(file.object), start, end)
    except (ConfigError, ContentMissing, ResourceError, TransientError) as error:
        log.warning("file_unreadable", file=file.id, error=one_line(error))
        raise Problem(503, "the file cannot be read at the moment", headers={"Retry-After": "30"}) from error


# Conditional requests and ranges.


def _check(headers: Headers, tag: str) -> None:
    if (wanted := headers.get("if-match")) is not None and not _names(wanted, tag, weak=False):
        raise Problem(412, "the file is not the one that If-Match names")


def _has_it(headers: Headers, tag: str) -> bool:
    known = headers.get("if-none-match")
    return known is not None and _names(known, tag, weak=True)


def _names(value: str, tag: str, *, weak: bool) -> bool:
    """Whether a list of entity tags has this one, or `*`."""
    if value.strip() == "*":
        return True
    return any(each == tag or (weak and each == f"W/{tag}") for each in _TAG.findall(value))


def _range(headers: Headers, tag: str, size: int) -> ByteRange | None:
    """The requested range; None for the whole file, also for anything but a single range.

    Raises: Problem 416 when the range is outside the file.
    """
    asked = _RANGE.fullmatch(headers.get("range", "").strip().replace(" ", ""))
    if asked is None or headers.get("if-range", tag).strip() != tag:
        return None
    first, last, suffix = asked.groups()
    if suffix is not None:
        part = ByteRange(max(0, size - int(suffix)), size)
    else:
        part = ByteRange(int(first), min(size, int(last) + 1) if last else size)
        if last and int(last) < int(first):
            return None  # not a range
    if part.start >= part.end:
        raise Problem(416, f"the file has {size} bytes", headers={"Content-Range": f"bytes */{size}"})
    return part
