"""The chore of sessions, links and the answers that the API keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.api import db as answers
from forebay.identity import db as identity
from forebay.pipelines import resources

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context


async def delete_expired(ctx: Context) -> int:
    """Deletes sessions, links, wrong passwords and kept answers that are over; answers how many."""
    pool, total = await ctx.get(resources.database), 0
    while count := await identity.tidy(pool) + await answers.tidy(pool):
        total += count
    return total
