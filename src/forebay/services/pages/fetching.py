"""Fetching what a URL leads to: a page, a PDF, an image, another file, or something that stands in front of a page.

`PageFetcher` knows no table and no pipeline. What it needs besides the network (limited processes to read untrusted
bytes in, a browser, a partial file, a place to report progress) it is given as `PageTools`.
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
    from forebay.services.egress import Fetched, Http, Wanted
    from forebay.services.pages.facts import PageFacts
    from forebay.services.pdf import PdfFacts

PDF_BYTES = 64 << 20
_PDF_SECONDS = 60.0
_PAGE_BYTES, _PAGE_SECONDS = 6 << 20, 20.0  # of HTML more is not looked at
_FILE_BYTES = 1 << 20  # of what is no page: enough to tell what it is
_TEXT_BYTES = 1_600_000  # of a plain text that are decoded
_REFRESHES = 3
_SOON = 10.0  # seconds: a page that leads on after that is one to be read
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
    """What whoever fetches pages brings along."""

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
    """What was found; `images` and `icons` are URLs, the best first."""

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
    notes: list[str] = field(default_factory=list[str])  # what its owner should know, though the page was read
    problem: str | None = None  # why there is less of it than there should be
    is_unrendered: bool = False  # its scripts write it, and there was no browser: to be read again once there is one
    failure: StepError | None = None  # to be raised after what there is was kept


def no_page_error(page: FetchedPage) -> StepError | None:
    """The error that something stands for that is in front of a page, such as a login; None for pages and files."""
    if page.kind not in _NO_PAGES:
        return None
    reason = f"{_place(page.url)} {_NO_PAGES[page.kind]} ({page.status}{': ' + page.reason if page.reason else ''})"
    return UrlNotFound(reason) if page.kind == "soft 404" else PermanentError(reason)


def may_work_later(error: StepError) -> bool:
    """Whether it passes by itself."""
    return isinstance(error, TransientError | ThrottledError | ResourceError)


def raise_passing(url: str, status: int, headers: Mapping[str, str]) -> None:
    """Raises: what an answer stands for that is no page: not there, not now, or slower."""
    error = status_error(status, headers, _place(url))
    if error is not None and (may_work_later(error) or isinstance(error, UrlNotFound)):
        raise error


class PageFetcher:
    """Fetches pages for one purpose, which the log of the way out names."""

    def __init__(self, tools: PageTools, purpose: str) -> None:
        self._tools, self._purpose = tools, purpose

    async def fetch(self, url: str, *, etag: str | None = None, modified: str | None = None) -> FetchedPage | None:
        """What the URL leads to; None when it is still what `etag` and `modified` stand for.

        Raises: UrlNotFound, and what else the way out raises.
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
            if hops or fetched.is_cut:  # what a later request would ask with is not about this
                page = replace(page, etag=None, last_modified=None)
            if leads_to is None or hops == _REFRESHES:
                return page
            url, etag, modified, hops = leads_to, None, None, hops + 1

    async def capture(self, url: str, *, full_page: bool = True) -> Capture:
        """The page as the browser shows it; at its turn, as with all that is asked of a host.

        Raises: what keeps it from that.
        """
        browser = await self._tools.browser()
        http = await self._tools.http()
        async with http.visiting(url) as visit:
            seen = await browser.capture(url, full_page=full_page, purpose=self._purpose)
            visit.answered(seen.status, seen.headers)
            return seen

    @asynccontextmanager
    async def pdf(self, url: str) -> AsyncGenerator[tuple[Downloaded, PdfFacts]]:
        """A PDF, read; its file is there for as long as the `async with` block lasts.

        Raises: what the way out raises; what has come until then is not fetched again by the next attempt.
        """
        async with self._saved(egress.Wanted(url, self._purpose, PDF_BYTES, _PDF_SECONDS)) as saved:
            yield saved, await self._tools.read_pdf(saved.path)

    @asynccontextmanager
    async def _saved(self, wanted: Wanted) -> AsyncGenerator[Downloaded]:
        from forebay.services.download.resuming import download  # noqa: PLC0415 - an extra

        def report(done: int, total: int | None) -> None:
            self._tools.progress("receiving the file", done, total)

        http = await self._tools.http()
        async with self._tools.partial_file() as partial:
            yield await download(http, wanted, partial, report=report)
            partial.discard()

    def _wanted(self, url: str, etag: str | None, modified: str | None) -> Wanted:
        return egress.Wanted(
            url, self._purpose, PDF_BYTES, _PDF_SECONDS, etag, modified, {"accept": _ACCEPTED}, cookies=True,
            raise_for_status=False,
        )  # fmt: skip

    async def _understand(self, fetched: Fetched, wanted: Wanted) -> tuple[FetchedPage, str | None]:
        """The page, and where it leads on to, if it is only a signpost.

        Raises: what an answer that is no page stands for, when that may change by itself.
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

    async def _of_pdf(self, wanted: Wanted) -> FetchedPage:
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
        return replace(rendered, etag=None, last_modified=None), None  # they are of what its scripts begin with

    async def _rendered(self, page: FetchedPage, url: str, fetched: Fetched) -> FetchedPage:
        """The same of a page that its scripts write; without a browser it says so."""
        self._tools.progress("letting the page write itself")
        try:
            seen = await self.capture(url, full_page=False)
        except ConfigError as error:
            problem = f"the page is written by its scripts, which need a browser: {error}"
            return replace(page, notes=[problem], problem=problem, is_unrendered=True)
        except StepError as error:
            problem = f"the page is written by its scripts, which could not be run: {error}"
            return replace(page, problem=problem, failure=error)
        if not seen.html:
            return replace(page, notes=[*notes_of(seen), "its scripts were run, and wrote nothing"])
        read = await self._tools.read_page(seen.html.encode(), seen.final_url, "utf-8", seen.status)
        return replace(_of_facts(read, fetched), notes=notes_of(seen))


def notes_of(seen: Capture) -> list[str]:
    """What went on while the browser had the page that its owner should know."""
    notes = [note[:_NOTE] for note in seen.notes]
    if seen.html_is_cut:
        notes.append("the page is very long; only its beginning was read")
    if seen.full_page is not None and seen.full_page_is_cut:
        notes.append(f"the picture of the whole page ends after {seen.full_page.height} pixels")
    if seen.refusals:
        hosts = ", ".join(dict.fromkeys(refused.host for refused in seen.refusals if refused.host))
        notes.append(f"{len(seen.refusals)} requests of the page were refused by the egress guard: {hosts}"[:_NOTE])
    return notes


async def _begin(http: Http, wanted: Wanted) -> Fetched:
    """The beginning of a page, however long it is, or endless; of other things what tells what they are."""
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
        **_validators(fetched),
    )


def _validators(fetched: Fetched | Downloaded) -> dict[str, Any]:
    """What a later request asks with whether anything has changed."""
    return {"etag": (fetched.etag or "")[:1000] or None, "last_modified": (fetched.modified or "")[:200] or None}


def _is_pdf(fetched: Fetched) -> bool:
    return fetched.status == 200 and (fetched.media_type == "application/pdf" or fetched.content[:5] == b"%PDF-")


def _looks_like_html(fetched: Fetched) -> bool:
    """Some servers do not say what they send."""
    if fetched.media_type not in ("application/octet-stream", "text/plain", "application/xml", "text/xml"):
        return False
    start = fetched.content[:1024].lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html"))


def _name_of(url: str) -> str | None:
    """What the last part of a path calls it."""
    return unquote(posixpath.basename(urlsplit(url).path))[:500].replace("\0", "") or None


def _place(url: str) -> str:
    """A URL without its query: those carry tokens and names."""
    return url.partition("?")[0].partition("#")[0][:200]
