"""Poolers on the way to the database: no connection does anything without the role that it should have."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest

from forebay.api.app import create_app
from forebay.api.metrics.process import Meter
from forebay.api.role_pools import RolePools, open_role_pools
from forebay.engine.submit.options import CheckedOptions, Coalescing
from forebay.engine.submit.producer import item_arguments
from forebay.errors import WrongRole
from forebay.identity import session_context
from forebay.settings import Settings
from tests._pooler import PGBOUNCER, pgbouncer
from tests.api._poolers import answering, dropping_role
from tests.api._service import Page, Service, pages, serving

POOLED = {"prepared_statements": False}


@asynccontextmanager
async def served(direct: str, way: str) -> AsyncIterator[Service]:
    """A service that goes another way to the database than the test does."""
    async with serving(direct, prepared_statements=False) as service:
        app = create_app(way, Settings(prepared_statements=False), [pages])
        async with app.router.lifespan_context(app):
            yield Service(app, way, service.admin, service.tokens)


async def test_a_role_that_gets_lost_is_noticed_before_anything_is_served(dsn: str) -> None:
    async with dropping_role(dsn) as way:
        with pytest.raises(WrongRole) as refused:
            async with open_role_pools(way, Settings(), Meter()):
                pass
    assert str(refused.value) == (
        "connections to the database do not have the role forebay_identity: a pooler or proxy drops it. "
        "Behind a transaction-mode pooler set FOREBAY_PREPARED_STATEMENTS=false"
    )


@pytest.mark.parametrize("prepared", [True, False])
async def test_without_row_level_security_nothing_is_served(dsn: str, prepared: bool) -> None:
    conn = await asyncpg.connect(dsn)
    await conn.execute("alter table forebay.job disable row level security")
    await conn.close()
    with pytest.raises(WrongRole) as refused:
        async with open_role_pools(dsn, Settings(prepared_statements=prepared), Meter()):
            pass
    assert str(refused.value) == (
        "row-level security does not apply to forebay_api: it must not be a superuser, own the tables "
        "or have BYPASSRLS. Fix the role, and run `forebay migrate`"
    )


@pytest.mark.parametrize("prepared", [True, False])
async def test_an_account_that_may_not_take_the_roles(dsn: str, prepared: bool) -> None:
    conn = await asyncpg.connect(dsn)
    stranger = f"stranger_{uuid.uuid4().hex}"
    await conn.execute(f"create role {stranger} login password 'x'")
    way = urlsplit(dsn)._replace(netloc=f"{stranger}:x@127.0.0.1:{urlsplit(dsn).port}").geturl()
    try:
        with pytest.raises(WrongRole) as refused:
            async with open_role_pools(way, Settings(prepared_statements=prepared), Meter()):
                pass
    finally:
        await conn.execute(f"drop role {stranger}")
        await conn.close()
    assert str(refused.value) == (
        "the database does not grant the role forebay_identity: "
        'permission denied to set role "forebay_identity". Run `forebay doctor` for instructions'
    )


async def test_a_connection_that_loses_its_role_later_is_not_used(service: Service) -> None:
    await service.admin.execute("alter table forebay.job disable row level security")
    await service.app.state.pools.owners.expire_connections()
    async with service.client("ann") as ann:
        answer = await ann.get("/api/jobs")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert "row-level" not in answer.text


async def test_roles_are_taken_for_a_transaction_where_sessions_are_shared(dsn: str) -> None:
    async with dropping_role(dsn) as way, served(dsn, way) as service:
        pools: RolePools = service.app.state.pools
        for pool in (pools.identity, pools.owners, pools.admins, pools.watch):
            assert await pool.fetchval("select current_user") == pool.role
            async with pool.without_role() as conn:
                assert await conn.fetchval("select current_user") == "forebay"  # given back when the transaction ended
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await pools.identity.fetch("select * from forebay.job")
        with pytest.raises(asyncpg.UniqueViolationError):  # what fails leaves the connection as it was
            await pools.identity.execute("insert into forebay.owner (name) values ('ann')")
        assert await pools.identity.fetchval("select current_user") == pools.identity.role


async def test_the_one_statement_of_a_submit_runs_with_the_role(dsn: str) -> None:
    """The right is taken from the role; who has logged in still has it."""
    async with dropping_role(dsn) as way, served(dsn, way) as service:
        pools: RolePools = service.app.state.pools
        owner = await service.admin.fetchval("select id from forebay.owner where name = 'ann'")
        args = item_arguments(pages, Page(title="x"), Coalescing(), CheckedOptions.checked(owner="ann"))
        assert (await session_context.submit_for(pools.owners, owner, None, args))[1]
        await service.admin.execute("revoke insert on forebay.item from forebay_api")
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="permission denied for table item"):
            await session_context.submit_for(pools.owners, owner, None, args)


async def everything_works(service: Service) -> None:
    """Two owners and an administrator, all at once: each sees what is theirs."""

    async def use(who: str, number: int) -> None:
        async with service.client(who) as client:
            one = await client.post("/api/jobs", json={"pipeline": "pages", "input": {"title": who}})
            assert one.status_code == 201, one.text
            many = {"pipeline": "pages", "items": [{"title": who}] * 3}
            headers = {"Idempotency-Key": f"{who} {number}"}
            again = [(await client.post("/api/jobs", json=many, headers=headers)).json() for _ in range(2)]
            assert again[0] == again[1]
            rows = b'{"title": "x"}\n' * 3000
            upload = await client.post("/api/jobs", data={"pipeline": "pages"}, files={"file": ("x.jsonl", rows)})
            assert upload.status_code in {201, 429}, upload.text
            listed = (await client.get("/api/jobs")).json()["jobs"]
            assert {job["owner"] for job in listed} == {who}
            assert (await client.post(f"/api/jobs/{one.json()['jobId']}/pause")).json()["state"] == "PAUSED"
            assert (await client.get("/readyz")).text == "ready"
        async with service.client(ip="127.0.0.1", base="http://127.0.0.1") as prometheus:
            assert "forebay_database_up 1.0" in (await prometheus.get("/metrics")).text

    await asyncio.gather(*itertools.starmap(use, itertools.product(("ann", "bob"), range(3))))
    async with service.signed_in("root") as root:
        assert {job["owner"] for job in (await root.get("/api/jobs?userId=all")).json()["jobs"]} == {"ann", "bob"}
        assert (await root.post("/api/users/invitations", json={})).status_code == 201
        assert (await root.get("/api/users")).status_code == 200


async def test_everything_works_where_the_role_gets_lost(dsn: str) -> None:
    async with dropping_role(dsn) as way, served(dsn, way) as service:
        await everything_works(service)


@pytest.mark.skipif(PGBOUNCER is None, reason="no pgbouncer here")
async def test_everything_works_behind_a_real_pooler(dsn: str, tmp_path: Path) -> None:
    with pgbouncer(dsn, tmp_path) as way:
        await answering(way)
        async with served(dsn, way) as service:
            await everything_works(service)
