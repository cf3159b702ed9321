"""Operations and administration: what an administrator changes, and what others do not see."""

from __future__ import annotations

import re
import zipfile
from typing import TYPE_CHECKING

import cv2
import numpy as np
from playwright.sync_api import expect

from tests.api._service import PASSWORD
from tests.web._looks_ops import WORKERS, with_findings, with_workers
from tests.web._pages import job_with_a_failure, waiting_job

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.web.conftest import Site


def test_an_administrator_pauses_a_queue_and_changes_a_weight(site: Site) -> None:
    waiting_job(site)
    root = site.person("root")
    page = root.open("/ops")
    expect(page.get_by_text("Work waits because no worker is running").first).to_be_visible()
    page.get_by_role("navigation", name="Operations").get_by_role("link", name="Queues").click()
    page.get_by_role("button", name="Pause pages.fetch").click()
    expect(page.get_by_text("pages.fetch is paused: what runs now ends")).to_be_visible()
    expect(page.get_by_role("button", name="Resume pages.fetch")).to_be_visible()
    paused = {each["queue"]: each["paused"] for each in site.api("root").get("/api/queues").json()}
    assert (paused["pages.fetch"], paused["pages.count"]) == (True, False)
    # Somebody resumes it elsewhere: the stream tells.
    site.api("root").post("/api/queues/pages.fetch/resume")
    expect(page.get_by_role("button", name="Pause pages.fetch")).to_be_visible()

    page.goto(f"{site.url}/admin/owners")
    weight = page.get_by_role("slider", name="Weight of ann")
    weight.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("50 % of the workers")).to_be_visible()
    page.get_by_role("button", name="Save the weight of ann").click()
    expect(page.get_by_text("ann has the weight 2.")).to_be_visible()
    owners = site.api("root").get("/api/owners?userId=all").json()["owners"]
    assert {each["name"]: each["weight"] for each in owners}["ann"] == 2
    page.goto(f"{site.url}/ops/audit?action=set_owner_weight")
    expect(page.get_by_role("region", name="Audit").get_by_role("row")).to_have_count(2)


def test_charts_and_attempts_have_the_numbers_of_the_database(site: Site) -> None:
    job_with_a_failure(site)
    root = site.person("root")
    page = root.open("/ops")
    chart = page.get_by_role("figure", name="Attempts per minute")
    expect(chart.locator("canvas")).to_be_visible()
    expect(chart.get_by_role("link", name="These 4 attempts")).to_be_visible()
    # A click chooses the minute, in all charts and in the URL.
    over = chart.locator(".u-over")
    box = over.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] - 4, box["y"] + 40)
    expect(page.get_by_role("heading", name="The minute")).to_be_visible()
    link = chart.get_by_role("link", name="attempt")
    said = link.inner_text()
    count = 1 if said.startswith("This ") else int(said.split()[1])
    link.click()
    rows = page.get_by_role("region", name="Attempts").get_by_role("row")
    expect(rows).to_have_count(count + 1)
    page.get_by_role("button", name="At any time").click()
    expect(rows).to_have_count(5)
    # The same numbers as tables, without the pointer.
    page.goto(f"{site.url}/ops")
    expect(chart.locator("canvas")).to_be_visible()
    page.keyboard.press("t")
    expect(page.get_by_role("region", name="Attempts per minute").get_by_role("row")).not_to_have_count(0)
    assert "table=true" in page.url
    page.get_by_role("link", name="This error").click()
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("broken on purpose")
    # Dragging zooms in, Escape shows all.
    page.goto(f"{site.url}/ops")
    box = chart.locator(".u-over").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 20, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 20, box["y"] + 40)
    page.mouse.up()
    expect(page.get_by_role("button", name="Show the whole hour")).to_be_visible()
    assert "from=" in page.url
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="The last hour")).to_be_visible()


