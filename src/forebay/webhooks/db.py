"""Processed deliveries, stored so that none is processed twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db import calls
from forebay.db.statements import statements

if TYPE_CHECKING:
    from forebay.db.pool import Connection, Pool
    from forebay.webhooks.signatures import Delivery

load = statements("forebay.webhooks")


async def claim(conn: Connection, owner_id: int, delivery: Delivery) -> bool:
    """Record the delivery in the transaction of the caller; true if it is new for the owner.

    A second transaction with the same delivery waits for the first one; if that fails, the second one gets true.
    """
    args = (owner_id, delivery.source, delivery.key, delivery.known_for_s)
    return bool(await calls.fetch_value(conn, load("claim_delivery"), *args))


async def tidy(pool: Pool) -> int:
    """Delete some expired deliveries; returns the number."""
    return int(await calls.fetch_value(pool, load("tidy_deliveries")))
