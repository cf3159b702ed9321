"""Retries, status, quota, alerts, clean-up, and what commands and pages show of attachments."""

# demands: S3-04, S3-07, S3-11, S3-13, S3-14, S3-15, S3-18, S3-19, S3-36, S3-37, S3-38, S3-39, S3-40, S3-42, S3-43
# demands: S3-44, S3-45, S3-46, S3-49, S3-50, S3-65, S3-67, S3-90, S3-98, S3-99, X-03, X-08

from __future__ import annotations

import json
from collections import deque
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from forebay.api.metrics.metric import Sample
from forebay.db.pool import open_pool
from forebay.errors import ConfigError, TransientError
from forebay.pipelines.attachments import (
    alerts,
    checks,
    db,
    features,
    metrics,
    owner_export,
    suggestions,
    worker_status,
)
from forebay.pipelines.attachments.settings import AttachmentsSettings
from forebay.pipelines.attachments.voucher_pdf import VoucherFile, VoucherText, write_pdf
from forebay.pipelines.attachments.worker_status import DownloadWork
from forebay.settings import Settings
from tests.docs._shell import free_port
from tests.pipelines.attachments._world import World, open_world


async def test_failed_files_are_retried(world_of: World) -> None:  # noqa: PLR0915 - one story
    world = world_of
    world.fake.put("R-1", "a.pdf", "b.pdf")
    world.fake.faults["R-1/a.pdf"] = deque(["404"])
    world.fake.faults["R-1/b.pdf"] = deque(["404", "404"])
    await world.announce("R-1")
    assert await world.get("files/pending") == []
    await world.bed.finish()
    detail = await world.detail("R-1")
    assert (detail["voucher"], detail["files"]) == ("PARTIAL", {"pending": 0, "downloaded": 0, "failed": 2})
    first, second = detail["allFiles"]
    assert [each["name"] for each in await world.get("files/failed", limit=1)] == ["a.pdf"]
    assert first["error"].endswith("answered 404 Not Found")
    assert (first["attempts"], first["downloadedAt"]) == (1, None)

    # One, then all that are left.
    assert (await world.act(f"files/{first['id']}/retry")).json()["files"] == 1
    assert [each["name"] for each in await world.get("files/pending")] == ["a.pdf"]
    await world.bed.finish()
    again = await world.act(f"files/{first['id']}/retry")
    assert again.json()["detail"] == "file: is DOWNLOADED: only failed files are retried"
    assert (await world.act(f"instances/{detail['id']}/retry")).json()["files"] == 1
    await world.bed.finish()
    assert (await world.detail("R-1"))["files"] == {"pending": 0, "downloaded": 1, "failed": 1}
    assert (await world.act("retry")).json()["files"] == 1
    await world.bed.finish()
    after = await world.detail("R-1")
    assert (after["voucher"], after["files"]["downloaded"]) == ("READY", 2)
    assert [each["attempts"] for each in after["allFiles"]] == [2, 3]
    assert all(each["downloadedAt"] for each in after["allFiles"])
    page = await world.get("files", status="DOWNLOADED", pageSize=1)
    rest = await world.get("files", status="DOWNLOADED", pageSize=5, after=page["next"])
    assert [page["items"][0]["name"], rest["items"][0]["name"]] == ["a.pdf", "b.pdf"]
    assert (await world.get(f"files/{second['id']}"))["name"] == "b.pdf"
    assert (await world.get("instances", q="expenses", status="DOWNLOADED"))["items"][0]["key"] == "R-1"
    assert (await world.get("instances", q="nothing"))["items"] == []

    # Others see none of it.
    for path in (f"instances/{detail['id']}/retry", f"files/{first['id']}/retry"):
        assert (await world.act(path, "bob")).status_code == 404
    async with world.service.client("bob") as bob:
        missing = await bob.get(f"/api/attachments/instances/{detail['id']}")
        assert missing.json()["detail"] == f"instance: there is no instance {detail['id']}"
        none = await bob.get(f"/api/attachments/files/{first['id']}")
        assert none.json()["detail"] == f"file: there is no attachment {first['id']}"

    # What other parts of the service show of it.
    owner_id = await world.conn.fetchval("select id from forebay.owner where name = 'ann'")
    async with await open_pool(world.service.dsn, size=2, name="forebay tests") as pool:
        found = await suggestions.suggest(world.conn, owner_id, "报销", 5)
        assert [(each.kind, each.title, each.score) for each in found] == [("attachment", "报销 Expenses", 1.0)]
        parts = owner_export.owner_export(pool.acquire, owner_id)
        lines = "".join([text async for text in parts["attachments.jsonl"]]).splitlines()
        assert [json.loads(line)["key"] for line in lines] == ["R-1"]
        assert metrics.METRICS.from_database is not None
        samples = await metrics.METRICS.from_database(world.conn)
        assert Sample(metrics.FILES, 2, ("DOWNLOADED",)) in samples
        assert Sample(metrics.QUOTA_USED, 5, ("cli_tests",)) in samples
        # Nothing is kept longer than it should be.
        assert await db.clean_old(pool, datetime.now(UTC) - timedelta(days=1), 10) == 0
        assert await db.clean_over(pool, 4000, 10) == 1
        assert await db.clean_old(pool, datetime.now(UTC) + timedelta(days=1), 10) == 2
    gone = await world.detail("R-1")
    assert [each["fileId"] for each in gone["allFiles"]] == [None, None]
    assert (gone["voucherId"], gone["voucherUrl"]) == (None, None)
    assert all(each["sha256"] and each["removedAt"] for each in gone["allFiles"])
    assert await world.conn.fetchval("select count(*) from forebay.file") == 0

    (quota,) = await world.get("quota")
    assert (quota["source"], quota["perSecond"], quota["perDay"], quota["used"], quota["left"]) == (
        "lark", 4.0, 10_000, 5, 9995,
    )  # fmt: skip
    status = await world.get("status")
    assert (status["pendingCount"], status["processedCount"], status["failedCount"]) == (0, 2, 0)
    assert (status["isHealthy"], status["lastError"]) == (True, None)
    assert status["lastProcessed"] is not None
    job = await world.conn.fetchval("select max(job_id) from forebay.attachment_instance")
    async with world.service.client("ann") as client:
        subject = (await client.get(f"/api/jobs/{job}")).json()["subject"]
    assert subject == {"kind": "attachment", "id": detail["id"], "title": "报销 Expenses"}


