"""A page captured, step by step: go there, let it settle, see what it is, tidy it, take its pictures."""

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
_MARK = "forebay-egress"  # the header of the proxy's own answers
_QUIET_S = 2.0
_QUALITY, _LONG_QUALITY = 80, 70
_SCROLL_PAUSE_MS = 60
_SHOWABLE = ("text/", "application/xhtml", "application/xml", "application/json", "image/svg+xml", "multipart/")


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted of a capture."""

    url: str
    full_page: bool
    max_height: int
    timeout: float


class Capturing:
    """One capture in an open tab."""

    def __init__(self, tab: Tab, grant: Grant, viewport: tuple[int, int], wish: Wish) -> None:
        self._tab, self._grant, self._viewport, self._wish = tab, grant, viewport, wish
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
        """Go to the page; what it is when it is none."""
        try:
            async with asyncio.timeout(self._wish.timeout * 0.6):
                failure, is_download = await self._tab.navigate(self._wish.url)
        except TimeoutError:
            going = self._tab.target or self._wish.url
            raise refusal(going, self._grant) or TransientError(
                f"there was no answer from {going} within {self._wish.timeout * 0.6:.0f} s"
            ) from None
        document = self._tab.last_document
        if failure and not is_download and failure != "net::ERR_ABORTED":
            raise load_error(self._tab.target or self._wish.url, failure, self._grant)
        self._check_answer(document)
        found = _other_kind(document, is_download=is_download)
        if failure and found is None:
            return CaptureKind.EMPTY, "the server sent no page"
        return found

    def _check_answer(self, document: Document | None) -> None:
        """An answer of the proxy's own is no page."""
        if document is None or _MARK not in document.headers:
            return
        raise load_error(document.url, document.headers[_MARK], self._grant)

    async def _settle(self) -> None:
        left = self._began + self._wish.timeout * 0.6 - asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(max(left, 1.0)):
                await self._tab.settled(quiet_s=_QUIET_S)
        except TimeoutError:
            self._tab.note("it was still loading when it was captured")
            self._tab.stop()

    async def _look(self) -> dict[str, Any]:
        for _ in range(5):  # a page that goes somewhere else just now takes its world along
            try:
                seen: dict[str, Any] = await self._tab.evaluate(_script("look"), LONGEST_HTML)
            except ProtocolError:
                await self._tab.settled(quiet_s=_QUIET_S)
                continue
            if seen["url"].startswith("chrome-error:"):  # it went somewhere else by itself, and could not
                raise load_error(self._tab.target, self._tab.load_failure, self._grant)
            return seen
        raise TransientError("the page never stops going somewhere else")

    async def _shown(self, judged: tuple[CaptureKind, str], document: Document | None, seen: dict[str, Any]) -> Capture:
        """The page with its pictures."""
        if removed := await self._tab.evaluate(_script("banners")):
            self._tab.note(f"{removed} parts of a cookie banner were hidden")
        wish, (width, height) = self._wish, self._viewport
        whole = height
        if wish.full_page:
            _, whole = await self._tab.evaluate(
                _script("scroll"), wish.max_height, _SCROLL_PAUSE_MS, wish.timeout * 150
            )
            if removed_late := await self._tab.evaluate(_script("banners")):
                self._tab.note(f"{removed_late} parts of a cookie banner were hidden later")
            seen = await self._look()
        viewport = _shot(await self._tab.shot(_QUALITY), width, height)
        full = await self._full_page(viewport, whole) if wish.full_page else None
        is_cut = full is not None and full.height < whole
        return self._made(*judged, document, seen, viewport, full, is_cut)

    async def _full_page(self, viewport: Shot, whole: int) -> Shot:
        """All of the page down to the bound, or what is in sight when that takes too long."""
        tall = min(whole, self._wish.max_height)
        if tall <= viewport.height:
            return viewport
        left = self._began + self._wish.timeout - asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(max(left, 2.0)):
                if whole > tall:
                    await self._tab.evaluate(_script("trim"), tall)
                return _shot(await self._tab.shot(_LONG_QUALITY, (viewport.width, tall)), viewport.width, tall)
        except TimeoutError:
            self._tab.note("there was no time for a picture of the whole page")
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
            url=self._wish.url,
            final_url=seen.get("url") or (document.url if document else self._wish.url),
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
    """What is no page by its media type."""
    media_type = document.media_type if document else ""
    if document and document.status >= 400 and not is_download:
        return None
    if media_type in ("application/pdf", "application/x-pdf"):
        return CaptureKind.PDF, "it is a PDF"
    if media_type.startswith("image/") and media_type != "image/svg+xml":
        return CaptureKind.IMAGE, f"it is a picture ({media_type})"
    if media_type.startswith(("video/", "audio/")):
        return CaptureKind.MEDIA, f"it is to be played ({media_type})"
    if is_download or (media_type and not media_type.startswith(_SHOWABLE)):
        return CaptureKind.DOWNLOAD, f"it is a file to be saved ({media_type or 'of an unknown kind'})"
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
        judged = Judged(PageKind.EMPTY, "there is nothing on it")
    return CaptureKind(judged.kind.value), judged.reason


def _shot(data: str, width: int, height: int) -> Shot:
    return Shot(base64.b64decode(data), width, height)


@cache
def _script(name: str) -> str:
    return Path(__file__).with_name(f"{name}.js").read_text("utf-8").partition("\n")[2].strip()
