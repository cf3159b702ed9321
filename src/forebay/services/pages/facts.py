"""The facts about a page; all of them are bounded and can be stored."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from forebay.services.pages.kinds import PageKind
from forebay.types import Json


class _Fact(BaseModel):
    model_config = ConfigDict(frozen=True)


class PagePicture(_Fact):
    """An image that the page declares for itself."""

    url: str
    width: int | None = None
    height: int | None = None
    alt: str | None = None


class Icon(_Fact):
    """An icon of the site; `size` is its longer side in pixels, estimated if it is not declared."""

    url: str
    size: int
    media_type: str | None = None


class Feed(_Fact):
    """A feed that the page offers."""

    url: str
    title: str | None = None
    media_type: str


class Block(_Fact):
    """A part of the readable text: a heading (h), paragraph (p), item of a list (li), quote, code, row of a table, or
    picture (img). `level` is that of a heading or list; of a picture, `text` describes it."""

    t: Literal["h", "p", "li", "quote", "code", "row", "img"]
    text: str = ""
    level: int | None = None
    cells: list[str] | None = None
    url: str | None = None


class PageFacts(_Fact):
    """A page; for kinds other than `PageKind.PAGE` only `kind`, `reason` and `refresh_url` are meaningful."""

    url: str
    status: int
    kind: PageKind
    reason: str
    charset: str
    is_cut: bool

    title: str | None
    description: str | None
    author: str | None
    site: str | None
    language: str | None
    published: datetime | None
    modified: datetime | None

    canonical: str | None
    """The canonical URL of the page, if it is on the same site and not just its front page."""
    canonical_hint: str | None
    """The canonical URL of the page on another site, which must not be trusted without checking."""
    refresh_url: str | None
    refresh_after: float | None

    images: list[PagePicture]
    icons: list[Icon]
    feeds: list[Feed]
    opengraph: dict[str, str]
    twitter: dict[str, str]
    json_ld: list[dict[str, Json]]

    text: str
    blocks: list[Block]
    """The same text with its structure; empty if only the visible text is known."""
    word_count: int
    reading_minutes: int

    def as_json(self) -> dict[str, Any]:
        """The facts as JSON values."""
        return self.model_dump(mode="json")
