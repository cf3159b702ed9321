"""The app on a device: it opens without a network, keeps links until then, takes shared files, and is renewed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from forebay.api.routes import web
from forebay.api.web_files import FOLDER, WebFiles
from tests.cli._run import until
from tests.web._browser import Watched
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
    page.goto(f"{site.url}/save?url=https://example.org/noted")
    page.get_by_role("textbox", name="Note").fill("for the train")
    page.context.set_offline(True)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Kept on this device, sent when you are online.")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text("1 kept link is saved.")).to_be_visible()
    assert site.api().get("/api/bookmarks").json()["bookmarks"][0]["note"] == "for the train"


def _with_worker(site: Site, path: str) -> Watched:
    """Somebody who has opened the app twice: the service worker controls the page."""
    ann = site.person(workers=True)
    page = ann.open(path)
    active = "navigator.serviceWorker.getRegistration().then(found => found?.active?.state === 'activated')"
    until(lambda: page.evaluate(active))
    page.reload()
    until(lambda: page.evaluate("navigator.serviceWorker.controller !== null"))
    return ann


def test_the_app_opens_without_a_network_and_offers_a_new_version(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = _with_worker(site, "/jobs")
    page = ann.page
    ann.allowed = {0}
    page.clock.install()
    page.context.set_offline(True)
    page.goto(f"{site.url}/save?text=for+the+train+https://example.org/shared")  # as the share menu does
    expect(page.get_by_role("heading", name="There is no connection", level=1)).to_be_visible()
    ann.axe()
    expect(page.get_by_role("textbox", name="Save a link")).to_have_value("https://example.org/shared")
    page.get_by_role("button", name="Save").click()
    expect(
        page.get_by_text("Kept on this device, sent when you are online: https://example.org/shared")
    ).to_be_visible()
    page.get_by_role("textbox", name="Save a link").fill("https://example.org/half")
    page.clock.fast_forward(20_000)  # it asks again by itself, which changes nothing here
    expect(page.get_by_role("textbox", name="Save a link")).to_have_value("https://example.org/half")
    page.context.set_offline(False)
    expect(page.get_by_role("heading", name="Save a link", level=1)).to_be_visible()  # the app, by itself
    expect(page.get_by_text("1 kept link is saved.")).to_be_visible()
    assert site.api().get("/api/bookmarks").json()["bookmarks"][0]["url"] == "https://example.org/shared"
    page.goto(f"{site.url}/jobs")
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()

    newer = shutil.copytree(FOLDER, tmp_path / "web")
    for file in newer.glob("sw.js*"):
        file.unlink()
    (newer / "sw.js").write_text(f"{(FOLDER / 'sw.js').read_text('utf-8')}// newer", "utf-8")
    monkeypatch.setattr(web, "_web_files", WebFiles(newer))
    page.evaluate("navigator.serviceWorker.getRegistration().then(found => found.update())")
    expect(page.get_by_text("A new version is here.")).to_be_visible()
    with page.expect_event("load"):  # the page loads itself again as soon as the new version controls it
        page.get_by_role("button", name="Reload").click()
    waiting = "navigator.serviceWorker.getRegistration().then(found => found.waiting === null)"
    assert page.evaluate(waiting)  # it has taken over
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()


_SHARE = """() => {
  const form = document.createElement("form"), field = document.createElement("input"), data = new DataTransfer();
  Object.assign(form, {action: "/save", method: "post", enctype: "multipart/form-data"});
  data.items.add(new File(["Name;Price\\nLamp;1,00\\n"], "prices.csv", {type: "text/csv"}));
  Object.assign(field, {type: "file", name: "files", files: data.files});
  form.append(field);
  document.body.append(form);
  form.submit();
}"""


def test_a_shared_file_waits_for_a_word_and_becomes_a_sheet(site: Site) -> None:
    ann = _with_worker(site, "/save")
    page = ann.page
    page.evaluate(_SHARE)  # as the share menu does
    page.wait_for_url("**/save?files=1")
    expect(page.get_by_role("list", name="Shared files")).to_contain_text("prices.csv")
    assert site.api().get("/api/sheets").json()["sheets"] == []
    ann.axe()
    page.get_by_role("button", name="Make a sheet of it").click()
    page.wait_for_url("**/sheets/new?job=*")
    (sheet,) = site.api().get("/api/sheets").json()["sheets"]
    assert sheet["name"] == "prices.csv"
