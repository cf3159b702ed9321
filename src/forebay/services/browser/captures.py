"""What comes of looking at an address with the browser."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.services.egress import Refusal


class CaptureKind(StrEnum):
    """The kinds of pages as `PageKind` has them, and what is no page at all."""

    PAGE = "page"
    LOGIN = "login"
    CAPTCHA = "captcha"
    ERROR = "error"
    EMPTY = "empty"
    SOFT_404 = "soft 404"
    PDF = "pdf"
    IMAGE = "image"
    MEDIA = "media"
    DOWNLOAD = "download"

    @property
    def is_shown(self) -> bool:
        """Whether there are shots of it; a login or an error must never pass for the page."""
        return self in (CaptureKind.PAGE, CaptureKind.EMPTY)


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture of a page."""

    data: bytes = field(repr=False)
    width: int
    height: int
    media_type: str = "image/webp"


@dataclass(frozen=True, slots=True)
class Capture:
    """One look at one address."""

    url: str
    """Where it was asked to look."""
    final_url: str
    status: int
    kind: CaptureKind
    reason: str
    """Why it is of that kind; empty for pages."""
    media_type: str
    headers: dict[str, str]
    title: str
    html: str = field(repr=False)
    html_is_cut: bool
    viewport: Shot | None
    full_page: Shot | None
    """The whole page down to a bound; the same as `viewport` when there is no more of it."""
    full_page_is_cut: bool
    notes: list[str]
    """What the page complained of, and what was done about it."""
    refusals: list[Refusal]
    """What the guard of the way out refused to the page."""
    bytes_down: int
