"""The webhooks of senders: verified, noted with their verdict, and answered as soon as the job is committed."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Request

from forebay.api.auth.authentication import address_of, for_owner
from forebay.api.deps import RolePoolsDep, SettingsDep
from forebay.api.problems import Problem
from forebay.log import get_logger
from forebay.pipelines.attachments import db
from forebay.pipelines.attachments.webhook_sources import Sender, senders
from forebay.telemetry.tracing import submitting
from forebay.webhooks.lark import Challenge, find_challenge
from forebay.webhooks.receiving import read_body, verified

if TYPE_CHECKING:
    import asyncpg

    from forebay.api.auth.authentication import Principal
    from forebay.api.role_pools import RolePools
    from forebay.api.submit.first_submits import FirstSubmits
    from forebay.settings import Settings
    from forebay.webhooks.signatures import Delivery

router = APIRouter(prefix="/api/attachments/hooks", tags=["attachments"])

log = get_logger("attachments")

SourceName = Annotated[str, Path(pattern="^[a-z][a-z0-9_-]{0,49}$", description="name of the sender")]


@router.post("/{source}")
async def receive_delivery(
    source: SourceName, request: Request, pools: RolePoolsDep, settings: SettingsDep
) -> dict[str, str]:
    """Receive a delivery of a sender. Its files are downloaded in the background."""
    sender, who = await (await _hooks(request, settings)).find(pools, source)
    body = await read_body(request, sender.webhook)
    ip = address_of(request)
    if sender.kind == "lark" and (challenge := find_challenge(sender.webhook, body)) is not None:
        return await _answer_challenge(pools, who, sender, challenge, len(body), ip)
    delivery = await _verified(request, pools, who, sender, body, ip)
    announcement = sender.read(delivery, request.headers)
    received = db.Received(sender.name, announcement.announced, announcement.event, len(body), ip)
    first_submits: FirstSubmits = request.app.state.first_submits
    with submitting("attachments") as now:

        async def receive() -> asyncpg.Record:
            async with pools.own(who) as conn:
                return await db.receive(conn, who.owner_id, delivery, received, now.trace)

        row = await first_submits.submitted(receive)
        if row["job_id"] is not None:
            now.made(row["job_id"])
    log.info("delivery_received", source=sender.name, key=delivery.key, is_new=row["is_new"], job=row["job_id"])
    return {}


class _Hooks:
    """The senders of an API process, and their owners, which are never renamed."""

    def __init__(self, known: dict[str, Sender]) -> None:
        self._known = known
        self._owners: dict[str, Principal] = {}

    async def find(self, pools: RolePools, name: str) -> tuple[Sender, Principal]:
        """Raises: Problem 404, also for an owner that does not exist."""
        if name not in self._known:
            raise Problem(404, f"there is no sender {name!r}", field="source")
        sender = self._known[name]
        if sender.owner not in self._owners:
            self._owners[sender.owner] = await for_owner(pools, sender.owner)
        return sender, self._owners[sender.owner]


async def _hooks(request: Request, settings: Settings) -> _Hooks:
    """Raises: ConfigError for an invalid declaration."""
    known: _Hooks | None = getattr(request.app.state, "attachment_hooks", None)
    if known is None:
        known = request.app.state.attachment_hooks = _Hooks(await asyncio.to_thread(senders, settings))
    return known


async def _answer_challenge(
    pools: RolePools, who: Principal, sender: Sender, challenge: Challenge, size: int, ip: str | None
) -> dict[str, str]:
    async with pools.own(who) as conn:
        await db.reject(conn, who.owner_id, sender.name, "CHALLENGE", None, size, ip)
    return {"challenge": challenge.text}


async def _verified(
    request: Request, pools: RolePools, who: Principal, sender: Sender, body: bytes, ip: str | None
) -> Delivery:
    """Raises: Problem 401, after it is noted; ConfigError."""
    try:
        return verified(request, sender.webhook, body, time.time())
    except Problem as problem:
        async with pools.own(who) as conn:
            await db.reject(conn, who.owner_id, sender.name, "REJECTED", problem.detail, len(body), ip)
        raise
