"""Signals: what tasks of the caller wait for."""

from __future__ import annotations

from fastapi import APIRouter

from forebay.api.auth.authentication import Writer
from forebay.api.deps import RolePoolsDep
from forebay.api.models import NewSignal, Signalled
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import control

router = APIRouter(prefix="/api/signals", tags=["signals"], route_class=StrictRoute)


@router.post("")
async def send_signal(body: NewSignal, who: Writer, pools: RolePoolsDep) -> Signalled:
    """Wakes the caller's tasks that wait for this name and key; if none does, it is kept for the next that does."""
    async with pools.of(who) as conn:
        reached = await control.signal(conn, body.name, body.key, body.payload, who.owner, body.keep_seconds)
    return Signalled(tasks=reached)
