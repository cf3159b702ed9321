"""The statements with which steps write bookmarks, in the transaction that settles them.

Each names the owner, so that a task can only change bookmarks of its owner.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic_core import to_json

from forebay.pipelines.bookmarks.db import load
from forebay.types import Statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from forebay.pipelines.bookmarks.db import BookmarkValues
    from forebay.pipelines.bookmarks.step_names import StepName


def write_import(
    owner_id: int, new: BookmarkValues, *, category: str | None, added_at: datetime | None, archived: bool
) -> Statement:
    """The statement that adds an imported bookmark and submits its job."""
    tags = None if new.tags is None else list(new.tags)
    given = (new.url, new.page_hash, new.title, new.note, tags, category, added_at, archived, new.is_image)
    return Statement(load("import_bookmark"), (owner_id, *given))


@dataclass(frozen=True, slots=True)
class Difference:
    """How a page differs from the one with this hash."""

    text: str
    from_hash: bytes


def write_page(
    bookmark_id: int,
    owner_id: int,
    found: Mapping[str, object],
    body_hash: bytes,
    canonical_hash: bytes | None,
    difference: Difference | None,
) -> Statement:
    text = to_json(dict(found), inf_nan_mode="null").decode()
    changed = (None, None) if difference is None else (difference.text, difference.from_hash)
    return Statement(load("write_page"), (bookmark_id, owner_id, text, body_hash, canonical_hash, *changed))


def write_no_page(
    bookmark_id: int, owner_id: int, kind: str, reason: str, status: int | None, *, only_seen: bool = False
) -> Statement:
    """`only_seen`: only the browser saw this; data read from the page takes precedence."""
    return Statement(load("write_no_page"), (bookmark_id, owner_id, kind, reason, status, only_seen))


def write_step(
    bookmark_id: int,
    owner_id: int,
    step: StepName,
    job_id: int,
    state: Literal["DONE", "SKIPPED", "NOT_FOUND", "FAILED"],
    reason: str | None,
) -> Statement:
    """The statement that records how a step has ended."""
    return Statement(load("write_bookmark_step"), (bookmark_id, owner_id, step, state, reason, job_id))


def write_trouble(bookmark_id: int, owner_id: int, reason: str) -> Statement:
    return Statement(load("write_trouble"), (bookmark_id, owner_id, reason))


def write_file(bookmark_id: int, owner_id: int, file_id: int, sha256: str, name: str, media_type: str) -> Statement:
    """The statement that adds a file of a bookmark, if the bookmark still exists."""
    content = bytes.fromhex(sha256)
    return Statement(load("keep_bookmark_file"), (file_id, owner_id, content, name, media_type, bookmark_id))


def write_unchanged(bookmark_id: int, owner_id: int) -> Statement:
    return Statement(load("write_unchanged"), (bookmark_id, owner_id))


def write_screenshots(
    bookmark_id: int, owner_id: int, first: int | None, whole: int | None, notes: Sequence[str]
) -> Statement:
    return Statement(load("write_screenshots"), (bookmark_id, owner_id, first, whole, json.dumps(list(notes))))


def crawl_unrendered(bookmark_id: int, owner_id: int) -> Statement:
    """The statement that submits a page again that was read without a browser."""
    return Statement(load("crawl_unrendered"), (bookmark_id, owner_id))


def write_image(bookmark_id: int, owner_id: int, file_id: int | None, about: Mapping[str, object]) -> Statement:
    return Statement(load("write_image"), (bookmark_id, owner_id, file_id, to_json(dict(about)).decode()))


def write_ocr(bookmark_id: int, owner_id: int, text: str | None) -> Statement:
    return Statement(load("write_ocr"), (bookmark_id, owner_id, text))


def write_caption(bookmark_id: int, owner_id: int, text: str) -> Statement:
    return Statement(load("write_caption"), (bookmark_id, owner_id, text))


def write_favicon(bookmark_id: int, owner_id: int, file_id: int) -> Statement:
    return Statement(load("write_favicon"), (bookmark_id, owner_id, file_id))
