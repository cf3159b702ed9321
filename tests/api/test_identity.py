"""Signing in, sessions, tokens, links, invitations."""

# demands: S2-07, S2-83

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest
from argon2 import PasswordHasher, Type
from fastapi import Request

from forebay.api.app import create_app
from forebay.api.auth.cookies import COOKIE, cookies_of
from forebay.api.auth.throttle import network_of
from forebay.identity import db as identity
from forebay.identity import secrets
from forebay.identity.accounts import (
    FIRST_ADMIN,
    account_named,
    change_password,
    first_admin,
    follow_link,
    invitation,
    sign_in_link,
)
from forebay.identity.secrets import PasswordThreads, digest
from forebay.settings import Settings
from tests.api._service import PASSWORD, Service, admin_of, serving


def test_passwords_are_hashed_at_full_cost(full_passwords: PasswordHasher) -> None:
    """At least what RFC 9106 recommends where memory is scarce: 64 MiB, three passes."""
    assert full_passwords.type is Type.ID
    assert (full_passwords.memory_cost, full_passwords.time_cost) >= (65536, 3)
    assert full_passwords.hash("x").startswith("$argon2id$v=19$m=65536,t=3,p=4$")


async def test_a_session_from_beginning_to_end(service: Service) -> None:
    async with service.signed_in("ann") as browser:
        me = (await browser.get("/api/me")).json()
        assert me.pop("expiresAt") is not None
        assert me == {"name": "ann", "role": "user", "kind": "session", "scopes": ["read", "write"]}
        assert (await browser.delete("/api/session")).status_code == 204
        assert (await browser.get("/api/me")).status_code == 401


async def test_cookies_are_kept_from_scripts_and_other_sites(service: Service) -> None:
    async with service.client() as browser:
        answer = await browser.post("/api/session", json={"name": "ann", "password": PASSWORD})
    session, csrf = sorted(answer.headers.get_list("set-cookie"), reverse=True)
    assert "HttpOnly" in session
    assert "SameSite=lax" in session
    assert "HttpOnly" not in csrf
    assert PASSWORD not in answer.text
    stored = await service.admin.fetchval("select encode(hash, 'escape') from forebay.session")
    assert session.split("=")[1].split(";")[0] not in stored


async def test_another_sites_page_cannot_write(service: Service) -> None:
    async with service.signed_in("ann") as browser:
        for header in (None, "", "0" * 64):
            browser.headers.pop("x-csrf-token", None)
            headers = {} if header is None else {"x-csrf-token": header}
            body = {"pipeline": "pages", "input": {"title": "x"}}
            refused = await browser.post("/api/jobs", json=body, headers=headers)
            assert refused.status_code == 403
            assert refused.json()["detail"] == "x-csrf-token: must equal the cookie forebay_csrf"
    assert await service.admin.fetchval("select count(*) from forebay.job") == 0


async def test_who_guesses_has_to_wait(service: Service) -> None:
    async with service.client() as browser:
        wrong = {"name": "ann", "password": "wrong"}
        codes = [(await browser.post("/api/session", json=wrong)).status_code for _ in range(7)]
        assert codes == [401] * 6 + [429]
        right = await browser.post("/api/session", json={"name": "ann", "password": PASSWORD})
        assert (right.status_code, right.json()["detail"]) == (429, "too many wrong passwords: try again later")
        assert int(right.headers["retry-after"]) >= 1
    async with service.signed_in("bob"):  # from the same address
        pass
    await service.admin.execute("update forebay.sign_in_failure set blocked_until = now()")
    async with service.signed_in("ann"):
        assert await failures(service) == {"ip 192.0.2.7": 6}  # of the address it is not forgotten


async def failures(service: Service) -> dict[str, int]:
    rows = await service.admin.fetch("select key, failures from forebay.sign_in_failure")
    return {row["key"]: row["failures"] for row in rows}


async def guess(service: Service, name: str, ip: str, password: str = "wrong") -> int:
    async with service.client(ip=ip) as browser:
        return (await browser.post("/api/session", json={"name": name, "password": password})).status_code


async def test_guesses_that_come_at_once_are_counted_like_others(service: Service) -> None:
    codes = await asyncio.gather(*(guess(service, "ann", "192.0.2.7") for _ in range(40)))
    assert (codes.count(401), codes.count(429)) == (6, 34)


