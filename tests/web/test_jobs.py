"""Jobs: folded, pending, failed and run again, and on record."""

# demands: S5-138, S5-139, S5-151, S5-152, S5-153, S5-154, S5-155, S5-156, S5-157, S5-158, S5-159, S5-160, S5-161
# demands: S5-162, S5-163, S5-164, S5-165, S5-166, S5-178

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.cli._run import until
from tests.web._pages import job_with_a_failure
from tests.web.conftest import Site

COLUMNS = [
    "Select", "Item ID", "Job ID", "Title/Brand", "Status", "Attempts", "LockedBy", "UpdatedAt", "JobType", "Progress",
    "Actions",
]  # fmt: skip


def _submit(site: Site, count: int) -> str:
    items = [{"title": f"page {n}"} for n in range(1, count + 1)]
    made = site.api().post("/api/jobs", json={"pipeline": "pages", "items": items})
    return str(made.json()["jobId"])


def test_pending_items_are_filtered_paused_cancelled_and_run_again(site: Site) -> None:
    ended = job_with_a_failure(site)["job"]
    job, _ = _submit(site, 20), _submit(site, 200)
    ann = site.person()
    page = ann.open("/pending")
    table = page.get_by_role("region", name="Pending items")
    expect(table.get_by_role("columnheader")).to_have_text(COLUMNS)
    page.get_by_role("button", name="Load more").scroll_into_view_if_needed()
    expect(table.get_by_role("row")).to_have_count(221)  # the second page comes when its place is seen
    page.get_by_label("JobId", exact=True).fill(job)
    page.keyboard.press("Enter")
    expect(table.get_by_role("row")).to_have_count(21)  # of so few, a look at each element takes little
    for name in ("JobType", "JobId", "From", "To"):
        expect(page.get_by_label(name, exact=True)).to_be_visible()
    for status in ("Waiting", "Running"):
        expect(page.get_by_role("button", name=status, exact=True)).to_have_attribute("aria-pressed", "true")
    first = page.get_by_label(f"Select item 1 of job {job}", exact=True)
    first.scroll_into_view_if_needed()
    place = first.bounding_box()
    page.get_by_role("button", name="Why does item 1 wait?").click()
    panel = page.get_by_role("complementary").get_by_role("region", name=f"Item 1 of job {job}")
    expect(panel.get_by_role("region", name="Why it waits")).to_contain_text("no running worker serves queue")
    assert first.bounding_box() == place, "the rows stay where they are"
    panel.get_by_role("button", name="Close").click()
    site.api().post(f"/api/jobs/{job}/pause")
    expect(table.get_by_title("The job is paused").first).to_be_visible()
    first.check()
    selected = page.get_by_role("region", name="Selected items")
    _select_ranges(page, job)
    first.check()
    expect(selected).to_contain_text("This item is open: it runs anyway.")
    expect(selected.get_by_role("button", name="Reprocess selected")).to_be_disabled()
    ann.axe()
    selected.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("1 item cancelled.")).to_be_visible()
    expect(first).to_have_count(0)
    page.get_by_label("JobId", exact=True).fill(ended)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    page.get_by_role("button", name="Error", exact=True).click()
    _filter_ended(page, ended)
    page.get_by_label(f"Select item 2 of job {ended}", exact=True).check()
    with page.expect_response(lambda answer: answer.url.endswith("/reprocess")):  # held back while it can be undone
        selected.get_by_role("button", name="Reprocess selected").click()
        expect(page.get_by_text("1 item runs again.")).to_be_visible()
    page.get_by_role("link", name=f"Go to Job {ended}").first.click()
    expect(page).to_have_url(re.compile(rf"/jobs/{ended}"))
    page.get_by_role("tab", name="Pending").click()
    expect(table.get_by_role("columnheader")).to_have_text(COLUMNS)
    page.get_by_label("To", exact=True).fill("2020-01-01")
    expect(page.get_by_text("Nothing was updated in these days")).to_be_visible()


