"""What a transaction knows about its caller: whose rows it may see, and where the call came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.pool import translating_errors
from forebay.db.statements import statements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection
    from forebay.db.role_pool import RolePool

load = statements("forebay.identity")


async def act_for(conn: Connection, role: str, owner_id: int, ip: str | None = None) -> None:
    """Until the transaction ends, row-level security shows the rows of this owner; jobs keep the address."""
    async with translating_errors():
        await conn.execute("select forebay.enter($1, $2, $3)", role, owner_id, ip)


async def submit_for(pool: RolePool, owner_id: int, ip: str | None, args: Sequence[object]) -> tuple[int, bool]:
    """Submit one item for an owner in one round trip; `args` are those of submit_item. Its job, and if it is new."""
    async with translating_errors(), pool.without_role() as conn:
        row = await conn.fetchrow(load("submit_item_for"), *args, owner_id, ip, pool.role)
    assert row is not None  # noqa: S101 - the function always answers one row
    return row["job_id"], row["created"]


async def submit_jobs_for(
    pool: RolePool, owner_id: int, ip: str | None, pipeline: str, owner: str, priority: int, inputs: Sequence[str]
) -> list[int]:
    """Submit items as jobs of one item each for an owner in one round trip; the jobs, in the order of the inputs."""
    async with translating_errors(), pool.without_role() as conn:
        given = (pipeline, inputs, owner, priority, owner_id, ip, pool.role)
        return list(await conn.fetchval(load("submit_jobs_for"), *given))


async def begin_upload(conn: Connection, file: str) -> None:
    """This transaction saves the rows of a file, which may take long; its jobs keep the name of the file."""
    async with translating_errors():
        await conn.execute(load("begin_upload"), file[:500])