async def test_a_guess_that_waits_for_another_finds_what_that_one_has_written(service: Service) -> None:
    await service.admin.execute("insert into forebay.sign_in_failure values ('name ann', 5, '-infinity', now())")
    async with admin_of(service.dsn) as one, admin_of(service.dsn) as other:
        first = one.transaction()
        await first.start()
        assert await identity.count_sign_in(one, {"name ann": 5}) == 0  # the last: it blocks the name
        second = asyncio.create_task(identity.count_sign_in(other, {"name ann": 5}))
        while not await service.admin.fetchval("select count(*) from pg_locks where not granted"):
            assert not second.done()
            await asyncio.sleep(0.01)
        await first.commit()
        assert await second > 0
    assert await failures(service) == {"name ann": 6}


async def test_who_guesses_elsewhere_keeps_nobody_out(service: Service) -> None:
    codes = [await guess(service, "ann", "198.51.100.1") for _ in range(7)]
    assert codes == [401] * 6 + [429]
    assert await guess(service, "ann", "192.0.2.7", PASSWORD) == 201
    assert await failures(service) == {"name ann from 198.51.100.1": 6, "ip 198.51.100.1": 6, "ip 192.0.2.7": 0}


async def test_many_guesses_from_everywhere_block_the_name(service: Service) -> None:
    await service.admin.execute("insert into forebay.sign_in_failure values ('name ann', 199, '-infinity', now())")
    codes = [await guess(service, "ann", f"198.51.100.{n}") for n in range(3)]
    assert codes == [401, 401, 429]


async def test_many_guesses_from_one_address_block_it(service: Service) -> None:
    await service.admin.execute("insert into forebay.sign_in_failure values ('ip 192.0.2.7', 50, '-infinity', now())")
    for _ in range(2):  # the right password blocks nobody
        assert await guess(service, "bob", "192.0.2.7", PASSWORD) == 201
    assert await failures(service) == {"ip 192.0.2.7": 50}
    assert await guess(service, "carl", "192.0.2.7") == 401
    assert await guess(service, "bob", "192.0.2.7", PASSWORD) == 429
    assert "name bob" not in await failures(service)  # who is refused is not counted


def test_places() -> None:
    found = [
        network_of(each) for each in ("192.0.2.7", "2001:db8:1:2:3::4", "2001:db8:1:2::9", "::ffff:192.0.2.7", None)
    ]
    assert found == ["192.0.2.7", "2001:db8:1:2::/64", "2001:db8:1:2::/64", "192.0.2.7", "nowhere"]


async def test_nobodys_password_is_hashed_by_the_first_answer_whomever_it_is_for() -> None:
    """Not at the start, which would wait for it; and not only for names that do not exist, which that would tell."""
    secrets._dummy_hash.cache_clear()
    stored = await secrets.hash_password(PASSWORD)
    assert secrets._dummy_hash.cache_info().misses == 0
    assert await secrets.is_password(stored, PASSWORD)
    assert secrets._dummy_hash.cache_info().misses == 1
    assert not await secrets.is_password(None, PASSWORD)
    assert secrets._dummy_hash.cache_info().misses == 1


async def test_passwords_wait_for_a_thread_and_some_are_sent_away(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "_threads", PasswordThreads(at_once=1, waiting=1))
    may_go = threading.Event()
    first = asyncio.create_task(secrets._threads.run(lambda: may_go.wait(60)))
    second = asyncio.create_task(secrets.is_password(None, "x"))
    await asyncio.sleep(0)
    try:
        async with service.client() as browser:
            refused = await browser.post("/api/session", json={"name": "ann", "password": PASSWORD})
    finally:
        may_go.set()
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert refused.json()["detail"] == "too many users are signing in: try again later"
    assert set((await failures(service)).values()) == {0}  # it was no guess
    assert (await first, await second) == (True, False)
    async with service.signed_in("ann"):
        pass


async def test_the_old_password_is_not_guessed_with_a_session(service: Service) -> None:
    async with service.signed_in("ann") as browser:
        body = {"old": "wrong", "new": "a long new password"}
        codes = [(await browser.put("/api/me/password", json=body)).status_code for _ in range(7)]
    assert codes == [403] * 6 + [429]


async def test_names_that_do_not_exist_are_answered_like_wrong_passwords(service: Service) -> None:
    async with service.client() as browser:
        unknown = await browser.post("/api/session", json={"name": "carl", "password": "wrong"})
        wrong = await browser.post("/api/session", json={"name": "ann", "password": "wrong"})
    assert {**unknown.json(), "requestId": ""} == {**wrong.json(), "requestId": ""}
    assert unknown.json()["detail"] == "name or password is wrong"


