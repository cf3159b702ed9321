"""The sign-in page as its server sends it; tests/web/test_sign_in.py has it in a browser."""

from __future__ import annotations

from forebay.identity.accounts import account_named, invitation, sign_in_link
from tests.api._service import PASSWORD, Service


async def test_the_page_is_sent_with_a_strict_policy(service: Service) -> None:
    async with service.client() as browser:
        page = await browser.get("/sign-in")
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "form-action 'none'" in policy
    assert "{" not in page.text.partition("<body>")[2].partition("<script>")[0]
    for field in ("name", "password"):
        assert f'<label for="{field}"' in page.text
    assert "http://" not in page.text
    assert "https://" not in page.text


async def test_what_a_link_is_good_for(service: Service) -> None:
    _, made = await invitation(service.admin, "admin", "test")
    link = await sign_in_link(service.admin, await account_named(service.admin, "ann"), "test")
    async with service.client() as browser:
        for _ in range(2):  # looking does not use it up
            answers = [await browser.post("/api/session/link/check", json={"link": each}) for each in (made, link)]
            assert [answer.json() for answer in answers] == [
                {"kind": "invitation", "role": "admin", "name": None, "hasPassword": False},
                {"kind": "sign-in", "role": "user", "name": "ann", "hasPassword": True},
            ]
        none = await browser.post("/api/session/link/check", json={"link": PASSWORD})
    assert (none.status_code, none.json()["detail"]) == (401, "this link is unknown, expired or already used")
