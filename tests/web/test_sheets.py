"""Sheets: a grid of many rows, and the way from a file to its rows."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route, expect

from forebay.engine.declare.pipeline import Pipeline
from forebay.pipelines.sheets.exports import sheet_exports
from forebay.pipelines.sheets.intake import sheet_intake
from forebay.pipelines.sheets.steps import sheets
from forebay.testing import testbed
from tests.web._browser import Watched
from tests.web._sheets import sheet_with_rows
from tests.web.conftest import Site

PICTURES = os.environ.get("FOREBAY_PICTURES")


# As a thumb that is dragged from the first row to the last: nothing is asked for until it rests.
_DRAG = """async box => {
  for (let step = 1; step <= 300; step++) {
    box.scrollTop = step * 26000;
    await new Promise(requestAnimationFrame);
  }
}"""


def _picture(page: Page, name: str) -> None:
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", animations="disabled")


def test_any_of_300_000_rows_is_reached_and_few_are_drawn(site: Site) -> None:
    job = sheet_with_rows(site, 300_000)
    ann = site.person()
    page = ann.open(f"/sheets/{job}")
    grid = page.get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", "300001")
    expect(grid.get_by_role("gridcell", name="Lamp no. 1", exact=True)).to_be_visible()
    asked = [each for each in ann.requests if "/grid?" in each]
    assert [each.partition("?")[2] for each in asked[:2]] == ["pageSize=1", "pageSize=200&from=1"]
    _picture(page, "sheet grid 1440 light")
    ann.axe()
    grid.focus()
    page.keyboard.press("Control+End")
    expect(grid.get_by_role("gridcell", name="Lamp no. 300000", exact=True)).to_be_visible()
    page.keyboard.press("Control+Home")
    expect(grid.get_by_role("gridcell", name="Lamp no. 1", exact=True)).to_be_visible()
    page.keyboard.press("Control+g")
    page.get_by_label("Number, from 1 to 300,000").fill("154,321")
    page.keyboard.press("Enter")
    expect(grid.get_by_role("gridcell", name="Lamp no. 154321", exact=True)).to_be_visible()
    drawn = grid.locator("[data-row]").count()
    box = grid.bounding_box()
    assert box is not None
    assert drawn <= 3 * box["height"] / 32
    page.keyboard.press("n")
    expect(page.get_by_text("Row 155,000")).to_be_visible()
    page.keyboard.press("Shift+N")
    expect(page.get_by_text("Row 154,000")).to_be_visible()
    before = len(ann.requests)
    grid.evaluate(_DRAG)
    expect(grid.locator("[data-row] button", has_text=re.compile(r"^29\d,\d{3}$")).first).to_be_visible()
    assert len([each for each in ann.requests[before:] if "/grid?" in each]) < 100


def test_rows_are_filtered_selected_and_opened(site: Site) -> None:
    job = sheet_with_rows(site, 20_000)
    ann = site.person()
    page = ann.open(f"/sheets/{job}")
    grid = page.get_by_role("grid")
    expect(grid.get_by_role("gridcell", name="Lamp no. 1", exact=True)).to_be_visible()
    page.get_by_role("button", name=re.compile("^Error")).click()
    expect(page.get_by_text("2 rows found", exact=True)).to_be_visible()
    expect(grid.get_by_role("gridcell", name="Lamp no. 20000", exact=True)).to_be_visible()
    assert "status=" in page.url
    page.get_by_label("Select row 10000").check()
    expect(page.get_by_role("region", name="Selected rows")).to_contain_text("1 row")
    page.get_by_role("button", name="10,000", exact=True).click()
    panel = page.get_by_role("region", name="Row 10,000")
    expect(panel).to_contain_text("https://example.org/lamps/10000")
    _picture(page, "sheet row panel 1440")
    ann.axe()
    page.keyboard.press("Escape")
    page.get_by_role("button", name=re.compile("^Error")).click()
    page.get_by_label("Text in a cell").fill("no. 1777")
    page.keyboard.press("Enter")
    expect(page.get_by_text("11 rows found", exact=True)).to_be_visible()
    expect(grid.get_by_role("gridcell", name="Lamp no. 17779", exact=True)).to_be_visible()


_TABLE = "Name;Price;EAN\n" + "".join(f"Lamp no. {n};{n % 97},50;\n" for n in range(1, 1201))


def test_a_file_is_uploaded_in_spite_of_a_cut_and_a_reload_and_its_rows_are_looked_up(
    site: Site, tmp_path: Path
) -> None:
    file = tmp_path / "prices.csv"
    file.write_text(_TABLE + "x" * 9_000_000 + ";1,00;\n", "utf-8")  # more than one part
    ann = site.person()
    ann.allowed = {0}
    page = ann.open("/sheets")
    expect(page.get_by_role("heading", name="No sheets yet")).to_be_visible()
    _picture(page, "sheets empty 1440")
    page.get_by_role("link", name="New sheet").first.click()
    _picture(page, "sheets new 1440")
    parts = []

    def cut(route: Route) -> None:
        parts.append(route.request.headers["upload-offset"])
        if parts == ["0"]:
            route.continue_()
        else:
            route.abort("connectionfailed")

    page.route("**/api/uploads/*", lambda route: cut(route) if route.request.method == "PATCH" else route.continue_())
    page.get_by_label("Drop a file here, or choose one").set_input_files(file)
    expect(page.get_by_text(re.compile("waiting for the connection"))).to_have_count(2)  # in the page and in the tray
    assert parts[:2] == ["0", str(8 << 20)]
    page.unroute_all(behavior="wait")
    page.reload()
    expect(page.get_by_text(re.compile(r"8\.4 MB of 9\.0 MB have come, and are kept"))).to_be_visible()
    expect(page.get_by_role("list", name="Activities")).to_contain_text("choose the file again to go on")
    page.get_by_label("Choose prices.csv again to go on where it stopped").set_input_files(file)
    expect(page.get_by_text(re.compile("it has come"))).to_be_visible()
    _map_and_start(site, ann)
    _export(site, page)


def _map_and_start(site: Site, ann: Watched) -> None:
    page = ann.page
    _work(site)
    sample = page.get_by_role("region", name="First rows")
    expect(sample.get_by_role("columnheader", name="Price")).to_be_visible()
    page.get_by_label("Delimiter").select_option(label="Comma")
    expect(sample.get_by_role("cell", name="Lamp no. 1;1", exact=True)).to_be_visible()
    page.get_by_role("button", name="As it was").click()
    page.get_by_label("First row", exact=True).select_option(label="is a row like the others")
    expect(sample.get_by_role("cell", name="Price", exact=True)).to_be_visible()
    before = page.url
    page.get_by_role("button", name="Read it like this").click()
    expect(page).not_to_have_url(before)
    _work(site)
    page.get_by_label("First row", exact=True).select_option(label="has the names of the columns")
    before = page.url
    page.get_by_role("button", name="Read it like this").click()
    expect(page).not_to_have_url(before)
    _work(site)
    expect(page.get_by_label("Price", exact=True)).to_have_value("Price")
    page.get_by_label("Brand").select_option(label="EAN")
    expect(page.get_by_text("Looks up 1,201 rows at 1 provider.")).to_be_visible()
    _picture(page, "sheets new mapped 1440")
    ann.axe()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", name="prices.csv", level=1)).to_be_visible()
    _work(site)
    expect(page.get_by_role("button", name="Not found 1,200")).to_be_visible()
    # The rows in view are loaded once more after the job has ended: none still says that it waits.
    expect(page.get_by_role("grid").get_by_text("Waiting")).to_have_count(0)
    _picture(page, "sheet done 1440")


def _export(site: Site, page: Page) -> None:
    page.get_by_role("button", name="Export", exact=True).click()
    page.get_by_role("menuitem", name="CSV").click()
    _work(site)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert "Lamp no. 1200" in Path(download.value.path()).read_text("utf-8")
    sheet = site.api().get(f"/api/sheets/{page.url.partition('/sheets/')[2].partition('?')[0]}").json()
    assert sheet["mapping"] | {"brand": "EAN"} == sheet["mapping"]


def _work(site: Site) -> None:
    """Do all that there is to do."""

    async def run() -> None:
        pipelines: list[Pipeline[Any]] = [sheet_intake, sheets, sheet_exports]
        settings = site.service.app.state.settings
        async with testbed(site.service.dsn, pipelines, migrated=True, settings=settings) as bed:
            await bed.finish()

    site.run(run())