async def test_a_link_works_once(service: Service) -> None:
    link = await sign_in_link(service.admin, await account_named(service.admin, "ann"), "test")
    async with service.client() as browser:
        first = await browser.post("/api/session/link", json={"link": link, "password": "another long one"})
        again = await browser.post("/api/session/link", json={"link": link})
        assert (first.status_code, first.json()["name"]) == (201, "ann")
        assert (again.status_code, again.json()["detail"]) == (401, "this link is unknown, expired or already used")
        new = await browser.post("/api/session", json={"name": "ann", "password": "another long one"})
        assert new.status_code == 201


async def test_the_first_administrator_enters_by_a_link(service: Service) -> None:
    await service.admin.execute("update forebay.account set role = 'user'")
    link = await sign_in_link(service.admin, await first_admin(service.admin), "test")
    async with service.client() as browser:
        entered = await browser.post("/api/session/link", json={"link": link})
        assert entered.json()["name"] == FIRST_ADMIN
        assert entered.json()["role"] == "admin"
        page = await browser.get("/sign-in")
    assert "script-src 'sha256-" in page.headers["content-security-policy"]


async def test_an_invitation_makes_an_account(service: Service) -> None:
    async with service.client("root") as admin:
        link = (await admin.post("/api/users/invitations", json={})).json()["link"].partition("#")[2]
    async with service.client() as browser:
        bare = await browser.post("/api/session/link", json={"link": link})
        assert (bare.status_code, bare.json()["errors"][0]["field"]) == (422, "name")
        assert bare.json()["detail"] == "name: an invitation needs a name and a password for the new account"
        taken = await browser.post("/api/session/link", json={"link": link, "name": "bob", "password": PASSWORD})
        assert (taken.status_code, taken.json()["detail"]) == (
            409,
            "name: 'bob' is already in use: choose another name",
        )
        made = await browser.post("/api/session/link", json={"link": link, "name": "carl", "password": PASSWORD})
        assert (made.status_code, made.json()["role"], made.json()["scopes"]) == (201, "user", ["read", "write"])
    async with service.signed_in("carl") as carl:
        assert (await carl.get("/api/jobs")).json()["jobs"] == []


@pytest.mark.parametrize("name", ["carl", "default", "demo"])
async def test_an_invited_person_does_not_get_what_an_owner_has(service: Service, name: str) -> None:
    owner = await service.admin.fetchval("select forebay.owner_id($1)", name)
    _, link = await invitation(service.admin, "user", "test")
    async with service.client() as browser:
        body = {"link": link, "name": name, "password": PASSWORD}
        refused = await browser.post("/api/session/link", json=body)
        assert refused.status_code == 409
        assert refused.json()["errors"] == [
            {"field": "name", "reason": f"{name!r} is already in use: choose another name"}
        ]
        assert (await browser.post("/api/session/link", json=body | {"name": "dora"})).status_code == 201
    assert await service.admin.fetchval("select count(*) from forebay.account where owner_id = $1", owner) == 0


async def test_an_owner_that_is_made_at_the_same_moment_is_not_given_away(service: Service) -> None:
    _, link = await invitation(service.admin, "user", "test")
    async with admin_of(service.dsn) as other, service.client() as browser:
        making = other.transaction()
        await making.start()
        await other.execute("select forebay.owner_id('carl')")
        body = {"link": link, "name": "carl", "password": PASSWORD}
        asked = asyncio.create_task(browser.post("/api/session/link", json=body))
        while not await service.admin.fetchval("select count(*) from pg_locks where not granted"):
            assert not asked.done()
            await asyncio.sleep(0.01)
        await making.commit()
        assert (await asked).status_code == 409


async def test_a_sign_in_link_makes_no_account_when_its_own_is_disabled_meanwhile(service: Service) -> None:
    link = await sign_in_link(service.admin, await account_named(service.admin, "root"), "test")
    await service.admin.execute("update forebay.account set disabled_at = now() where name = 'root'")
    assert await follow_link(service.admin, digest(link), "carl", "hash") is None
    assert await service.admin.fetchval("select count(*) from forebay.account where name = 'carl'") == 0