def test_the_last_hour_is_replayed_and_controllers_are_shown(site: Site) -> None:
    minute = with_workers(site)["minute"]
    then = site.sql(
        "select ready from forebay.owner_sample s where minute = $1::text::timestamptz order by ready", minute
    )
    page = site.person("root").open("/ops/flow")
    slider = page.get_by_role("slider", name="Time")
    expect(page.get_by_text("in the last minute").first).to_be_visible()
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("ann had ")).to_be_visible()
    page.goto(f"{site.url}/ops/flow?at={minute}")
    expect(page.get_by_text(f"ann had {then[-1]['ready']} waiting and got ")).to_be_visible()
    page.get_by_role("button", name="Now").click()
    expect(page.get_by_text("in the last minute").first).to_be_visible()

    page.get_by_role("link", name="Controllers").click()
    fetch = page.get_by_role("listitem").filter(has_text="Pages, fetch")
    expect(fetch).to_contain_text("12 of 1 to 64")
    expect(fetch).to_contain_text("30 s of 30 s to 5 min, the least")
    expect(fetch.get_by_role("img", name="Lease time: 30 s now, 30 s to 42 s in the last hour")).to_be_visible()
    expect(page.get_by_text("71 % of the last attempts failed: pauses before retries are 2.3 times")).to_be_visible()
    page.keyboard.press("t")
    expect(page.get_by_role("region", name="Controllers").get_by_role("row")).to_have_count(3)

    page.get_by_role("link", name="Queues").click()
    parked = page.get_by_role("listitem").filter(has_text="caption")
    expect(parked).to_contain_text("The key of the service is missing. It is tried again in ")
    expect(page.get_by_role("listitem").filter(has_text="Pages, fetch")).to_contain_text("the oldest ready job is from")


def test_an_administrator_sets_limits_and_invites_with_a_code(site: Site) -> None:
    waiting_job(site)
    page = site.person("root").open("/admin/owners")
    limits = page.get_by_role("button", name="Limits of ann")
    limits.click()
    page.get_by_label("Open jobs").fill("7")
    page.get_by_role("button", name="Save the limits").click()
    expect(page.get_by_text("The limits of ann are changed.")).to_be_visible()
    expect(page.get_by_text("1 of 7 open jobs (own limit)")).to_be_visible()
    expect(limits).to_be_focused()
    limits.click()
    page.get_by_label("Open jobs").fill("")
    page.get_by_role("button", name="Save the limits").click()
    expect(page.get_by_text("(own limit)")).to_have_count(0)
    (ann,) = site.api("root").get("/api/owners?userId=all&prefix=ann").json()["owners"]
    assert ann["openJobs"]["isDefault"]

    page.goto(f"{site.url}/admin/invitations")
    page.get_by_role("button", name="Invite a user").click()
    code = page.get_by_role("img", name="as a QR code")
    link = page.get_by_role("status", name="New invitation").locator("code").inner_text()
    assert link.startswith(f"{site.url}/sign-in#")
    assert _decoded(code.screenshot()) == link
    revoke = page.get_by_role("list", name="Open invitations").get_by_role("button", name="Revoke")
    expect(revoke).to_be_visible()
    page.locator("h1").focus()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(revoke).to_be_focused()
    page.goto(f"{site.url}/admin/users")
    expect(page.get_by_role("list", name="Users").get_by_role("listitem")).to_have_count(3)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/admin/owners\?q=ann$"))


def _decoded(picture: bytes) -> str:
    """What the QR code in a picture says."""
    pixels = cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_GRAYSCALE)
    assert pixels is not None
    text, _, _ = cv2.QRCodeDetector().detectAndDecode(pixels)
    return str(text)


def test_findings_have_a_command_or_a_button(site: Site) -> None:
    with_findings(site)
    page = site.person("root").open("/admin")
    expect(page.get_by_text("4 findings")).to_be_visible()
    expect(page.get_by_role("button", name="Copy the command for schema")).to_be_visible()
    page.get_by_role("button", name="Resume pages.count").click()
    expect(page.get_by_text("pages.count runs again.")).to_be_visible()
    expect(page.get_by_text("3 findings")).to_be_visible()
    paused = {each["queue"]: each["paused"] for each in site.api("root").get("/api/queues").json()}
    assert paused["pages.count"] is False


