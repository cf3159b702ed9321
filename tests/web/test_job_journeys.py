"""Jobs: cancelled and taken back, the graph with the numbers of the database, why something waits, and what failed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import httpx
from playwright.sync_api import Page, expect

from forebay import Context, Pipeline, Retry, TransientError, Wait
from forebay.testing import testbed
from tests.crash._rig import EFFECTS, Workers
from tests.crash._steps import slow
from tests.web._browser import Watched
from tests.web._pages import job_with_a_failure, waiting_job
from tests.web.conftest import Site

orders: Pipeline[str] = Pipeline("orders", str)


@orders.step(retry=Retry(attempts=4, base=3600, jitter=False))
async def act(ctx: Context, order: str) -> str | Wait:
    if order == "fails":
        raise TransientError("the line is dead")
    if order == "waits" and ctx.signal is None:
        return Wait("paid", key="7")
    return str(ctx.signal.payload) if ctx.signal else order


def test_a_job_is_paused_elsewhere_cancelled_and_taken_back(site: Site) -> None:
    job = waiting_job(site)["job"]
    ann = site.person()
    page = ann.open(f"/jobs/{job}")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    other = ann.another_tab().open(f"/jobs/{job}")
    other.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_role("button", name="Resume", exact=True)).to_be_visible()  # nobody has touched this tab
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel 40 items").click()
    page.get_by_role("button", name="Undo").last.click()
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_be_visible()
    counters = site.api().get(f"/api/jobs/{job}").json()["counters"]
    assert (counters["pending"], counters["skipped"]) == (40, 0)


_ENDED = """
select s.name, count(*) filter (where a.outcome = 'DONE') as done,
       count(*) filter (where a.outcome = 'ERROR') as failed,
       count(*) filter (where a.outcome = 'NOT_FOUND') as not_found
