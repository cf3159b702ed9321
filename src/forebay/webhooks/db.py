"""Deliveries that were processed, so that none is processed twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db import calls
from forebay.db.statements import statements

if TYPE_CHECKING:
    from forebay.db.pool import Connection, Pool
    from forebay.webhooks.signatures import Delivery

load = statements("forebay.webhooks")


async def claim(conn: Connection, owner_id: int, delivery: Delivery) -> bool:
    """Whether the delivery is new for the owner; then it is known as soon as the transaction commits.

    Of two transactions with the same delivery the second waits for the first, and is the one to do it if that fails.
    """
    args = (owner_id, delivery.source, delivery.key, delivery.known_for_s)
    return bool(await calls.fetch_value(conn, load("claim_delivery"), *args))


async def tidy(pool: Pool) -> int:
    """Delete some of the deliveries that no longer need to be known; answers how many went."""
    return int(await calls.fetch_value(pool, load("tidy_deliveries")))
