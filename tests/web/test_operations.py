"""Operations and administration: what an administrator changes, and what others do not see."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.api._service import PASSWORD
from tests.web._pages import job_with_a_failure, waiting_job
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
    page.locator("h1").click()
    page.keyboard.press("t")
    expect(page.get_by_role("region", name="Attempts per minute").get_by_role("row")).not_to_have_count(0)
    assert "table=true" in page.url
    page.get_by_role("link", name="These errors").click()
    rows = page.get_by_role("region", name="Attempts").get_by_role("row")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("broken on purpose")


def test_a_user_sees_own_work_and_no_administration(site: Site) -> None:
    site.api("bob").post("/api/jobs", json={"pipeline": "pages", "items": [{"title": "b"}]})
    ann = site.person()
    page = ann.open("/ops")
    expect(page.get_by_text("Nothing waits.").first).to_be_visible()
    places = page.get_by_role("navigation", name="Operations")
    expect(places.get_by_role("link", name="Queues")).to_be_visible()
    expect(places.get_by_role("link", name="Workers")).to_have_count(0)
    expect(page.get_by_role("link", name="Administration")).to_have_count(0)
    page.goto(f"{site.url}/admin/users")
    expect(page.get_by_role("heading", name="Not here")).to_be_visible()


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
