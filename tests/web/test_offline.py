"""Without a network: the app opens, a link is kept on the device, and it is sent when the network is back."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.cli._run import until
from tests.web.conftest import Site


def test_a_link_saved_offline_is_sent_later_once(site: Site) -> None:
    ann = site.person()
    page = ann.open("/jobs")
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()
    ann.allowed = {0}
    page.context.set_offline(True)
    page.keyboard.press("/")
    page.keyboard.type("https://example.org/kept")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Kept on this device, sent when you are online.")).to_be_visible()
    assert site.api().get("/api/bookmarks").json()["bookmarks"] == []
    page.context.set_offline(False)
    expect(page.get_by_text("1 kept link is saved.")).to_be_visible()
    assert [each["url"] for each in site.api().get("/api/bookmarks").json()["bookmarks"]] == [
        "https://example.org/kept"
    ]


def test_the_app_can_be_installed_and_opens_without_a_network(site: Site) -> None:
    ann = site.person(workers=True)
    page = ann.open("/jobs")
    active = "navigator.serviceWorker.getRegistration().then(found => found?.active?.state === 'activated')"
    until(lambda: page.evaluate(active))
    page.reload()
    until(lambda: page.evaluate("navigator.serviceWorker.controller !== null"))
    ann.allowed = {0}
    page.context.set_offline(True)
    page.goto(f"{site.url}/jobs")
    expect(page.get_by_text("There is no answer from the server.")).to_be_visible()
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()
