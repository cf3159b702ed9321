"""The chore that deletes expired sessions, links, stored responses and webhook deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay import resources
from forebay.api import db as answers
from forebay.identity import db as identity
from forebay.webhooks import db as deliveries

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context


async def delete_expired(ctx: Context) -> int:
    """Delete expired sessions, links, sign-in failures, stored responses and webhook deliveries; returns how many."""
    pool, total = await ctx.get(resources.database), 0
    while count := await identity.tidy(pool) + await answers.tidy(pool) + await deliveries.tidy(pool):
        total += count
    return total
