"""The accounts of the API: SQL that is smuggled into a request stays with the rights of that request."""

# demands: S2-80, S2-81, S2-84, S2-85

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from forebay import Context, Pipeline
from forebay.api.auth.authentication import Principal
from forebay.db import migrate
from forebay.db.role_pool import ADMIN, API, IDENTITY
from forebay.errors import UnknownPipeline
from forebay.identity.logins import SETTINGS, WORKER, account_of, close_temporary, login_url, login_urls, open_public
from forebay.testing import testbed
from tests._servers import PASSWORDS
from tests.api._service import Page, Service, admin_of, pages

ESCAPES = (
    "reset role; set role {other}",
    "set role none; set role {other}",
    "set local role {other}",
    "select set_config('role', '{other}', true)",
    "set session authorization {other}",
    "select forebay.enter('{other}', 1, null)",
)


async def _ann(service: Service) -> Principal:
    owner_id = await service.admin.fetchval("select id from forebay.owner where name = 'ann'")
    return Principal("token", owner_id, "ann", "user", frozenset(("read", "write")))


async def test_a_request_cannot_change_to_another_role(service: Service) -> None:
    ann = await _ann(service)
    for escape, other in itertools.product(ESCAPES, (ADMIN, IDENTITY, WORKER, "forebay")):
        async with service.app.state.pools.of(ann) as conn:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await conn.execute(escape.format(other=other))


async def test_a_request_that_gives_up_its_role_sees_no_more(service: Service) -> None:
    async with service.client("bob") as bob:
        made = await bob.post("/api/jobs", json={"pipeline": "pages", "input": {"title": "of bob"}})
        assert made.status_code == 201
    for statement in ("reset role", "set role none", "reset all"):
        async with service.app.state.pools.of(await _ann(service)) as conn:
            await conn.execute(statement)
            assert await conn.fetchval("select count(*) from forebay.job") == 0
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await conn.fetchval("select count(*) from forebay.api_token")


@pytest.mark.parametrize("role", SETTINGS)
async def test_an_account_of_the_service_can_do_what_its_role_can_and_no_more(dsn: str, role: str) -> None:
    conn = await asyncpg.connect(login_urls(dsn, PASSWORDS)[SETTINGS[role]])
    account = await account_of(conn, role)
    for statement in (
        "create role mine superuser",
        "create table forebay.mine ()",
        "create schema mine",
        "alter table forebay.job disable row level security",
        "alter role forebay password 'mine'",
        "copy (select 1) to program 'true'",
        "select pg_read_file('/etc/passwd')",
        f"grant {ADMIN} to {account.name}",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await conn.execute(statement)
    await conn.close()
    assert account.excess is None, account


_TELL = "begin raise exception 'ran as %', current_user; end"

# What would run with the rights of the schema's owner, if its functions looked at the caller's temporary objects first.
SHADOWS = {
    WORKER: (
        f"""select forebay.make_partitions(now() - interval '40 days', 0);
            create function pg_temp.evil() returns oid language plpgsql as $$ {_TELL} $$;
            create temp view pg_inherits as
            select pg_temp.evil() as inhrelid, 'forebay.attempt'::regclass as inhparent""",
        "select forebay.drop_partitions()",
    ),
    API: (
        f"""create function pg_temp.evil(tsquery) returns boolean language plpgsql as $$ {_TELL} $$;
            create domain pg_temp.tsquery as pg_catalog.tsquery check (pg_temp.evil(value))""",
        "select * from forebay.search_bookmarks('x', null, null, null, null, null, 1)",
    ),
}


@pytest.mark.parametrize("role", SHADOWS)
async def test_temporary_objects_do_not_shadow_those_of_the_system(dsn: str, role: str) -> None:
    shadow, call = SHADOWS[role]
    conn = await asyncpg.connect(login_urls(dsn, PASSWORDS)[SETTINGS[role]])
    try:
        await conn.execute(shadow)
        await conn.fetch(call)  # raises where the shadow is looked at
    finally:
        await conn.close()


async def test_every_function_with_its_owners_rights_looks_at_temporary_objects_last(service: Service) -> None:
    found = await service.admin.fetch(
        """select p.oid::regprocedure::text as name,
                  (select c from unnest(p.proconfig) c where c like 'search_path=%') as path
           from pg_proc p where p.pronamespace = 'forebay'::regnamespace and p.prosecdef"""
    )
    assert {row["name"]: row["path"] for row in found if row["path"] != "search_path=pg_catalog, pg_temp"} == {}
    assert len(found) >= 6


async def test_the_server_of_ours_lets_no_account_make_temporary_objects(dsn: str) -> None:
    await close_temporary(dsn)
    for url in login_urls(dsn, PASSWORDS).values():
        conn = await asyncpg.connect(url)
        try:
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="temporary"):
                await conn.execute("create temp table mine ()")
        finally:
            await conn.close()


async def test_too_powerful_accounts_are_told(service: Service) -> None:
    assert (await account_of(service.admin, API)).excess == "is a superuser"
    conn = await asyncpg.connect(login_urls(service.dsn, PASSWORDS)[SETTINGS[ADMIN]])
    assert (await account_of(conn, API)).excess == f"may change to {ADMIN}"
    await conn.close()


