"""Who may do what: every route and every kind of caller; and the same rules in the database, whatever a route does."""

# demands: S1-116, S2-35, S2-61, S2-70, S2-82, S2-84, S2-85, S2-86, S2-88, S5-85, S5-145, S5-149, S5-174

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

import asyncpg
import pytest

from forebay.engine.db import registry
from forebay.engine.maintenance.schedules import put_schedule
from forebay.identity.logins import ROLES
from forebay.pipelines.bookmarks.imports import bookmark_imports
from forebay.pipelines.bookmarks.steps import bookmarks
from forebay.pipelines.sheets.exports import sheet_exports
from forebay.pipelines.sheets.intake import sheet_scans
from tests.api._package_routes import QUERIES, ROUTES, make_things
from tests.api._service import Page, Service, pages, put_file, serving
from tests.pipelines._sheets import add_sheet

CALLERS = ("nobody", "ann", "bob", "root", "service", "revoked")

# What each caller gets: nobody, the owner ann, another owner, an administrator, the service for ann, a revoked token.
_PRIVATE = (401, 200, 404, 200, 200, 401)  # something of ann's
_NO_SHEET = (401, 409, 404, 409, 409, 401)  # the same, of a job that has none: test_exports.py has those that do
_NO_PICTURE = (401, 404, 404, 404, 404, 401)  # test_files.py has those that are
_OWN = (401, 200, 200, 200, 200, 401)  # everyone's own
_ADMIN = (401, 403, 403, 200, 403, 401)
_PERSON = (401, 403, 403, 403, 403, 401)  # these callers are tokens: only who has signed in may
_OPEN = (200,) * 6

_MINE = (401, 200, 404, 404, 200, 401)  # administrators have bookmarks of their own
_TASKS = "/api/v1/bookmarks/add/tasks"
_ONE_STEP = {"id": 1, "url": "https://example.org/", "userId": "ann"}

_BOOKMARKS: dict[tuple[str, str], tuple[tuple[int, ...], Any]] = {
    ("POST", "/api/bookmarks"): ((401, 201, 201, 201, 200, 401), {"url": "https://example.org/new"}),
    ("GET", "/api/bookmarks"): (_OWN, None),
    ("GET", "/api/bookmarks/tags"): (_OWN, None),
    ("GET", "/api/bookmarks/facets"): (_OWN, None),
    ("POST", "/api/bookmarks/bulk"): (_OWN, {"filter": {}, "do": "unarchive"}),
    ("GET", "/api/bookmarks/categories"): (_OWN, None),
    ("POST", "/api/bookmarks/categories"): ((401, 201, 201, 201, 200, 401), {"name": "new"}),
    ("PUT", "/api/bookmarks/categories/{category_id}"): (_MINE, {"name": "other"}),
    ("DELETE", "/api/bookmarks/categories/{category_id}"): ((401, 204, 404, 404, 404, 401), None),
    ("GET", "/api/bookmarks/export"): (_OWN, None),
    ("POST", "/api/bookmarks/import"): ((401, 415, 415, 415, 415, 401), {}),
    ("POST", "/api/bookmarks/import/preview"): ((401, 415, 415, 415, 415, 401), {}),
    ("GET", "/api/bookmarks/{bookmark_id}"): (_MINE, None),
    ("PATCH", "/api/bookmarks/{bookmark_id}"): (_MINE, {"note": "x"}),
    ("POST", "/api/bookmarks/{bookmark_id}/archive"): (_MINE, None),
    ("POST", "/api/bookmarks/{bookmark_id}/unarchive"): (_MINE, None),
    ("POST", "/api/bookmarks/{bookmark_id}/restore"): (_MINE, None),
    ("POST", "/api/bookmarks/{bookmark_id}/crawl"): ((401, 201, 404, 404, 201, 401), None),
    ("POST", "/api/bookmarks/{bookmark_id}/merge"): ((401, 409, 404, 404, 409, 401), None),
    ("GET", "/api/bookmarks/{bookmark_id}/changes"): (_MINE, None),
    ("POST", "/api/v1/bookmarks/add/data"): (_OWN, {"url": "https://example.org/newer"}),
    ("GET", f"{_TASKS}/queue-consumer"): (_OWN, None),
    ("POST", f"{_TASKS}/queue-consumer"): (_OWN, None),
    ("POST", f"{_TASKS}/screenshot"): ((401, 403, 403, 403, 202, 401), _ONE_STEP),
    ("POST", f"{_TASKS}/remaining"): ((401, 403, 403, 403, 202, 401), _ONE_STEP),
    ("DELETE", "/api/bookmarks/{bookmark_id}"): ((401, 204, 404, 404, 404, 401), None),
}

