"""Fetches a URL: a page, a PDF, an image, another file, or a login, captcha or error page.

`PageFetcher` is independent of tables and pipelines. Limited processes, the browser, a partial file and progress
reports are provided by `PageTools`.
"""

from __future__ import annotations

import posixpath
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote, urlsplit

from forebay.errors import ConfigError, PermanentError, ResourceError, StepError, ThrottledError, TransientError
from forebay.services import egress
from forebay.services.egress import UrlNotFound
from forebay.services.egress.statuses import status_error
from forebay.services.pages.kinds import PageKind

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime
    from pathlib import Path

    from forebay.services.browser import Browser, Capture
    from forebay.services.download.partial_file import PartialFile
    from forebay.services.download.resuming import Downloaded
    from forebay.services.egress import Fetched, FetchRequest, Http
    from forebay.services.pages.facts import Block, PageFacts
    from forebay.services.pdf import PdfFacts

PDF_BYTES = 64 << 20
_PDF_SECONDS = 60.0
_PAGE_BYTES, _PAGE_SECONDS = 6 << 20, 20.0  # bytes of HTML that are read
_FILE_BYTES = 1 << 20  # bytes of other content: enough to detect its type
_TEXT_BYTES = 1_600_000  # bytes of plain text that are decoded
_REFRESHES = 3
_SOON = 10.0  # seconds: a page with a later refresh is read itself
_NOTE = 500  # characters
_ACCEPTED = "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.8"
_HTML = ("text/html", "application/xhtml+xml")
_KEPT = {"opengraph", "twitter", "json_ld", "feeds", "images", "canonical_hint", "charset"}
_NO_PAGES = {
    "login": "requires a login",
    "captcha": "shows a captcha",
    "error": "answered with an error",
    "soft 404": "says that the page does not exist",
}


