"""Requests that try to get more than they should: by their headers, their scopes, or the names that they give."""

from __future__ import annotations

import asyncio
import base64
import socket
from urllib.parse import urlsplit

import pytest
from argon2 import PasswordHasher

from forebay.engine.db import registry
from forebay.identity.accounts import invitation, make_token
from forebay.pipelines.bookmarks.steps import bookmarks
from forebay.pipelines.sheets.intake import sheet_intake
from forebay.pipelines.sheets.steps import sheets
from tests.api._service import PASSWORD, Service
from tests.api._streams import socketed

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_the_host_header_leads_nowhere(service: Service) -> None:
    async with service.client("ann") as client:
        # Other paths than those of the API are pages of the web app.
        for path, status in (("/api/jobs/", 404), ("/api/bookmarks/", 404), ("/healthz/", 200), ("/sign-in/", 200)):
            answer = await client.get(path, headers={"host": "evil.test"})
            assert (answer.status_code, answer.headers.get("location")) == (status, None), path
            assert "evil.test" not in answer.text


async def test_a_token_that_may_only_write_reads_nothing(service: Service) -> None:
    await registry.register(service.admin, bookmarks.definition())
    account = await service.admin.fetchval("select id from forebay.account where name = 'ann'")
    service.tokens["writer"] = await make_token(service.admin, account, "writer", ["write"])
    secret = {"url": "https://example.org/secret", "title": "secret title", "note": "secret note"}
    async with service.client("ann") as ann, service.client("writer") as writer:
        whole = await ann.post("/api/bookmarks", json=secret, headers={"idempotency-key": "k1"})
        number = whole.json()["bookmark"]["id"]
        place = f"/api/bookmarks/{number}"
        answers = [
            await writer.post("/api/bookmarks", json={"url": secret["url"]}),
            await writer.post("/api/bookmarks", json=secret, headers={"idempotency-key": "k1"}),
            await writer.patch(place, json={"tags": ["x"]}),
            await writer.post(f"{place}/archive"),
            await writer.post(f"{place}/unarchive"),
            await writer.post("/api/v1/bookmarks/add/data", json={"url": secret["url"]}),
        ]
        new = await writer.post("/api/bookmarks", json={"url": "https://example.org/new"})
        assert (await ann.get(place)).json()["tags"] == ["x"]
    assert [answer.status_code for answer in answers] == [200, 201, 200, 200, 200, 200]
    assert not any("secret title" in answer.text or "secret note" in answer.text for answer in answers)
    assert answers[0].json() == {"created": False, "bookmark": {"id": number}}
    assert answers[2].json() == {"id": number}
    assert (new.status_code, set(new.json()["bookmark"])) == (201, {"id"})


async def test_two_lengths_are_refused(service: Service) -> None:
    """Whoever is in between may go by the other one, and take the rest for a request of somebody else."""
    token = service.tokens["ann"]
    body = b"0\r\n\r\nGET /api/me HTTP/1.1\r\nHost: x\r\n\r\n"
    head = f"POST /api/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with socketed(service) as live:
        there = urlsplit(live.url)
        answer = await _ask(there.hostname or "", there.port or 0, head.encode() + body)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1") == 1
    assert b"connection: close" in answer.lower()


async def _ask(host: str, port: int, data: bytes) -> bytes:
    def ask() -> bytes:
        with socket.create_connection((host, port), timeout=20) as sock:
            sock.sendall(data)
            answer = b""
            while more := sock.recv(65536):
                answer += more
            return answer

    return await asyncio.to_thread(ask)


NAMES = {
    "../../etc/passwd.csv": "passwd.csv",
    "..\\..\\boot.csv": "boot.csv",
    "a\r\nSet-Cookie: x.csv": "a Set-Cookie x.csv",
    "gnp.\u202etxt.csv": "gnp.txt.csv",
    "nul\x00.csv": "nul.csv",
    "..": "file",
    "größe.csv": "größe.csv",
}


async def test_names_of_sheets_are_cleaned(service: Service) -> None:
    for pipeline in (sheets, sheet_intake):
        await registry.register(service.admin, pipeline.definition())
    async with service.client("ann") as ann:
        for name, kept in NAMES.items():
            told = ",".join(
                f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in (("filename", name),)
            )
            headers = {"tus-resumable": "1.0.0", "upload-length": "5", "upload-metadata": told}
            made = await ann.post("/api/uploads", headers=headers)
            assert made.status_code == 201, (name, made.text)
            found = await service.admin.fetchval(
                "select name from forebay.sheet where id = $1", int(made.json()["sheetId"])
            )
            assert found.replace(":", "") == kept, name


async def test_an_invitation_is_good_once_for_a_while_and_for_nobody_else(service: Service) -> None:
    _, used = await invitation(service.admin, "user", "test")
    expired, late = await invitation(service.admin, "user", "test")
    await service.admin.execute(
        "update forebay.invitation set expires_at = clock_timestamp() - interval '1 s' where id = $1", expired.id
    )
    async with service.client() as browser:

        async def enter(link: str, name: str) -> int:
            body = {"link": link, "name": name, "password": PASSWORD}
            return (await browser.post("/api/session/link", json=body)).status_code

        assert [await enter(used, "dora"), await enter(used, "emil"), await enter(late, "fred")] == [201, 401, 401]
        assert await enter(late[:-1] + ("a" if late[-1] != "a" else "b"), "gina") == 401
    async with service.client("bob") as bob:
        for method, path in (("GET", ""), ("POST", ""), ("DELETE", f"/{expired.id}")):
            body = {"role": "admin"} if method == "POST" else None
            answer = await bob.request(method, f"/api/users/invitations{path}", json=body)
            assert answer.status_code == 403
    names = {row["name"] for row in await service.admin.fetch("select name from forebay.account")}
    assert names == {"ann", "bob", "root", "dora"}


async def test_an_unknown_name_costs_as_much_as_a_known_one(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured in hashes, which are nearly all of the time that a sign-in takes."""
    hashed: list[str] = []
    verify = PasswordHasher.verify

    def counted(self: PasswordHasher, stored: str, given: str) -> bool:
        hashed.append(stored.rpartition("$")[0].rpartition("$")[0])  # with which parameters
        return verify(self, stored, given)

    monkeypatch.setattr(PasswordHasher, "verify", counted)
    async with service.client(ip="192.0.2.99") as browser:
        known, unknown = [
            await browser.post("/api/session", json={"name": name, "password": "wrong"})
            for name in ("ann", "no-such-name")
        ]
    told = [
        {name: value for name, value in answer.json().items() if name != "requestId"} for answer in (known, unknown)
    ]
    assert (known.status_code, told[0]) == (unknown.status_code, told[1])
    assert known.status_code == 401
    assert len(hashed) == 2
    assert hashed[0] == hashed[1]