async def test_the_rooms_log_in_with_accounts_of_their_own(service: Service) -> None:
    pools, seen = service.app.state.pools, list[str]()
    for pool in (pools.identity, pools.owners, pools.admins, pools.watch):
        async with pool.acquire() as conn:
            seen.append(await conn.fetchval("select session_user || ' as ' || current_user"))
    assert seen == [f"{role}_login as {role}" for role in (IDENTITY, API, ADMIN, ADMIN)]


@asynccontextmanager
async def roles_of_a_test(admin: asyncpg.Connection[Any]) -> AsyncIterator[dict[str, str]]:
    """Names for a role, another one, and a login; and an account that may make roles and is no superuser."""
    names = {name: f"test_{name}_{uuid4().hex[:12]}" for name in ("role", "other", "login", "maker")}
    maker = names["maker"]
    await admin.execute(f"create role {maker} login createrole password 'x'; grant usage on schema forebay to {maker}")
    for name in ("role", "other"):
        await admin.execute(f"create role {names[name]}; grant {names[name]} to {maker} with admin option")
    try:
        yield names
    finally:
        await admin.execute(f"drop owned by {maker}")
        for name in ("login", "role", "other", "maker"):
            await admin.execute(f"drop role if exists {names[name]}")


_MAKE = "select forebay.make_login($1, $2, 'a password')"
_RIGHTS = """select rolcanlogin, rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls,
       array(select m.roleid::regrole::text from pg_auth_members m where m.member = r.oid)
from pg_roles r where rolname = $1"""


async def test_logins_are_made_by_who_may_make_roles(dsn: str) -> None:
    async with admin_of(dsn) as admin, roles_of_a_test(admin) as names:
        maker = await asyncpg.connect(dsn, user=names["maker"], password="x")
        for _ in range(2):  # the second sets the password anew
            await maker.execute(_MAKE, names["login"], names["role"])
        await maker.close()
        assert tuple(await admin.fetchrow(_RIGHTS, names["login"]) or ()) == (True, False, [names["role"]])
        login = await asyncpg.connect(dsn, user=names["login"], password="a password")
        await login.close()


async def test_a_login_loses_what_it_has_too_much(dsn: str) -> None:
    async with admin_of(dsn) as admin, roles_of_a_test(admin) as names:
        await admin.execute(f"create role {names['login']} superuser createdb createrole replication bypassrls")
        await admin.execute(f"grant {names['role']} to {names['login']} with admin option")
        await admin.execute(f"grant {names['other']} to {names['login']} granted by {names['maker']}")
        await admin.execute(_MAKE, names["login"], names["role"])
        assert tuple(await admin.fetchrow(_RIGHTS, names["login"]) or ()) == (True, False, [names["role"]])
        admins = "select count(*) from pg_auth_members where member = to_regrole($1) and admin_option"
        assert await admin.fetchval(admins, names["login"]) == 0


async def test_workers_write_to_tables_of_the_operator(dsn: str) -> None:
    conn = await asyncpg.connect(dsn)
    await conn.execute("create table public.before (id serial, n int)")
    await open_public(dsn)
    await conn.execute("create table public.after (id serial, n int)")
    worker = await asyncpg.connect(login_urls(dsn, PASSWORDS)[SETTINGS[WORKER]])
    api = await asyncpg.connect(login_urls(dsn, PASSWORDS)[SETTINGS[API]])
    for table in ("before", "after"):
        await worker.execute(f"insert into public.{table} (n) values (1)")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await api.execute(f"select from public.{table}")
    for each in (conn, worker, api):
        await each.close()


async def test_a_worker_needs_no_more_than_its_account(service: Service) -> None:
    """Partitions, sweeps and steps included."""
    way = login_url(service.app.state.settings, WORKER, "")
    async with testbed(way, [pages], migrated=True) as bed:
        jobs = [await bed.submit(pages, Page(title=title), owner="ann") for title in ("x", "broken", "missing")]
        await bed.finish()
        assert [(await bed.item(job)).status for job in jobs] == ["DONE", "ERROR", "NOT_FOUND"]
    conn = await asyncpg.connect(way)
    await migrate.check(conn)
    assert await conn.fetchval("select forebay.make_partitions(now() + interval '40 days', 0)") != []
    assert await conn.fetchval("select forebay.drop_partitions(now() + interval '80 days')") != []
    await conn.close()


async def test_an_account_that_may_not_register_is_told_what_to_do(dsn: str) -> None:
    unknown: Pipeline[dict[str, str]] = Pipeline("strangers", dict)

    @unknown.step()
    async def step(ctx: Context, given: dict[str, str]) -> None:
        pass

    conn = await asyncpg.connect(login_urls(dsn, PASSWORDS)[SETTINGS[API]])
    try:
        with pytest.raises(UnknownPipeline) as refused:
            await unknown.submit(conn, {}, owner="ann")
    finally:
        await conn.close()
    assert refused.value.reason == (
        "there is no pipeline 'strangers' here, and this account may not register it: start its worker, or run "
        "`forebay migrate --pipelines MODULE`"
    )
