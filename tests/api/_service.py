"""The API on a database of the test's own, and the callers that knock at it."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import asyncpg
import httpx
from fastapi import FastAPI
from pydantic import BaseModel
from starlette.routing import BaseRoute

from forebay import Context, NotFound, Pipeline
from forebay.api.app import create_app
from forebay.api.auth.cookies import CSRF_COOKIE
from forebay.base_settings import PackageSettings
from forebay.db.pool import open_pool
from forebay.db.role_pool import API
from forebay.engine.db import registry
from forebay.engine.db.writes import Writer
from forebay.errors import DataError
from forebay.identity import db as identity
from forebay.identity.accounts import make_token
from forebay.identity.logins import login_name, login_urls, make_logins
from forebay.identity.secrets import hash_password
from forebay.settings import Settings
from forebay.storage import Blobs, Stored, open_store
from forebay.testing import testbed
from tests._servers import PASSWORDS

PASSWORD = "correct horse battery"
BASE = "http://forebay.test"


class Page(BaseModel):
    title: str
    size: int = 0


pages: Pipeline[Page] = Pipeline("pages", Page)


@pages.step()
async def fetch(ctx: Context, page: Page) -> int | NotFound:
    if page.title == "broken":
        raise DataError("broken on purpose")
    if page.title == "missing":
        return NotFound("no such page")
    return page.size


@pages.step(after=fetch)
async def count(ctx: Context, page: Page, size: int) -> int:
    return size + 1


@dataclass
class Service:
    app: FastAPI
    dsn: str
    admin: asyncpg.Connection[Any]
    tokens: dict[str, str]

    def client(
        self, who: str | None = None, *, ip: str = "192.0.2.7", base: str = BASE, **headers: str
    ) -> httpx.AsyncClient:
        """A caller: ann or bob (owners), root (an administrator), service; None is nobody."""
        if who is not None:
            headers["authorization"] = f"Bearer {self.tokens[who]}"
        if who == "service":
            headers.setdefault("x-forebay-owner", "ann")
        transport = httpx.ASGITransport(self.app, client=(ip, 4711))
        return httpx.AsyncClient(transport=transport, base_url=base, headers=headers)

    @asynccontextmanager
    async def signed_in(self, name: str) -> AsyncIterator[httpx.AsyncClient]:
        """A browser with a session of that account."""
        async with self.client() as browser:
            answer = await browser.post("/api/session", json={"name": name, "password": PASSWORD})
            assert answer.status_code == 201, answer.text
            browser.headers["x-csrf-token"] = browser.cookies[CSRF_COOKIE]
            yield browser

    async def work(self) -> None:
        """Do all that there is to do."""
        async with testbed(self.dsn, [pages], migrated=True) as bed:
            await bed.finish()


async def put_file(service: Service, owner: str, data: bytes, name: str, media_type: str | None = None) -> Stored:
    """A file of that owner, as a step would make it."""
    async with await open_pool(service.dsn, size=2, name="forebay tests") as pool:
        blobs = Blobs(pool, open_store(service.app.state.settings))
        async with pool.acquire() as conn:
            owner_id = await conn.fetchval("select id from forebay.owner where name = $1", owner)
            stored = await blobs.put(data, owner_id=owner_id, name=name, media_type=media_type)
            await Writer().apply(conn, [stored.write()])
    return stored


@asynccontextmanager
async def admin_of(dsn: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    """A connection that may do everything."""
    conn = await asyncpg.connect(dsn)
    try:
        yield conn
    finally:
        await conn.close()


_hashes: list[str] = []


async def _password() -> str:
    """The same for all: making it is as slow as it must be to be safe, and was most of what tests waited for."""
    if not _hashes:
        _hashes.append(await hash_password(PASSWORD))
    return _hashes[0]


async def _make_logins(conn: asyncpg.Connection[Any], dsn: str) -> None:
    """The accounts that the API logs in with, on a server of the test's own."""
    if not await conn.fetchval("select count(*) from pg_roles where rolname = $1", login_name(API)):
        await make_logins(dsn, PASSWORDS)


async def _make_accounts(conn: asyncpg.Connection[Any]) -> dict[str, str]:
    """Returns their tokens."""
    tokens: dict[str, str] = {}
    password = await _password()
    for name, role in (("ann", "user"), ("bob", "user"), ("root", "admin")):
        account = await identity.add_account(conn, name, role, password)
        assert account is not None
        scopes = ["read", "write", "admin"] if role == "admin" else ["read", "write"]
        tokens[name] = await make_token(conn, account.id, "test", scopes)
    tokens["service"] = await make_token(conn, None, "service", ["read", "write"])
    return tokens


_routes: dict[tuple[int, ...], list[BaseRoute]] = {}


def _share_routes(app: FastAPI) -> None:
    """Give it the routes of the first app that has included the same routers.

    FastAPI resolves the dependencies of all routes anew for each app, at its first requests, which was half of the CPU
    time of these tests.
    """
    routers = [getattr(route, "original_router", None) for route in app.router.routes]
    if any(routers):
        app.router.routes = _routes.setdefault(tuple(map(id, routers)), app.router.routes)


@asynccontextmanager
async def serving(
    dsn: str,
    *pipelines: Pipeline[Any],
    packages: Sequence[PackageSettings] = (),
    tokens: dict[str, str] | None = None,
    **settings: Any,
) -> AsyncIterator[Service]:
    """The API with accounts, or with the tokens of accounts that are there."""
    conn = await asyncpg.connect(dsn)
    folder = tempfile.TemporaryDirectory(prefix="forebay-tests-")
    await _make_logins(conn, dsn)
    given: dict[str, Any] = {"data_dir": folder.name} | login_urls(dsn, PASSWORDS) | settings
    app = create_app(dsn, Settings(**given).including(*packages), [pages, *pipelines])
    _share_routes(app)
    try:
        for pipeline in (pages, *pipelines):
            await registry.register(conn, pipeline.definition())
        tokens = tokens or await _make_accounts(conn)
        async with app.router.lifespan_context(app):
            yield Service(app, dsn, conn, tokens)
    finally:
        await conn.close()
        folder.cleanup()
