"""Signals: what tasks of the caller wait for."""

from __future__ import annotations

from fastapi import APIRouter, Request

from forebay.api import idempotency
from forebay.api.auth.authentication import OwnerMaker
from forebay.api.deps import RolePoolsDep
from forebay.api.models import NewSignal, Signalled
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import control

router = APIRouter(prefix="/api/signals", tags=["signals"], route_class=StrictRoute)


@router.post("", openapi_extra=idempotency.TAKES_KEY)
async def send_signal(body: NewSignal, who: OwnerMaker, pools: RolePoolsDep, request: Request) -> Signalled:
    """Wakes the caller's tasks that wait for this name and key; if none does, it is kept for the next that does."""
    idempotent = await idempotency.of(request)
    async with pools.of(who) as conn:
        if (known := await idempotent.answer(conn, who)) is not None:
            return Signalled.model_validate(known.body)
        reached = await control.signal(conn, body.name, body.key, body.payload, who.owner, body.keep_seconds)
        sent = Signalled(tasks=reached)
        await idempotent.keep(conn, who, 200, sent.model_dump(by_alias=True))
    return sent