_UPLOADING = {"upload-length": "5", "upload-offset": "0", "content-type": "application/offset+octet-stream"}
_SHEETS: dict[tuple[str, str], tuple[tuple[int, ...], Any]] = {
    ("GET", "/api/sheets"): (_OWN, None),
    ("GET", "/api/sheets/{job_id}"): (_PRIVATE, None),
    ("PATCH", "/api/sheets/{job_id}"): (_PRIVATE, {"providers": []}),
    ("GET", "/api/sheets/{job_id}/preview"): (_NO_SHEET, None),  # its file has not been received
    ("GET", "/api/sheets/{job_id}/estimate"): (_PRIVATE, None),
    ("GET", "/api/sheets/{job_id}/preset"): (_PRIVATE, None),
    ("PUT", "/api/sheets/{job_id}/preset"): ((401, 409, 404, 404, 409, 401), None),  # its columns are not known
    ("POST", "/api/sheets/{job_id}/reread"): ((401, 409, 404, 404, 409, 401), {"options": {}}),
    ("OPTIONS", "/api/uploads"): ((204,) * 6, None),
    ("POST", "/api/uploads"): ((401, 201, 201, 201, 201, 401), None),
    ("HEAD", "/api/uploads/{upload_id}"): (_PRIVATE, None),
    ("PATCH", "/api/uploads/{upload_id}"): ((401, 204, 404, 404, 204, 401), None),
    ("DELETE", "/api/uploads/{upload_id}"): ((401, 204, 404, 204, 204, 401), None),
    ("GET", "/api/ingestion/sources"): (_OWN, None),
    ("POST", "/api/ingestion/scan"): ((401, 202, 202, 202, 202, 401), {}),
    ("GET", "/api/catalogues"): (_OWN, None),
    ("POST", "/api/catalogues/{name}/share"): ((401, 403, 403, 404, 403, 401), None),  # only their own
    ("POST", "/api/catalogues/{name}/unshare"): ((401, 403, 403, 404, 403, 401), None),
    ("DELETE", "/api/catalogues/{name}"): ((401, 204, 404, 404, 404, 401), None),
    ("GET", "/api/providers"): (_OWN, None),
}

