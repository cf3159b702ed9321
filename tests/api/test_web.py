"""The web app is served: its files, its pages at any path, and a page that says how to build it."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from forebay.api.routes import web
from forebay.api.web_files import WebFiles
from tests.api._service import Service, serving

INDEX = b"<!doctype html><title>forebay</title>"
SCRIPT = b"console.log(1);" * 100


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build that is served instead of the real one."""
    (tmp_path / "assets").mkdir()
    (tmp_path / ".vite").mkdir()
    (tmp_path / "index.html").write_bytes(INDEX)
    (tmp_path / "assets" / "main-abc.js").write_bytes(SCRIPT)
    (tmp_path / "assets" / "main-abc.js.gz").write_bytes(gzip.compress(SCRIPT))
    (tmp_path / "assets" / "main-abc.js.br").write_bytes(b"brotli")
    (tmp_path / "theme.js").write_bytes(b"1")
    (tmp_path / ".vite" / "manifest.json").write_text("{}")
    (tmp_path / "stamp").write_text("1")
    monkeypatch.setattr(web, "_web_files", WebFiles(tmp_path))
    return tmp_path


@pytest.mark.parametrize("path", ["/", "/jobs/12?tab=items", "/save?url=https%3A%2F%2Fexample.org", "/no/such/page"])
async def test_every_path_of_a_page_has_the_app_under_its_policy(service: Service, built: Path, path: str) -> None:
    async with service.client() as browser:
        answer = await browser.get(path, headers={"accept": "text/html"})
        again = await browser.get(path, headers={"if-none-match": answer.headers["etag"]})
    assert (answer.status_code, answer.content) == (200, INDEX)
    assert answer.headers["cache-control"] == "no-cache"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; ")
    assert policy.endswith("frame-ancestors 'none'; require-trusted-types-for 'script'")
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("method", "path", "accept", "status"),
    [
        ("GET", "/api/nowhere", "text/html", 404),
        ("GET", "/api", "text/html", 404),
        ("GET", "/files/nowhere", "text/html", 404),
        ("GET", "/nowhere", "application/json", 404),
        ("GET", "/assets/gone-123.js", "*/*", 404),
        ("GET", "/favicon.ico", "*/*", 404),
        ("GET", "/stamp.txt", "*/*", 404),
        ("GET", "/.vite/manifest.json", "*/*", 404),
        ("POST", "/jobs", "*/*", 404),
        ("POST", "/api/me", "*/*", 405),
    ],
)
async def test_other_paths_keep_their_answers(
    service: Service, built: Path, method: str, path: str, accept: str, status: int
) -> None:
    async with service.client() as browser:
        answer = await browser.request(method, path, headers={"accept": accept})
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


async def test_named_files_are_kept_by_browsers_and_sent_compressed(service: Service, built: Path) -> None:
    async with service.client() as browser:
        for accepted, encoding, length in (
            ("gzip, br", "br", 6),
            ("identity", None, len(SCRIPT)),
            ("br;q=0", None, 1500),
        ):
            async with browser.stream("GET", "/assets/main-abc.js", headers={"accept-encoding": accepted}) as answer:
                raw = b"".join([part async for part in answer.aiter_raw()])
            assert (answer.headers.get("content-encoding"), len(raw)) == (encoding, length)
            assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
            assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
            assert answer.headers["vary"] == "accept-encoding"
        zipped = await browser.get("/assets/main-abc.js", headers={"accept-encoding": "gzip"})
        named = await browser.get("/theme.js")
    assert zipped.content == SCRIPT
    assert named.headers["cache-control"] == "no-cache"


async def test_a_new_build_is_served_without_a_restart(service: Service, built: Path) -> None:
    async with service.client() as browser:
        assert (await browser.get("/")).content == INDEX
        (built / "index.html").write_bytes(b"newer")
        os.utime(built / "stamp", ns=(1, 1))
        assert (await browser.get("/")).content == b"newer"


async def test_without_a_build_a_page_says_what_to_do(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "_web_files", WebFiles(tmp_path))
    async with service.client() as browser:
        answer = await browser.get("/")
    assert answer.status_code == 503
    assert "make up" in answer.text
    assert "scripts/web.py build" in answer.text


async def test_pictures_of_a_bucket_are_allowed_where_links_point_to_it(dsn: str, built: Path) -> None:
    endpoint = "https://s3.example.org:9000/x"
    async with (
        serving(dsn, storage_presign=True, storage_endpoint=endpoint) as service,
        service.client() as browser,
    ):
        policy = (await browser.get("/")).headers["content-security-policy"]
    assert "img-src 'self' blob: data: https://s3.example.org:9000;" in policy
    assert "media-src 'self' blob: https://s3.example.org:9000;" in policy
