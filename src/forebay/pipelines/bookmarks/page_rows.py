"""Writes a fetched page into the row of its bookmark."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from forebay import resources
from forebay.engine.declare.limited import limited
from forebay.errors import StepError
from forebay.log import get_logger
from forebay.pipelines.bookmarks import db as rows
from forebay.pipelines.bookmarks import step_writes
from forebay.pipelines.bookmarks.links import page_hash
from forebay.pipelines.bookmarks.step_writes import Difference
from forebay.services import differences
from forebay.services.pages.fetching import no_page_error

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context
    from forebay.services.pages.fetching import FetchedPage
    from forebay.types import Statement

_BODY = 400_000  # characters of text that are stored
_UNRENDERED = "unrendered"  # part of the facts, where queries find it

COMPARE = limited(differences.unified, memory_mb=256, timeout=10, file_mb=1, scratch_mb=1)

log = get_logger("bookmarks")


async def write_page(
    ctx: Context, page: FetchedPage, bookmark_id: int, owner_id: int, known_hash: bytes | None
) -> Statement:
    """The statement that writes the page; with its difference from the previous one, whose hash is `known_hash`."""
    body_hash = hashlib.sha256(f"{page.title}\n{page.text}".encode("utf-8", "replace")).digest()
    hashed = page_hash(page.canonical_url or page.url)
    is_changed = known_hash is not None and known_hash != body_hash
    difference = await _difference(ctx, page, bookmark_id, owner_id) if is_changed else None
    return step_writes.write_page(bookmark_id, owner_id, _columns(page), body_hash, hashed, difference)


async def _difference(ctx: Context, page: FetchedPage, bookmark_id: int, owner_id: int) -> Difference | None:
    """How the page differs from the stored one; None if it takes too long to find out."""
    row = await rows.read_page_text(await ctx.get(resources.database), bookmark_id, owner_id)
    if row is None or row["body_hash"] is None:
        return None  # deleted meanwhile
    before = _document(row["title"], row["description"], row["body"])
    after = _document(page.title, page.description, page.text[:_BODY])
    try:
        return Difference(await ctx.call(COMPARE, before, after), row["body_hash"])
    except StepError as error:  # the page is worth more than the difference
        log.warning("page_not_compared", bookmark=bookmark_id, job=ctx.job_id, error=str(error))
        return None


def _document(title: str | None, description: str | None, text: str | None) -> str:
    return f"title: {title or ''}\ndescription: {description or ''}\n{text or ''}"


def _columns(page: FetchedPage) -> dict[str, Any]:
    return {
        "kind": page.kind,
        "kind_reason": page.problem,
        "http_status": page.status,
        "title": page.title,
        "description": page.description,
        "author": page.author,
        "site": page.site,
        "language": page.language,
        "canonical_url": page.canonical_url,
        "published_at": page.published,
        "modified_at": page.modified,
        "body": page.text[:_BODY] or None,
        "words": page.words,
        "reading_minutes": page.reading_minutes,
        "facts": {**(page.facts or {}), _UNRENDERED: True} if page.is_unrendered else page.facts,
        "etag": page.etag,
        "last_modified": page.last_modified,
        "notes": page.notes,
        "blocks": [block.model_dump(exclude_defaults=True) for block in page.blocks] or None,
    }


def check(page: FetchedPage, bookmark_id: int, owner_id: int, *, only_seen: bool = False) -> None:
    """Accept only pages and files. A login, captcha or error page is recorded in the bookmark and raised.

    Raises: UrlNotFound, PermanentError.
    """
    error = no_page_error(page)
    if error is not None:
        kind = page.kind.replace("soft 404", "error")
        record = step_writes.write_no_page(bookmark_id, owner_id, kind, str(error), page.status, only_seen=only_seen)
        raise error.writing(record)
