"""Restoring a backup: the present schema is renamed, and dropped after the backup was restored and migrated.

Views of packages outside of the schema are kept, and refreshed to read the new tables.
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
    """Rename the present schema.

    Raises: ForebayError with the names of objects outside of the schema that would be lost with it.
    """
    async with conn.transaction():
        await _check_dependents(conn, "forebay", offered)
        await conn.execute(load("put_schema_aside"))


async def put_back(conn: Connection) -> None:
    """Undo the renaming, if there was one; the restored schema is dropped."""
    await conn.execute(load("put_schema_back"))


async def drop_aside(conn: Connection, offered: Sequence[OutsideViews]) -> None:
    """Drop the renamed schema, in one transaction."""
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
            "drop them, restore, and create them again"
        )