MATRIX: dict[tuple[str, str], tuple[tuple[int, ...], Any]] = {
    ("POST", "/api/jobs"): ((401, 201, 201, 201, 201, 401), {"pipeline": "pages", "input": {"title": "x"}}),
    ("GET", "/api/jobs"): (_OWN, None),
    ("GET", "/api/jobs/folded"): (_OWN, None),
    ("GET", "/api/jobs/counts"): (_OWN, None),
    ("GET", "/api/jobs/{job_id}"): (_PRIVATE, None),
    ("POST", "/api/jobs/{job_id}/items/{item_id}/pause"): (_PRIVATE, None),
    ("POST", "/api/jobs/{job_id}/items/{item_id}/start"): (_PRIVATE, None),
    ("POST", "/api/jobs/{job_id}/items/{item_id}/resume"): (_PRIVATE, None),
    ("POST", "/api/jobs/{job_id}/pause"): (_PRIVATE, None),
    ("POST", "/api/jobs/{job_id}/resume"): (_PRIVATE, None),
    ("POST", "/api/jobs/{job_id}/kickoff"): (_PRIVATE, None),
    ("POST", "/api/jobs/{job_id}/reprocess"): (_PRIVATE, {"scope": "job"}),
    ("POST", "/api/jobs/{job_id}/dismiss"): (_PRIVATE, {"scope": "job"}),
    ("GET", "/api/jobs/{job_id}/items"): (_PRIVATE, None),
    ("GET", "/api/jobs/{job_id}/items/{item_id}"): (_PRIVATE, None),
    ("GET", "/api/jobs/{job_id}/items/{item_id}/why"): (_PRIVATE, None),
    ("GET", "/api/jobs/{job_id}/why"): (_PRIVATE, None),
    ("GET", "/api/jobs/{job_id}/graph"): (_PRIVATE, None),
    ("GET", "/api/jobs/{job_id}/ribbon"): (_PRIVATE, None),
    ("POST", "/api/jobs/{job_id}/cancel"): ((401, 409, 404, 409, 409, 401), None),  # it has ended by then
    ("POST", "/api/jobs/{job_id}/items/{item_id}/cancel"): ((401, 409, 404, 409, 409, 401), None),
    ("GET", "/api/jobs/{job_id}/grid"): (_NO_SHEET, None),
    ("POST", "/api/jobs/{job_id}/export"): (_NO_SHEET, None),
    ("GET", "/api/jobs/{job_id}/exports"): (_PRIVATE, None),
    ("GET", "/api/exports"): (_OWN, None),
    ("GET", "/api/exports/{export_id}"): (_PRIVATE, None),
    ("GET", "/api/files/{file_id}"): (_PRIVATE, None),
    ("GET", "/api/files/{file_id}/content"): (_PRIVATE, None),
    ("HEAD", "/api/files/{file_id}/content"): (_PRIVATE, None),
    ("GET", "/api/files/{file_id}/thumbnail"): (_NO_PICTURE, None),
    ("HEAD", "/api/files/{file_id}/thumbnail"): (_NO_PICTURE, None),
    ("GET", "/files/{token}"): ((404,) * 6, None),  # this one is nobody's; those that are somebody's are for everybody
    ("HEAD", "/files/{token}"): ((404,) * 6, None),
    **_BOOKMARKS,
    **_SHEETS,
    **ROUTES,
    ("GET", "/api/suggest"): ((401, 422, 422, 422, 422, 401), None),  # it needs a text: see test_suggest.py
    ("GET", "/api/pending"): (_OWN, None),
    ("GET", "/api/attempts"): (_OWN, None),
    ("GET", "/api/audit"): (_OWN, None),
    ("GET", "/api/dead-letters"): (_OWN, None),
    ("GET", "/api/dead-letters/summary"): (_OWN, None),
    ("POST", "/api/dead-letters/results"): (_OWN, {"jobs": [{"jobId": "1", "numbers": "1"}]}),
    ("POST", "/api/dead-letters/reprocess"): (_OWN, {"filter": {}, "dryRun": True}),
    ("GET", "/api/overview"): (_OWN, None),
    ("GET", "/api/health/verdict"): (_OWN, None),
    ("GET", "/api/lanes"): (_OWN, None),
    ("GET", "/api/series"): (_ADMIN, None),
    ("GET", "/api/series/depth"): (_ADMIN, None),
    ("GET", "/api/series/owners"): (_ADMIN, None),
    ("GET", "/api/controllers"): (_ADMIN, None),
    ("GET", "/api/owners"): (_OWN, None),
    ("PATCH", "/api/owners/{name}"): (_ADMIN, {"weight": 2}),
    ("GET", "/api/settings"): (_ADMIN, None),
    ("GET", "/api/doctor"): ((401, 403, 403, 404, 403, 401), None),  # test_installation.py has one
    ("GET", "/api/limits"): (_ADMIN, None),
    ("GET", "/api/hosts"): (_ADMIN, None),
    ("GET", "/api/schedules"): (_OWN, None),
    ("POST", "/api/schedules/{name}/pause"): (_PRIVATE, None),
    ("POST", "/api/schedules/{name}/resume"): (_PRIVATE, None),
    ("POST", "/api/schedules/{name}/run"): (_PRIVATE, None),
    ("GET", "/api/storage"): (_OWN, None),
    ("GET", "/api/queues"): (_OWN, None),
    ("GET", "/api/totals"): (_OWN, None),
    ("POST", "/api/signals"): (_OWN, {"name": "paid", "key": "1"}),
    ("GET", "/api/queues/{name}/why"): (_OWN, None),
    ("GET", "/api/queues/{name}/demand"): (_ADMIN, None),  # test_demand.py has those with FOREBAY_METRICS_TOKEN
    ("GET", "/api/why"): (_OWN, None),
    ("POST", "/api/queues/{name}/pause"): (_ADMIN, None),
    ("POST", "/api/queues/{name}/resume"): (_ADMIN, None),
    ("GET", "/api/workers"): (_OWN, None),
    ("GET", "/api/statistics"): (_OWN, None),
    ("GET", "/api/pipelines"): (_OWN, None),
    ("GET", "/api/app"): (_OWN, None),
    ("GET", "/api/me"): (_OWN, None),
    ("GET", "/api/me/export"): (_OWN, None),
    ("GET", "/api/me/preferences"): (_OWN, None),
    ("PUT", "/api/me/preferences"): (_OWN, {"density": "compact"}),
    ("PUT", "/api/me/password"): (_PERSON, {"new": "a long new password"}),
    ("GET", "/api/sessions"): (_PERSON, None),
    ("DELETE", "/api/sessions/{session_id}"): (_PERSON, None),
    ("GET", "/api/tokens"): (_PERSON, None),
    ("POST", "/api/tokens"): (_PERSON, {"name": "mine"}),
    ("DELETE", "/api/tokens/{token_id}"): (_PERSON, None),
    ("GET", "/api/users"): (_ADMIN, None),
    ("POST", "/api/users/invitations"): ((401, 403, 403, 201, 403, 401), {"role": "user"}),
    ("GET", "/api/users/invitations"): (_ADMIN, None),
    ("DELETE", "/api/users/invitations/{invitation_id}"): ((401, 403, 403, 204, 403, 401), None),
    ("PATCH", "/api/users/{name}"): (_ADMIN, {"role": "user"}),
    ("POST", "/api/session"): ((401,) * 6, {"name": "ann", "password": "wrong"}),
    ("POST", "/api/session/link"): ((401,) * 6, {"link": "fbl_wrong"}),
    ("POST", "/api/session/link/check"): ((401,) * 6, {"link": "fbl_wrong"}),
    ("DELETE", "/api/session"): ((401, 204, 204, 204, 204, 401), None),
    ("GET", "/healthz"): (_OPEN, None),
    ("GET", "/readyz"): (_OPEN, None),
    ("GET", "/metrics"): (_ADMIN, None),
}
# Streams never end: they are looked at in their own tests.
ELSEWHERE = {("GET", "/api/events")}