def _select_ranges(page: Page, job: str) -> None:
    """From the first item, which is selected, by mouse and by keys; nothing is selected at the end."""
    selected = page.get_by_role("region", name="Selected items")
    page.get_by_label(f"Select item 4 of job {job}", exact=True).click(modifiers=["Shift"])
    expect(selected).to_contain_text("4 items selected")
    for key in ("j", "x", "j", "j", "Shift+X", "*", "*"):
        page.keyboard.press(key)
    expect(selected).to_have_count(0)
    for key in ("x", "k", "Shift+X"):
        page.keyboard.press(key)
    expect(selected).to_contain_text("2 items selected")
    page.keyboard.press("*")
    page.keyboard.press("*")


def _filter_ended(page: Page, ended: str) -> None:
    failed = page.get_by_label(f"Select item 2 of job {ended}", exact=True)
    expect(failed).to_be_visible()
    page.get_by_label("JobType", exact=True).select_option(label="Sheets")
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    page.get_by_label("JobType", exact=True).select_option(label="All")
    page.get_by_label("To", exact=True).fill("2020-01-01")
    expect(failed).to_have_count(0)
    page.get_by_label("To", exact=True).fill("")


def test_a_group_of_dead_letters_says_what_its_retry_has_become(site: Site) -> None:
    job_with_a_failure(site)
    ann = site.person()
    ann.page.clock.install()
    page = ann.open("/dead-letters")
    groups = page.get_by_role("list", name="Groups of dead letters")
    retry = groups.get_by_role("listitem").first.get_by_role("button", name="Retry 1")
    retry.click()
    expect(page.get_by_text("1 item runs again.")).to_be_visible()
    page.keyboard.press("u")
    expect(retry).to_be_enabled()
    _send_what_is_held(page)
    assert not [request for request in ann.requests if request.endswith("/reprocess")]
    retry.click()
    expect(page.get_by_text("1 item runs again.")).to_be_visible()
    _send_what_is_held(page)
    expect(groups.get_by_text("1 item ran again: 0 done, 1 still open.")).to_be_visible()
    site.run(site.service.work())
    expect(groups.get_by_text("1 item ran again: 0 done, 1 failed again.")).to_be_visible()
    ann.axe()


def _send_what_is_held(page: Page) -> None:
    """The time for Undo is over."""
    page.clock.fast_forward(6100)


def test_the_letters_of_a_group_run_again_one_some_and_all(site: Site) -> None:
    made = site.api().post("/api/jobs", json={"pipeline": "pages", "items": [{"title": "broken"}] * 5})
    job = made.json()["jobId"]
    site.run(site.service.work())
    site.sql("update forebay.dead_letter set reason = 'no stamp' where n = 5")
    ann = site.person()
    ann.page.clock.install()
    page = ann.open("/dead-letters")
    groups = page.get_by_role("list", name="Groups of dead letters").get_by_role("listitem")
    expect(groups).to_have_count(2)
    groups.filter(has_text="Broken on purpose.").get_by_role("link", name="Show").click()
    table = page.get_by_role("region", name="Dead letters")
    rows = table.get_by_role("row")
    expect(rows).to_have_count(5)  # with the titles
    expect(table).not_to_contain_text("no stamp")
    page.get_by_role("button", name=f"Retry item 4 of job {job}").click()
    expect(page.get_by_text("1 item runs again.")).to_be_visible()
    _send_what_is_held(page)
    expect(rows).to_have_count(4)
    expect(table).to_be_focused()
    for key in ("j", "x", "j", "Shift+X"):
        page.keyboard.press(key)
    selected = page.get_by_role("region", name="Selected dead letters")
    expect(selected).to_contain_text("2 letters selected")
    page.get_by_label(f"Select item 1 of job {job}").click(modifiers=["Shift"])
    expect(selected).to_contain_text("3 letters selected")
    assert page.evaluate("getSelection().toString()") == ""
    ann.axe()
    page.keyboard.press("r")
    expect(page.get_by_text("3 items run again.")).to_be_visible()
    _send_what_is_held(page)
    group = page.get_by_role("region", name="The group")
    expect(group).to_contain_text("3 items ran again: 0 done, 3 still open.")
    expect(page.get_by_text("Nothing of this kind is left")).to_be_visible()
    site.run(site.service.work())
    expect(group).to_contain_text("3 items ran again: 0 done, 3 failed again.")
    group.get_by_role("button", name="Retry 4").click()
    expect(page.get_by_text("4 items run again.")).to_be_visible()
    _send_what_is_held(page)
    expect(group).to_contain_text("4 items ran again: 0 done, 4 still open.")
    site.run(site.service.work())
    page.get_by_role("link", name="All groups").click()
    page.get_by_role("button", name="Retry all").click()
    dialog = page.get_by_role("dialog", name="Retry all dead letters")
    expect(dialog).to_contain_text("5 items of 1 job run again")
    ann.axe()
    dialog.get_by_role("button", name="Retry 5 items").click()
    expect(dialog).to_have_count(0)
    _send_what_is_held(page)
    until(lambda: site.api().get("/api/dead-letters").json()["deadLetters"] == [])


