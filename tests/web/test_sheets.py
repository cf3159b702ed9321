"""Sheets: a grid of many rows, and the way from a file to its rows."""

# demands: S5-87, S5-180

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from forebay.engine.declare.pipeline import Pipeline
from forebay.pipelines.sheets.exports import sheet_exports
from forebay.pipelines.sheets.intake import sheet_intake
from forebay.pipelines.sheets.steps import sheets
from forebay.testing import testbed
from tests.web._browser import Watched
from tests.web._sheets import sheet_with_rows
from tests.web.conftest import Site

PICTURES = os.environ.get("FOREBAY_PICTURES")


# How many requests for rows are on their way at a time, and how many there were.
_FLIGHTS = """
window.__rows = { now: 0, most: 0, all: 0 };
const plain = window.fetch;
window.fetch = async (...given) => {
  if (!String(given[0]?.url ?? given[0]).includes("/grid?")) return plain(...given);
  const rows = window.__rows;
  rows.all += 1;
  rows.most = Math.max(rows.most, ++rows.now);
  try { return await plain(...given); } finally { rows.now -= 1; }
};
"""

# As a thumb that is dragged here and there: nothing is asked for until it rests.
_JUMPS = """async (box, count) => {
  const last = box.scrollHeight - box.clientHeight;
  for (let jump = 1; jump <= count; jump++) {
    box.scrollTop = (jump * 0.381966 % 1) * last;
    await new Promise(requestAnimationFrame);
  }
}"""

# A rest at so many places, until their rows are there: it fills what the grid keeps.
_RESTS = """async (box, count) => {
  const last = box.scrollHeight - box.clientHeight;
  for (let jump = 1; jump <= count; jump++) {
    box.scrollTop = jump / count * last;
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    while (window.__rows.now > 0 || !box.querySelector("[data-row] input")) await new Promise(requestAnimationFrame);
  }
}"""


def _picture(page: Page, name: str) -> None:
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", animations="disabled")


def test_any_of_300_000_rows_is_reached_and_few_are_drawn(site: Site) -> None:
    _budgets(site, 300_000, jumps=100)


@pytest.mark.soak
def test_any_of_a_million_rows_is_reached_and_few_are_drawn(site: Site) -> None:
    _budgets(site, 1_000_000, jumps=500)


def _budgets(site: Site, rows: int, *, jumps: int) -> None:
    job = sheet_with_rows(site, rows)
    ann = site.person()
    ann.page.add_init_script(_FLIGHTS)
    page = ann.open(f"/sheets/{job}")
    grid = page.get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", str(rows + 1))
    expect(grid.get_by_role("gridcell", name="Lamp no. 1", exact=True)).to_be_visible()
    asked = [each for each in ann.requests if "/grid?" in each]
    assert [each.partition("?")[2] for each in asked[:2]] == ["pageSize=1", "pageSize=200&from=1"]
    expect(page.get_by_text("up to 50,000 rows can be sorted")).to_be_visible()
    _picture(page, "sheet grid 1440 light")
    ann.axe()
    grid.focus()
    page.keyboard.press("Control+End")
    expect(grid.get_by_role("gridcell", name=f"Lamp no. {rows}", exact=True)).to_be_visible()
    page.keyboard.press("Control+Home")
    expect(grid.get_by_role("gridcell", name="Lamp no. 1", exact=True)).to_be_visible()
    page.keyboard.press("Control+g")
    page.get_by_label(f"Number, from 1 to {rows:,}").fill("154,321")
    page.keyboard.press("Enter")
    expect(grid.get_by_role("gridcell", name="Lamp no. 154321", exact=True)).to_be_visible()
    page.keyboard.press("n")
    expect(page.get_by_text("Row 155,000")).to_be_visible()
    page.keyboard.press("Shift+N")
    expect(page.get_by_text("Row 154,000")).to_be_visible()
    _jumps(page, grid, jumps)


