"""What is known about a page once it was read; everything in it is bounded and can be stored."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from forebay.services.pages.kinds import PageKind
from forebay.types import Json


class _Fact(BaseModel):
    model_config = ConfigDict(frozen=True)


class PagePicture(_Fact):
    """A picture that stands for the page, as the page says."""

    url: str
    width: int | None = None
    height: int | None = None
    alt: str | None = None


class Icon(_Fact):
    """An icon of the page's site; `size` is its longer side in pixels, guessed where it is not told."""

    url: str
    size: int
    media_type: str | None = None


class Feed(_Fact):
    """A feed that the page offers."""

    url: str
    title: str | None = None
    media_type: str


class PageFacts(_Fact):
    """One page; of anything but a `PageKind.PAGE` only `kind`, `reason` and `refresh_url` are worth keeping."""

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
    """Where the page says that it lives, when that is on the same site and not merely its front page."""
    canonical_hint: str | None
    """Where the page says that it lives, when that is somewhere else: never to be believed without looking."""
    refresh_url: str | None
    refresh_after: float | None

    images: list[PagePicture]
    icons: list[Icon]
    feeds: list[Feed]
    opengraph: dict[str, str]
    twitter: dict[str, str]
    json_ld: list[dict[str, Json]]

    text: str
    word_count: int
    reading_minutes: int

    def wire(self) -> dict[str, Any]:
        """As JSON takes it."""
        return self.model_dump(mode="json")
