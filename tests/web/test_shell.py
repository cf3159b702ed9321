"""The shell: signing in, the box, keys, palette, panel and the session that ends."""

from __future__ import annotations

from playwright.sync_api import expect

from forebay.identity.accounts import account_named, sign_in_link
from tests.api._service import PASSWORD, admin_of
from tests.web.conftest import Site


def _link(site: Site, name: str) -> str:
    async def make() -> str:
        async with admin_of(site.service.dsn) as conn:
            return await sign_in_link(conn, await account_named(conn, name), "test")

    return site.run(make())


def test_the_link_of_up_signs_in_and_shows_home_once(site: Site) -> None:
    visitor = site.visitor()  # no answer is an error, either
    secret = _link(site, "ann")
    page = visitor.open(f"/#{secret}")
    expect(page.get_by_role("heading", name="Home", level=1)).to_be_attached()
    expect(page.get_by_role("heading", name="Begin here")).to_be_visible()
    assert page.url == f"{site.url}/"
    visitor.axe()
    other = site.visitor()
    other.allowed = {401}
    again = other.open(f"/#{secret}")
    expect(again.get_by_text("This link is unknown, expired or already used.")).to_be_visible()


def test_a_visitor_signs_in_and_comes_to_the_page_of_the_link(site: Site) -> None:
    visitor = site.visitor()
    page = visitor.open("/jobs?state=RUNNING")
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()
    assert "/jobs?state=" in page.url


def test_a_link_of_an_old_bookmarklet_survives_signing_in_and_no_server_sees_it(site: Site) -> None:
    visitor = site.visitor()
    page = visitor.open("/bookmarks/add#url=https%3A%2F%2Fexample.org%2Fa&title=A+page")
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("textbox", name="Address")).to_have_value("https://example.org/a")
    expect(page.get_by_role("textbox", name="Title")).to_have_value("A page")
    assert not [each for each in visitor.requests if "example.org" in each]


def test_the_box_says_what_enter_does_and_saves_a_link(site: Site) -> None:
    ann = site.person()
    page = ann.open("/jobs")
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("example.org/a")
    expect(page.get_by_text("Enter saves example.org as a bookmark")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved. It fills in as its page is read.")).to_be_visible()
    saved = site.api().get("/api/bookmarks").json()["bookmarks"]
    assert [each["url"] for each in saved] == ["https://example.org/a"]


def test_keys_and_palette_open_pages_and_the_heading_has_the_focus(site: Site) -> None:
    ann = site.person()
    page = ann.open("/")
    expect(page.get_by_role("heading", name="Home", level=1)).to_be_attached()
    page.locator("body").click(position={"x": 1400, "y": 880})
    page.keyboard.press("g")
    page.keyboard.press("j")
    heading = page.get_by_role("heading", name="Jobs", level=1)
    expect(heading).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("dead")
    expect(page.get_by_role("option", name="Dead letters")).to_have_attribute("aria-selected", "true")
    ann.axe()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Dead letters", level=1)).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    ann.axe()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    made = site.api().post("/api/bookmarks", json={"url": "https://example.org/", "title": "Rivers", "tags": ["river"]})
    page.keyboard.press("Control+k")
    page.keyboard.type("rive")
    expect(page.get_by_role("option", name="river tag")).to_be_visible()
    expect(page.get_by_role("option", name="searches everything")).to_have_attribute("aria-selected", "true")
    page.get_by_role("option", name="Rivers bookmark").click()
    expect(page).to_have_url(f"{site.url}/bookmarks/{made.json()['bookmark']['id']}")


def test_a_session_that_ended_elsewhere_is_renewed_where_one_is(site: Site) -> None:
    ann = site.person()
    page = ann.open("/jobs")
    expect(page.get_by_role("heading", name="No jobs yet")).to_be_visible()  # nothing is asked for any more
    site.sql("delete from forebay.session")
    ann.allowed = {401}
    box = page.get_by_role("textbox", name="Save a link, or search")
    box.fill("https://example.org/kept")
    box.press("Enter")
    dialog = page.get_by_role("dialog", name="Your session has ended")
    expect(dialog).to_be_visible()
    ann.axe()
    dialog.get_by_label("Password").fill(PASSWORD)
    dialog.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Saved. It fills in as its page is read.")).to_be_visible()
    assert [each["url"] for each in site.api().get("/api/bookmarks").json()["bookmarks"]] == [
        "https://example.org/kept"
    ]


def test_home_is_usable_after_six_requests_and_layers_have_their_order(site: Site) -> None:
    ann = site.person()
    page = ann.open("/")
    expect(page.get_by_role("heading", name="Begin here")).to_be_visible()
    first = ann.requests[: ann.requests.index("GET /api/app")]
    assert len(first) <= 6, first
    # A component's style wins over that of the element, in whatever order the style sheets arrive.
    link = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Jobs")
    expect(link).to_have_css("text-decoration-line", "none")