def _jumps(page: Page, grid: Locator, jumps: int) -> None:
    """They leave nothing behind, and ask for little. Each of them takes 75 ms of CPU."""
    grid.evaluate(_RESTS, 45)
    before = _memory(page, grid)
    asked = page.evaluate("window.__rows.all")
    grid.evaluate(_JUMPS, jumps)
    box = grid.bounding_box()
    assert box is not None
    assert grid.locator("[data-row]").count() <= 3 * box["height"] / 32
    after = _memory(page, grid)
    assert after[0] <= before[0], "nodes"
    assert after[1] <= before[1] + 10_000 * jumps, "bytes"
    assert page.evaluate("window.__rows.all") - asked < jumps / 5
    assert page.evaluate("window.__rows.most") <= 2


def _memory(page: Page, grid: Locator) -> tuple[int, int]:
    """DOM nodes and bytes after a garbage collection, at the begin of the grid."""
    grid.focus()
    page.keyboard.press("Control+End")
    page.keyboard.press("Control+Home")
    expect(grid.get_by_role("gridcell", name="Lamp no. 1", exact=True)).to_be_visible()
    session = page.context.new_cdp_session(page)
    for _ in range(2):
        session.send("HeapProfiler.collectGarbage")
    nodes = session.send("Memory.getDOMCounters")["nodes"]
    used = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return int(nodes), int(used)


def test_rows_are_filtered_selected_and_opened(site: Site) -> None:
    job = sheet_with_rows(site, 20_000)
    ann = site.person()
    page = ann.open(f"/sheets/{job}")
    grid = page.get_by_role("grid")
    expect(grid.get_by_role("gridcell", name="Lamp no. 1", exact=True)).to_be_visible()
    page.get_by_role("group", name="Status").get_by_role("button", name=re.compile("^Error")).click()
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
    expect(panel).to_have_count(0)
    page.keyboard.press("Enter")  # the focus is where it was: on the number of the row
    expect(panel).to_be_visible()
    page.go_back()
    expect(panel).to_have_count(0)
    assert "status=" in page.url
    expect(page.get_by_role("button", name="10,000", exact=True)).to_be_focused()
    expect(page.get_by_label("Select row 10000")).to_be_checked()
    page.get_by_role("group", name="Status").get_by_role("button", name=re.compile("^Error")).click()
    page.get_by_label("Text in a cell").fill("no. 1777")
    page.keyboard.press("Enter")
    expect(page.get_by_text("11 rows found", exact=True)).to_be_visible()
    expect(grid.get_by_role("gridcell", name="Lamp no. 17779", exact=True)).to_be_visible()
    # A list that begins in the middle goes both ways.
    ann.open(f'/sheets/{job}?status=["NOT_FOUND"]&row=15000')
    expect(page.get_by_text("18 rows found", exact=True)).to_be_visible()
    assert "before=15000" in "".join(ann.requests)


def _numbers(grid: Locator) -> Locator:
    return grid.locator("[data-row] button")


def test_columns_are_sorted_pinned_and_kept_and_rows_are_copied_and_exported(site: Site) -> None:
    job = sheet_with_rows(site, 1200)
    ann = site.person()
    page = ann.open(f"/sheets/{job}")
    grid = page.get_by_role("grid")
    price = grid.get_by_role("columnheader", name="Price", exact=True)
    price.get_by_role("button").click()
    expect(page.get_by_text("1,200 rows, by Price, smallest first")).to_be_visible()
    expect(_numbers(grid).first).to_have_text("97")
    price.get_by_role("button").click()
    expect(_numbers(grid).first).to_have_text("96")
    expect(price).to_have_attribute("aria-sort", "descending")
    price.get_by_role("button").click()
    expect(page.get_by_text("1,200 rows, in the order of the file", exact=True)).to_be_visible()
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("button", name="Keep Link in view").click()
    page.keyboard.press("Escape")
    page.reload()
    expect(grid.get_by_role("columnheader").nth(1)).to_have_text("Link")
    expect(_numbers(grid).first).to_be_visible()
    link = grid.get_by_role("columnheader", name="Link", exact=True)
    place = link.bounding_box()
    grid.evaluate("box => { box.scrollLeft = 600; }")
    assert link.bounding_box() == place
    page.get_by_label("Select row 2", exact=True).check()
    page.get_by_label("Select row 4", exact=True).check()
    assert grid.evaluate(_COPY).splitlines()[1].startswith("https://example.org/lamps/4\t5\tLamp no. 4\t4.50\tLamp 4")
    _picture(page, "sheet pinned 1440")
    ann.axe()
    page.get_by_role("region", name="Selected rows").get_by_role("button", name="Export").click()
    page.get_by_role("menuitem", name="CSV").click()
    exports = page.get_by_role("list", name="Exports").get_by_role("listitem")
    expect(exports).to_contain_text("2 selected rows")
    exports.get_by_role("button", name="Again").click()
    expect(exports.filter(has_text="2 selected rows")).to_have_count(2)


