"""A token that may write and not read is told nothing of what is stored, whatever it calls."""

from __future__ import annotations

from typing import Any

from forebay import Context, Pipeline
from forebay.engine.db import registry
from forebay.errors import PermanentError
from forebay.pipelines.bookmarks.imports import bookmark_imports
from forebay.pipelines.bookmarks.step_bookmark import Link
from forebay.pipelines.sheets.exports import sheet_exports
from forebay.pipelines.sheets.intake import sheet_scans
from tests.api._package_routes import QUERIES, make_things
from tests.api._service import Service, serving
from tests.api.test_access import MATRIX
from tests.pipelines._sheets import add_sheet

MARK = "4f1c-not-for-writers"
URL = f"https://example.org/{MARK}"
TASKS = "/api/v1/bookmarks/add/tasks"
READS = {"GET", "HEAD", "OPTIONS"}
UPLOADING = {"upload-length": "5", "upload-offset": "0", "content-type": "application/offset+octet-stream"}

Ids = dict[str, str]

marks: Pipeline[Link] = Pipeline("bookmarks", Link)


@marks.step()
async def screenshot(ctx: Context, link: Link) -> str:
    raise PermanentError(f"{link.url} cannot be looked at")


async def _own(service: Service) -> tuple[Ids, dict[str, Ids]]:
    """The ids of what ann has, all of which contains the mark; and those of the paths with this second part."""
    for pipeline in (bookmark_imports, sheet_exports, sheet_scans):
        await registry.register(service.admin, pipeline.definition())
    async with service.client("ann") as ann:
        body = {"pipeline": "pages", "input": {"title": MARK}, "meta": {"m": MARK}}
        job = (await ann.post("/api/jobs", json=body)).json()["jobId"]
        ids = [
            (await ann.post("/api/bookmarks", json={"url": f"{URL}/{n}", "note": MARK, "tags": [MARK]})).json()
            for n in range(2)
        ]
        category = (await ann.post("/api/bookmarks/categories", json={"name": MARK})).json()["id"]
    first, second = (each["bookmark"]["id"] for each in ids)
    await service.admin.execute("update forebay.bookmark set duplicate_of = $1 where id = $2", int(first), int(second))
    sheet = await add_sheet(service.admin, [MARK, "b"], [], name=f"{MARK}.csv")
    upload = "select id from forebay.add_sheet(forebay.owner_id('ann'), $1, 5, '{}')"
    upload_id = str(await service.admin.fetchval(upload, MARK))
    await service.admin.execute("insert into forebay.catalogue (owner_id, name) select forebay.owner_id('ann'), 'ours'")
    things, places = await make_things(service, MARK)
    own = {"job_id": job, "bookmark_id": second, "category_id": category, "upload_id": upload_id, "name": "ours",
           "sheet": str(sheet), "item_id": "1", "token_id": "1", "session_id": "1", "invitation_id": "1"}  # fmt: skip
    return things | own, places | {"sheets": {"job_id": own["sheet"]}}


def _calls(ids: Ids, elsewhere: dict[str, Ids]) -> list[tuple[str, str, Any]]:
    """Every route that writes, merges and deletions last; and some calls that are wrong."""
    found = [
        (method, path, body)
        for (method, path), (_, body) in MATRIX.items()
        if method not in READS or path.endswith("/queue-consumer")
    ]
    found.sort(key=lambda call: (call[0] == "DELETE", call[1].endswith("/merge")))
    own_sheet = ids | {"job_id": ids["sheet"]}
    places = [
        (method, _place(path, own_sheet if "export" in path else ids | elsewhere.get(path.split("/")[2], {})), body)
        for method, path, body in found
    ]
    shot = {"id": int(ids["bookmark_id"]), "userId": "ann"}
    wrong: list[tuple[str, str, Any]] = [
        ("PATCH", f"/api/sheets/{ids['sheet']}", {"columns": {"price": "nowhere"}}),
        (
            "POST",
            f"{TASKS}/screenshot",
            {"id": int(ids["bookmark_id"]), "url": "https://example.org/", "userId": "ann"},
        ),
        ("POST", f"{TASKS}/screenshot", shot | {"url": f"{URL}/1"}),
    ]
    return wrong + places


def _place(path: str, ids: Ids) -> str:
    return path.format(**ids) + QUERIES.get(path, "").format(**ids)


async def test_a_token_that_may_only_write_is_told_nothing_of_what_is_stored(dsn: str) -> None:
    succeeded: set[str] = set()
    async with serving(dsn, marks) as service:
        ids, elsewhere = await _own(service)
        await service.admin.execute("update forebay.api_token set scopes = '{write}'")
        for who in ("service", "ann"):
            async with service.client(who) as client:
                for method, place, body in _calls(ids, elsewhere):
                    headers = UPLOADING if "/uploads" in place else None
                    answer = await client.request(method, place, json=body, headers=headers)
                    succeeded |= {place} if answer.is_success else set()
                    shown = f"{answer.text} {dict(answer.headers)}"
                    assert MARK not in shown, (who, method, place, shown)
    assert {f"/api/jobs/{ids['job_id']}/kickoff", f"/api/sheets/{ids['sheet']}", f"{TASKS}/queue-consumer"} <= succeeded


async def test_it_is_told_that_a_step_has_failed_and_not_why(dsn: str) -> None:
    async with serving(dsn, marks) as service:
        ids, _ = await _own(service)
        body = {"id": int(ids["bookmark_id"]), "url": f"{URL}/1", "userId": "ann"}
        await service.admin.execute("update forebay.api_token set scopes = '{write}'")
        async with service.client("service") as client:
            report = (await client.post(f"{TASKS}/queue-consumer")).json()
            failed = await client.post(f"{TASKS}/screenshot", json=body)
            column = await client.patch(f"/api/sheets/{ids['sheet']}", json={"columns": {"price": "nowhere"}})
            kicked = (await client.post(f"/api/jobs/{ids['job_id']}/kickoff")).json()
    assert (failed.status_code, failed.json()["detail"]) == (502, "a step has failed")
    assert (report["failedCount"], [each.get("error") for each in report["results"]]) == (2, [None, None])
    reason = "columns.price: names a column that the file does not have"
    assert (column.status_code, column.json()["detail"]) == (422, reason)
    assert kicked["job"] == {"id": ids["job_id"]}


async def test_it_makes_no_address_that_shows_what_is_stored(dsn: str) -> None:
    async with serving(dsn, marks) as service:
        ids, _ = await _own(service)
        await service.admin.execute("update forebay.api_token set scopes = '{write}'")
        async with service.client("ann") as client:
            refused = await client.post(f"/api/search/saved/{ids['search_id']}/feed")
    assert (refused.status_code, refused.json()["detail"]) == (403, "this token has no scope 'read'")