def routes_of(service: Service) -> set[tuple[str, str]]:
    paths: dict[str, dict[str, Any]] = service.app.openapi()["paths"]
    return {(method.upper(), path) for path, methods in paths.items() for method in methods}


async def test_every_route_for_every_caller(service: Service) -> None:
    assert routes_of(service) - ELSEWHERE == set(MATRIX)
    for pipeline in (bookmarks, bookmark_imports, sheet_exports, sheet_scans):
        await registry.register(service.admin, pipeline.definition())
    async with service.client("ann") as ann:
        made = await ann.post("/api/jobs", json={"pipeline": "pages", "input": {"title": "ann's"}})
        mark = await ann.post("/api/bookmarks", json={"url": "https://example.org/"})
        category = await ann.post("/api/bookmarks/categories", json={"name": "ann's"})
    values = {"job_id": made.json()["jobId"], "item_id": "1", "name": "bob", "token_id": "1"}
    values |= {"bookmark_id": mark.json()["bookmark"]["id"], "category_id": category.json()["id"]}
    sheet = await add_sheet(service.admin, ["a"], [])
    values["export_id"] = str(await service.admin.fetchval("select forebay.export_sheet($1, 'csv', '{}')", sheet))
    stored = await put_file(service, "ann", b"text", "a.txt")
    values |= {"session_id": "1", "invitation_id": "1", "file_id": str(stored.file_id), "token": "x"}
    upload = await service.admin.fetchval(
        "select id from forebay.add_sheet(forebay.owner_id('ann'), 'rows.csv', 5, '{}')"
    )
    values["upload_id"] = str(upload)
    await service.admin.execute("insert into forebay.catalogue (owner_id, name) select forebay.owner_id('ann'), 'ours'")
    await put_schedule(service.admin, "hourly", pages, "0 * * * *", Page(title="x"), owner="ann")
    elsewhere = {"queues": {"name": "pages.fetch"}, "catalogues": {"name": "ours"}, "sheets": {"job_id": str(sheet)}}
    elsewhere["schedules"] = {"name": "hourly"}
    more, places = await make_things(service, "weir")
    values |= more
    elsewhere |= places
    service.tokens["revoked"] = service.tokens["ann"] + "x"
    found: dict[tuple[str, str], tuple[int, ...]] = {}
    for (method, path), (_, body) in MATRIX.items():
        place = path.format(**values | elsewhere.get(path.split("/")[2] if path.count("/") > 1 else "", {}))
        place += QUERIES.get(path, "").format(**values)
        place += "?durationMs=1" if path.startswith(_TASKS) else "?jobIds=1" if path == "/api/why" else ""
        codes: list[int] = []
        for caller in CALLERS:
            async with service.client(None if caller == "nobody" else caller) as client:
                headers = _UPLOADING if "/uploads" in path else None
                codes.append((await client.request(method, place, json=body, headers=headers)).status_code)
        found[method, path] = tuple(codes)
    assert found == {route: expected for route, (expected, _) in MATRIX.items()}


