"""A browser, a running API with its pipelines, and people who are signed in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, TypeVar

import httpx
import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from forebay.pipelines.bookmarks.imports import bookmark_imports
from forebay.pipelines.bookmarks.steps import bookmarks
from forebay.pipelines.sheets.exports import sheet_exports
from forebay.pipelines.sheets.intake import sheet_intake
from forebay.pipelines.sheets.steps import sheets
from tests.api._live import live
from tests.api._service import PASSWORD, Service, admin_of
from tests.web import _browser
from tests.web._browser import PATIENCE_MS, Watched, watched

T = TypeVar("T")

PIPELINES = (bookmarks, bookmark_imports, sheets, sheet_intake, sheet_exports)


class Site:
    """A running server, and browsers that look at it."""

    def __init__(self, url: str, service: Service, browser: Browser, stack: ExitStack) -> None:
        self.url, self.service = url, service
        self._browser, self._stack = browser, stack

    def visitor(self, **options: Any) -> Watched:
        """Somebody who is not signed in."""
        found = self._stack.enter_context(watched(self._browser, self.url, **options))
        if not self.has_topics():
            found.unserved = "/api/events"
        return found

    def has_topics(self) -> bool:
        route = self.service.app.openapi()["paths"]["/api/events"]["get"]
        return any(each["name"] == "topics" for each in route["parameters"])

    def person(self, name: str = "ann", **options: Any) -> Watched:
        """Somebody who is: ann or bob, or root, an administrator."""
        return self.visitor(cookies=self._cookies(name), **options)

    def _cookies(self, name: str) -> list[dict[str, Any]]:
        answer = httpx.post(f"{self.url}/api/session", json={"name": name, "password": PASSWORD})
        assert answer.status_code == 201, answer.text
        return [{"name": key, "value": value, "url": self.url} for key, value in answer.cookies.items()]

    def api(self, name: str = "ann") -> httpx.Client:
        """The same API for the test itself, with that person's token."""
        token = self.service.tokens[name]
        return self._stack.enter_context(
            httpx.Client(base_url=self.url, headers={"authorization": f"Bearer {token}"}, timeout=30)
        )

    def sql(self, statement: str, *arguments: Any) -> Any:
        """A statement on the database, as its owner."""

        async def fetch() -> Any:
            async with admin_of(self.service.dsn) as conn:
                return await conn.fetch(statement, *arguments)

        return self.run(fetch())

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run it in a thread: Playwright has an event loop in this one."""
        with ThreadPoolExecutor(1) as threads:
            return threads.submit(asyncio.run, coroutine).result()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the tests of a file, each of which has its own context. Not one for all files: Playwright keeps
    an event loop in this thread, with which tests that are coroutines cannot run."""
    _browser.require()
    _browser.build()
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        launched = _browser.launch(playwright)
        yield launched
        launched.close()


@pytest.fixture
def serve(dsn: str, browser: Browser) -> Iterator[Callable[..., Site]]:
    """Starts a server with these pipelines; by default those of bookmarks and sheets."""
    with ExitStack() as stack:

        def start(*pipelines: Any) -> Site:
            url, service = stack.enter_context(live(dsn, *(pipelines or PIPELINES)))
            return Site(url, service, browser, stack)

        yield start


@pytest.fixture
def site(serve: Callable[..., Site]) -> Site:
    return serve()
