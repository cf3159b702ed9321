"""The API, a worker and a fake Lark on one database: approvals from their webhook to the voucher."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import httpx
from pydantic import SecretStr

from forebay import resources as shared
from forebay.engine.declare.resources import Resource, Resources, resource
from forebay.pipelines.attachments import fetching
from forebay.pipelines.attachments.fetching import Files, Times, open_files
from forebay.pipelines.attachments.settings import AttachmentsSettings
from forebay.pipelines.attachments.steps import attachment_files, attachments
from forebay.services.egress import Egress, open_egress
from forebay.settings import Settings
from forebay.storage import Blobs, open_store
from forebay.testing import ManualClock, Testbed, testbed
from tests.api._service import Service, serving
from tests.pipelines.attachments._fake_lark import APP, FILES_HOST, SECRET, FakeLark, fake_lark
from tests.services.egress._world import Names
from tests.webhooks.test_lark import encrypted
from tests.webhooks.test_signatures import lark

KEY = "encrypt-key-5510"


def signed(event: Any, key: str = KEY, at: float | None = None) -> tuple[bytes, dict[str, str]]:
    """A request as Lark sends it."""
    body = encrypted(event, key)
    return body, lark(body, key, int(time.time() if at is None else at))


def approval(code: str, uuid: str | None = None, status: str = "APPROVED") -> dict[str, Any]:
    """An event of version 1."""
    event = {"app_id": APP, "type": "approval_instance", "instance_code": code, "status": status, "uuid": code}
    return {"uuid": uuid or f"event-{code}-{status}", "token": "v", "type": "event_callback", "event": event}


@dataclass
class World:
    service: Service
    bed: Testbed
    fake: FakeLark
    clock: ManualClock
    conn: asyncpg.Connection[Any]
    blobs: Blobs
    settings: Settings
    sent: int = 0
    names: Names = field(default_factory=Names)

    async def announce(self, code: str, **about: Any) -> httpx.Response:
        return await self.send(approval(code, **about))

    async def send(self, event: Any, source: str = "lark", **signing: Any) -> httpx.Response:
        body, headers = signed(event, **signing)
        return await self.post(body, headers, source)

    async def post(self, body: bytes, headers: dict[str, str], source: str) -> httpx.Response:
        async with self.service.client() as sender:
            return await sender.post(f"/api/attachments/hooks/{source}", content=body, headers=headers)

    async def get(self, path: str, who: str = "ann", **query: Any) -> Any:
        async with self.service.client(who) as client:
            answer = await client.get(f"/api/attachments/{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def act(self, path: str, who: str = "ann") -> httpx.Response:
        async with self.service.client(who) as client:
            return await client.post(f"/api/attachments/{path}")

    async def detail(self, key: str, who: str = "ann") -> dict[str, Any]:
        found = await self.conn.fetchval("select id from forebay.attachment_instance where key = $1", key)
        return dict(await self.get(f"instances/{found}", who))

    async def statuses(self) -> list[str]:
        rows = await self.conn.fetch("select status from forebay.attachment order by id")
        return [row["status"] for row in rows]

    async def content(self, file_id: str) -> bytes:
        sha = await self.conn.fetchval("select encode(sha256, 'hex') from forebay.file where id = $1", int(file_id))
        return await self.blobs.read(sha)


async def _no_sleep(_seconds: float) -> None:
    """The clock of tests stands still: nobody waits for it."""


@asynccontextmanager
async def open_world(
    dsn: str, folder: Path, fake: FakeLark | None = None, *, extra: Sequence[Any] = (), **own: Any
) -> AsyncIterator[World]:
    clock = ManualClock()
    names = Names()
    names.put(FILES_HOST, "127.0.0.1")
    names.put("hub.test", "127.0.0.1")
    names.put("assets.test", "127.0.0.1")
    fake = fake or FakeLark()
    fake.clock = clock.time

    @resource
    async def egress(given: Resources) -> AsyncGenerator[Egress]:
        async with open_egress(given.settings, names) as opened:
            yield opened

    @resource
    async def files(given: Resources) -> AsyncGenerator[Files]:
        yield await open_files(given, Times(clock.time, _no_sleep, clock.now))

    async with fake_lark(fake):
        defaults: dict[str, Any] = {
            "lark_app_id": APP,
            "lark_app_secret": SecretStr(SECRET),
            "lark_encrypt_key": SecretStr(KEY),
            "lark_owner": "ann",
            "lark_url": fake.url,
        }
        package = AttachmentsSettings(**(defaults | own))
        common: dict[str, Any] = {
            "data_dir": folder,
            "egress_allow_networks": "127.0.0.0/8",
            "egress_confine": False,
            "sandbox": "preferred",
        }
        settings = Settings(**common).including(package)
        replaced: dict[Resource[Any], Resource[Any]] = {shared.egress: egress, fetching.files: files}
        async with (
            serving(dsn, attachments, attachment_files, packages=[package], **common) as service,
            testbed(
                dsn, [attachments, attachment_files], migrated=True, resources=replaced, settings=settings, clock=clock
            ) as bed,
        ):
            blobs = Blobs(bed.pool, open_store(settings))
            yield World(service, bed, fake, clock, service.admin, blobs, settings, names=names)


def scan_folder(folder: Path, *secrets: str) -> list[str]:
    """The files in which one of these texts stands."""
    found: list[str] = []
    for root, _, files in os.walk(folder):
        for name in files:
            data = Path(root, name).read_bytes()
            found += [f"{name}: {secret[:6]}…" for secret in secrets if secret.encode() in data]
    return found