_COPY = """box => {
  const clipboardData = new DataTransfer();
  box.dispatchEvent(new ClipboardEvent("copy", { clipboardData, bubbles: true, cancelable: true }));
  return clipboardData.getData("text/plain");
}"""


def test_a_phone_shows_one_column_and_changed_cells_light_up(site: Site) -> None:
    job = sheet_with_rows(site, 300)
    site.sql("update forebay.item set status = 'PENDING', result = null where job_id = $1 and n = 3", int(job))
    site.sql("update forebay.job set state = 'RUNNING', finished_at = null, done = done - 1 where id = $1", int(job))
    ann = site.person(width=360, height=780, motion=True)
    ann.page.add_init_script(_ANIMATED)
    page = ann.open(f"/sheets/{job}")
    grid = page.get_by_role("grid")
    expect(grid).to_have_attribute("aria-colcount", "2")
    expect(grid.get_by_role("gridcell", name="Lamp no. 3", exact=True)).to_be_visible()
    page.get_by_label("Column", exact=True).select_option(label="Found title")
    expect(grid.get_by_role("gridcell", name="Lamp 2", exact=True)).to_be_visible()
    site.sql(
        """update forebay.item set status = 'DONE', result = '{"look_up": {"title": "Found late"}}'
           where job_id = $1 and n = 3""",
        int(job),
    )
    expect(grid.get_by_role("gridcell", name="Found late", exact=True)).to_be_visible()
    assert page.evaluate("window.__animated") == 2  # the status and the cell


_ANIMATED = """
window.__animated = 0;
const plainly = Element.prototype.animate;
Element.prototype.animate = function (...given) { window.__animated += 1; return plainly.apply(this, given); };
"""


def test_a_mapping_is_offered_again_and_duplicates_are_left_out(site: Site) -> None:
    ann = site.person()
    table = "Ware;Cost\n" + "".join(f"Lamp;{n},50\n" for n in range(3))
    first = _upload(site, table)
    site.api().patch(f"/api/sheets/{first}", json={"columns": {"title": "Ware", "price": "Cost"}})
    assert site.api().put(f"/api/sheets/{first}/preset").status_code == 204
    page = ann.open(f"/sheets/new?job={_upload(site, table)}")
    expect(page.get_by_text("You have mapped a file with the same columns before.")).to_be_visible()
    _picture(page, "sheets new preset 1440")
    page.get_by_role("button", name="Use that mapping").click()
    expect(page.get_by_label("Title", exact=True)).to_have_value("Ware")
    expect(page.get_by_text("0,50 → 0.50")).to_be_visible()
    page.get_by_label("Decimal mark").select_option(label="Point: 1,234.50")
    expect(page.get_by_text("0,50 → 50.00")).to_be_visible()
    page.get_by_label("Decimal mark").select_option(label="Comma: 1.234,50")
    page.get_by_role("button", name="Duplicates").click()
    page.get_by_role("checkbox", name="Ware").check()
    page.keyboard.press("Escape")
    before = page.url
    page.get_by_role("button", name="Read it like this").click()
    expect(page).not_to_have_url(before)
    _work(site)
    expect(page.get_by_text("Of rows with the same Ware, the first counts.")).to_be_visible()
    expect(page.get_by_label("Title", exact=True)).to_have_value("Ware")
    expect(page.get_by_text(re.compile("^Looks up 1 row at 1 provider; "))).to_be_visible()


