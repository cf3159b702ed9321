"""What a transaction knows about its caller: whose rows it may see, and where the call came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.pool import translated
from forebay.db.sql import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection, Pool


async def act_for(conn: Connection, owner_id: int, ip: str | None = None) -> None:
    """Until the transaction ends, row-level security shows the rows of this owner; jobs keep the address."""
    await conn.execute("select forebay.act_for($1, $2)", owner_id, ip)


async def submit_for(pool: Pool, owner_id: int, ip: str | None, args: Sequence[object]) -> tuple[int, bool]:
    """Submit one item for an owner in one round trip; `args` are those of submit_item. Its job, and if it is new."""
    async with translated():
        row = await pool.fetchrow(load("submit_item_for"), *args, owner_id, ip)
    assert row is not None  # noqa: S101 - the function always answers one row
    return row["job_id"], row["created"]


async def name_file(conn: Connection, file: str) -> None:
    """Jobs of this transaction keep the name of the file that they are made of."""
    await conn.execute("select set_config('forebay.file', $1, true)", file[:500])
