"""The pages beside the web app and the sign-in page, in a real browser: saving a link, and the API with its forms."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from forebay import Context, Pipeline
from forebay.identity.accounts import account_named, sign_in_link
from forebay.pipelines.bookmarks.steps import Link
from tests.api._browser import BROWSER, Page, browsing
from tests.api._live import live
from tests.api._service import PASSWORD, Service, admin_of

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")

marks: Pipeline[Link] = Pipeline("bookmarks", Link)
"""Links are saved here, and nobody works on them."""


@marks.step()
async def screenshot(ctx: Context, link: Link) -> None:
    pass


@pytest.fixture
def site(dsn: str) -> Iterator[str]:
    with live(dsn, marks) as (url, _):
        yield url


@pytest.fixture
def page() -> Iterator[Page]:
    with browsing() as page:
        yield page
        assert page.complaints == []


def enter(dsn: str, site: str, page: Page, name: str = "ann") -> None:
    async def link() -> str:
        async with admin_of(dsn) as conn:
            return await sign_in_link(conn, await account_named(conn, name), "test")

    page.open(f"{site}/sign-in#{asyncio.run(link())}")
    page.says(f"This link signs you in as {name}.")
    page.press("Enter")


def test_what_was_about_to_be_saved_survives_signing_in(dsn: str, site: str, page: Page) -> None:
    page.open(f"{site}/bookmarks/add#url=https%3A%2F%2Fexample.org%2Fa&title=A+page")
    page.says("Sign in first")
    page.click("enter")
    page.until("location.pathname === '/sign-in' && !document.getElementById('form').hidden")
    enter(dsn, site, page)
    page.until("location.pathname === '/bookmarks/add' && document.activeElement.id === 'send'")
    assert page.run("document.getElementById('name').value") == "A page"
    page.press("Enter")
    page.says("Save another")
    saved = page.run("fetch('/api/bookmarks').then(answer => answer.json())")
    assert [(one["url"], one["title"]) for one in saved["bookmarks"]] == [("https://example.org/a", "A page")]


@pytest.mark.parametrize(
    ("next_page", "opened"), [("/bookmarks/add?x=1", "/bookmarks/add"), ("//example.com/", "/"), ("javascript:1", "/")]
)
def test_signing_in_leads_to_a_page_of_this_site_only(
    dsn: str, site: str, page: Page, next_page: str, opened: str
) -> None:
    page.open(f"{site}/sign-in?next={quote(next_page, safe='')}")
    page.until("!document.getElementById('form').hidden")
    for field, value in (("name", "ann"), ("password", PASSWORD)):
        page.run(f"document.getElementById('{field}').value = '{value}'")
    page.click("send")
    page.until(f"location.pathname === '{opened}'")
    assert page.run("location.origin") == site


def test_the_api_can_be_tried_and_found_by_words(dsn: str, site: str, page: Page) -> None:
    enter(dsn, site, page)
    page.until("location.pathname === '/'")
    page.open(f"{site}/api/docs")
    page.says("/api/bookmarks/categories/{category_id}")
    paths = page.run("fetch('/api/openapi.json').then(answer => answer.json()).then(api => Object.keys(api.paths))")
    assert all(path in page.text for path in paths)
    page.run("document.getElementById('filter').value = 'get /api/me'")
    page.run("document.getElementById('filter').dispatchEvent(new Event('input'))")
    entries = "[...document.querySelectorAll('#groups > section > details')]"
    shown = page.run(f"{entries}.filter(one => !one.hidden).map(one => one.dataset.words)")
    assert shown
    assert all("get" in words and "/api/me" in words for words in shown)
    page.run(f"{entries}.find(one => one.dataset.words.startsWith('get /api/me ')).open = true")
    page.until("document.querySelector('details[open] button') !== null")
    assert "curl -H" in page.text
    page.run("document.querySelector('details[open] button').click()")
    page.says('"name": "ann"')


@pytest.mark.parametrize("path", ["/bookmarks/add", "/api/docs", "/sign-in"])
def test_on_a_phone_nothing_hangs_over_the_edge(dsn: str, site: str, page: Page, path: str) -> None:
    page.resize(320, 640)
    page.open(f"{site}{path}")
    page.until("document.getElementById('sign-in').hidden === false")
    if path == "/api/docs":
        page.says("/api/jobs/{job_id}")
    assert page.run("document.documentElement.scrollWidth") <= 320


async def test_pages_run_no_script_but_their_own_and_fetch_nothing_from_elsewhere(service: Service) -> None:
    async with service.client() as browser:
        for path in ("/bookmarks/add", "/api/docs", "/sign-in"):
            page = await browser.get(path)
            assert page.status_code == 200
            policy = page.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; script-src 'sha256-")
            assert "frame-ancestors 'none'" in policy
            assert 'src="' not in page.text
            assert 'href="http' not in page.text
