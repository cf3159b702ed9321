"""The pages beside the web app as their server sends them; tests/web/test_plain_pages.py has them in a browser."""

from __future__ import annotations

from tests.api._service import Service


async def test_pages_run_no_script_but_their_own_and_fetch_nothing_from_elsewhere(service: Service) -> None:
    async with service.client() as browser:
        for path in ("/api/docs", "/sign-in"):
            page = await browser.get(path)
            assert page.status_code == 200
            policy = page.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; script-src 'sha256-")
            assert "frame-ancestors 'none'" in policy
            assert 'src="' not in page.text
            assert 'href="http' not in page.text