def test_downloads_are_stuck_only_if_files_are_pending() -> None:
    now = datetime.now(UTC)
    long_ago = now - timedelta(minutes=6)

    def healthy(pending: int, last: datetime | None, since: datetime | None) -> bool:
        work = DownloadWork({"PENDING": pending, "DOWNLOADED": 3, "FAILED": 1}, last, "oops", since)
        return worker_status.judged(work, workers, 300.0, now).is_healthy

    class Alive:
        alive, started_at = True, now - timedelta(seconds=90)

    workers: list[Any] = [Alive()]
    assert healthy(0, long_ago, None)
    assert healthy(1, long_ago, now)
    assert healthy(1, now, long_ago)
    assert not healthy(1, long_ago, long_ago)
    work = DownloadWork({"PENDING": 1, "DOWNLOADED": 3, "FAILED": 1}, now, "oops", now)
    told = worker_status.judged(work, workers, 300.0, now).model_dump(by_alias=True)
    assert told == {
        "isRunning": True, "lastProcessed": now, "pendingCount": 1, "processedCount": 3, "failedCount": 1,
        "upSinceSeconds": 90.0, "isHealthy": True, "lastError": "oops",
    }  # fmt: skip
    assert not worker_status.judged(work, [], 300.0, now).is_healthy


class Mailbox:
    """Takes mail for recipients that it knows."""

    def __init__(self) -> None:
        self.mails: list[bytes] = []

    async def handle_RCPT(  # noqa: N802 - as the server calls it
        self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any
    ) -> str:
        if not address.startswith("ops"):
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802 - as the server calls it
        self, _server: Any, _session: Any, envelope: Any
    ) -> str:
        self.mails.append(envelope.content)
        return "250 OK"


