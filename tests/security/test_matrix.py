"""What is ann's, asked for by everyone else on every route of the API: nobody sees it, and nothing of it changes.

`tests/api/test_access.py` says what each caller gets; here the routes are taken from the OpenAPI document as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
import pytest_asyncio

from forebay.engine.db import registry
from forebay.engine.maintenance.schedules import put_schedule
from forebay.identity.accounts import make_token
from forebay.pipelines.bookmarks.steps import bookmarks
from forebay.pipelines.sheets.intake import sheet_intake
from forebay.pipelines.sheets.steps import sheets
from tests.api._package_routes import QUERIES, make_things
from tests.api._package_routes import TABLES as MORE_TABLES
from tests.api._service import Page, Service, pages, put_file
from tests.api.test_access import MATRIX

pytestmark = pytest.mark.asyncio(loop_scope="module")

MARK = "4f1c-only-ann-knows"
TABLES = (
    "job", "item", "audit", "schedule", "file", "category", "bookmark", "bookmark_tag", "sheet", "catalogue",
    "idempotency", *MORE_TABLES,
)  # fmt: skip
# Things of ann's stand for these parameters; `name` is an account, a queue or a catalogue. Everyone names drafts anew.
NOT_OWNED = {
    "/api/queues/{name}/pause", "/api/queues/{name}/resume", "/api/queues/{name}/demand", "/api/articles/drafts/{key}",
}  # fmt: skip
# Open to who has the link or the secret, which these callers have not.
BY_SECRET = {"/files/{token}", "/api/search/feeds/{token}", "/api/attachments/hooks/{source}"}
STREAMS = {("GET", "/api/events")}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def anns(service: Service) -> dict[str, str]:
    """The ids of what ann has."""
    for pipeline in (bookmarks, sheets, sheet_intake):
        await registry.register(service.admin, pipeline.definition())
    async with service.client("ann") as ann:
        job = await ann.post("/api/jobs", json={"pipeline": "pages", "input": {"title": MARK}, "meta": {"m": MARK}})
        mark = await ann.post("/api/bookmarks", json={"url": f"https://{MARK}.example/", "note": MARK})
        category = await ann.post("/api/bookmarks/categories", json={"name": MARK})
    stored = await put_file(service, "ann", MARK.encode(), f"{MARK}.txt")
    sheet = await service.admin.fetchrow(
        "select id, job_id from forebay.add_sheet(forebay.owner_id('ann'), $1, 5, '{}')", MARK
    )
    assert sheet is not None
    await service.admin.execute(
        "insert into forebay.catalogue (owner_id, name) select forebay.owner_id('ann'), 'of-ann'"
    )
    await put_schedule(service.admin, "of-ann", pages, "0 * * * *", Page(title=MARK), owner="ann")
    async with service.signed_in("ann") as browser:
        token = (await browser.post("/api/tokens", json={"name": MARK})).json()["id"]
        (session,) = (await browser.get("/api/sessions")).json()
    more, _ = await make_things(service, MARK)
    return more | {
        "job_id": job.json()["jobId"],
        "item_id": "1",
        "bookmark_id": mark.json()["bookmark"]["id"],
        "category_id": category.json()["id"],
        "file_id": str(stored.file_id),
        "upload_id": str(sheet["id"]),
        "export_id": str(sheet["job_id"]),
        "name": "of-ann",
        "token": "x",
        "token_id": token,
        "session_id": session["id"],
        "invitation_id": "1",
    }


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def callers(service: Service) -> AsyncIterator[dict[str, httpx.AsyncClient]]:
    """Everyone but ann, with all that they may have; and an administrator who has not been given the scope."""
    admin = service.admin
    accounts = {row["name"]: row["id"] for row in await admin.fetch("select id, name from forebay.account")}
    scopes = {
        "bob read": ("bob", ["read"]),
        "bob write": ("bob", ["write"]),
        "bob read write": ("bob", ["read", "write"]),
        "bob with the scope of administrators": ("bob", ["read", "write", "admin"]),
        "root read": ("root", ["read"]),
        "root read write": ("root", ["read", "write"]),
    }
    made: dict[str, httpx.AsyncClient] = {}
    async with AsyncExitStack() as stack:
        for who, (account, allowed) in scopes.items():
            service.tokens[who] = await make_token(admin, accounts[account], who, allowed)
            made[who] = await stack.enter_async_context(service.client(who))
        service.tokens["bad"] = "fbt_" + "x" * 40
        for who in ("bad", "service"):
            made[who] = await stack.enter_async_context(service.client(who))
        made["service"].headers["x-forebay-owner"] = "bob"
        made["nobody"] = await stack.enter_async_context(service.client())
        made["bob's session"] = await stack.enter_async_context(service.signed_in("bob"))
        yield made


async def _state(service: Service) -> str:
    """A digest of all that ann has."""
    digest = hashlib.sha256()
    for table in TABLES:
        rows = await service.admin.fetch(
            f"select t::text as row from forebay.{table} t where owner_id = forebay.owner_id('ann') order by 1"
        )
        digest.update("\n".join(row["row"] for row in rows).encode())
    return digest.hexdigest()


def _routes(service: Service) -> list[tuple[str, str]]:
    paths: dict[str, dict[str, Any]] = service.app.openapi()["paths"]
    return [
        (method.upper(), path)
        for path, methods in paths.items()
        for method in methods
        if "{" in path and path not in NOT_OWNED
    ]


async def test_nobody_else_sees_or_changes_what_is_anns(
    service: Service, anns: dict[str, str], callers: dict[str, httpx.AsyncClient]
) -> None:
    before, wrong, cells = await _state(service), list[str](), 0
    for method, path in _routes(service):
        _, body = MATRIX.get((method, path), (None, None))
        headers = {"tus-resumable": "1.0.0", "upload-offset": "0", "content-type": "application/offset+octet-stream"}
        place = (path + QUERIES.get(path, "")).format(**anns)
        for who, client in callers.items():
            sent: dict[str, Any] = {"json": body}
            if "/uploads" in path:
                sent = {"content": b"12345", "headers": headers}
            answer = await client.request(method, place, **sent)
            expected = {401} if who in ("nobody", "bad") else {403, 404}
            if path in BY_SECRET:
                expected = {404}
            cells += 1
            if answer.status_code not in expected or MARK in answer.text:
                wrong.append(f"{who}: {method} {place}: {answer.status_code} {answer.text[:200]}")
    assert wrong == []
    assert cells > 300
    assert await _state(service) == before


async def test_lists_of_others_show_nothing_of_anns(
    service: Service, anns: dict[str, str], callers: dict[str, httpx.AsyncClient]
) -> None:
    paths: dict[str, dict[str, Any]] = service.app.openapi()["paths"]
    lists = [path for path, methods in paths.items() if "get" in methods and "{" not in path]
    for path in set(lists) - {"/api/events"}:
        for who, client in callers.items():
            for query in ("", f"?jobId={anns['job_id']}", "?userId=ann", "?userId=all"):
                answer = await client.get(path + query)
                assert answer.status_code < 500, (who, path + query, answer.text)
                assert MARK not in answer.text, (who, path + query)


async def test_an_administrator_with_the_scope_sees_work_and_no_secrets(service: Service, anns: dict[str, str]) -> None:
    hashes = [row[0] for row in await service.admin.fetch("select encode(hash, 'hex') from forebay.api_token")]
    async with service.client("root") as root:
        job = await root.get(f"/api/jobs/{anns['job_id']}")
        bookmark = await root.get(f"/api/bookmarks/{anns['bookmark_id']}")
        users = await root.get("/api/users")
    assert (job.status_code, bookmark.status_code, users.status_code) == (200, 404, 200)
    assert not any(secret in users.text for secret in (*hashes, *service.tokens.values(), "argon2"))
