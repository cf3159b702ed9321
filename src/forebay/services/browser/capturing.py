"""The steps of a capture: navigate, wait, determine the kind of the page, hide banners, take screenshots."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.errors import TransientError
from forebay.services.browser.captures import Capture, CaptureKind, Shot
from forebay.services.browser.devtools import ProtocolError
from forebay.services.browser.failures import load_error, refusal
from forebay.services.pages.cleaning import count_words, line
from forebay.services.pages.kinds import Judged, PageKind, Signals, judge

if TYPE_CHECKING:
    from forebay.services.browser.tab import Document, Tab
    from forebay.services.egress import Grant

LONGEST_HTML = 4 << 20
_MARK = "forebay-egress"  # the header of the proxy's responses
_QUIET_S = 2.0
_QUALITY, _LONG_QUALITY = 80, 70
_SCROLL_PAUSE_MS = 60
_SHOWABLE = ("text/", "application/xhtml", "application/xml", "application/json", "image/svg+xml", "multipart/")


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """The parameters of a capture."""

    url: str
    full_page: bool
    max_height: int
    timeout: float


class Capturing:
    """One capture in an open tab."""

    def __init__(self, tab: Tab, grant: Grant, viewport: tuple[int, int], request: CaptureRequest) -> None:
        self._tab, self._grant, self._viewport, self._request = tab, grant, viewport, request
        self._began = asyncio.get_running_loop().time()

    async def run(self) -> Capture:
        """Raises: TransientError, PermanentError."""
        judged = await self._go()
        if judged is not None:
            return self._made(*judged, self._tab.last_document, {})
        await self._settle()
        seen = await self._look()
        document = self._tab.document
        self._check_answer(document)
        judged = _other_kind(document, is_download=False) or _page_kind(seen, document)
        if not judged[0].is_shown:
            return self._made(*judged, document, seen)
        return await self._shown(judged, document, seen)

    async def _go(self) -> tuple[CaptureKind, str] | None:
        """Navigate to the page; returns the kind if it is not a page."""
        try:
            async with asyncio.timeout(self._request.timeout * 0.6):
                failure, is_download = await self._tab.navigate(self._request.url)
        except TimeoutError:
            going = self._tab.target or self._request.url
            raise refusal(going, self._grant) or TransientError(
                f"no response from {going} within {self._request.timeout * 0.6:.0f} s"
            ) from None
        document = self._tab.last_document
        if failure and not is_download and failure != "net::ERR_ABORTED":
            raise load_error(self._tab.target or self._request.url, failure, self._grant)
        self._check_answer(document)
        found = _other_kind(document, is_download=is_download)
        if failure and found is None:
            return CaptureKind.EMPTY, "the server sent no content"
        return found

    def _check_answer(self, document: Document | None) -> None:
        """A response of the proxy is not a page."""
        if document is None or _MARK not in document.headers:
            return
        raise load_error(document.url, document.headers[_MARK], self._grant)

    async def _settle(self) -> None:
        left = self._began + self._request.timeout * 0.6 - asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(max(left, 1.0)):
                await self._tab.settled(quiet_s=_QUIET_S)
        except TimeoutError:
            self._tab.note("it was still loading when it was captured")
            self._tab.stop()

    async def _look(self) -> dict[str, Any]:
        for _ in range(5):  # a navigation destroys the script context
            try:
                seen: dict[str, Any] = await self._tab.evaluate(_script("look"), LONGEST_HTML)
            except ProtocolError:
                await self._tab.settled(quiet_s=_QUIET_S)
                continue
            if seen["url"].startswith("chrome-error:"):  # it navigated away, which failed
                raise load_error(self._tab.target, self._tab.load_failure, self._grant)
            return seen
        raise TransientError("the page keeps navigating to other URLs")

    async def _shown(self, judged: tuple[CaptureKind, str], document: Document | None, seen: dict[str, Any]) -> Capture:
        """The page with its screenshots."""
        if removed := await self._tab.evaluate(_script("banners")):
            self._tab.note(f"{removed} parts of a cookie banner were hidden")
        request, (width, height) = self._request, self._viewport
        whole = height
        if request.full_page:
            _, whole = await self._tab.evaluate(
                _script("scroll"), request.max_height, _SCROLL_PAUSE_MS, request.timeout * 150
            )
            if removed_late := await self._tab.evaluate(_script("banners")):
                self._tab.note(f"{removed_late} parts of a cookie banner were hidden later")
            seen = await self._look()
        viewport = _shot(await self._tab.shot(_QUALITY), width, height)
        full = await self._full_page(viewport, whole) if request.full_page else None
        is_cut = full is not None and full.height < whole
        return self._made(*judged, document, seen, viewport, full, is_cut)

    async def _full_page(self, viewport: Shot, whole: int) -> Shot:
        """A screenshot of the full page, or of the viewport when that takes too long."""
        tall = min(whole, self._request.max_height)
        if tall <= viewport.height:
            return viewport
        left = self._began + self._request.timeout - asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(max(left, 2.0)):
                if whole > tall:
                    await self._tab.evaluate(_script("trim"), tall)
                return _shot(await self._tab.shot(_LONG_QUALITY, (viewport.width, tall)), viewport.width, tall)
        except TimeoutError:
            self._tab.note("there was no time for a screenshot of the full page")
            return viewport

    def _made(
        self,
        kind: CaptureKind,
        reason: str,
        document: Document | None,
        seen: dict[str, Any],
        viewport: Shot | None = None,
        full_page: Shot | None = None,
        is_cut: bool = False,
    ) -> Capture:
        return Capture(
            url=self._request.url,
            final_url=seen.get("url") or (document.url if document else self._request.url),
            status=document.status if document else 0,
            kind=kind,
            reason=reason,
            media_type=document.media_type if document else "",
            headers=document.headers if document else {},
            title=line(seen.get("title")) or "",
            html=str(seen.get("html", "")).replace("\0", ""),
            html_is_cut=bool(seen.get("htmlIsCut")),
            viewport=viewport,
            full_page=full_page,
            full_page_is_cut=is_cut,
            notes=self._tab.notes,
            refusals=list(self._grant.refusals),
            bytes_down=self._grant.bytes_down,
        )


def _other_kind(document: Document | None, *, is_download: bool) -> tuple[CaptureKind, str] | None:
    """The kind of content that is not a page, by media type."""
    media_type = document.media_type if document else ""
    if document and document.status >= 400 and not is_download:
        return None
    if media_type in ("application/pdf", "application/x-pdf"):
        return CaptureKind.PDF, "it is a PDF"
    if media_type.startswith("image/") and media_type != "image/svg+xml":
        return CaptureKind.IMAGE, f"it is an image ({media_type})"
    if media_type.startswith(("video/", "audio/")):
        return CaptureKind.MEDIA, f"it is audio or video ({media_type})"
    if is_download or (media_type and not media_type.startswith(_SHOWABLE)):
        return CaptureKind.DOWNLOAD, f"it is a file to download ({media_type or 'of an unknown type'})"
    return None


def _page_kind(seen: dict[str, Any], document: Document | None) -> tuple[CaptureKind, str]:
    words, _ = count_words(seen["text"])
    signals = Signals(
        status=document.status if document else 200,
        url=seen["url"],
        title=seen["title"],
        heading=seen["heading"],
        text=seen["text"],
        words=words,
        has_password=seen["hasPassword"],
        has_media=seen["hasMedia"],
        has_scripts=False,  # they have run
        markers=seen["markers"],
        headers=document.headers if document else {},
    )
    judged = judge(signals)
    if judged == Judged(PageKind.PAGE) and seen["url"] == "about:blank":
        judged = Judged(PageKind.EMPTY, "the page is empty")
    return CaptureKind(judged.kind.value), judged.reason


def _shot(data: str, width: int, height: int) -> Shot:
    return Shot(base64.b64decode(data), width, height)


@cache
def _script(name: str) -> str:
    return Path(__file__).with_name(f"{name}.js").read_text("utf-8").partition("\n")[2].strip()