async def test_a_revoked_token_is_refused_at_once(service: Service) -> None:
    async with service.client("ann") as client:
        assert (await client.get("/api/me")).status_code == 200
        await service.admin.execute("update forebay.api_token set revoked_at = clock_timestamp()")
        refused = await client.get("/api/me")
    assert refused.status_code == 401
    assert refused.json()["detail"] == "this token is unknown, expired or revoked"


async def test_a_token_does_what_its_scopes_say(service: Service) -> None:
    await service.admin.execute("update forebay.api_token set scopes = '{read}'")
    async with service.client("root") as client:
        assert (await client.get("/api/jobs")).status_code == 200
        assert (await client.get("/api/jobs?userId=all")).status_code == 403
        refused = await client.post("/api/jobs", json={"pipeline": "pages", "input": {"title": "x"}})
        assert (refused.status_code, refused.json()["detail"]) == (403, "this token has no scope 'write'")


async def test_what_only_administrators_may_do(service: Service) -> None:
    async with service.signed_in("ann") as browser:
        refused = await browser.get("/api/users")
    assert (refused.status_code, refused.json()["detail"]) == (403, "only administrators may do this")


async def test_the_service_names_its_owner(service: Service) -> None:
    async with service.client("service") as client:
        del client.headers["x-forebay-owner"]
        unnamed = await client.get("/api/jobs")
        unknown = await client.get("/api/jobs", headers={"x-forebay-owner": "carl"})
    assert (unnamed.status_code, unnamed.json()["detail"]) == (
        400,
        "x-forebay-owner: must name the owner that the service token acts for",
    )
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "x-forebay-owner: there is no owner 'carl'")


async def test_the_services_first_job_makes_the_owner(service: Service) -> None:
    body = {"pipeline": "pages", "input": {"title": "x"}}
    async with service.client("service") as client:
        client.headers["x-forebay-owner"] = "carl"
        assert [(await client.post("/api/jobs", json=body)).status_code for _ in range(2)] == [201, 201]
        assert [job["owner"] for job in (await client.get("/api/jobs")).json()["jobs"]] == ["carl", "carl"]
        long = await client.post("/api/jobs", json=body, headers={"x-forebay-owner": "x" * 201})
        assert (long.status_code, long.json()["detail"]) == (422, "owner: must have 1 to 200 characters")
        for path in ("/api/jobs/1/pause", "/api/jobs/1/cancel"):  # only submits and signals make one
            assert (await client.post(path, headers={"x-forebay-owner": "dora"})).status_code == 404
        await service.admin.execute("update forebay.api_token set scopes = '{read}'")
        refused = await client.post("/api/jobs", json=body, headers={"x-forebay-owner": "dora"})
        assert refused.status_code == 404
    names = await service.admin.fetch("select name from forebay.owner order by name")
    assert [row["name"] for row in names] == ["ann", "bob", "carl", "root"]


async def test_the_services_first_signal_makes_the_owner(service: Service) -> None:
    async with service.client("service") as client:
        client.headers["x-forebay-owner"] = "carl"
        sent = await client.post("/api/signals", json={"name": "paid", "key": "1"})
    assert sent.status_code == 200
    kept = "select o.name from forebay.kept_signal k join forebay.owner o on o.id = k.owner_id"
    assert await service.admin.fetchval(kept) == "carl"