async def test_an_alert_by_mail(dsn: str, tmp_path: Path) -> None:
    box, port = Mailbox(), int(free_port())
    controller = Controller(
        box, hostname="127.0.0.1", port=port, auth_require_tls=False,
        authenticator=lambda *given: AuthResult(success=given[-1].password == b"right", handled=False),
    )  # fmt: skip
    controller.start()
    try:
        mail: dict[str, Any] = {
            "smtp_host": "127.0.0.1", "smtp_port": port, "smtp_security": "none", "smtp_user": "me",
            "smtp_password": "right", "alert_from": "forebay@example.org", "alert_to": "ops@example.org",
        }  # fmt: skip
        async with open_world(dsn, tmp_path, voucher_partial=False, **mail) as world:
            world.fake.put("E-1", "发票.pdf", "b.pdf")
            world.fake.faults["E-1/发票.pdf"] = deque(["404"])
            await world.announce("E-1")
            await world.bed.finish()
            detail = await world.detail("E-1")
        withheld = "1 of 2 files have failed: retry them, or set FOREBAY_ATTACHMENTS_VOUCHER_PARTIAL"
        assert (detail["voucher"], detail["why"]) == ("WITHHELD", withheld)
        (sent,) = [message_from_bytes(each) for each in box.mails]
        text = sent.get_payload(decode=True)
        assert isinstance(text, bytes)
        assert "发票.pdf" in text.decode()
        assert f"forebay attachments retry {detail['id']}" in text.decode()

        own = AttachmentsSettings(**mail)
        wrong = {
            "the SMTP server rejects FOREBAY_ATTACHMENTS_SMTP_USER or its password": {"smtp_password": "wrong"},
            "the SMTP server rejects the alert: ": {"alert_to": "nobody@example.org"},
        }
        for expected, change in wrong.items():
            other = AttachmentsSettings(**{**mail, **change})
            with pytest.raises(ConfigError) as raised:
                await alerts.send(other, _mail(other))
            assert str(raised.value).startswith(expected)
    finally:
        controller.stop()
    with pytest.raises(TransientError, match="the alert could not be sent: "):
        await alerts.send(own, _mail(own))


def _mail(own: AttachmentsSettings) -> Any:
    at = datetime.now(UTC)
    return alerts.message(own, db.Work(1, 1, "lark", "K", None, None, [], 0, at, at), [], "key")


def test_a_voucher_shows_chinese_text_and_is_reproducible(tmp_path: Path) -> None:
    file = VoucherFile("发票 <1> & co.pdf", "DOWNLOADED", "3,000", "ab" * 32, "application/pdf")
    text = VoucherText(
        "报销单", "lark A-1", "1 of 2 files could not be downloaded.", [("原因", "办公用品 " * 900)], [file] * 60
    )
    data = write_pdf(text, None)
    assert data == write_pdf(text, None)
    pdf = pypdfium2.PdfDocument(data)
    try:
        assert len(pdf) > 2
        seen = "".join(page.get_textpage().get_text_range() for page in pdf)
        assert "报销单" in seen
        assert "发票 <1> & co.pdf" in "".join(seen.split("\r\n")) or "发票" in seen
        picture = pdf[0].render(scale=1).to_numpy()
        assert int(picture.min()) < 100  # the glyphs are there, not only their codes
    finally:
        pdf.close()
    broken = tmp_path / "font.ttf"
    broken.write_bytes(b"nothing")
    with pytest.raises(ConfigError, match="FOREBAY_ATTACHMENTS_FONT is not a TrueType font: "):
        write_pdf(text, broken)


async def test_what_the_doctor_says(tmp_path: Path) -> None:
    async def told(**own: Any) -> list[tuple[str, str]]:
        settings = Settings().including(AttachmentsSettings(**own))
        return [(each.level, each.text) for each in await checks.check(settings)]

    assert await told() == []
    lark: dict[str, Any] = {"lark_app_id": "cli_1", "lark_owner": "ann", "lark_encrypt_key": "k"}
    missing = "lark cannot be used: FOREBAY_ATTACHMENTS_LARK_APP_SECRET is not set"
    assert await told(**lark) == [("OK", "webhooks of lark"), ("WARN", missing)]
    assert ("WARN", "lark cannot be used: its secret is not set") in await told(**{**lark, "lark_encrypt_key": ""})
    alone = "no alerts are sent: sender or recipients are missing"
    assert await told(**lark, lark_app_secret="s", smtp_host="mail") == [("OK", "webhooks of lark"), ("WARN", alone)]
    (tmp_path / "x.toml").write_text("name = 5")
    assert (await told(sources=tmp_path))[0][0] == "FAIL"
    configured = Settings().including(AttachmentsSettings(**lark))
    assert features.features(configured) == {"attachments": True, "alerts": False}
    broken = Settings().including(AttachmentsSettings(sources=tmp_path))
    assert features.features(broken)["attachments"]
