"""A browser, a running API with its pipelines, and people who are signed in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from forebay.pipelines.articles.imports import article_file_intake, article_files
from forebay.pipelines.articles.steps import articles
from forebay.pipelines.attachments.steps import attachment_files, attachments
from forebay.pipelines.bookmarks.imports import bookmark_imports
from forebay.pipelines.bookmarks.steps import bookmarks
from forebay.pipelines.indexing.steps import index
from forebay.pipelines.media.steps import media
from forebay.pipelines.sheets.exports import sheet_exports
from forebay.pipelines.sheets.intake import sheet_intake
from forebay.pipelines.sheets.steps import sheets
from tests.api._live import live
from tests.api._service import PASSWORD, admin_of
from tests.web import _browser
from tests.web._browser import PATIENCE_MS, Watched, watched

if TYPE_CHECKING:
    from tests.conftest import NewDatabase

T = TypeVar("T")
Seed: TypeAlias = Callable[["Site"], dict[str, str]]

PIPELINES = (
    *(bookmarks, bookmark_imports),
    *(sheets, sheet_intake, sheet_exports),
    *(articles, article_files, article_file_intake, index),
    *(media, attachments, attachment_files),
)


class Site:
    """A running server, and browsers that look at it."""

    def __init__(self, dsn: str, pipelines: tuple[Any, ...], browser: Browser, stack: ExitStack, models: Path) -> None:
        self._dsn, self._pipelines, self._browser, self._stack = dsn, pipelines, browser, stack
        self._server = stack.enter_context(ExitStack())
        self.url, self.service = self._server.enter_context(live(dsn, *pipelines))
        models.mkdir(exist_ok=True)  # those of the search are made once in a run
        (Path(self.service.app.state.settings.data_dir) / "models").symlink_to(models)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """The server is stopped, and started again at the end."""
        self._server.close()
        yield
        port, tokens = urlsplit(self.url).port, self.service.tokens
        assert port is not None
        _, self.service = self._server.enter_context(live(self._dsn, *self._pipelines, port=port, tokens=tokens))

    def visitor(self, **options: Any) -> Watched:
        """Somebody who is not signed in."""
        return self._stack.enter_context(watched(self._browser, self.url, **options))

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


@pytest.fixture(scope="session")
def _launched() -> Iterator[tuple[Browser, asyncio.AbstractEventLoop]]:
    """One browser for all tests of the web app in this process, each of which has its own context; and the event loop
    that Playwright keeps in this thread."""
    _browser.require()
    _browser.build()
    expect.set_options(timeout=PATIENCE_MS)
    playwright = sync_playwright().start()
    launched, loop = _browser.launch(playwright), asyncio.get_running_loop()
    asyncio._set_running_loop(None)
    yield launched, loop
    asyncio._set_running_loop(loop)
    launched.close()
    playwright.stop()


@pytest.fixture(scope="module")
def browser(_launched: tuple[Browser, asyncio.AbstractEventLoop]) -> Iterator[Browser]:
    """The browser, for the tests of a file. Between files the event loop of Playwright seems not to run: beside it,
    tests that are coroutines could not."""
    launched, loop = _launched
    asyncio._set_running_loop(loop)
    yield launched
    asyncio._set_running_loop(None)


class States:
    """Sites in the states that pages are looked at in. Tests that change nothing share a site, and in it one page for
    each person; it stays until a test needs another state."""

    def __init__(self, new_database: NewDatabase, browser: Browser, models: Path) -> None:
        self._new_database, self._browser, self._models = new_database, browser, models
        self._stack = ExitStack()
        self._found: tuple[Seed | None, Site, dict[str, str]] | None = None
        self._people: dict[str, Watched] = {}

    def site(self, seed: Seed | None) -> tuple[Site, dict[str, str]]:
        """A site in this state, and what its seed has returned."""
        if self._found is None or self._found[0] is not seed:
            self.close()
            dsn = self._stack.enter_context(self._new_database())
            site = Site(dsn, PIPELINES, self._browser, self._stack, self._models)
            self._found = (seed, site, seed(site) if seed else {})
        return self._found[1:]

    @contextmanager
    def person(self, seed: Seed | None, name: str) -> Iterator[Watched]:
        """A page of that person at the site, which rests afterwards."""
        site, _ = self.site(seed)  # first: of another state, nobody stays
        if name not in self._people:
            self._people[name] = site.person(name)
            self._people[name].keep_axe()
        person = self._people[name]
        try:
            yield person
        finally:
            person.rest()
            person.complaints.clear()
            person.allowed.clear()

    def close(self) -> None:
        self._people.clear()
        self._found = None
        self._stack.close()


@pytest.fixture(scope="module")
def states(new_database: NewDatabase, browser: Browser, run_folder: Path) -> Iterator[States]:
    found = States(new_database, browser, run_folder / "models")
    yield found
    found.close()


@pytest.fixture
def serve(dsn: str, browser: Browser, run_folder: Path) -> Iterator[Callable[..., Site]]:
    """Starts a server with these pipelines; by default those of all packages."""
    with ExitStack() as stack:

        def start(*pipelines: Any) -> Site:
            return Site(dsn, pipelines or PIPELINES, browser, stack, run_folder / "models")

        yield start


@pytest.fixture
def site(serve: Callable[..., Site]) -> Site:
    return serve()