def test_an_administrator_needs_no_pointer(site: Site) -> None:
    waiting_job(site)
    root = site.person("root")
    root.allowed = {404}  # this API examines no installation
    page = root.open("/")
    expect(page.get_by_role("heading", name="Home", level=1)).to_be_attached()
    page.locator("h1").focus()
    page.keyboard.press("g")
    page.keyboard.press("o")
    expect(page.get_by_role("heading", name="Operations", level=1)).to_be_visible()
    tab_to(page, page.get_by_role("navigation", name="Operations").get_by_role("link", name="Queues"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("list", name="Queues")).to_be_visible()
    tab_to(page, page.get_by_role("button", name="Pause pages.fetch"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("pages.fetch is paused")).to_be_visible()
    resume = page.get_by_role("button", name="Resume pages.fetch")
    expect(resume).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Pause pages.fetch")).to_be_focused()

    page.keyboard.press("Control+k")
    page.keyboard.type("Administration")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Administration", level=1)).to_be_visible()
    tab_to(page, page.get_by_role("link", name="Owners"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("button", name="Limits of ann"))
    page.keyboard.press("Enter")
    field = page.get_by_label("Submits a minute")
    tab_to(page, field)
    page.keyboard.type("50")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The limits of ann are changed.")).to_be_visible()
    expect(page.get_by_role("button", name="Limits of ann")).to_be_focused()


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until it has the focus."""
    target.wait_for()
    for _ in range(80):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {target}")


FOR_ALL = ("/ops", "/ops/queues", "/ops/lanes", "/ops/schedules", "/ops/attempts", "/ops/audit", "/ops/storage")
FOR_ADMINISTRATORS = (
    "/ops/flow", "/ops/pipelines/pages", "/ops/workers", "/ops/workers/mill:1", "/ops/controllers", "/ops/limits",
    "/admin", "/admin/users", "/admin/invitations", "/admin/owners", "/admin/settings",
)  # fmt: skip


def test_a_user_sees_own_work_and_no_administration(site: Site) -> None:
    items = [{"title": "his good one"}, {"title": "broken"}]
    site.api("bob").post("/api/jobs", json={"pipeline": "pages", "items": items})
    site.run(site.service.work())
    site.api("bob").post("/api/jobs", json={"pipeline": "pages", "items": items})
    site.sql(WORKERS, "{}")
    ann = site.person()
    page = ann.open("/ops")
    expect(page.get_by_text("Nothing waits.").first).to_be_visible()
    places = page.get_by_role("navigation", name="Operations")
    expect(places.get_by_role("link")).to_have_count(len(FOR_ALL))
    expect(page.get_by_role("link", name="Administration")).to_have_count(0)
    for path in FOR_ALL:
        page.goto(f"{site.url}{path}")
        expect(page.locator("[aria-busy=true], [role=status]:has-text('Loading')")).to_have_count(0)
        text = page.locator("main").inner_text()
        assert not [word for word in ("bob", "broken", "mill:1") if word in text], f"{path}: {text}"
    for path in FOR_ADMINISTRATORS:
        page.goto(f"{site.url}{path}")
        expect(page.get_by_role("heading", name="Not here")).to_be_visible()
    # The app does not even ask for what is not hers.
    assert not [each for each in ann.requests if "userId=all" in each or "/api/controllers" in each]


def test_a_person_chooses_the_start_page_and_takes_everything_along(site: Site) -> None:
    job_with_a_failure(site)
    page = site.person().open("/account")
    page.get_by_label("Start page").select_option("Jobs")
    with page.expect_response(lambda answer: answer.request.method == "PUT" and answer.url.endswith("/preferences")):
        page.get_by_label("Theme").select_option("Dark")
    page.goto(f"{site.url}/")
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()
    elsewhere = site.person().open("/account")  # another browser
    expect(elsewhere.locator("html")).to_have_attribute("data-theme", "dark")
    expect(elsewhere.get_by_label("Start page")).to_have_value("/jobs")
    page.get_by_role("link", name="Home").first.click()
    expect(page.get_by_role("heading", name="Home", level=1)).to_be_attached()
    page.set_viewport_size({"width": 360, "height": 780})
    page.goto(f"{site.url}/account?tab=data")
    expect(page.get_by_role("tab", name="Your data")).to_be_in_viewport(ratio=0.9)  # its line hangs over the border
    with page.expect_download() as download:
        page.get_by_role("link", name="Download everything").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert archive.testzip() is None
        assert len(archive.read("items.jsonl").splitlines()) == 3
    page.get_by_role("tab", name="Save from elsewhere").click()
    script = page.get_by_role("link", name="Save to forebay").get_attribute("href") or ""
    assert script.startswith("javascript:")
    assert "%2Fsave" in script


def test_a_person_makes_a_token_and_changes_the_password(site: Site) -> None:
    ann = site.person()
    ann.allowed = {403, 422}
    page = ann.open("/account?tab=tokens")
    page.get_by_label("Name of a new token").fill("phone")
    page.get_by_role("button", name="Make the token").click()
    secret = page.get_by_role("status", name="New token").locator("code").inner_text()
    answer = site.api().get("/api/me", headers={"authorization": f"Bearer {secret}"})
    assert (answer.json()["name"], answer.json()["kind"]) == ("ann", "token")
    page.get_by_role("button", name="Revoke phone").click()
    expect(page.get_by_text("phone no longer works.")).to_be_visible()

    page.get_by_role("tab", name="Password").click()
    page.get_by_label("Password now").fill("wrong")
    page.get_by_label("New password").fill("another long password")
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Password now").fill(PASSWORD)
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_text("The password is changed.")).to_be_visible()