async def test_invitations_are_listed_and_ended(service: Service) -> None:
    async with service.client("root") as admin, service.client() as browser:
        made = [(await admin.post("/api/users/invitations", json={"role": role})).json() for role in ("user", "admin")]
        await sign_in_link(service.admin, await account_named(service.admin, "ann"), "test")
        listed = (await admin.get("/api/users/invitations")).json()
        assert [(row["id"], row["role"], row["createdBy"]) for row in listed] == [
            (made[1]["id"], "admin", "root"),
            (made[0]["id"], "user", "root"),
        ]
        assert not any("link" in row or "hash" in row for row in listed)
        assert (await admin.delete(f"/api/users/invitations/{made[1]['id']}")).status_code == 204
        again = await admin.delete(f"/api/users/invitations/{made[1]['id']}")
        assert (again.status_code, again.json()["detail"]) == (404, "invitation: there is no open invitation 2")
        body = {"link": made[1]["link"].partition("#")[2], "name": "carl", "password": PASSWORD}
        assert (await browser.post("/api/session/link", json=body)).status_code == 401
        assert [row["id"] for row in (await admin.get("/api/users/invitations")).json()] == [made[0]["id"]]
    noted = await service.admin.fetchval("select detail from forebay.audit where action = 'revoke_invitation'")
    assert json.loads(noted) == {"id": 2, "role": "admin"}


async def test_ones_own_sessions(service: Service) -> None:
    async with (
        service.signed_in("ann") as here,
        service.signed_in("ann") as there,
        service.signed_in("bob") as bob,
    ):
        listed = (await here.get("/api/sessions")).json()
        assert sorted(row["current"] for row in listed) == [False, True]
        assert {row["ip"] for row in listed} == {"192.0.2.7"}
        other = next(row["id"] for row in listed if not row["current"])
        not_his = await bob.delete(f"/api/sessions/{other}")
        assert (not_his.status_code, not_his.json()["detail"]) == (404, f"there is no session {other}")
        assert (await there.get("/api/me")).status_code == 200
        assert (await here.delete(f"/api/sessions/{other}")).status_code == 204
        assert (await there.get("/api/me")).status_code == 401
        assert [row["current"] for row in (await here.get("/api/sessions")).json()] == [True]


async def test_signing_in_again_ends_the_session_before(service: Service) -> None:
    async with service.signed_in("ann") as browser:
        before = browser.cookies[COOKIE]
        await browser.post("/api/session", json={"name": "ann", "password": PASSWORD})
        assert browser.cookies[COOKIE] != before
        browser.cookies.set(COOKIE, before, domain="forebay.test")
        assert (await browser.get("/api/me")).status_code == 401
    async with service.client() as browser:  # a secret that somebody else has chosen is never taken over
        browser.cookies.set(COOKIE, "fbs_planted", domain="forebay.test")
        await browser.post("/api/session", json={"name": "ann", "password": PASSWORD})
        assert "fbs_planted" not in browser.cookies.values()


@pytest.mark.parametrize("what", ["/api/tokens", "/api/users/invitations"])
async def test_a_key_makes_a_secret_once(service: Service, what: str) -> None:
    body = {"name": "laptop"} if what == "/api/tokens" else {"role": "user"}
    other = {"name": "other"} if what == "/api/tokens" else {"role": "admin"}
    async with service.signed_in("root") as root:
        root.headers["idempotency-key"] = "abc"
        answers = await asyncio.gather(*(root.post(what, json=body) for _ in range(3)))
        codes = sorted(answer.status_code for answer in answers)
        assert codes == [201, 409, 409]
        (made,) = (answer.json() for answer in answers if answer.status_code == 201)
        again = (await root.post(what, json=body)).json()  # those at the same time may have met it on its way
        reason = f"has created {made['id']} before, whose secret was shown then and is not stored: use another key"
        assert again["errors"] == [{"field": "Idempotency-Key", "reason": reason}]
        assert again["id"] == made["id"]
        assert (await root.post(what, json=other)).status_code == 422
        assert (await root.post(what, json=body, headers={"idempotency-key": "abcd"})).status_code == 201
    kept = await service.admin.fetch("select answer::text from forebay.idempotency")
    assert next(row["answer"] for row in kept) == f'{{"id": "{made["id"]}"}}'
    table = "api_token where name = 'laptop'" if what == "/api/tokens" else "invitation"
    assert await service.admin.fetchval(f"select count(*) from forebay.{table}") == 2


