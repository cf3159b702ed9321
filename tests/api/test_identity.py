"""Signing in, sessions, tokens, links, invitations."""

from __future__ import annotations

from forebay.api.accounts import FIRST_ADMIN, account_named, admin_link, sign_in_link
from tests.api._service import PASSWORD, Service


async def test_a_session_from_beginning_to_end(service: Service) -> None:
    async with service.signed_in("ann") as browser:
        assert (await browser.get("/api/me")).json() == {
            "name": "ann",
            "role": "user",
            "kind": "session",
            "scopes": ["admin", "read", "write"],
        }
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
            assert refused.json()["detail"] == "the header x-csrf-token must repeat the cookie forebay_csrf"
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
        assert await service.admin.fetchval("select count(*) from forebay.sign_in_failure") == 0


async def test_names_that_do_not_exist_are_answered_like_wrong_passwords(service: Service) -> None:
    async with service.client() as browser:
        unknown = await browser.post("/api/session", json={"name": "carl", "password": "wrong"})
        wrong = await browser.post("/api/session", json={"name": "ann", "password": "wrong"})
    assert unknown.json() == wrong.json()
    assert unknown.json()["detail"] == "name or password is wrong"


async def test_a_link_works_once(service: Service) -> None:
    link = await sign_in_link(service.admin, await account_named(service.admin, "ann"), "test")
    async with service.client() as browser:
        first = await browser.post("/api/session/link", json={"link": link, "password": "another long one"})
        again = await browser.post("/api/session/link", json={"link": link})
        assert (first.status_code, first.json()["name"]) == (201, "ann")
        assert (again.status_code, again.json()["detail"]) == (401, "this link is unknown, expired or used up")
        new = await browser.post("/api/session", json={"name": "ann", "password": "another long one"})
        assert new.status_code == 201


async def test_the_first_administrator_enters_by_a_link(service: Service) -> None:
    await service.admin.execute("update forebay.account set role = 'user'")
    link = await admin_link(service.admin)
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
        assert bare.json()["detail"] == "an invitation needs a name and a password for the new account"
        taken = await browser.post("/api/session/link", json={"link": link, "name": "bob", "password": PASSWORD})
        assert (taken.status_code, taken.json()["detail"]) == (409, "the name 'bob' is taken")
        made = await browser.post("/api/session/link", json={"link": link, "name": "carl", "password": PASSWORD})
        assert (made.status_code, made.json()["role"]) == (201, "user")
    async with service.signed_in("carl") as carl:
        assert (await carl.get("/api/jobs")).json()["jobs"] == []


async def test_ones_own_tokens(service: Service) -> None:
    async with service.signed_in("ann") as browser:
        made = (await browser.post("/api/tokens", json={"name": "laptop", "expiresInDays": 30})).json()
        listed = (await browser.get("/api/tokens")).json()
        assert [token["name"] for token in listed] == ["laptop", "test"]
        assert "token" not in listed[0]
        assert made["token"].endswith(listed[0]["hint"])
        refused = await browser.post("/api/tokens", json={"name": "more", "scopes": ["admin"]})
        assert refused.json()["detail"] == "only administrators can give the scope `admin`"
        service.tokens["laptop"] = made["token"]
        async with service.client("laptop") as program:
            assert (await program.get("/api/me")).json()["kind"] == "token"
            forbidden = await program.get("/api/tokens")
            assert forbidden.json()["detail"] == "only someone who has signed in may do this"
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
        assert (over.status_code, over.json()["detail"]) == (401, "the session is over: sign in again")


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
        assert own.json()["detail"] == "nobody changes their own account here: ask another administrator"
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


async def test_the_apis_page_names_every_route_and_fetches_nothing(service: Service) -> None:
    async with service.client() as browser:
        page = await browser.get("/api/docs")
    assert all(path in page.text for path in service.app.openapi()["paths"])
    assert "<script" not in page.text
    assert "https://" not in page.text
    assert page.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'"


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
        ("root", "invite", None, {"role": "user"}),
    ]