class PageTools(Protocol):
    """What the caller of `PageFetcher` provides."""

    async def http(self) -> Http: ...
    async def browser(self) -> Browser: ...
    async def read_page(
        self, content: bytes, url: str, charset: str | None, status: int, headers: Mapping[str, str] | None = None
    ) -> PageFacts: ...
    async def read_text(self, content: bytes, charset: str | None) -> str: ...
    async def read_pdf(self, path: Path) -> PdfFacts: ...
    def partial_file(self) -> AbstractAsyncContextManager[PartialFile]: ...
    def progress(self, note: str, done: int | None = None, total: int | None = None) -> None: ...


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A fetched page; `images` and `icons` are URLs, the best first."""

    kind: str
    url: str
    status: int
    reason: str = ""
    title: str | None = None
    images: list[str] = field(default_factory=list[str])
    icons: list[str] = field(default_factory=list[str])
    description: str | None = None
    author: str | None = None
    site: str | None = None
    language: str | None = None
    canonical_url: str | None = None
    published: datetime | None = None
    modified: datetime | None = None
    words: int | None = None
    reading_minutes: float | None = None
    facts: dict[str, Any] | None = None
    etag: str | None = None
    last_modified: str | None = None
    text: str = ""
    blocks: list[Block] = field(default_factory=list["Block"])
    notes: list[str] = field(default_factory=list[str])  # remarks for the owner
    problem: str | None = None  # why it is incomplete
    is_unrendered: bool = False  # needs a browser, and there was none: read it again once there is one
    failure: StepError | None = None  # raise it after the page was stored


def no_page_error(page: FetchedPage) -> StepError | None:
    """The error for a login, captcha or error page; None for pages and files."""
    if page.kind not in _NO_PAGES:
        return None
    reason = f"{_place(page.url)} {_NO_PAGES[page.kind]} ({page.status}{': ' + page.reason if page.reason else ''})"
    return UrlNotFound(reason) if page.kind == "soft 404" else PermanentError(reason)


def may_work_later(error: StepError) -> bool:
    """Whether the error may be temporary."""
    return isinstance(error, TransientError | ThrottledError | ResourceError)


def raise_passing(url: str, status: int, headers: Mapping[str, str]) -> None:
    """Raises: the error of a response that is not a page: not found, unavailable or rate limited."""
    error = status_error(status, headers, _place(url))
    if error is not None and (may_work_later(error) or isinstance(error, UrlNotFound)):
        raise error


class PageFetcher:
    """Fetches pages for one purpose, which is logged by the egress proxy."""

    def __init__(self, tools: PageTools, purpose: str) -> None:
        self._tools, self._purpose = tools, purpose

    async def fetch(self, url: str, *, etag: str | None = None, modified: str | None = None) -> FetchedPage | None:
        """Fetch a URL; None when it is unchanged since `etag` and `modified`.

        Raises: UrlNotFound, and other errors of `Http.fetch`.
        """
        http = await self._tools.http()
        hops = 0
        while True:
            self._tools.progress("reading the page")
            wanted = self._wanted(url, etag, modified)
            fetched = await _begin(http, wanted)
            if fetched.is_unchanged:
                return None
            page, leads_to = await self._understand(fetched, wanted)
            if hops or fetched.is_cut:  # its validators belong to the page before the refresh
                page = replace(page, etag=None, last_modified=None)
            if leads_to is None or hops == _REFRESHES:
                return page
            url, etag, modified, hops = leads_to, None, None, hops + 1

    async def capture(self, url: str, *, full_page: bool = True) -> Capture:
        """Capture the page with the browser, within the limits of requests to its host.

        Raises: the errors of `Browser.capture`.
        """
        browser = await self._tools.browser()
        http = await self._tools.http()
        async with http.visiting(url) as visit:
            seen = await browser.capture(url, full_page=full_page, purpose=self._purpose)
            visit.answered(seen.status, seen.headers)
            return seen

    @asynccontextmanager
    async def pdf(self, url: str) -> AsyncGenerator[tuple[Downloaded, PdfFacts]]:
        """Fetch and read a PDF; its file exists within the `async with` block.

        Raises: errors of `download`; the next attempt continues the transfer.
        """
        async with self._saved(egress.FetchRequest(url, self._purpose, PDF_BYTES, _PDF_SECONDS)) as saved:
            yield saved, await self._tools.read_pdf(saved.path)

    @asynccontextmanager
    async def _saved(self, wanted: FetchRequest) -> AsyncGenerator[Downloaded]:
        from forebay.services.download.resuming import download  # noqa: PLC0415 - an extra

        def report(done: int, total: int | None) -> None:
            self._tools.progress("receiving the file", done, total)

        http = await self._tools.http()
        async with self._tools.partial_file() as partial:
            yield await download(http, wanted, partial, report=report)
            partial.discard()

    def _wanted(self, url: str, etag: str | None, modified: str | None) -> FetchRequest:
        return egress.FetchRequest(
            url, self._purpose, PDF_BYTES, _PDF_SECONDS, etag, modified, {"accept": _ACCEPTED}, cookies=True,
            raise_for_status=False,
        )  # fmt: skip

    async def _understand(self, fetched: Fetched, wanted: FetchRequest) -> tuple[FetchedPage, str | None]:
        """The page, and the URL of its refresh, if it only redirects.

        Raises: temporary errors of a response that is not a page.
        """
        raise_passing(fetched.url, fetched.status, fetched.headers)
        media_type = fetched.media_type
        if _is_pdf(fetched):
            return await self._of_pdf(replace(wanted, etag=None, modified=None)), None
        if media_type.startswith("image/") and media_type != "image/svg+xml":
            return FetchedPage("image", fetched.url, fetched.status, title=_name_of(fetched.url)), None
        if media_type in _HTML or _looks_like_html(fetched):
            return await self._of_html(fetched)
        text = ""
        if media_type.startswith("text/"):
            text = await self._tools.read_text(fetched.content[:_TEXT_BYTES], fetched.charset)
        return FetchedPage("file", fetched.url, fetched.status, title=_name_of(fetched.url), text=text), None

    async def _of_pdf(self, wanted: FetchRequest) -> FetchedPage:
        self._tools.progress("reading the PDF")
        async with self._saved(replace(wanted, raise_for_status=True)) as saved:
            read = await self._tools.read_pdf(saved.path)
        words = len(read.text.split())
        return FetchedPage(
            "pdf",
            saved.url,
            200,
            title=read.title or _name_of(saved.url),
            author=read.author,
            words=words,
            reading_minutes=round(words / 220, 1),
            facts={"pages": read.pages},
            text=read.text,
            **_validators(saved),
        )

    async def _of_html(self, fetched: Fetched) -> tuple[FetchedPage, str | None]:
        facts = await self._tools.read_page(
            fetched.content, fetched.url, fetched.charset, fetched.status, dict(fetched.headers)
        )
        page = _of_facts(facts, fetched)
        if facts.refresh_url and (facts.refresh_after or 0.0) <= _SOON and facts.refresh_url != fetched.url:
            return page, facts.refresh_url
        if facts.kind is not PageKind.EMPTY:
            is_cut = fetched.is_cut or facts.is_cut
            notes = ["the page is very long; only its beginning was read"] if is_cut else []
            return replace(page, notes=notes), None
        rendered = await self._rendered(page, facts.url, fetched)
        return replace(rendered, etag=None, last_modified=None), None  # they belong to the page before its scripts ran

    async def _rendered(self, page: FetchedPage, url: str, fetched: Fetched) -> FetchedPage:
        """The same for a page that is rendered by its scripts; without a browser, a note says so."""
        self._tools.progress("rendering the page")
        try:
            seen = await self.capture(url, full_page=False)
        except ConfigError as error:
            problem = f"the page is rendered by its scripts, which need a browser: {error}"
            return replace(page, notes=[problem], problem=problem, is_unrendered=True)
        except StepError as error:
            problem = f"the page is rendered by its scripts, which could not be run: {error}"
            return replace(page, problem=problem, failure=error)
        if not seen.html:
            return replace(page, notes=[*notes_of(seen), "its scripts ran, but rendered nothing"])
        read = await self._tools.read_page(seen.html.encode(), seen.final_url, "utf-8", seen.status)
        return replace(_of_facts(read, fetched), notes=notes_of(seen))


def notes_of(seen: Capture) -> list[str]:
    """Remarks of the capture for the owner."""
    notes = [note[:_NOTE] for note in seen.notes]
    if seen.html_is_cut:
        notes.append("the page is very long; only its beginning was read")
    if seen.full_page is not None and seen.full_page_is_cut:
        notes.append(f"the screenshot of the full page ends after {seen.full_page.height} pixels")
    if seen.refusals:
        hosts = ", ".join(dict.fromkeys(refused.host for refused in seen.refusals if refused.host))
        notes.append(f"the SSRF guard refused {len(seen.refusals)} requests of the page: {hosts}"[:_NOTE])
    return notes


async def _begin(http: Http, wanted: FetchRequest) -> Fetched:
    """The beginning of a page, which may be endless; of other content, enough to detect its type."""
    async with http.stream(wanted) as answer:
        most = _PAGE_BYTES if answer.media_type in _HTML else _FILE_BYTES
        return await answer.read_beginning(most, _PAGE_SECONDS)


def _of_facts(facts: PageFacts, fetched: Fetched) -> FetchedPage:
    return FetchedPage(
        "page" if facts.kind is PageKind.EMPTY else facts.kind.value,
        facts.url,
        facts.status,
        facts.reason,
        facts.title,
        [picture.url for picture in facts.images],
        [icon.url for icon in facts.icons],
        description=facts.description,
        author=facts.author,
        site=facts.site or urlsplit(facts.url).hostname,
        language=facts.language,
        canonical_url=facts.canonical,
        published=facts.published,
        modified=facts.modified,
        words=facts.word_count,
        reading_minutes=facts.reading_minutes,
        facts=facts.model_dump(mode="json", include=_KEPT),
        text=facts.text,
        blocks=facts.blocks,
        **_validators(fetched),
    )


def _validators(fetched: Fetched | Downloaded) -> dict[str, Any]:
    """The validators for a later conditional request."""
    return {"etag": (fetched.etag or "")[:1000] or None, "last_modified": (fetched.modified or "")[:200] or None}


def _is_pdf(fetched: Fetched) -> bool:
    return fetched.status == 200 and (fetched.media_type == "application/pdf" or fetched.content[:5] == b"%PDF-")


def _looks_like_html(fetched: Fetched) -> bool:
    """Some servers do not send a Content-Type."""
    if fetched.media_type not in ("application/octet-stream", "text/plain", "application/xml", "text/xml"):
        return False
    start = fetched.content[:1024].lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html"))


def _name_of(url: str) -> str | None:
    """The last part of the path."""
    return unquote(posixpath.basename(urlsplit(url).path))[:500].replace("\0", "") or None


def _place(url: str) -> str:
    """A URL without its query, which may contain secrets."""
    return url.partition("?")[0].partition("#")[0][:200]