async def test_an_owners_name_is_utf_8(service: Service) -> None:
    body = {"pipeline": "pages", "input": {"title": "x"}}
    async with service.client("service") as client:
        client.headers.pop("x-forebay-owner")
        made = await client.post("/api/jobs", json=body, headers=[(b"x-forebay-owner", "zoë".encode())])
        wrong = await client.get("/api/jobs", headers=[(b"x-forebay-owner", b"zo\xeb")])
    assert made.status_code == 201
    assert (wrong.status_code, wrong.json()["detail"]) == (400, "x-forebay-owner: must be UTF-8")
    assert await service.admin.fetchval("select count(*) from forebay.owner where name = 'zoë'") == 1


async def test_nobody_is_told_to_have_more_rights_than_they_have(service: Service) -> None:
    async def scopes(who: str) -> list[str]:
        async with service.client(who) as client:
            found: list[str] = (await client.get("/api/me")).json()["scopes"]
            return found

    async with service.signed_in("ann") as ann, service.signed_in("root") as root:
        assert (await ann.get("/api/me")).json()["scopes"] == ["read", "write"]
        assert (await root.get("/api/me")).json()["scopes"] == ["admin", "read", "write"]
    await service.admin.execute("update forebay.api_token set scopes = '{read,write,admin}'")
    assert [await scopes(who) for who in ("ann", "root", "service")] == [
        ["read", "write"],
        ["admin", "read", "write"],
        ["read", "write"],
    ]


# -- in the database ----------------------------------------------------------------------------------------------

OWNED = (
    "job", "item", "attempt", "dead_letter", "audit", "lane", "ready", "scheduled", "lease", "schedule", "owner",
    "idempotency", "file", "storage_usage", "tally", "sheet", "intake_file", "intake_part", "sheet_export",
    "sheet_file", "catalogue",
)  # fmt: skip


async def fill(service: Service) -> dict[str, int]:
    """A row of each kind for ann and for bob."""
    for who in ("ann", "bob"):
        async with service.client(who) as client:
            for title in ("good", "broken"):
                await client.post("/api/jobs", json={"pipeline": "pages", "input": {"title": title}})
    await service.work()
    owners = {row["name"]: row["id"] for row in await service.admin.fetch("select id, name from forebay.owner")}
    for who in ("ann", "bob"):
        await put_file(service, who, who.encode(), "own.txt")
        await put_file(service, who, b"both have this", "both.txt")
        async with service.client(who, **{"Idempotency-Key": "k"}) as client:
            for options in ({}, {"runAt": "2030-01-01T00:00:00Z"}):
                body = {"pipeline": "pages", "input": {"title": "x"}, **options}
                assert (await client.post("/api/jobs", json=body, headers={"Idempotency-Key": str(options)})).is_success
        await service.admin.execute(
            """insert into forebay.lease
                   (step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
               values (1, 1, 1, $1, 1, 1, now(), now(), '{[1,2)}')""",
            owners[who],
        )
        await service.admin.execute("select forebay.note('x', 'y', $1, null, null, null, now())", owners[who])
        await service.admin.execute("insert into forebay.storage_usage values ($1, 'text', 1, 1)", owners[who])
        await service.admin.execute(
            """with s as (insert into forebay.sheet (owner_id, job_id, name) values ($1, $1, 'x')
                         returning id, owner_id),
                   i as (insert into forebay.intake_file (target, reference, owner_id, job_id, name)
                         select 'sheets', id, owner_id, $1, 'x' from s returning target, reference, owner_id),
                   p as (insert into forebay.intake_part (target, reference, owner_id, start) select *, 0 from i),
                   f as (insert into forebay.sheet_file (sheet_id, owner_id, file_id) select id, owner_id, -$1 from s),
                   e as (insert into forebay.sheet_export (job_id, owner_id, sheet_id, format)
                         select $1, owner_id, id, 'csv' from s)
               insert into forebay.catalogue (owner_id, name) values ($1, 'x')""",
            owners[who],
        )
        await service.admin.execute(
            """insert into forebay.schedule (name, pipeline_id, owner_id, cron, input, next_at)
               values ($1, 1, $2, '* * * * *', '{}', now())""",
            who,
            owners[who],
        )
    return owners


