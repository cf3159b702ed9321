"""A file as an answer: all or a part of it, unless the caller has it already; nothing that a browser would run."""

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
class Part:
    """Bytes from `start` to before `end`."""

    start: int
    end: int


async def answer(store: Store, file: File, headers: Headers, *, inline: bool, cache: str, head: bool) -> Response:
    """The file, or as much of it as was asked for.

    Raises: Problem 412, 416 or 503.
    """
    tag = f'"{file.object.sha256.hex()}"'
    sent = {"etag": tag, "cache-control": cache, "accept-ranges": "bytes"}
    _check(headers, tag)
    if _has_it(headers, tag):
        return Response(status_code=304, headers=sent)
    sent |= _careful(file, inline=inline)
    part = _part(headers, tag, file.size)
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
    """Whoever made the file is not trusted: it is shown only if it cannot run, and then in a sandbox."""
    shown = inline and names.is_shown(file.media_type)
    return {
        "content-type": names.served_type(file.media_type),
        "content-disposition": disposition("inline" if shown else "attachment", file.name),
        "content-security-policy": _policy(file.media_type),
        "x-content-type-options": "nosniff",
    }


def _policy(media_type: str) -> str:
    """No scripts, and a sandbox where it does no harm: in one, browsers neither play sound and video nor show PDF."""
    if media_type == "application/pdf" or media_type.startswith(("audio/", "video/")):
        return "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'"
    return "sandbox; default-src 'none'"


def disposition(kind: str, name: str) -> str:
    """With the name in ASCII for old readers, and as it is for all others (RFC 6266)."""
    plain = "".join(char if " " <= char <= "~" and char not in '"\\%' else "_" for char in name)
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


async def _opened(store: Store, file: File, start: int, end: int) -> AsyncIterator[bytes]:
    try:
        return await store.open(key_of(file.object), start, end)
    except (ConfigError, ContentMissing, ResourceError, TransientError) as error:
        log.warning("file_unreadable", file=file.id, error=one_line(error))
        raise Problem(503, "the file cannot be read right now", headers={"Retry-After": "30"}) from error


# What the caller has, and wants.


def _check(headers: Headers, tag: str) -> None:
    if (wanted := headers.get("if-match")) is not None and not _names(wanted, tag, weak=False):
        raise Problem(412, "the file is not the one that If-Match names")


def _has_it(headers: Headers, tag: str) -> bool:
    known = headers.get("if-none-match")
    return known is not None and _names(known, tag, weak=True)


def _names(value: str, tag: str, *, weak: bool) -> bool:
    """Whether a list of tags has this one, or is for any."""
    if value.strip() == "*":
        return True
    return any(each == tag or (weak and each == f"W/{tag}") for each in _TAG.findall(value))


def _part(headers: Headers, tag: str, size: int) -> Part | None:
    """The part that is asked for; None is all. What is no single range is all, too.

    Raises: Problem 416 when the file has no such part.
    """
    asked = _RANGE.fullmatch(headers.get("range", "").strip().replace(" ", ""))
    if asked is None or headers.get("if-range", tag).strip() != tag:
        return None
    first, last, suffix = asked.groups()
    if suffix is not None:
        part = Part(max(0, size - int(suffix)), size)
    else:
        part = Part(int(first), min(size, int(last) + 1) if last else size)
        if last and int(last) < int(first):
            return None  # not a range at all
    if part.start >= part.end:
        raise Problem(416, f"the file has {size} bytes", headers={"Content-Range": f"bytes */{size}"})
    return part
