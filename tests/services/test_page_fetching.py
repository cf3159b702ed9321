"""Fetching pages without a database, a pipeline or a worker: only what the fetcher is given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from forebay.errors import ConfigError, PermanentError
from forebay.services import pages, pdf
from forebay.services.browser import Browser
from forebay.services.download.partial_file import PartialFile, open_partial
from forebay.services.egress import Http, UrlNotFound
from forebay.services.pages import PageFacts
from forebay.services.pages.fetching import FetchedPage, PageFetcher, no_page_error
from forebay.services.pdf import PdfFacts
from tests.corpus import making
from tests.services.egress._world import answering, hearing, reply
from tests.services.egress.conftest import authority, egress, http, names, opened

__all__ = ["authority", "egress", "http", "names", "opened"]

ARTICLE = "<title>Mills</title><link rel=canonical href=/mill><p>" + "Water falls on the wheel. " * 60


class Tools:
    """Everything in this process, and no browser."""

    def __init__(self, http: Http, folder: Path) -> None:
        self._http, self._folder = http, folder
        self.notes: list[str] = []

    async def http(self) -> Http:
        return self._http

    async def browser(self) -> Browser:
        raise ConfigError("there is no Chromium")

    async def read_page(
        self, content: bytes, url: str, charset: str | None, status: int, headers: Mapping[str, str] | None = None
    ) -> PageFacts:
        return pages.read_page(content, url, charset, status, headers)

    async def read_text(self, content: bytes, charset: str | None) -> str:
        return pages.read_text(content, charset)

    async def read_pdf(self, path: Path) -> PdfFacts:
        return pdf.first_page(path)

    @asynccontextmanager
    async def partial_file(self) -> AsyncIterator[PartialFile]:
        async with open_partial(self._folder / "partial") as partial:
            yield partial

    def progress(self, note: str, done: int | None = None, total: int | None = None) -> None:
        self.notes.append(note)


@pytest.fixture
def tools(http: Http, tmp_path: Path) -> Tools:
    return Tools(http, tmp_path)


async def _fetched(tools: Tools, answer: bytes, path: str = "/") -> FetchedPage:
    async with answering(answer) as site:
        page = await PageFetcher(tools, "articles.read").fetch(f"http://good.test:{site.port}{path}")
    assert page is not None
    return page


async def test_a_page(tools: Tools) -> None:
    with hearing() as logs:
        page = await _fetched(tools, reply(ARTICLE, Content_Type="text/html", ETag='"1"'))
    assert (page.kind, page.title, page.etag, page.site) == ("page", "Mills", '"1"', "good.test")
    assert page.canonical_url is not None
    assert page.canonical_url.endswith("/mill")
    assert page.words
    assert no_page_error(page) is None
    assert tools.notes == ["reading the page"]
    assert {log.get("purpose") for log in logs} <= {None, "articles.read"}


async def test_a_page_that_has_not_changed(tools: Tools) -> None:
    async with answering(b"HTTP/1.1 304 Not Modified\r\n\r\n") as site:
        assert await PageFetcher(tools, "test").fetch(f"http://good.test:{site.port}/", etag='"1"') is None


async def test_a_pdf_is_saved_and_read(tools: Tools, tmp_path: Path) -> None:
    page = await _fetched(tools, reply(making.pdf(), Content_Type="application/pdf"), "/paper.pdf")
    assert (page.kind, page.facts) == ("pdf", {"pages": 1})
    assert not (tmp_path / "partial").exists()
    assert "receiving the file" in tools.notes


async def test_a_page_of_scripts_waits_for_a_browser(tools: Tools) -> None:
    page = await _fetched(tools, reply("<div id=root></div><script src=x.js></script>", Content_Type="text/html"))
    assert (page.is_unrendered, page.problem) == (
        True, "the page is rendered by its scripts, which need a browser: there is no Chromium"
    )  # fmt: skip


def test_what_stands_in_front_of_a_page() -> None:
    error = no_page_error(FetchedPage("login", "https://host/a?token=1", 401, "a form"))
    assert isinstance(error, PermanentError)
    assert str(error) == "https://host/a requires a login (401: a form)"
    assert isinstance(no_page_error(FetchedPage("soft 404", "https://host/", 200)), UrlNotFound)
