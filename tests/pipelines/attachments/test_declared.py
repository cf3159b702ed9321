"""Senders that are declared: assets of GitHub releases, and what is wrong with a declaration."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from forebay.errors import ConfigError
from forebay.pipelines.attachments import declared_sources
from forebay.pipelines.attachments.declared_sources import load_declared
from forebay.webhooks.signatures import WebhookRejected, verify
from tests.pipelines.attachments._world import open_world, scan_folder
from tests.services.egress._world import reply, serving
from tests.webhooks.test_signatures import github, standard

SHIPPED = Path(declared_sources.__file__).parent / "senders" / "github-releases.toml"
TOKEN, SECRET, OLD = "ghp_tests_1b2c3d", "hook-secret-77", "hook-secret-76"
VARIABLES = {
    "GITHUB_RELEASES_OWNER": "ann",
    "GITHUB_RELEASES_SECRET": SECRET,
    "GITHUB_RELEASES_OLD_SECRET": OLD,
    "GITHUB_RELEASES_TOKEN": TOKEN,
}
ASSETS = {"1": b"tool" * 500, "2": "发布".encode() * 300}


def release(port: int, action: str = "published", **changed: Any) -> dict[str, Any]:
    """As its documents show it."""
    assets = [
        {
            "id": int(key),
            "url": f"http://hub.test:{port}/repos/o/r/releases/assets/{key}",
            "name": f"asset-{key}.bin",
            "size": len(data),
            "digest": f"sha256:{hashlib.sha256(data).hexdigest()}",
            **changed,
        }
        for key, data in ASSETS.items()
    ]
    about = {"id": 77, "name": "Release 1.2", "tag_name": "v1.2", "author": {"login": "octo"}, "assets": assets}
    return {"action": action, "release": about, "repository": {"full_name": "o/r"}}


class Hub:
    """The API of GitHub with its assets, which another host sends."""

    def __init__(self) -> None:
        self.port, self.wrong = 0, list[str]()

    def answer(self, head: str) -> bytes:
        first, *lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)}
        path = first.split(" ")[1]
        if headers["host"].startswith("assets.test"):
            self.wrong += ["a token was sent to another host"] if "authorization" in headers else []
            return reply(ASSETS[path.rpartition("/")[2]], content_type="application/octet-stream")
        if (headers.get("authorization"), headers.get("accept")) != (f"Bearer {TOKEN}", "application/octet-stream"):
            return reply(b"{}", "401 Unauthorized")
        return reply(b"", "302 Found", location=f"http://assets.test:{self.port}/{path.rpartition('/')[2]}")

    async def handle(self, reader: Any, writer: Any) -> None:
        while True:
            writer.write(self.answer((await reader.readuntil(b"\r\n\r\n")).decode("latin-1")))
            await writer.drain()


def _signed(body: bytes, secret: str, event: str = "release") -> Mapping[str, str]:
    return {**github(body, secret), "x-github-event": event}


async def test_the_assets_of_a_release(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the declaration that is shipped, with the host of the tests in place of GitHub's."""
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "sources"
    folder.mkdir()
    text = SHIPPED.read_text()
    assert '"api.github.com"' in text
    (folder / "hub.toml").write_text(text.replace("api.github.com", "hub.test"))
    hub = Hub()
    async with serving(hub.handle) as site, open_world(dsn, tmp_path / "data", sources=folder) as world:
        hub.port = site.port

        async def send(event: Any, secret: str = SECRET, kind: str = "release") -> int:
            body = json.dumps(event).encode()
            return (await world.post(body, dict(_signed(body, secret, kind)), "github-releases")).status_code

        assert [await send(release(site.port)), await send(release(site.port))] == [200, 200]
        assert await send(release(site.port, "edited"), OLD) == 200  # during a rotation, both are valid
        assert await send({"zen": "…"}, kind="ping") == 200
        assert await send(release(site.port, "deleted")) == 200
        assert await send(release(site.port, "released"), "wrong") == 401
        await world.bed.finish()
        detail = await world.detail("77")
        assert (detail["title"], detail["voucher"], detail["state"]) == ("Release 1.2", "READY", "edited")
        assert {"name": "Repository", "value": "o/r"} in detail["facts"]
        stored = {file["name"]: await world.content(file["fileId"]) for file in detail["allFiles"]}
        assert stored == {f"asset-{key}.bin": data for key, data in ASSETS.items()}
        verdicts = [each["verdict"] for each in (await world.get("deliveries"))["items"]]
        assert sorted(verdicts) == ["ACCEPTED", "ACCEPTED", "DUPLICATE", "IGNORED", "IGNORED", "REJECTED"]
        listed = {each["name"]: each for each in await world.get("sources")}
        assert listed["github-releases"] == {
            "name": "github-releases", "kind": "declared", "path": "/api/attachments/hooks/github-releases",
            "owner": "ann", "isReady": True, "problem": None,
        }  # fmt: skip
        assert hub.wrong == []

        # A file that is not what was announced fails.
        other = release(site.port, "released", digest=f"sha256:{'0' * 64}")
        other["release"]["id"] = 78
        other["release"]["assets"][1] |= {"digest": None, "size": 5}
        assert await send(other) == 200
        await world.bed.finish()
        errors = [file["error"] for file in (await world.detail("78"))["allFiles"]]
        sha = hashlib.sha256(ASSETS["1"]).hexdigest()
        assert errors == [
            f"asset-1.bin has another hash than its sender announced: {sha}",
            "asset-2.bin has 1800 bytes; its sender announced 5",
        ]
        monkeypatch.setenv("GITHUB_RELEASES_TOKEN", "")
        monkeypatch.delenv("GITHUB_RELEASES_SECRET")
        monkeypatch.delenv("GITHUB_RELEASES_OLD_SECRET")
        problems = {each["name"]: each["problem"] for each in await world.get("sources")}
        assert problems == {"github-releases": "its secret is not set", "lark": None}