def _upload(site: Site, table: str) -> str:
    """A file that was read and waits for its start."""
    answer = site.api().post(
        "/api/jobs",
        data={"pipeline": "sheets", "options": '{"paused": true}'},
        files={"file": ("lamps.csv", table.encode())},
    )
    _work(site)
    return str(answer.json()["jobId"])


_TABLE = "Name;Price;EAN\n" + "".join(f"Lamp no. {n};{n % 97},50;\n" for n in range(1, 121))


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
    # The browser has read the beginning of the file meanwhile.
    sample = page.get_by_role("region", name="First rows")
    expect(sample.get_by_role("cell", name="Lamp no. 12", exact=True)).to_be_visible()
    shift = page.evaluate("window.__shiftOfAll")
    page.get_by_label("Delimiter").select_option(label="Comma")
    expect(page.get_by_text("Line 2: has 2 cells, but there are 1 columns")).to_be_visible()
    ann.moves_little(since=shift)
    _picture(page, "sheets new local 1440")
    page.reload()
    page.unroute_all(behavior="wait")
    expect(page.get_by_text(re.compile(r"8\.4 MB of 9\.0 MB have come, and are kept"))).to_be_visible()
    expect(page.get_by_role("list", name="Activities")).to_contain_text("choose the file again to go on")
    page.get_by_label("Choose prices.csv again to go on where it stopped").set_input_files(file)
    expect(page.get_by_text(re.compile("it has come"))).to_be_visible()
    ann.moves_little()
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
    expect(page.get_by_role("combobox", name="Price", exact=True)).to_have_value("Price")
    page.get_by_label("Brand").select_option(label="EAN")
    expect(page.get_by_text("Looks up 121 rows at 1 provider; the pace is known once rows")).to_be_visible()
    _picture(page, "sheets new mapped 1440")
    ann.axe()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", name="prices.csv", level=1)).to_be_visible()
    expect(page.get_by_role("region", name="Why it waits")).to_contain_text("no running worker serves queue")
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_be_visible()
    _work(site)
    expect(page.get_by_role("button", name="Not found 120")).to_be_visible()
    # The rows in view are loaded once more after the job has ended: none still says that it waits.
    expect(page.get_by_role("grid").get_by_text("Waiting")).to_have_count(0)
    _picture(page, "sheet done 1440")
    _see_the_job(page)


def _see_the_job(page: Page) -> None:
    """A sheet has all that a job has."""
    tabs = page.get_by_role("tab")
    expect(tabs).to_have_text(["Grid", "Overview", "Items", "Pending", "Timeline", "Exports", "File", "Record"])
    page.get_by_role("tab", name="Overview").click()
    expect(page.get_by_role("group", name="Steps of the job")).to_be_visible()
    page.get_by_role("link", name="120 not found", exact=True).click()
    expect(page.get_by_role("tab", name="Items")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("region", name="Items", exact=True).get_by_text("Not found").first).to_be_visible()
    page.get_by_role("tab", name="Timeline").click()
    expect(page.get_by_role("figure", name="Timeline of the job")).to_be_visible()
    page.get_by_role("tab", name="Record").click()
    expect(page.get_by_role("region", name="Attempts")).to_be_visible()
    page.get_by_role("tab", name="Grid").click()


def _export(site: Site, page: Page) -> None:
    page.get_by_role("button", name="Export", exact=True).click()
    page.get_by_role("menuitem", name="CSV").click()
    _work(site)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert "Lamp no. 120" in Path(download.value.path()).read_text("utf-8")
    page.get_by_role("button", name="Link", exact=True).click()
    dialog = page.get_by_role("dialog", name="A link to the file")
    link = dialog.locator("code").inner_text()
    assert "Lamp no. 120" in httpx.get(link, follow_redirects=True).text  # without a session
    dialog.get_by_role("button", name="Close").click()
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
