"""The page on which people sign in: by an invitation, by a link, and by a name and a password."""

from __future__ import annotations

from urllib.parse import quote

from playwright.sync_api import Page, expect

from forebay.identity import accounts
from forebay.identity.accounts import account_named, invitation, sign_in_link
from tests.api._service import PASSWORD, admin_of
from tests.web._browser import Watched
from tests.web.conftest import Site


def _invitation(site: Site) -> str:
    async def make() -> str:
        async with admin_of(site.service.dsn) as conn:
            return (await invitation(conn, "user", "test"))[1]

    return site.run(make())


def _link(site: Site, name: str) -> str:
    async def make() -> str:
        async with admin_of(site.service.dsn) as conn:
            return await sign_in_link(conn, await account_named(conn, name), "test")

    return site.run(make())


def _visitor(site: Site, *refused: int) -> Watched:
    visitor = site.visitor(width=390, height=700)
    visitor.allowed = {*refused}
    visitor.ignores_shift = True  # the form appears when it is known who is there
    return visitor


def _says(page: Page, text: str) -> None:
    expect(page.locator("body")).to_contain_text(text, use_inner_text=True)


def test_an_invited_person_makes_an_account(site: Site) -> None:
    page = _visitor(site, 409, 422).open(f"/sign-in#{_invitation(site)}")
    _says(page, "You are invited.")
    _says(page, "10 to 200 characters")
    assert page.evaluate("location.hash") == ""
    name, password = page.get_by_label("Name"), page.get_by_label("Password", exact=True)
    expect(name).to_be_focused()
    page.keyboard.type("bob")
    page.keyboard.press("Tab")
    page.keyboard.type("short")
    page.keyboard.press("Enter")
    _says(page, "Password: Must have 10 to 200 characters.")
    expect(password).to_be_focused()
    page.keyboard.type("er than long enough")
    page.keyboard.press("Enter")
    _says(page, "Name: 'bob' is already in use: choose another name.")
    expect(name).to_be_focused()
    name.fill("carl")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Account of carl")).to_be_visible()
    assert page.url == f"{site.url}/"
    me = page.evaluate("fetch('/api/me').then(answer => answer.json())")
    assert (me["name"], me["role"], me["scopes"]) == ("carl", "user", ["read", "write"])


def test_a_link_signs_in_and_may_set_a_password(site: Site) -> None:
    visitor, link = _visitor(site, 401), _link(site, "ann")
    page = visitor.open(f"/sign-in#{link}")
    _says(page, "This link signs you in as ann.")
    expect(page.get_by_role("button", name="Sign in")).to_be_focused()
    page.get_by_label("New password (optional)").fill("another long one")
    page.keyboard.press("Enter")
    account = page.get_by_role("button", name="Account of ann")
    expect(account).to_be_visible()
    visitor.open("/sign-in")
    _says(page, "You are signed in as ann.")
    expect(page.get_by_role("link", name="Home")).to_be_focused()
    visitor.open(f"/sign-in#{link}")  # changes the fragment only, as the link of a mail in an open tab
    _says(page, "This link is unknown, expired or already used.")
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password", exact=True).fill("another long one")
    page.keyboard.press("Enter")
    expect(account).to_be_visible()
    visitor.open(f"/sign-in#{_link(site, 'bob')}")  # without a password
    _says(page, "This link signs you in as bob.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Account of bob")).to_be_visible()


def test_a_link_for_somebody_without_a_password_leads_to_home_at_once(site: Site) -> None:
    async def add() -> None:
        async with admin_of(site.service.dsn) as conn:
            await accounts.add(conn, "dora", "user", None, "test")

    site.run(add())
    page = _visitor(site).open(f"/sign-in#{_link(site, 'dora')}")
    expect(page.get_by_role("button", name="Account of dora")).to_be_visible()
    assert page.url == f"{site.url}/"


def test_signing_out_ends_the_session(site: Site) -> None:
    visitor = _visitor(site)
    page = visitor.open(f"/sign-in#{_link(site, 'ann')}")
    with page.expect_response("**/api/me/preferences"):  # what is under way when the session ends is rejected
        page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Account of ann").click()
    page.get_by_role("menuitem", name="Sign out").click()
    expect(page.get_by_label("Password", exact=True)).to_be_visible()
    assert page.url == f"{site.url}/sign-in"
    assert page.context.cookies() == []
    visitor.open("/")
    expect(page.get_by_role("button", name="Account of ann")).to_be_hidden()
    expect(page.get_by_label("Password", exact=True)).to_be_visible()


def test_a_name_and_a_wrong_password(site: Site) -> None:
    page = _visitor(site, 401, 429).open("/sign-in")
    password = page.get_by_label("Password", exact=True)
    expect(page.get_by_label("Name")).to_be_focused()
    expect(page.get_by_text("10 to 200 characters")).to_be_hidden()  # rules are for new passwords
    page.keyboard.press("Enter")
    _says(page, "Name is missing.")
    page.keyboard.type("ann")
    for _ in range(6):
        password.fill("wrong")
        with page.expect_response("**/api/session") as answer:
            password.press("Enter")
        assert answer.value.status == 401
        expect(page.get_by_role("alert")).to_have_text("Name or password is wrong.")
        expect(page.get_by_role("button", name="Sign in")).to_be_enabled()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Too many wrong passwords: try again later, in ")


def test_keyboard_screen_reader_and_phone(site: Site) -> None:
    visitor = site.visitor(width=320, height=600, touch=True)
    visitor.ignores_shift = True
    page = visitor.open("/sign-in")
    fields = (
        page.get_by_role("textbox", name="Name"),
        page.get_by_role("textbox", name="Password"),
        page.get_by_role("checkbox", name="Show the password"),
        page.get_by_role("button", name="Sign in"),
    )
    for field in fields:
        expect(field).to_be_focused()
        page.keyboard.press("Tab")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    fields[2].press(" ")
    expect(fields[1]).to_have_attribute("type", "text")


def test_signing_in_leads_to_a_page_of_this_site_only(site: Site) -> None:
    for place, opened in (("/jobs?state=DONE", "Jobs"), ("//example.com/", "Home"), ("javascript:1", "Home")):
        page = _visitor(site).open(f"/sign-in?next={quote(place, safe='')}")
        page.get_by_label("Name").fill("ann")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name=opened, level=1)).to_be_attached()
        assert page.url.startswith(f"{site.url}/")
