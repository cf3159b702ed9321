"""The database of a command: the configured one, else that of `forebay up`."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from forebay.cli._common import find_dsn, load_settings
from forebay.db import migrate
from forebay.db.pool import connected
from forebay.db.schema_parts import parts_for

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.db.pool import Connection


@asynccontextmanager
async def open_database(module: str) -> AsyncGenerator[Connection]:
    """A connection for a command of a package; `module` is the command's `__name__`.

    Raises: DatabaseUnavailable; SchemaError when tables of the package are missing.
    """
    async with connected(find_dsn(load_settings()), f"forebay {module.rpartition('.')[2]}") as conn:
        await migrate.check(conn, parts_for([module]))
        yield conn