async def as_role(dsn: str, role: str, owner_id: int | None = None) -> asyncpg.Connection[Any]:
    settings = {"role": role} | ({} if owner_id is None else {"forebay.owner_id": str(owner_id)})
    return await asyncpg.connect(dsn, server_settings=settings)


async def test_the_apis_role_sees_one_owner_only(service: Service) -> None:
    """Whatever a route asks for: these are the statements of a route that has forgotten to ask for its owner."""
    owners = await fill(service)
    ann, nobody = await as_role(service.dsn, "forebay_api", owners["ann"]), await as_role(service.dsn, "forebay_api")
    admin = await as_role(service.dsn, "forebay_admin")
    for table in OWNED:
        column = "id" if table == "owner" else "owner_id"
        seen = {row[0] for row in await ann.fetch(f"select {column} from forebay.{table}")}
        assert seen == {owners["ann"]}, table
        assert await nobody.fetchval(f"select count(*) from forebay.{table}") == 0, table
        both = {row[0] for row in await admin.fetch(f"select {column} from forebay.{table}")}
        assert {owners["ann"], owners["bob"]} <= both, table
    for conn in (ann, nobody, admin):
        await conn.close()


async def test_the_apis_role_changes_one_owners_rows_only(service: Service) -> None:
    owners = await fill(service)
    ann = await as_role(service.dsn, "forebay_api", owners["ann"])
    theirs = await service.admin.fetchval("select id from forebay.job where owner_id = $1 limit 1", owners["bob"])
    for table in ("job", "item", "ready", "lease", "dead_letter"):
        assert await ann.execute(f"delete from forebay.{table} where owner_id = {owners['bob']}") == "DELETE 0"
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        await ann.execute("update forebay.job set owner_id = $1", owners["bob"])
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        await ann.execute("select forebay.note('x', 'y', $1, null, null, null, now())", owners["bob"])
    for verb in ("pause", "cancel", "reprocess"):
        with pytest.raises(asyncpg.PostgresError, match="there is no job") as refused:
            await ann.execute(f"select forebay.{verb}($1)", theirs)
        assert refused.value.sqlstate == "FB004"
    with pytest.raises(asyncpg.PostgresError):  # in the name of another owner
        await ann.execute("""select forebay.submit('pages', '{"title": "x"}', owner => 'bob')""")
    await ann.close()


