"""The chore of sessions, links, and the answers and deliveries that the API keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay import resources
from forebay.api import db as answers
from forebay.identity import db as identity
from forebay.webhooks import db as deliveries

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context


async def delete_expired(ctx: Context) -> int:
    """Deletes sessions, links, wrong passwords, answers and deliveries of webhooks that are over; answers how many."""
    pool, total = await ctx.get(resources.database), 0
    while count := await identity.tidy(pool) + await answers.tidy(pool) + await deliveries.tidy(pool):
        total += count
    return total
