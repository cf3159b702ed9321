"""The result of a capture."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.services.egress import Refusal


class CaptureKind(StrEnum):
    """The kinds of pages of `PageKind`, and kinds of content that are not pages."""

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
        """Whether it has screenshots; a login or error page must not be taken for the page."""
        return self in (CaptureKind.PAGE, CaptureKind.EMPTY)


@dataclass(frozen=True, slots=True)
class Shot:
    """A screenshot."""

    data: bytes = field(repr=False)
    width: int
    height: int
    media_type: str = "image/webp"


@dataclass(frozen=True, slots=True)
class Capture:
    """The capture of one URL."""

    url: str
    """The requested URL."""
    final_url: str
    status: int
    kind: CaptureKind
    reason: str
    """The reason of the kind; empty for pages."""
    media_type: str
    headers: dict[str, str]
    title: str
    html: str = field(repr=False)
    html_is_cut: bool
    viewport: Shot | None
    full_page: Shot | None
    """The full page up to a maximum height; the same as `viewport` when it fits."""
    full_page_is_cut: bool
    notes: list[str]
    """Problems of the page, and what was done about them."""
    refusals: list[Refusal]
    """Requests of the page that the SSRF guard refused."""
    bytes_down: int
