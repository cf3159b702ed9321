"""What the lists, the queue and the numbers of media cost, by their plans: no more rows than needed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from forebay.pipelines.media.db import load
from tests._servers import Server
from tests.sql.test_event_plans import rows_read
from tests.sql.test_plans import Explained, explaining

# Owner 7 has 90 of 6,000 shares; one in a hundred waits, 60 are of the last hour, 6 are in a playlist.
_FILL = """
insert into forebay.share (owner_id, url, title, description, kind, job_id, download_status, created_at,
                           download_started_at, download_completed_at, file_id, size, playlist_id, playlist_index)
select case when n % 66 = 0 then 7 else n % 50 + 10 end, 'https://example.org/' || n, 'Film ' || n,
       (select string_agg(md5(n::text || g), ' ') from generate_series(1, 15) g),
       case when n = 66 then 'playlist' when n % 3 = 0 then 'audio' else 'video' end, n,
       case when n % 100 = 1 then 'pending' when n % 100 = 2 then 'failed' else 'completed' end,
       now() - n * interval '1 minute', now(), case when n % 100 > 2 then now() - n * interval '1 minute' end,
       case when n % 100 > 2 then n end, 9, case when n % 1000 = 67 then 66 end, n
from generate_series(1, 6000) n;
insert into forebay.transcript (share_id, owner_id, source, segments, text)
select s.id, s.owner_id, 'speech', '[]', 'x' from forebay.share s;
"""


async def _fill(dsn: str) -> None:
    conn = await asyncpg.connect(dsn)
    await conn.execute(_FILL)
    await conn.execute("vacuum (analyze) forebay.share, forebay.transcript")
    await conn.close()


@pytest.fixture(scope="session")
def shares(server: Server, _template: str) -> str:
    return server.template("forebay_media_plans", _fill, base=_template)


@pytest.fixture(params=["force_custom_plan", "force_generic_plan"])
async def planned(server: Server, shares: str, request: pytest.FixtureRequest) -> AsyncIterator[Explained]:
    """Statements are planned for their values, or for any."""
    async with explaining(server, shares) as explained:
        await explained.db.execute(f"set plan_cache_mode = {request.param}")
        await explained.db.execute("select set_config('forebay.owner_id', '7', false)")
        yield explained


async def _read(planned: Explained, name: str, *args: object) -> int:
    """How many shares a statement reads."""
    await planned.of(load(name), *args)
    return rows_read(planned.plans, "share")


def _scans(planned: Explained) -> set[tuple[str, str | None]]:
    """How shares are read: the kinds of the nodes, and their indexes."""
    stack: list[dict[str, Any]] = [plan["Plan"] for plan in planned.plans]
    found: set[tuple[str, str | None]] = set()
    while stack:
        node = stack.pop()
        stack += node.get("Plans", [])
        if node.get("Relation Name") == "share":
            found.add((node["Node Type"], node.get("Index Name")))
    return found


@pytest.mark.parametrize(
    ("states", "kinds", "at_most"),
    [(None, None, 21), (["failed"], None, 12), (None, ["audio"], 320), (["completed"], ["video"], 320)],
)
async def test_a_page_of_the_list(
    planned: Explained, states: list[str] | None, kinds: list[str] | None, at_most: int
) -> None:
    assert await _read(planned, "find_shares", states, kinds, None, None, None, 20) <= at_most
    assert "Seq Scan" not in {kind for kind, _ in _scans(planned)}


async def test_the_entries_of_a_playlist(planned: Explained) -> None:
    assert await _read(planned, "find_shares", None, None, 66, None, None, 20) <= 20
    assert await _read(planned, "take_entries", 66, 7) <= 40


async def test_words_are_found_by_their_index(planned: Explained) -> None:
    assert await _read(planned, "find_shares", None, None, None, "5998", None, 20) <= 1


async def test_what_lists_show(planned: Explained) -> None:
    ids = [66 * n for n in range(2, 22)]
    assert await _read(planned, "show_shares", ids) <= 20
    assert rows_read(planned.plans, "transcript") <= 20
    assert await _read(planned, "list_shares_of_jobs", ids) <= 20
    assert await _read(planned, "suggest_shares", 7, "film", 20) <= 304
    assert await _read(planned, "export_shares", 7, 0, 20) <= 20


async def test_the_share_of_a_task(planned: Explained) -> None:
    assert await _read(planned, "read_share", 132, 132, 1, 7) <= 2
    assert await _read(planned, "read_share", None, 132, 1, 7) <= 2
    assert await _read(planned, "begin_download", 132, 7) <= 1


async def test_the_queue_of_the_source_reads_what_waits(planned: Explained) -> None:
    queue = "select id from forebay.share where download_status in ('pending', 'retry') order by created_at limit 10"
    await planned.of(queue)
    assert {index for _, index in _scans(planned)} <= {"idx_shares_download_queue", "idx_shares_download_status"}
    assert rows_read(planned.plans, "share") <= 200


async def test_the_numbers_of_the_last_hour_read_that_hour(planned: Explained) -> None:
    """All that is stored is added up: that one part reads every share."""
    assert await _read(planned, "media_metrics") <= 6000 + 2 * 60 + 120
    assert {"share_completed", "share_created"} <= {index for _, index in _scans(planned)}