from forebay.attempt a join forebay.step s on s.id = a.step_id where a.job_id = $1 group by s.name
"""


def test_the_graph_has_the_numbers_of_the_database(site: Site) -> None:
    job = job_with_a_failure(site)["job"]
    ann = site.person()
    page = ann.open(f"/jobs/{job}")
    graph = page.get_by_role("group", name="Steps of the job")
    counts = {row["name"]: (row["done"], row["failed"], row["not_found"]) for row in site.sql(_ENDED, int(job))}
    assert counts == {"fetch": (1, 1, 1), "count": (1, 0, 0)}
    expect(graph).to_contain_text("fetch0 waiting0 running1 done1 failed1 not found")
    expect(graph).to_contain_text("count0 waiting0 running1 done2 skipped")
    expect(page.get_by_role("region", name="What failed")).to_contain_text("1 in fetch: Broken on purpose.")
    page.get_by_role("tab", name="Timeline").click()
    timeline = page.get_by_role("figure", name="Timeline of the job")
    expect(timeline.get_by_role("link")).to_have_text(["good", "broken", "missing"])
    expect(timeline.get_by_title("broken on purpose")).to_have_count(1)
    page.get_by_role("tab", name="Overview").click()
    graph.get_by_role("link", name=re.compile("^fetch")).click()
    items = page.get_by_role("region", name="Items", exact=True)
    expect(items.get_by_role("row")).to_have_count(3)  # the head, the failed one, and the one that was not found
    expect(page.get_by_text("Items that wait or run in fetch, or have failed there.")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary").get_by_role("region", name=f"Item 2 of job {job}")
    expect(panel).to_contain_text("Broken on purpose.")
    expect(panel.get_by_role("region", name="Steps")).to_contain_text("fetch")
    ann.axe()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    page.get_by_role("button", name="All items").click()
    expect(items.get_by_role("row")).to_have_count(4)


_ESCAPE_TWICE = """
for (const _ of [1, 2]) document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }))
"""


def test_what_is_closed_leaves_one_step_of_the_history_however_it_was_opened(site: Site) -> None:
    job = waiting_job(site)["job"]
    page = site.person().open("/jobs")
    page.get_by_role("link", name=re.compile(f"job {job}", re.IGNORECASE)).first.click()
    page.get_by_role("tab", name="Items").click()
    panel = page.get_by_role("complementary").get_by_role("region", name=f"Item 2 of job {job}")
    for close in (lambda: page.keyboard.press("Escape"), lambda: page.evaluate(_ESCAPE_TWICE)):
        page.get_by_role("link", name="Why does item 2 wait?").click()
        expect(panel).to_be_visible()
        close()
        expect(panel).to_have_count(0)
        expect(page).to_have_url(re.compile(rf"/jobs/{job}\?tab=items$"))
    page.go_back()
    expect(page).to_have_url(re.compile("/jobs$"))


def test_every_wait_has_its_reason_and_the_button_that_helps(site: Site) -> None:
    job = waiting_job(site)["job"]
    root = site.person("root")
    page = root.open(f"/jobs/{job}/items/2")
    why = page.get_by_role("region", name="Why it waits")
    expect(why).to_contain_text("no running worker serves queue pages.fetch")
    expect(why).to_contain_text("forebay worker --queues pages.fetch")
    root_api, ann = site.api("root"), site.api()
    root_api.post("/api/queues/pages.fetch/pause")
    ann.post(f"/api/jobs/{job}/pause")
    page.reload()
    expect(why).to_contain_text("The job was paused by ann")
    why.get_by_role("button", name="Resume the job").click()
    expect(why).to_contain_text("the queue pages.fetch was paused by root")
    why.get_by_role("button", name="Resume the queue").click()
    expect(why).to_contain_text("no running worker serves queue pages.fetch")
    assert ann.get(f"/api/jobs/{job}").json()["state"] in {"QUEUED", "RUNNING"}


def test_each_reason_that_can_be_helped_has_its_button(serve: Callable[..., Site]) -> None:
    site = serve(orders)
    ann = site.api()

    def submit(order: str) -> str:
        return str(ann.post("/api/jobs", json={"pipeline": "orders", "input": order}).json()["jobId"])

    async def work() -> None:
        async with testbed(site.service.dsn, [orders], migrated=True) as bed:
            await bed.run()

    fails, waits = submit("fails"), submit("waits")
    site.run(work())
    person = site.person()
    page = person.open(f"/jobs/{fails}/items/1")
    why = page.get_by_role("region", name="Why it waits")
    expect(why).to_contain_text("act: failed")
    why.get_by_text("Also", exact=True).click()  # no worker runs, which is said first
    why.get_by_role("button", name="Start it now").click()
    expect(why).to_contain_text("is not in line yet")
    site.run(work())
    expect(why).to_contain_text("(attempt 3 of 4)")  # it has failed again, and nobody has reloaded
    person.open(f"/jobs/{fails}")
    expect(why).to_contain_text("act: failed")
    expect(why.get_by_role("link", name="item 1")).to_be_visible()
    expect(why.get_by_role("button", name="Cancel the item")).to_have_count(0)  # what concerns an item is on its page

    person.open(f"/jobs/{waits}/items/1")
    why.get_by_text("Also", exact=True).click()
    why.get_by_role("button", name="Send the signal").click()
    dialog = page.get_by_role("dialog", name="Send the signal paid")
    dialog.get_by_label("Payload").fill("{")
    expect(dialog.get_by_role("button", name="Send it")).to_be_disabled()
    person.axe()
    dialog.get_by_label("Payload").fill('"by card"')
    dialog.get_by_role("button", name="Send it").click()
    expect(page.get_by_text("The signal reached 1 task.")).to_be_visible()
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(why).to_contain_text("the item was paused by ann")
    why.get_by_role("button", name="Resume the item").click()
    expect(why).not_to_contain_text("the item was paused")
    why.get_by_role("button", name="Run it here").click()  # no worker runs
    expect(page.get_by_text("Done", exact=True).first).to_be_visible()
    assert ann.get(f"/api/jobs/{waits}/items/1").json()["result"] == {"act": "by card"}

    later = submit("fails")
    site.run(work())
    person.open(f"/jobs/{later}/items/1")
    why.get_by_text("Also", exact=True).click()
    why.get_by_role("button", name="Cancel the item").click()
    expect(page.get_by_text("Skipped", exact=True).first).to_be_visible()


_LEAVE = """() => {
  Object.defineProperty(document, "hidden", {configurable: true, get: () => true});
  document.dispatchEvent(new Event("visibilitychange", {bubbles: true}));
}"""


def test_an_item_tells_its_attempts_and_what_is_done_with_it_is_undone_by_keys(serve: Callable[..., Site]) -> None:
    site = serve(orders)
    ann = site.api()
    items = ["fails", "works"]
    job = ann.post("/api/jobs", json={"pipeline": "orders", "items": items}).json()["jobId"]

    async def work() -> None:
        async with testbed(site.service.dsn, [orders], migrated=True) as bed:
            await bed.run()

    person = site.person()
    page = person.open("/jobs")
    expect(page.get_by_role("list", name="Jobs")).to_contain_text("act: no running worker serves queue orders.act")
    person.open(f"/jobs/{job}")
    graph = page.get_by_role("group", name="Steps of the job")
    expect(graph).to_contain_text("act2 waiting")
    site.run(work())
    expect(graph).to_contain_text(re.compile(r"[1-9][0-9.]*/(s|min) out"))
    ann.post(f"/api/jobs/{job}/items/1/start")
    site.run(work())

    person.open(f"/jobs/{job}/items/1")
    _reads_attempts_and_why(person)
    _undoes_a_pause(ann, page, job)
    _is_told_at_its_place_what_failed(ann, person, job)
    _takes_back_a_retry(ann, page, job)


def _reads_attempts_and_why(person: Watched) -> None:
    page = person.page
    attempts = page.get_by_role("list", name="Attempts").get_by_role("listitem")
    expect(attempts).to_have_count(2)
    expect(attempts.first).to_contain_text(re.compile(r"attempt 1 of 4.* on .*Tried again (after|at once)"))
    expect(attempts.last).to_contain_text("act, attempt 2 of 4")
    expect(attempts.last).to_contain_text("Passing error: The line is dead.")
    expect(attempts.last).to_contain_text("Tried again at its time: in ")
    person.axe()
    page.keyboard.press("w")
    why = page.get_by_role("region", name="Why it waits")
    expect(why).to_be_focused()


def _undoes_a_pause(ann: httpx.Client, page: Page, job: str) -> None:
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Resume", exact=True)).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    assert ann.get(f"/api/jobs/{job}/items/1").json()["steps"][0]["state"] == "WAITING"


def _is_told_at_its_place_what_failed(ann: httpx.Client, person: Watched, job: str) -> None:
    page = person.page
    page.get_by_role("button", name="Live").click()  # the page no longer hears of what others do
    ann.post(f"/api/jobs/{job}/items/1/cancel")
    person.allowed = {409}
    with page.expect_response(lambda answer: answer.status == 409) as refused:
        page.keyboard.press("p")
    alert = page.get_by_role("alert").filter(has_text="It was not paused.")
    expect(alert).to_contain_text(f"Request {refused.value.json()['requestId']}")
    person.axe()
    alert.get_by_role("button", name="Close").click()


def _takes_back_a_retry(ann: httpx.Client, page: Page, job: str) -> None:
    page.reload()
    expect(page.get_by_role("button", name="Run again")).to_be_visible()
    page.keyboard.press("r")
    expect(page.get_by_text("It runs again.")).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_role("button", name="Run again")).not_to_have_attribute("aria-busy", "true")
    assert ann.get(f"/api/jobs/{job}/items/1").json()["status"] == "SKIPPED"
    with page.expect_response(lambda answer: answer.url.endswith("/reprocess")):
        page.keyboard.press("r")
        page.evaluate(_LEAVE)  # it is sent at once
    assert ann.get(f"/api/jobs/{job}/items/1").json()["status"] == "PENDING"


def test_a_worker_is_killed_and_the_work_goes_on(serve: Callable[..., Site], tmp_path: Path) -> None:
    site = serve(slow)
    site.sql(EFFECTS)
    ann, workers = site.api(), Workers(site.service.dsn, tmp_path)
    gate = tmp_path / "gate"
    gate.mkdir()
    job = ann.post("/api/jobs", json={"pipeline": "slow", "input": {"number": 0, "gate": str(gate)}}).json()["jobId"]
    person = site.person()
    page = person.open(f"/jobs/{job}/items/1")
    why = page.get_by_role("region", name="Why it waits")
    expect(why).to_contain_text("no running worker serves queue slow.wait")
    person.check()
    try:
        first = workers.start()
        _until_it_is(ann, job, "running")
        page.reload()
        expect(why).to_contain_text("wait: running on")
        person.check()
        first.kill()
        _until_it_is(ann, job, "worker_lost")
        page.reload()
        expect(why).to_contain_text("is lost; it starts again")
        person.check()
        person.ignores_shift = True  # from here on the page changes: the reasons leave it when the item ends
        (gate / "open").touch()
        workers.start()
        expect(page.get_by_text("Done", exact=True).first).to_be_visible()
        expect(page.get_by_role("figure", name="Timeline of the item").get_by_title("worker lost")).to_have_count(1)
    finally:
        workers.end()


def _until_it_is(api: httpx.Client, job: str, code: str) -> None:
    """Until the first reason of the job's item has this code. Pages learn it later: a claim is no event."""
    end = time.monotonic() + 60
    while api.get(f"/api/jobs/{job}/items/1/why").json()["reasons"][0]["code"] != code:
        assert time.monotonic() < end, f"the item is not {code}"


def test_what_failed_is_grouped_by_its_reason_and_run_again(site: Site) -> None:
    job = job_with_a_failure(site)["job"]
    page = site.person().open("/dead-letters")
    group = page.get_by_role("list", name="Groups of dead letters").get_by_role("listitem")
    expect(group).to_have_count(1)
    expect(group).to_contain_text("Broken on purpose.")
    group.get_by_role("button", name="Retry 1").click()
    expect(page.get_by_text("1 item runs again.")).to_be_visible()
    page.reload()  # what is held back is sent when the page is left
    expect(page.get_by_text("Nothing has failed for good")).to_be_visible()
    site.run(site.service.work())
    expect(group.get_by_role("button", name="Retry 1")).to_be_visible()  # it failed again
    group.get_by_role("link", name="Show").click()
    page.get_by_role("region", name="Dead letters").get_by_role("link", name="2", exact=True).click()
    panel = page.get_by_role("complementary").get_by_role("region", name=f"Item 2 of job {job}")
    expect(panel.get_by_role("figure", name="Timeline of the item")).to_be_visible()