async def test_ones_own_tokens(service: Service) -> None:
    async with service.signed_in("ann") as browser:
        made = (await browser.post("/api/tokens", json={"name": "laptop", "expiresInDays": 30})).json()
        listed = (await browser.get("/api/tokens")).json()
        assert [token["name"] for token in listed] == ["laptop", "test"]
        assert "token" not in listed[0]
        assert made["token"].endswith(listed[0]["hint"])
        refused = await browser.post("/api/tokens", json={"name": "more", "scopes": ["admin"]})
        assert refused.json()["detail"] == "scopes: only administrators can give the scope `admin`"
        service.tokens["laptop"] = made["token"]
        async with service.client("laptop") as program:
            assert (await program.get("/api/me")).json()["kind"] == "token"
            forbidden = await program.get("/api/tokens")
            assert forbidden.json()["detail"] == "only signed-in users may do this"
        async with service.signed_in("bob") as bob:
            not_his = await bob.delete(f"/api/tokens/{made['id']}")
            assert not_his.json()["detail"] == f"there is no token {made['id']}"
        assert (await browser.delete(f"/api/tokens/{made['id']}")).status_code == 204
        async with service.client("laptop") as program:
            assert (await program.get("/api/me")).status_code == 401


async def test_a_new_password_ends_all_sessions(service: Service) -> None:
    async with service.signed_in("ann") as here, service.signed_in("ann") as there:
        wrong = await here.put("/api/me/password", json={"old": "wrong", "new": "a long new password"})
        assert (wrong.status_code, wrong.json()["errors"]) == (403, [{"field": "old", "reason": "is wrong"}])
        right = await here.put("/api/me/password", json={"old": PASSWORD, "new": "a long new password"})
        assert right.status_code == 204
        over = await there.get("/api/me")
        assert (over.status_code, over.json()["detail"]) == (401, "the session has ended: sign in again")


async def test_a_new_password_by_a_link_ends_all_sessions(service: Service) -> None:
    async def link() -> str:
        return await sign_in_link(service.admin, await account_named(service.admin, "ann"), "test")

    async with service.signed_in("ann") as old, service.signed_in("bob") as bob, service.client() as new:
        assert (await new.post("/api/session/link", json={"link": await link()})).status_code == 201
        assert (await old.get("/api/me")).status_code == 200  # no new password
        body = {"link": await link(), "password": "another long one"}
        assert (await new.post("/api/session/link", json=body)).status_code == 201
        assert [(await each.get("/api/me")).status_code for each in (old, new, bob)] == [401, 200, 200]


async def test_who_signs_in_while_the_password_changes_is_not_let_in_by_the_old_one(service: Service) -> None:
    """The change has begun when the old password is found right: the session waits for it, and is not opened then."""
    async with admin_of(service.dsn) as other, service.client() as browser:
        changing = other.transaction()
        await changing.start()
        await other.execute("update forebay.account set password = 'another' where name = 'ann'")
        asked = asyncio.create_task(browser.post("/api/session", json={"name": "ann", "password": PASSWORD}))
        while not await service.admin.fetchval("select count(*) from pg_locks where not granted"):
            assert not asked.done()
            await asyncio.sleep(0.01)
        await changing.commit()
        assert (await asked).status_code == 401


async def test_a_session_that_opens_while_the_password_changes_is_ended(service: Service) -> None:
    """The other way round: the change waits for the session, and then sees it."""
    account = await account_named(service.admin, "ann")
    async with admin_of(service.dsn) as opening, admin_of(service.dsn) as changing:
        begun = opening.transaction()
        await begun.start()
        assert await identity.open_session(opening, b"x", account.id, 60, None, None)
        change = asyncio.create_task(change_password(changing, account, "another"))
        while not await service.admin.fetchval("select count(*) from pg_locks where not granted"):
            assert not change.done()
            await asyncio.sleep(0.01)
        await begun.commit()
        await change
    assert await service.admin.fetchval("select count(*) from forebay.session") == 0


