"""Reading a backup in place of what is there: that is kept aside until the backup is read and brought up to date.

Views outside of the schema that packages offer stay: they are told to read the new tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.statements import statements
from forebay.errors import ForebayError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from forebay.db.pool import Connection
    from forebay.hooks import OutsideViews

load = statements("forebay.db")


async def put_aside(conn: Connection, offered: Sequence[OutsideViews]) -> None:
    """Make way for the backup.

    Raises: ForebayError when something outside of the schema would be lost with it; it is named.
    """
    async with conn.transaction():
        await _check_dependents(conn, "forebay", offered)
        await conn.execute(load("put_schema_aside"))


async def put_back(conn: Connection) -> None:
    """Undo it, if it was done; the schema that was read from the backup goes."""
    await conn.execute(load("put_schema_back"))


async def drop_aside(conn: Connection, offered: Sequence[OutsideViews]) -> None:
    """Drop what was there before; all or nothing."""
    async with conn.transaction():
        for views in offered:
            await views.refresh(conn)
        await _check_dependents(conn, "forebay_aside", offered)
        await conn.execute(load("drop_schema_aside"))


async def _check_dependents(conn: Connection, schema: str, offered: Iterable[OutsideViews]) -> None:
    views = [name for each in offered for name in each.names]
    names = [row["name"] for row in await conn.fetch(load("list_dependents"), schema, views)]
    if names:
        shown = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        raise ForebayError(
            f"these are not part of a backup, and would be lost with the tables that they use: {shown}; "
            "drop them, restore, and make them anew"
        )
