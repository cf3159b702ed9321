"""What the web app asks first: the caller, features, limits and the pipelines with their steps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from forebay.packages import package_of
from forebay.pipelines.bookmarks.steps import bookmarks
from forebay.pipelines.sheets.settings import SheetsSettings
from tests.api._service import Service, pages, serving


async def test_the_app_is_told_all_that_its_first_page_needs(service: Service) -> None:
    async with service.signed_in("ann") as browser:
        app = (await browser.get("/api/app")).json()
        me = (await browser.get("/api/me")).json()
    assert app["me"] == me
    assert (me["name"], me["kind"]) == ("ann", "session")
    ends = datetime.fromisoformat(me["expiresAt"])
    assert timedelta(days=13) < ends - datetime.now(UTC) <= timedelta(days=14)
    assert {"pending", "kickoff", "sheets", "browser", "caption", "ocr"} <= app["features"].keys()
    assert app["limits"]["page"] == 500
    assert app["problems"] == 0
    (found,) = app["pipelines"]
    assert (found["name"], found["title"], found["noun"], found["package"]) == ("pages", "Pages", "item", None)


async def test_a_token_has_no_session_that_ends(service: Service) -> None:
    async with service.client("ann") as client:
        assert (await client.get("/api/app")).json()["me"]["expiresAt"] is None


async def test_what_is_switched_off_is_said(dsn: str) -> None:
    given = SheetsSettings(enabled=False)
    async with (
        serving(dsn, packages=[given], pending_enabled=False, kickoff_enabled=False) as service,
        service.client("ann") as client,
    ):
        features = (await client.get("/api/app")).json()["features"]
    assert [features[name] for name in ("pending", "kickoff", "sheets")] == [False, False, False]


async def test_queues_that_need_set_up_are_counted(service: Service) -> None:
    await service.admin.execute(
        "update forebay.queue set parked = 'no Chromium' where name = $1", pages.steps["fetch"].queue
    )
    async with service.client("ann") as client:
        assert (await client.get("/api/app")).json()["problems"] == 1


async def test_steps_are_listed_with_what_they_follow(dsn: str) -> None:
    async with serving(dsn, bookmarks) as service, service.client("ann") as client:
        listed = {each["name"]: each for each in (await client.get("/api/pipelines")).json()}
    found = listed["bookmarks"]
    assert (found["package"], found["noun"], found["internal"]) == ("bookmarks", "bookmark", False)
    assert [step["name"] for step in found["steps"]] == list(bookmarks.steps)
    for step in found["steps"]:
        declared = bookmarks.steps[step["name"]]
        assert step["after"] == [parent.name for parent in declared.after]
        assert (step["optional"], step["kind"], step["queue"]) == (declared.optional, declared.kind, declared.queue)
        assert step["retry"] == {"attempts": declared.retry.attempts, "notFound": declared.retry.not_found}
        assert "\n" not in step["doc"]
    assert [step["after"] for step in listed["pages"]["steps"]] == [[], ["fetch"]]


def test_a_pipeline_of_a_module_has_no_package() -> None:
    assert package_of(bookmarks) == "bookmarks"
    assert package_of(pages) is None


@pytest.mark.parametrize("path", ["/api/app", "/api/me", "/api/jobs"])
async def test_who_is_not_signed_in_is_told_where_to(service: Service, path: str) -> None:
    async with service.client() as nobody:
        answer = await nobody.get(path)
    assert (answer.status_code, answer.json()["signIn"]) == (401, "/sign-in")
