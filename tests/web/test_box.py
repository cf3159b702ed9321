"""The box: what is pasted, typed and dropped goes where it belongs."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.web._looks_sheets import broken_upload
from tests.web._sheets import sheet_with_rows
from tests.web.conftest import Site

_PASTE = """text => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
}"""
_DROP = """name => {
  const data = new DataTransfer();
  data.items.add(new File(["Name\\nPen\\n"], name));
  for (const kind of ["dragover", "drop"])
    document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
}"""


def _opened(site: Site, path: str = "/jobs", heading: str = "Jobs") -> Page:
    page = site.person().open(path)
    expect(page.get_by_role("heading", name=heading, level=1)).to_be_attached()
    return page


def test_what_is_pasted_anywhere_is_in_the_box_and_saved(site: Site) -> None:
    page = _opened(site)
    page.evaluate(_PASTE, "https://example.org/pasted")
    expect(page.get_by_text("Enter saves example.org as a bookmark")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved. It fills in as its page is read.")).to_be_visible()
    page.evaluate(_PASTE, "https://example.org/pasted")
    page.keyboard.press("Enter")
    expect(page.get_by_text("It was saved already.")).to_be_visible()


def test_several_links_are_one_job(site: Site) -> None:
    page = _opened(site)
    page.evaluate(_PASTE, "https://a.example/1\nhttps://b.example/2\nhttps://c.example/3")
    expect(page.get_by_text("Enter imports 3 links as one job")).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**/jobs/*")
    (job,) = site.api().get("/api/jobs").json()["jobs"]
    assert (job["pipeline"], job["counters"]["total"]) == ("bookmark_imports", 3)
    assert page.url.endswith(f"/jobs/{job['id']}")


def test_an_address_that_cannot_be_saved_is_explained_where_it_was_typed(site: Site) -> None:
    ann = site.person()
    ann.allowed = {413}
    page = ann.open("/jobs")
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_attached()
    box = page.get_by_role("textbox", name="Save a link, or search")
    box.fill(f"https://example.org/{'x' * 1_100_000}")
    box.press("Enter")
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("The request has more than 1048576 bytes")).to_be_visible()


def test_dropped_files_open_the_page_that_takes_them(site: Site) -> None:
    page = _opened(site)
    expect(page.get_by_role("button", name="Save a sample link")).to_be_visible()  # the page is there as a whole
    page.evaluate(_DROP, "prices.csv")
    expect(page).to_have_url(re.compile(r"/sheets/new(\?|$)"))  # its job is in the address as soon as it is uploaded
    page.evaluate(_DROP, "setup.exe")
    expect(page.get_by_text("That kind of file has no place here")).to_be_visible()


def test_empty_pages_are_tried_with_a_sample(site: Site) -> None:
    page = _opened(site, "/jobs", "Jobs")
    page.get_by_role("button", name="Save a sample link").click()
    expect(page.get_by_text("Saved. It fills in as its page is read.")).to_be_visible()
    expect(page.get_by_role("list", name="Jobs").get_by_role("listitem")).to_have_count(1)
    page.goto(f"{site.url}/sheets")
    page.get_by_role("button", name="Try a sample sheet").click()
    page.wait_for_url("**/sheets/new?job=*")
    expect(page.get_by_text("sample.csv")).to_be_visible()
    expect(page.get_by_role("table").get_by_text("Wall clock Aurora 25 cm white")).to_be_visible()


def test_home_fills_the_first_minute(site: Site) -> None:
    """From nothing to something that failed, and is tried again."""
    page = _opened(site, "/", "Home")
    expect(page.get_by_role("heading", name="Begin here")).to_be_visible()
    page.keyboard.type("#1")
    expect(page.get_by_text("Enter opens job 1")).to_be_visible()
    site.api().post("/api/jobs", json={"pipeline": "pages", "items": [{"title": "broken"}, {"title": "fine"}]})
    site.run(site.service.work())
    page.reload()
    expect(page.get_by_text("1 item failed in fetch")).to_be_visible()
    page.get_by_role("button", name="Retry 1").click()
    expect(page.get_by_text("1 item runs again.")).to_be_visible()
    expect(page.get_by_role("list", name="Running jobs").get_by_text("1 of 2 items")).to_be_visible()
    page.get_by_role("button", name="Pause job 1").click()
    running = page.get_by_role("list", name="Running jobs")
    expect(running.get_by_text("Paused", exact=True)).to_be_visible()
    expect(running.get_by_role("link", name=re.compile("^The job was paused by ann"))).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Pause job 1")).to_be_visible()


def test_home_says_which_sheets_wait_for_a_person(site: Site) -> None:
    broken_upload(site)
    job = sheet_with_rows(site, 30)
    site.sql(
        """update forebay.job set state = 'PAUSED', done = 0, not_found = 0, error = 0, finished_at = null
           where id = $1""",
        int(job),
    )
    ann = site.person()
    page = ann.open("/")
    needs = page.get_by_role("region", name="Needs you")
    expect(needs.get_by_text("0 bytes of 5.0 kB have come, and are kept.")).to_be_visible()
    expect(needs.get_by_text("30 rows are read. Say what their columns are, and start.")).to_be_visible()
    ann.axe()
    needs.get_by_role("link", name="Map and start").click()
    page.wait_for_url("**/sheets/new?job=*")
