"""What `forebay up` tells a newcomer: always, within 80 columns, and no credential where it is not needed."""

from __future__ import annotations

import asyncio
import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest
from rich.console import Console

from forebay.cli import _guide
from forebay.cli._guide import Guide
from forebay.cli._live import View
from forebay.engine.db.overview import Depth, JobRow, Overview, WorkerRow
from forebay.identity import accounts
from forebay.settings import Settings

if TYPE_CHECKING:
    from forebay.engine.db.overview import DeadLetterRow

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GUIDE = Guide("http://127.0.0.1:18311", "admin", f"http://127.0.0.1:18311/#fbl_{'x' * 43}")


def job(number: int, **counts: int) -> JobRow:
    given: dict[str, Any] = {"total": 5000, "done": 0, "skipped": 0, "not_found": 0, "error": 0} | counts
    eta = NOW + timedelta(seconds=20)
    return JobRow(number, "bookmark_imports", "admin", "RUNNING", 0, None, **given, created_at=NOW, started_at=NOW,
                  finished_at=None, eta=eta)  # fmt: skip


def depth(pipeline: str, step: str, ready: int = 0, parked: str | None = None) -> Depth:
    return Depth(pipeline, step, f"{pipeline}.{step}", ready, 0, 0, 0, None, paused=False, parked=parked)


def seen(*jobs: JobRow, steps: list[Depth], workers: int = 0) -> Overview:
    alive = [
        WorkerRow(n, f"vm:{n}", True, 3, stuck=False, stale=0, started_at=NOW, seen_at=NOW, stats={})
        for n in range(workers)
    ]
    letters: list[DeadLetterRow] = []
    return Overview(NOW, steps, alive, [], list(jobs), letters)


def screen(view: View, height: int = 24, width: int = 80) -> list[str]:
    out = Console(width=width, height=height, file=io.StringIO())
    with out.capture() as captured:
        out.print(view.draw(height, width))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_at_80_by_24_all_of_it_is_seen_all_the_time() -> None:
    view = View("forebay", folded=True, footer="Ctrl-C stops.", starting="the worker is starting")
    view.guide = GUIDE.lines()
    steps = [depth(f"pipeline{n}", step, ready=7 * n) for n in range(12) for step in ("look", "write")]
    view.add(seen(*(job(n, done=1658, not_found=3342 - n, error=n) for n in range(6)), steps=steps))
    lines = screen(view)
    assert len(lines) <= 24
    text = "\n".join(lines)
    for words in ("Open     this link: it signs in as administrator", "bookmarks add URL", "ingest FILE"):
        assert words in text
    assert str(GUIDE.link) in lines  # alone, and whole
    assert "the worker is starting" in text
    assert "Ctrl-C stops." in text
    assert "pipeline1" in text
    assert "pipeline0" not in text  # nothing is in it
    assert "look" not in text
    assert "1,658 of 5,000" in text
    assert "3,341" in text  # not found, which is not done
    view.notices.extend(["one notice", "another", "a third"])
    crowded = screen(view)
    assert len(crowded) <= 24
    assert {str(GUIDE.link), "the worker is starting", "a third", "Ctrl-C stops."} <= set(crowded)


def test_what_stands_still_is_named() -> None:
    view = View("forebay", folded=True)
    view.add(seen(steps=[depth("notes", "size", parked="no key")], workers=2))
    text = "\n".join(screen(view))
    assert "size parked: no key" in text
    assert "2 workers running, 6 tasks at work" in text
    view.add(seen(steps=[]))
    assert "no worker is running: start one with `forebay worker`" in "\n".join(screen(view))


def test_the_link_goes_when_it_has_been_used() -> None:
    after = [line.plain for line in replace(GUIDE, link=None).lines()]
    assert not any("#" in line for line in after)
    assert after[0] == "Open     http://127.0.0.1:18311  as admin"
    assert after[-1].startswith("Link to sign in:")  # how to sign in is shown all the time
    assert after[-1].endswith("users link admin")


async def test_a_link_that_has_expired_is_not_shown(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answers(*_: object) -> bool:
        return True

    monkeypatch.setattr(_guide, "_answers", answers)
    monkeypatch.setattr(_guide, "_LINK_LASTS", 0.0)
    view = View("forebay")
    await _guide.keep_fresh(GUIDE, view, Settings(), dsn, 8080, lambda: None)
    assert view.guide[0].plain == "Open     http://127.0.0.1:18311  as admin"


async def test_the_link_is_shown_when_the_api_answers_not_when_its_port_is_open(dsn: str) -> None:
    asked, begun, started = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await begun.wait()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    view = View("forebay")
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        showing = asyncio.create_task(_guide.keep_fresh(GUIDE, view, Settings(), dsn, port, started.set))
        await asked.wait()
        assert [line.plain for line in view.guide][:1] == [
            "Open     the address that is shown here once the API answers"
        ]
        assert not started.is_set()
        begun.set()
        await started.wait()
        await asyncio.sleep(0)
        assert str(GUIDE.link) in [line.plain for line in view.guide]
        showing.cancel()


async def test_a_credential_is_made_only_for_a_person_who_needs_one(dsn: str) -> None:
    settings = Settings()
    logged = await _guide.make(settings, dsn, 8080, "", for_a_person=False)
    assert logged.link is None
    assert "users link admin` prints a link" in logged.plain()
    fresh = await _guide.make(settings, dsn, 8080, "", for_a_person=True)
    assert fresh.link is not None
    assert fresh.link not in fresh.plain()
    conn = await asyncpg.connect(dsn)
    assert await conn.fetchval("select count(*) from forebay.invitation") == 1
    await accounts.change_password(conn, await accounts.account_named(conn, "admin"), "hash")
    await conn.close()
    again = await _guide.make(settings, dsn, 8080, "", for_a_person=True)
    assert again.link is None
    assert any("users link admin" in line.plain for line in again.lines())
