"""Five journeys without a mouse or a finger: everything is reached by keys, and the focus is never lost."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.api._service import PASSWORD
from tests.cli._run import until
from tests.web._pages import job_with_a_failure, waiting_job
from tests.web._sheets import sheet_with_rows
from tests.web.conftest import Site


def _tab_to(page: Page, wanted: Locator, *, back: bool = False) -> None:
    """Press Tab until it has the focus, as somebody does who sees where it is."""
    expect(wanted).to_be_visible()
    for _ in range(80):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Shift+Tab" if back else "Tab")
    raise AssertionError(f"Tab does not reach {wanted}")


def _press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_five_journeys_by_keys_alone(site: Site) -> None:
    failed, job = job_with_a_failure(site)["job"], waiting_job(site)["job"]
    sheet = sheet_with_rows(site, 2000)
    visitor = site.visitor()
    visitor.ignores_shift = True
    page = visitor.open("/")
    _sign_in(page)
    _save_and_tag(site, page)
    _pause_and_cancel(site, page, job)
    _retry(site, page, failed)
    _grid(page, sheet)


def _sign_in(page: Page) -> None:
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("ann")
    _press(page, "Tab")
    page.keyboard.type(PASSWORD)
    _press(page, "Enter")
    expect(page.get_by_role("heading", name="Home", level=1)).to_be_attached()


def _save_and_tag(site: Site, page: Page) -> None:
    box = page.get_by_role("textbox", name="Save a link, or search")
    expect(box).to_be_focused()  # on Home one simply types
    page.keyboard.type("example.org/mill")
    _press(page, "Enter")
    expect(page.get_by_text("Saved. It fills in as its page is read.")).to_be_visible()
    _press(page, "Escape")
    _tab_to(page, page.get_by_role("navigation", name="Pages").get_by_role("link", name="Bookmarks"), back=True)
    _press(page, "Enter")
    expect(page.get_by_role("heading", name="Bookmarks", level=1)).to_be_focused()
    expect(page.get_by_role("list", name="Bookmarks").get_by_role("listitem")).to_have_count(1)
    _press(page, "j", "x", "t")
    expect(page.get_by_role("dialog").get_by_role("combobox", name="Add a tag")).to_be_focused()
    page.keyboard.type("mills")
    _press(page, "Enter")
    _tab_to(page, page.get_by_role("button", name="Save the tags"))
    _press(page, "Enter")
    expect(page.get_by_role("button", name="mills 1")).to_be_visible()
    assert site.api().get("/api/bookmarks/tags").json()["tags"] == [{"tag": "mills", "bookmarks": 1}]


def _pause_and_cancel(site: Site, page: Page, job: str) -> None:
    _press(page, "g", "j")
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_focused()
    row = page.get_by_role("list", name="Jobs").get_by_role("link", name=re.compile(f"job {job}"))
    _tab_to(page, row)
    _press(page, "Enter")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    _press(page, "p")
    expect(page.get_by_text("Paused: what runs now ends, nothing else starts.")).to_be_visible()
    expect(page.get_by_role("button", name="Resume", exact=True)).to_be_visible()
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    _tab_to(page, cancel)
    _press(page, "Enter")
    _tab_to(page, page.get_by_role("dialog").get_by_role("button", name="Keep it"))
    _press(page, "Enter")
    expect(cancel).to_be_focused()  # where one was before the dialog
    _press(page, "Enter")
    _tab_to(page, page.get_by_role("dialog").get_by_role("button", name="Cancel 40 items"))
    _press(page, "Enter")
    expect(page.get_by_text("Cancelled.")).to_be_visible()
    assert site.api().get(f"/api/jobs/{job}").json()["state"] == "CANCELLED"


def _retry(site: Site, page: Page, job: str) -> None:
    _press(page, "Control+k")
    page.keyboard.type("dead")
    _press(page, "Enter")
    expect(page.get_by_role("heading", name="Dead letters", level=1)).to_be_focused()
    _tab_to(page, page.get_by_role("button", name="Retry 1"))
    _press(page, "Enter")
    expect(page.get_by_text("1 item runs again.")).to_be_visible()
    until(lambda: site.api().get(f"/api/jobs/{job}").json()["counters"]["pending"] == 1)  # it is held back for Undo


def _grid(page: Page, sheet: str) -> None:
    _press(page, "g", "s")
    expect(page.get_by_role("heading", name="Sheets", level=1)).to_be_focused()
    _tab_to(page, page.get_by_role("link", name="stock.csv"))
    _press(page, "Enter")
    page.wait_for_url(f"**/sheets/{sheet}*")
    grid = page.get_by_role("grid")
    expect(grid.get_by_role("gridcell", name="Lamp no. 1", exact=True)).to_be_visible()
    _tab_to(page, grid)
    _press(page, "Control+End")
    expect(grid.get_by_role("gridcell", name="Lamp no. 2000", exact=True)).to_be_visible()
    _press(page, "Control+Home", "ArrowDown", "Enter")
    panel = page.get_by_role("region", name="Row 2", exact=True)
    expect(panel).to_contain_text("https://example.org/lamps/2")
    _press(page, "Escape")
    expect(panel).to_be_hidden()
    expect(grid).to_be_focused()
    _tab_to(page, page.get_by_role("link", name="Job", exact=True), back=True)
    _press(page, "Enter")
    expect(page.get_by_role("tab", name="Grid")).to_be_visible()
    _press(page, "2")  # the grid is a tab of the job, too
    expect(grid.get_by_role("gridcell", name="Lamp no. 1", exact=True)).to_be_visible()
