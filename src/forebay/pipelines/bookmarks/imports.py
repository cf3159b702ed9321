"""The import pipeline: each bookmark of a file is saved and crawled."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field

from forebay import resources
from forebay.engine.declare.context import Context
from forebay.engine.declare.pipeline import Pipeline
from forebay.errors import DataError
from forebay.pipelines.bookmarks import step_writes
from forebay.pipelines.bookmarks.db import BookmarkValues
from forebay.pipelines.bookmarks.links import looks_like_image, page_hash
from forebay.services.egress import Policy, allowed_url
from forebay.types import Done


class Imported(BaseModel):
    """A bookmark of a file. The step checks its URL, so that an invalid one does not affect the others."""

    url: Annotated[str, Field(max_length=100_000)]
    title: str | None = None
    note: str | None = None
    tags: list[str] = []
    category: str | None = None
    added_at: datetime | None = None
    archived: bool = False
    fault: str | None = None


bookmark_imports = Pipeline(
    "bookmark_imports", Imported, title="Imports of bookmarks", noun="link", needs_database=True
)


@bookmark_imports.step(concurrency=(1, 8))
async def add(ctx: Context, given: Imported) -> Done[Any]:
    """Save the bookmark and submit its job."""
    if given.fault is not None:
        raise DataError(given.fault)
    url = allowed_url(given.url, Policy.of(await ctx.get(resources.settings)))
    new = BookmarkValues(
        str(url),
        page_hash(str(url)),
        _short(given.title, 1000),
        _short(given.note, 100_000),
        tidy_tags(given.tags),
        is_image=looks_like_image(str(url)),
    )
    category = _short(given.category, 200)
    write = step_writes.write_import(
        ctx.owner_id, new, category=category, added_at=given.added_at, archived=given.archived
    )
    return Done(str(url), [write])


def tidy_tags(tags: Sequence[str]) -> list[str]:
    """Distinct tags without invisible characters, in order."""
    return sorted({tag for tag in (" ".join(given.split())[:100] for given in tags) if tag})


def _short(text: str | None, most: int) -> str | None:
    return (text or "").replace("\0", "").strip()[:most] or None