def test_jobs_of_one_item_are_folded_and_a_record_is_printed_and_saved(site: Site) -> None:
    job = job_with_a_failure(site)["job"]
    for _ in range(3):
        _submit(site, 1)
    ann = site.person()
    page = ann.open("/jobs")
    jobs = page.get_by_role("list", name="Jobs")
    expect(jobs.get_by_text("3 items", exact=True)).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(jobs.get_by_role("listitem")).to_have_count(4)  # all of that hour, one by one
    expect(page.get_by_label("Also jobs of one item one by one")).to_be_checked()
    ann.open(f"/jobs/{job}?tab=record")
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    rows = Path(download.value.path()).read_text("utf-8").splitlines()
    assert rows[0] == "at,kind,who,what,item,attempt,outcome,reason"
    assert [row for row in rows if ",attempt," in row and ",ERROR,broken on purpose" in row]
    page.emulate_media(media="print")
    expect(page.get_by_role("button", name="CSV")).to_have_count(0)
    expect(page.get_by_role("region", name="Attempts")).to_be_visible()
    printed = page.evaluate("getComputedStyle(document.querySelector('table time'), '::after').content")
    assert re.search(r"\(20\d\d-", printed)


def test_several_jobs_are_paused_taken_back_and_cancelled_at_once(site: Site) -> None:
    first, second, third = [_submit(site, 2) for _ in range(3)]
    ann = site.person()
    page = ann.open("/jobs")
    page.get_by_label(f"Select job {third}").check()
    page.get_by_label(f"Select job {first}").click(modifiers=["Shift"])
    selected = page.get_by_role("region", name="Selected jobs")
    expect(selected).to_contain_text("3 jobs selected")
    expect(selected.get_by_role("button", name=re.compile("^(Resume|Retry)"))).to_have_count(0)
    ann.axe()
    selected.get_by_role("button", name="Pause 3").click()
    expect(page.get_by_text("3 jobs paused.")).to_be_visible()
    expect(page.get_by_role("list", name="Jobs").get_by_text("Paused", exact=True)).to_have_count(3)
    page.keyboard.press("u")
    expect(page.get_by_role("list", name="Jobs").get_by_text("Paused", exact=True)).to_have_count(0)
    page.get_by_label(f"Select job {second}").check()
    selected.get_by_role("button", name="Cancel 1").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel 2 items").click()
    expect(page.get_by_text("1 job cancelled.")).to_be_visible()
    states = [site.api().get(f"/api/jobs/{job}").json()["state"] for job in (first, second, third)]
    assert (states[1], "CANCELLED" in (states[0], states[2])) == ("CANCELLED", False)
