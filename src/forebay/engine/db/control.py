"""Operations on jobs, items and queues, as typed calls: pause, resume, cancel, reprocess."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.calls import fetch, fetch_value
from forebay.engine.db.sql import load
from forebay.engine.submit.job_calls import signal_arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection
    from forebay.types import Json


async def pause(conn: Connection, job_id: int, actor: str) -> bool:
    """Pause a job; return whether that changed anything."""
    return bool(await fetch_value(conn, load("pause_job"), job_id, actor))


async def resume(conn: Connection, job_id: int, actor: str) -> bool:
    return bool(await fetch_value(conn, load("resume_job"), job_id, actor))


async def cancel(conn: Connection, job_id: int, actor: str) -> bool:
    return bool(await fetch_value(conn, load("cancel_job"), job_id, actor))


async def pause_item(conn: Connection, job_id: int, n: int, actor: str) -> bool:
    """Pause an open item; return whether that changed anything.

    Raises: NotFoundError, ConflictError.
    """
    return bool(await fetch_value(conn, "select forebay.pause_item($1, $2, $3)", job_id, n, actor))


async def resume_item(conn: Connection, job_id: int, n: int, actor: str) -> bool:
    return bool(await fetch_value(conn, "select forebay.resume_item($1, $2, $3)", job_id, n, actor))


async def start_item(conn: Connection, job_id: int, n: int, actor: str) -> bool:
    """Start the tasks of an item that have a time now; return whether there was one."""
    return bool(await fetch_value(conn, "select forebay.start_item($1, $2, $3)", job_id, n, actor))


async def cancel_item(conn: Connection, job_id: int, n: int, actor: str) -> bool:
    """End an open item as SKIPPED; return whether that changed anything."""
    return bool(await fetch_value(conn, "select forebay.cancel_item($1, $2, $3)", job_id, n, actor))


async def dismiss(conn: Connection, job_id: int, ns: Sequence[int] | None, actor: str) -> int:
    """Remove dead letters of all items, or of some, from the list; return how many."""
    chosen = None if ns is None else list(ns)
    return int(await fetch_value(conn, "select forebay.dismiss($1, $2, $3)", job_id, chosen, actor) or 0)


async def reprocess(
    conn: Connection,
    job_id: int,
    statuses: Sequence[str],
    ns: Sequence[int] | None,
    actor: str,
    *,
    reset_attempts: bool,
    restart: bool = False,
) -> int:
    """Run ended items again, with `restart` all of their steps; return how many."""
    return int(
        await fetch_value(
            conn,
            load("reprocess_job"),
            job_id,
            list(statuses),
            None if ns is None else list(ns),
            reset_attempts,
            actor,
            restart,
        )
        or 0
    )


async def signal(conn: Connection, name: str, key: str, payload: Json, owner: str, keep_s: float) -> int:
    """Send a signal to the tasks of an owner; return how many it reached.

    Raises: InvalidField.
    """
    args = signal_arguments(name, key, payload, owner, keep_s)
    return int(await fetch_value(conn, load("send_signal"), *args))


async def statuses_of(conn: Connection, job_id: int, ns: Sequence[int]) -> dict[str, int]:
    """The number of items by status, for some items of a job."""
    rows = await fetch(conn, load("statuses_of_items"), job_id, list(ns))
    return {row["status"]: row["count"] for row in rows}


async def count_ended(
    conn: Connection, job_id: int, statuses: Sequence[str], ns: Sequence[int] | None
) -> dict[str, int]:
    """How many items of a job a reprocess would run again, by status."""
    rows = await fetch(conn, load("count_ended"), job_id, list(statuses), None if ns is None else list(ns))
    found = {row["status"]: int(row["items"]) for row in rows}
    return {status: found.get(status, 0) for status in statuses}


async def pause_queue(conn: Connection, name: str, actor: str) -> bool:
    return bool(await fetch_value(conn, "select forebay.pause_queue($1, $2)", name, actor))


async def resume_queue(conn: Connection, name: str, actor: str) -> bool:
    return bool(await fetch_value(conn, "select forebay.resume_queue($1, $2)", name, actor))
