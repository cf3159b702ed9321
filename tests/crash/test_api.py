"""`kill -9` of the API in the middle of submits and uploads: what was answered is there, and nothing is half there."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import asyncpg
import httpx

from forebay.engine.db import registry
from forebay.identity import db as identity
from forebay.identity.accounts import make_token
from tests.cli._run import Cli, Process

ROWS = 400


async def caller(dsn: str) -> str:
    conn = await asyncpg.connect(dsn)
    account = await identity.add_account(conn, "ann", "user", None)
    assert account is not None
    token = await make_token(conn, account.id, "test", ["read", "write"])
    await registry.register(conn, {"name": "notes", "steps": [_step()]})
    await conn.close()
    return token


def _step() -> dict[str, object]:
    return {
        "name": "size", "after": [], "optional": False, "after_all": False, "queue": "notes.size", "max_attempts": 3,
        "max_expiries": 3,
    }  # fmt: skip


async def submit_for_ever(client: httpx.AsyncClient, answered: list[tuple[int, int]]) -> None:
    """One item, many, a file, in turn, until the server is gone."""
    requests: tuple[dict[str, Any], ...] = (
        {"json": {"pipeline": "notes", "input": {"body": "x"}}},
        {"json": {"pipeline": "notes", "items": [{"body": "x"}] * ROWS}},
        {"data": {"pipeline": "notes"}, "files": {"file": ("x.jsonl", b'{"body": "x"}\n' * ROWS)}},
    )
    try:
        while True:
            for request in requests:
                answer = await client.post("/api/jobs", **request)
                assert answer.status_code == 201, answer.text
                answered.append((int(answer.json()["jobId"]), answer.json()["items"]))
    except httpx.TransportError:
        return


async def test_what_was_answered_is_there(dsn: str, tmp_path: Path) -> None:
    token = await caller(dsn)
    conn = await asyncpg.connect(dsn)
    cli = Cli(tmp_path, FOREBAY_DATABASE_URL=dsn, FOREBAY_API_PORT="0")
    for enough in (20, 30, 40):
        api = cli.fork("api")
        answered: list[tuple[int, int]] = []
        try:
            headers = {"authorization": f"Bearer {token}"}
            async with httpx.AsyncClient(base_url=address_of(api), headers=headers, timeout=60) as client:
                callers = [asyncio.create_task(submit_for_ever(client, answered)) for _ in range(4)]
                while len(answered) < enough:  # noqa: ASYNC110 - the server is another process
                    await asyncio.sleep(0.01)
                api.signal(signal.SIGKILL)
                await asyncio.gather(*callers)
        finally:
            api.kill()
        found = {
            row["id"]: (row["total"], row["items"])
            for row in await conn.fetch(
                """select j.id, j.total, (select count(*) from forebay.item i where i.job_id = j.id) as items,
                          j.sealed from forebay.job j"""
            )
        }
        assert {job: found[job] for job, _ in answered} == {job: (items, items) for job, items in answered}
        assert all(total == items for total, items in found.values())
        queued = await conn.fetchval("select sum(last_n - first_n + 1) from forebay.ready")
        assert queued == sum(total for total, _ in found.values())
    await conn.close()


def address_of(api: Process) -> str:
    api.says("api_started")
    return "http://127.0.0.1:" + api.said.partition('"address": "http://127.0.0.1:')[2].partition('"')[0]
