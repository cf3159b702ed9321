"""What a transaction knows about its caller: whose rows it may see, and where the call came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.db.pool import Connection


async def act_for(conn: Connection, owner_id: int, ip: str | None = None) -> None:
    """Until the transaction ends, row-level security shows the rows of this owner; jobs keep the address."""
    await conn.execute(
        "select set_config('forebay.owner_id', $1, true), set_config('forebay.ip', $2, true)", str(owner_id), ip or ""
    )


async def name_file(conn: Connection, file: str) -> None:
    """Jobs of this transaction keep the name of the file that they are made of."""
    await conn.execute("select set_config('forebay.file', $1, true)", file[:500])