async def test_the_apis_role_sees_the_contents_of_one_owners_files_only(service: Service) -> None:
    owners = await fill(service)
    roles = (("forebay_api", owners["ann"]), ("forebay_api", None), ("forebay_admin", None))
    ann, nobody, admin = [await as_role(service.dsn, role, owner) for role, owner in roles]
    hashes = {text: hashlib.sha256(text).digest() for text in (b"ann", b"bob", b"both have this")}
    seen = {row["sha256"] for row in await ann.fetch("select sha256 from forebay.blob")}
    assert seen == {hashes[b"ann"], hashes[b"both have this"]}
    assert await nobody.fetch("select sha256 from forebay.blob") == []
    assert len(await admin.fetch("select sha256 from forebay.blob")) == 3
    with pytest.raises(asyncpg.InsufficientPrivilegeError):  # whoever could make a file could read any content
        await ann.execute(
            "insert into forebay.file (owner_id, sha256, name, media_type) values ($1, $2, 'x', 'text/plain')",
            owners["ann"],
            hashes[b"bob"],
        )
    for statement in ("update forebay.file set sha256 = $1", "delete from forebay.blob where sha256 = $1"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await ann.execute(statement, hashes[b"bob"])
    assert await ann.execute("delete from forebay.file where owner_id = $1", owners["bob"]) == "DELETE 0"
    assert await ann.execute("delete from forebay.file") == "DELETE 2"
    await service.admin.execute("update forebay.blob set touched_at = null")
    assert await admin.execute("delete from forebay.file where owner_id = $1", owners["bob"]) == "DELETE 2"
    touched = await service.admin.fetch("select sha256 from forebay.blob where touched_at is not null")
    assert {row["sha256"] for row in touched} == {hashes[b"bob"], hashes[b"both have this"]}
    for conn in (ann, nobody, admin):
        await conn.close()


async def test_a_workers_role_may_put_and_clean(service: Service) -> None:
    worker = await as_role(service.dsn, "forebay_worker")
    digest = hashlib.sha256(b"text").digest()
    touch = "select file_id from forebay.touch_blob($1, 4, 'text/plain', now() - interval '2 days')"
    number = await worker.fetchval(touch, digest)
    await worker.execute(
        "insert into forebay.file (id, owner_id, sha256, name, media_type) values ($1, 1, $2, 'x', 'text/plain')",
        number,
        digest,
    )
    assert await worker.fetchval("select collected from forebay.collect_blobs('1 day')") == 0
    await worker.execute("delete from forebay.file")
    collected = "select collected from forebay.collect_blobs('1 day', now() + interval '2 days')"
    assert await worker.fetchval(collected) == 1
    assert await worker.execute("delete from forebay.waste") == "DELETE 1"
    await worker.close()


async def test_secrets_are_out_of_reach(service: Service) -> None:
    """For owners and administrators alike; and who looks them up sees no work."""
    for role in ("forebay_api", "forebay_admin", "forebay_worker"):
        conn = await as_role(service.dsn, role)
        for table in ("account", "session", "api_token", "invitation", "sign_in_failure"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await conn.fetch(f"select * from forebay.{table}")
        await conn.close()
    conn = await as_role(service.dsn, "forebay_identity")
    for table in set(OWNED) - {"owner"}:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await conn.fetch(f"select * from forebay.{table}")
    await conn.close()


async def test_no_role_may_enter_by_itself(service: Service) -> None:
    rows = await service.admin.fetch(
        "select rolname from pg_roles where rolname = any($1) and (rolcanlogin or rolsuper or rolbypassrls)", ROLES
    )
    assert rows == []


async def test_every_table_with_an_owner_is_protected(service: Service) -> None:
    """Also those that are still to come."""
    rows = await service.admin.fetch(
        """select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'owner_id'
           where c.relnamespace = 'forebay'::regnamespace and c.relkind in ('r', 'p') and not c.relrowsecurity
             and not c.relispartition and c.relname <> 'account'"""
    )
    assert [row["relname"] for row in rows] == []


async def test_an_owner_beyond_its_limits_is_told_when_to_come_again(dsn: str) -> None:
    async with serving(dsn, max_open_jobs=2, max_open_items=10) as service:
        body = {"pipeline": "pages", "input": {"title": "x"}}
        async with service.client("ann") as ann, service.client("bob") as bob:
            many = {"pipeline": "pages", "items": [{"title": "x"}] * 11}
            too_many = await ann.post("/api/jobs", json=many)
            assert [(await ann.post("/api/jobs", json=body)).status_code for _ in range(3)] == [201, 201, 429]
            full = await ann.post("/api/jobs", json=body)
            assert (await bob.post("/api/jobs", json=body)).status_code == 201
    assert too_many.json()["detail"] == "11 items would be open; 10 are allowed"
    assert full.json()["detail"] == "2 jobs are open already; 2 are allowed"
    assert full.headers["retry-after"] == "30"


async def test_an_owner_that_submits_too_fast_is_told_when_to_come_again(service: Service) -> None:
    await service.admin.execute("update forebay.owner set submits_per_minute = 10 where name = 'ann'")
    await service.admin.execute("update forebay.owner set submits_per_minute = 0 where name = 'bob'")
    body = {"pipeline": "pages", "input": {"title": "x"}}
    async with service.client("ann") as ann, service.client("bob") as bob:
        answers = [await ann.post("/api/jobs", json=body) for _ in range(5)]
        never = await bob.post("/api/jobs", json=body)
    assert [answer.status_code for answer in answers] == [201, 201, 429, 429, 429]
    assert answers[2].json()["detail"] == "more than 10 submits a minute"
    assert never.json()["detail"] == "no submits are allowed"


async def test_submits_that_come_together_are_counted_one_by_one(service: Service) -> None:
    await service.admin.execute("update forebay.owner set submits_per_minute = 10 where name = 'ann'")
    body = {"pipeline": "pages", "input": {"title": "x"}}
    async with service.client("ann") as ann:
        answers = await asyncio.gather(*(ann.post("/api/jobs", json=body) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [201, 201, 429, 429, 429]