async def test_cookies_go_over_https_only_when_others_may_listen(dsn: str) -> None:
    async def given(service: Service, base: str) -> list[str]:
        async with service.client(base=base) as browser:
            answer = await browser.post("/api/session", json={"name": "ann", "password": PASSWORD})
            assert (await browser.get("/api/me")).status_code == (200 if "https" in base else 401)
            browser.headers["x-csrf-token"] = browser.cookies.get("__Host-forebay_csrf") or ""
            if "https" in base:
                ended = await browser.delete("/api/session")
                assert all("Secure" in cookie for cookie in ended.headers.get_list("set-cookie"))
                assert list(browser.cookies) == []
            return sorted(answer.headers.get_list("set-cookie"), reverse=True)

    async with serving(dsn, api_host="0.0.0.0") as service:
        for base in ("http://forebay.test", "https://forebay.test"):
            session, csrf = await given(service, base)
            assert session.startswith("__Host-forebay_session=")
            assert csrf.startswith("__Host-forebay_csrf=")
            assert all(
                "Secure" in cookie and "Path=/;" in cookie and "Domain" not in cookie for cookie in (session, csrf)
            )
            assert "HttpOnly" in session
            assert "SameSite=lax" in session
        async with service.client(base="https://forebay.test") as browser:  # planted from a page without HTTPS
            browser.cookies.set(COOKIE, "fbs_x")
            assert (await browser.get("/api/me")).json()["detail"].startswith("sign in, or send a token")


@pytest.mark.parametrize(
    ("settings", "scheme", "is_secure"),
    [
        ({}, "http", False),
        ({}, "https", True),  # a proxy on this machine
        ({"api_host": "localhost"}, "http", False),
        ({"api_host": "::1"}, "http", False),
        ({"api_host": "192.0.2.1"}, "http", True),
        ({"api_host": "forebay.example"}, "http", True),
        ({"api_host": "0.0.0.0", "secure_cookies": False}, "https", False),
        ({"secure_cookies": True}, "http", True),
    ],
)
def test_which_cookies_are_secure(settings: dict[str, Any], scheme: str, is_secure: bool) -> None:
    app = create_app("", Settings(**settings), [])
    scope = {"type": "http", "app": app, "scheme": scheme, "path": "/", "headers": [], "server": ("x", 80)}
    assert cookies_of(Request(scope)).is_secure is is_secure


async def test_who_is_disabled_is_out_at_once(service: Service) -> None:
    async with service.signed_in("ann") as ann, service.client("root") as admin:
        assert (await admin.patch("/api/users/ann", json={"disabled": True})).json()["disabledAt"] is not None
        assert (await ann.get("/api/me")).status_code == 401
        async with service.client("ann") as program:
            assert (await program.get("/api/me")).status_code == 401
        async with service.client() as browser:
            refused = await browser.post("/api/session", json={"name": "ann", "password": PASSWORD})
            assert refused.status_code == 401
        own = await admin.patch("/api/users/root", json={"role": "user"})
        assert own.json()["detail"] == "you cannot change your own account here: ask another administrator"
        unknown = await admin.patch("/api/users/carl", json={"role": "user"})
        assert unknown.json()["detail"] == "user: there is no user 'carl'"


async def test_what_is_no_token_is_said_to_be_none(service: Service) -> None:
    async with service.client() as client:
        answer = await client.get("/api/me", headers={"authorization": "Basic abc"})
        assert (answer.status_code, answer.json()["detail"]) == (401, "Authorization must be: Bearer <token>")
        nothing = await client.get("/api/me")
        assert nothing.json()["detail"] == "sign in, or send a token: Authorization: Bearer <token>"
        assert nothing.headers["www-authenticate"] == "Bearer"


async def test_a_name_that_cannot_be_stored(service: Service) -> None:
    async with service.client() as browser:
        answer = await browser.post("/api/session", json={"name": "a\0b", "password": "x"})
    assert answer.status_code == 422
    assert answer.json()["detail"] == "request: contains a character that cannot be stored, such as U+0000"


async def test_what_is_done_to_accounts_and_tokens_is_in_the_audit(service: Service) -> None:
    async with service.signed_in("root") as admin, service.signed_in("ann") as ann:
        await admin.post("/api/users/invitations", json={"role": "user"})
        await admin.patch("/api/users/ann", json={"role": "admin"})
        made = (await ann.post("/api/tokens", json={"name": "laptop"})).json()
        await ann.delete(f"/api/tokens/{made['id']}")
        await ann.put("/api/me/password", json={"old": PASSWORD, "new": "another long password"})
        rows = (await admin.get("/api/audit?userId=all&pageSize=5")).json()
    told = [(row["actor"], row["action"], row["owner"], row["detail"]) for row in rows["audit"]]
    assert told == [
        ("ann", "change_password", "ann", {}),
        ("ann", "revoke_token", "ann", {"id": int(made["id"])}),
        ("ann", "add_token", "ann", {"id": int(made["id"]), "name": "laptop", "scopes": ["read", "write"]}),
        ("root", "change_account", "ann", {"name": "ann", "role": "admin"}),
        ("root", "invite", None, {"id": 1, "role": "user"}),
    ]
