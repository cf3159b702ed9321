"""The page on which people sign in, as a browser shows it and as its server sends it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from forebay.identity.accounts import account_named, invitation, sign_in_link
from tests.api._browser import BROWSER, Page, browsing
from tests.api._live import live
from tests.api._service import PASSWORD, Service, admin_of

needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")


@pytest.fixture
def site(dsn: str) -> Iterator[str]:
    with live(dsn) as (url, _):
        yield url


@pytest.fixture
def page() -> Iterator[Page]:
    with browsing() as page:
        yield page
        assert page.complaints == []


def invited(dsn: str) -> str:
    async def make() -> str:
        async with admin_of(dsn) as conn:
            return (await invitation(conn, "user", "test"))[1]

    return asyncio.run(make())


def linked(dsn: str, name: str) -> str:
    async def make() -> str:
        async with admin_of(dsn) as conn:
            return await sign_in_link(conn, await account_named(conn, name), "test")

    return asyncio.run(make())


@needs_browser
def test_an_invited_person_makes_an_account(dsn: str, site: str, page: Page) -> None:
    page.open(f"{site}/sign-in#{invited(dsn)}")
    page.says("You are invited.")
    assert "10 to 200 characters" in page.text
    assert page.run("location.hash") == ""
    assert page.focus == "name"
    page.write("bob")
    page.press("Tab")
    page.write("short")
    page.press("Enter")
    page.says("Password: Must have 10 to 200 characters.")
    assert page.focus == "password"
    page.write("er than long enough")
    page.press("Enter")
    page.says("Name: 'bob' is already in use: choose another name.")
    assert page.focus == "name"
    page.run("document.getElementById('name').value = ''")
    page.write("carl")
    page.press("Enter")
    page.until("location.pathname === '/' && document.querySelector('[aria-label$=carl]') !== null")
    me = page.run("fetch('/api/me').then(answer => answer.json())")
    assert (me["name"], me["role"], me["scopes"]) == ("carl", "user", ["read", "write"])


@needs_browser
def test_a_link_signs_in_and_may_set_a_password(dsn: str, site: str, page: Page) -> None:
    link = linked(dsn, "ann")
    page.open(f"{site}/sign-in#{link}")
    page.says("This link signs you in as ann.")
    assert page.focus == "send"
    page.run("document.getElementById('password').focus()")
    page.write("another long one")
    page.press("Enter")
    page.until("document.querySelector('[aria-label$=ann]') !== null")
    page.open(f"{site}/sign-in")
    page.says("You are signed in as ann.")
    assert page.focus == "onward"
    page.open(f"{site}/sign-in#{link}")
    page.says("This link is unknown, expired or already used.")
    page.run("document.getElementById('name').focus()")
    page.write("ann")
    page.press("Tab")
    page.write("another long one")
    page.press("Enter")
    page.until("location.pathname === '/' && document.querySelector('[aria-label$=ann]') !== null")
    page.open(f"{site}/sign-in#{linked(dsn, 'bob')}")  # without one
    page.says("This link signs you in as bob.")
    page.press("Enter")
    page.until("document.querySelector('[aria-label$=bob]') !== null")


@needs_browser
def test_a_name_and_a_password(site: str, page: Page) -> None:
    page.open(f"{site}/sign-in")
    page.until("document.activeElement.id === 'name'")
    assert "characters" not in page.text  # rules are for new passwords
    page.press("Tab")
    page.press("Enter")
    page.says("Name is missing.")
    page.write("ann")
    for _ in range(6):
        page.run("document.getElementById('password').value = 'wrong'; document.getElementById('password').focus()")
        page.run("document.getElementById('wrong').textContent = ''")
        page.press("Enter")
        page.says("Name or password is wrong.")
    page.press("Enter")
    page.says("Too many wrong passwords: try again later, in ")
    assert page.run("document.getElementById('wrong').getAttribute('role')") == "alert"


@needs_browser
def test_keyboard_screen_reader_and_phone(site: str, page: Page) -> None:
    page.resize(320, 600)
    page.open(f"{site}/sign-in")
    page.until("document.activeElement.id === 'name'")
    assert page.run("document.documentElement.scrollWidth") <= 320
    places = []
    for _ in range(4):
        places.append(page.focus)
        page.press("Tab")
    assert places == ["name", "password", "show", "send"]
    heard = page.heard()
    for met in (("heading", "Sign in"), ("textbox", "Name"), ("textbox", "Password"), ("button", "Sign in")):
        assert met in heard
    page.run("document.getElementById('show').focus()")
    page.press(" ")
    assert page.run("document.getElementById('password').type") == "text"


async def test_the_page_is_sent_with_a_strict_policy(service: Service) -> None:
    async with service.client() as browser:
        page = await browser.get("/sign-in")
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "form-action 'none'" in policy
    assert "{" not in page.text.partition("<body>")[2].partition("<script>")[0]
    for field in ("name", "password"):
        assert f'<label for="{field}"' in page.text
    assert "http://" not in page.text
    assert "https://" not in page.text


async def test_what_a_link_is_good_for(service: Service) -> None:
    _, made = await invitation(service.admin, "admin", "test")
    link = await sign_in_link(service.admin, await account_named(service.admin, "ann"), "test")
    async with service.client() as browser:
        for _ in range(2):  # looking does not use it up
            answers = [await browser.post("/api/session/link/check", json={"link": each}) for each in (made, link)]
            assert [answer.json() for answer in answers] == [
                {"kind": "invitation", "role": "admin", "name": None},
                {"kind": "sign-in", "role": "user", "name": "ann"},
            ]
        none = await browser.post("/api/session/link/check", json={"link": PASSWORD})
    assert (none.status_code, none.json()["detail"]) == (401, "this link is unknown, expired or already used")
