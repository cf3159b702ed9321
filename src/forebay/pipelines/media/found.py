"""What is known about the media that a link leads to, before it is downloaded."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel

from forebay.pipelines.media.kinds import ShareKind


class Found(BaseModel):
    """What later steps need of a link; the rest is in the share."""

    way: Literal["upload", "direct", "page", "extractor"]
    kind: ShareKind | None = None
    title: str | None = None
    site: str | None = None
    author: str | None = None
    description: str | None = None
    language: str | None = None
    published_at: datetime | None = None
    duration_s: float | None = None
    width: int | None = None
    height: int | None = None
    size: int | None = None
    is_plain: bool = False  # what an extractor found is one file
    thumbnail: str | None = None
    platform_data: dict[str, Any] = {}

    def facts(self) -> dict[str, object]:
        """What the share is told."""
        return self.model_dump(mode="json", exclude={"way", "size", "thumbnail", "is_plain"})
