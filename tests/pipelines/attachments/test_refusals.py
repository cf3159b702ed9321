"""What is refused, and in which words."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pydantic import SecretStr

from forebay.errors import ConfigError, DataError, PermanentError
from forebay.pipelines.attachments import commands
from forebay.pipelines.attachments.db import DownloadTask
from forebay.pipelines.attachments.declared_sources import load_declared
from forebay.pipelines.attachments.fetching import Files
from forebay.pipelines.attachments.file_sources import DeclaredFiles
from forebay.pipelines.attachments.lark_client import LarkClient
from forebay.pipelines.attachments.settings import AttachmentsSettings
from forebay.pipelines.attachments.voucher_pdf import VoucherText, write_pdf

SHOP: dict[str, Any] = {
    "name": "shop",
    "owner": "ann",
    "signing": "github",
    "signing_secrets": ["SHOP_SECRET"],
    "instance": {"key": "$.id"},
    "files": {"each": "$.files[*]", "url": "$.url", "name": "$.name"},
    "secrets": {"key": "SHOP_KEY"},
    "headers": {"Authorization": "Bearer {secret.key}", "Accept": "*/*"},
    "header_hosts": ["files.test"],
}


def _task(**changed: Any) -> DownloadTask:
    about: dict[str, Any] = dict.fromkeys(DownloadTask.__slots__)
    given = {"id": 1, "key": "w/0/a.pdf", "name": "a.pdf", "instance_key": "A-1", "created_at": datetime.now(UTC)}
    return DownloadTask(**{**about, **given, **changed})


class Answers:
    """An HTTP client that answers what it is told."""

    def __init__(self, *answers: Any) -> None:
        self._answers = [*answers]

    async def fetch(self, _wanted: Any) -> Any:
        class Answer:
            status = 200
            headers: dict[str, str] = {}
            content = json.dumps(self._answers.pop(0)).encode()

        return Answer()


TOKEN = {"code": 0, "tenant_access_token": "t-1", "expire": 7200}


def _client(*answers: Any) -> LarkClient:
    own = AttachmentsSettings(lark_app_id="cli", lark_app_secret=SecretStr("s"), lark_url="http://lark.test")
    return LarkClient(Answers(*answers), own)  # type: ignore[arg-type]


async def test_lark() -> None:
    with pytest.raises(DataError, match="Lark sent no token"):
        await _client({"code": 0}).token()
    with pytest.raises(DataError, match="Lark has no instance A-1"):
        await _client(TOKEN, {"code": 0, "data": None}).instance("A-1")
    widget = {"id": "w", "type": "attachmentV2", "ext": "a.pdf", "value": ["../../token"]}
    client = _client(TOKEN, {"code": 0, "data": {"form": json.dumps([widget])}})
    with pytest.raises(PermanentError, match=r"the form has no valid address for the file a\.pdf"):
        await client.file_url(_task(), fresh=False)
    assert await client.headers("http://elsewhere.test") == {}


async def test_declared_files(tmp_path: Path) -> None:
    (tmp_path / "shop.json").write_text(json.dumps(SHOP))
    (shop,) = load_declared(tmp_path, {})
    files = DeclaredFiles(shop)
    with pytest.raises(PermanentError, match=r"the delivery had no address for the file a\.pdf"):
        await files.url(_task(), fresh=False)
    with pytest.raises(ConfigError) as raised:
        await files.headers("http://files.test/a")
    assert str(raised.value) == "files of shop cannot be fetched: SHOP_KEY is not set"
    (shop,) = load_declared(tmp_path, {"SHOP_KEY": "k-1"})
    files = DeclaredFiles(shop)
    assert await files.headers("http://files.test/a") == {"authorization": "Bearer k-1", "accept": "*/*"}
    assert await files.headers("http://elsewhere.test/a") == {"accept": "*/*"}
    rejected = files.error(401, {}, b"", "http://files.test/a")
    assert str(rejected) == "http://files.test/a rejected the token of shop (401)"
    assert not files.renew()


async def test_senders_that_are_gone() -> None:
    none = Files({}, None)
    with pytest.raises(ConfigError) as raised:
        none.of("shop")
    assert str(raised.value) == ("the sender shop is not configured on this machine: set it up, or delete its jobs")
    needs = "approvals need FOREBAY_ATTACHMENTS_LARK_APP_ID and FOREBAY_ATTACHMENTS_LARK_OWNER"
    with pytest.raises(ConfigError, match=needs):
        await none.form("A-1")


def test_vouchers_without_their_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "reportlab.lib.pagesizes", None)
    with pytest.raises(ConfigError) as raised:
        write_pdf(VoucherText("t", "s", "", [], []), None)
    told = "vouchers need a package that is not installed: pip install 'forebay[attachments]'"
    assert str(raised.value) == told


def test_a_retry_names_what_is_retried() -> None:
    done = CliRunner().invoke(commands.attachments, ["retry"])
    assert "give the id of an instance, or --all" in done.output