SHOP = """
name = "shop"
owner = "ann"
signing = "standard-webhooks"
signing_secrets = ["SHOP_SECRET", "SHOP_OLD_SECRET"]
[instance]
key = "$.order"
[files]
each = "$.files[*]"
url = "$.url"
name = "$.name"
"""
NEW_KEY, OLD_KEY = (f"whsec_{base64.b64encode(text * 8).decode()}" for text in (b"new", b"old"))


async def test_standard_webhooks_with_rotation_and_replay(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sender that signs as the specification says, while its secret is replaced."""
    monkeypatch.setenv("SHOP_SECRET", NEW_KEY)
    monkeypatch.setenv("SHOP_OLD_SECRET", OLD_KEY)
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "shop.toml").write_text(SHOP)

    async def invoice(reader: Any, writer: Any) -> None:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(reply(b"invoice", content_type="application/pdf"))
            await writer.drain()

    async with serving(invoice) as site, open_world(dsn, tmp_path / "data", sources=folder) as world:
        now = int(time.time())
        file = {"url": f"http://hub.test:{site.port}/1.pdf", "name": "1.pdf"}
        body = json.dumps({"order": 7, "files": [file]}).encode()

        async def send(given: bytes = body, /, **changed: str) -> tuple[int, str]:
            answer = await world.post(given, standard(body, changed.pop("secret", NEW_KEY), now) | changed, "shop")
            return answer.status_code, answer.json().get("detail", "")

        # The same delivery: by the old secret, by the new one, and replayed. It is taken once.
        assert [await send(secret=OLD_KEY), await send(), await send()] == [(200, "")] * 3
        fits_not = (401, "the signature does not fit: check the secret of the webhook source shop")
        other = f"whsec_{base64.b64encode(b'other' * 5).decode()}"
        assert await send(secret=other) == fits_not
        assert await send(body.replace(b"7", b"8")) == fits_not
        assert await send(**{"webhook-id": "msg_2"}) == fits_not  # a replay cannot take another id
        assert await send(**{"webhook-timestamp": str(now + 1)}) == fits_not  # nor another time
        late = standard(body, NEW_KEY, now - 400)
        assert (await send(**late))[1].startswith("the timestamp is more than 300 s from this machine's clock")
        await world.bed.finish()
        detail = await world.detail("7")
        (stored,) = detail["allFiles"]
        assert (detail["voucher"], await world.content(stored["fileId"])) == ("READY", b"invoice")
        verdicts = [each["verdict"] for each in (await world.get("deliveries"))["items"]]
        assert sorted(verdicts) == ["ACCEPTED", "DUPLICATE", "DUPLICATE", *["REJECTED"] * 5]
        assert await world.conn.fetchval("select count(*) from forebay.job j join forebay.pipeline p "
                                         "on p.id = j.pipeline_id where p.name = 'attachments'") == 1  # fmt: skip
        assert scan_folder(tmp_path / "data", NEW_KEY, OLD_KEY) == []

    # The rotation is over: what the old secret has signed is rejected.
    monkeypatch.delenv("SHOP_OLD_SECRET")
    (found,) = load_declared(folder)
    with pytest.raises(WebhookRejected):
        verify(found.webhook(1000), standard(body, OLD_KEY, now), body, now)


def _wrong(folder: Path, change: Mapping[str, Any]) -> str:
    given: dict[str, Any] = {
        "name": "shop",
        "owner": "ann",
        "signing": "standard-webhooks",
        "signing_secrets": ["SHOP_SECRET"],
        "instance": {"key": "$.id"},
        "files": {"each": "$.files[*]", "url": "$.url", "name": "$.name"},
    }
    (folder / "shop.json").write_text(json.dumps({**given, **change}))
    with pytest.raises(ConfigError) as raised:
        load_declared(folder, {})
    return str(raised.value)


def test_what_is_wrong_is_told_by_file_and_field(tmp_path: Path) -> None:
    head = "declarations of senders are invalid:\nshop.json: "
    told: dict[str, dict[str, Any]] = {
        "name: lark is the name of another sender": {"name": "lark"},
        "needs either owner or owner_variable": {"owner": ""},
        "FOREBAY_KEY is a setting of forebay and not for senders": {"signing_secrets": ["FOREBAY_KEY"]},
        "header_hosts: is missing; it lists the hosts that get headers with secrets": {
            "secrets": {"key": "SHOP_KEY"},
            "headers": {"Authorization": "Bearer {secret.key}"},
        },
        "headers.X Y: is not a valid header name": {"headers": {"X Y": "1"}},
        "when.0: needs either header or path": {"when": [{"values": ["a"]}]},
        "instance.key: must be a JSONPath such as $.name": {"instance": {"key": 5}},
    }
    assert [_wrong(tmp_path, change) for change in told.values()] == [head + text for text in told]
    with pytest.raises(ConfigError) as raised:
        load_declared(tmp_path / "nowhere")
    assert str(raised.value) == f"FOREBAY_ATTACHMENTS_SOURCES: there is no folder {tmp_path / 'nowhere'}"


def test_a_scheme_of_its_own(tmp_path: Path) -> None:
    declared = """
        name = "shop"
        owner = "ann"
        signing_secrets = ["SHOP_SECRET"]
        [signing]
        signature_header = "X-Shop-Signature"
        signed = "{timestamp}.{body}"
        timestamp_header = "X-Shop-Time"
        [instance]
        key = "$.id"
        [files]
        each = "$.files[*]"
        url = "$.url"
        name = "$.name"
        """
    (tmp_path / "shop.toml").write_text(declared)
    (found,) = load_declared(tmp_path, {"SHOP_SECRET": "s"})
    webhook = found.webhook(1000)
    assert (webhook.scheme.signature_header, webhook.scheme.timestamp_header) == ("x-shop-signature", "x-shop-time")
    assert found.missing() is None
    assert found.owner == "ann"
