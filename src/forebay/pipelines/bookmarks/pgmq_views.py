"""The views of `forebay.offer_pgmq()`, by which other programs know the queue of bookmarks: a restore keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.calls import execute
from forebay.hooks import OutsideViews
from forebay.pipelines.bookmarks.db import load

if TYPE_CHECKING:
    from forebay.db.pool import Connection


async def _refresh(conn: Connection) -> None:
    await execute(conn, load("refresh_pgmq_views"))


VIEWS = OutsideViews(
    (
        "pgmq_public.add_bookmark_url_queue",
        "pgmq_public.add_bookmark_url_queue_archive",
        "pgmq.q_add_bookmark_url_queue",
        "pgmq.a_add_bookmark_url_queue",
    ),
    _refresh,
)
