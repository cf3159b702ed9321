"""Writes a fetched page into the row of its bookmark."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from forebay.pipelines.bookmarks import db as rows
from forebay.pipelines.bookmarks.links import page_hash
from forebay.services.pages.fetching import no_page_error

if TYPE_CHECKING:
    from forebay.services.pages.fetching import FetchedPage
    from forebay.types import Statement

_BODY = 400_000  # characters of text that are stored
_UNRENDERED = "unrendered"  # part of the facts, where queries find it


def write_page(page: FetchedPage, bookmark_id: int, owner_id: int) -> Statement:
    body_hash = hashlib.sha256(f"{page.title}\n{page.text}".encode("utf-8", "replace")).digest()
    hashed = page_hash(page.canonical_url or page.url)
    return rows.write_page(bookmark_id, owner_id, _columns(page), body_hash, hashed)


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
    }


def check(page: FetchedPage, bookmark_id: int, owner_id: int, *, only_seen: bool = False) -> None:
    """Accept only pages and files. A login, captcha or error page is recorded in the bookmark and raised.

    Raises: UrlNotFound, PermanentError.
    """
    error = no_page_error(page)
    if error is not None:
        kind = page.kind.replace("soft 404", "error")
        record = rows.write_no_page(bookmark_id, owner_id, kind, str(error), page.status, only_seen=only_seen)
        raise error.writing(record)
