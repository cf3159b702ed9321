"""What the how-tos show, works."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from forebay.db.registry import register
from forebay.example import texts
from forebay.testing import testbed
from tests.cli._run import ask
from tests.docs._blocks import blocks
from tests.telemetry._collector import collecting


def _run(document: str) -> dict[str, Any]:
    (example,) = blocks(document, "python")
    space: dict[str, Any] = {}
    exec(compile(example, document, "exec", dont_inherit=True), space)
    return space


async def test_testing(dsn: str) -> None:
    await _run("docs/howto/testing.md")["test_letters_are_posted_in_the_end"](dsn)


async def test_steps(dsn: str) -> None:
    space = _run("docs/howto/steps.md")
    articles, article = space["articles"], space["Article"]
    conn = await asyncpg.connect(dsn)
    await conn.execute("create table article (url text primary key, title text, image text)")
    async with testbed(dsn, [articles], migrated=True) as bed:
        inputs = [article(url="a", text="some words here"), article(url="b")]
        job = await articles.submit_many(conn, inputs)
        await bed.finish()
        first, second = await bed.items(job)
        assert first.result["store"] == 3
        assert first.result["embed"] == [3.0, 1.0]
        assert (first.status, second.status) == ("DONE", "NOT_FOUND")
        assert await conn.fetchval("select title from article") == "some words here"
    await conn.close()


async def test_sql(dsn: str) -> None:
    pages: dict[str, Any] = {
        "name": "pages",
        "steps": [
            {"name": "fetch", "after": [], "optional": False, "after_all": False, "queue": "pages.fetch",
             "max_attempts": 3, "max_expiries": 20}
        ],
    }  # fmt: skip
    conn = await asyncpg.connect(dsn)
    await register(conn, pages)
    (block,) = blocks("docs/howto/sql.md", "sql")
    for statement in re.sub(r"--.*", "", block).split(";"):
        if statement.strip():
            await conn.fetch(statement)
    assert await conn.fetchval("select count(*) from forebay.audit") == 6
    await conn.close()


@pytest.mark.skipif(shutil.which("curl") is None, reason="the example uses curl, which is not installed here")
def test_api(dsn: str, tmp_path: Path) -> None:
    asyncio.run(_register(dsn))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (block,) = blocks("docs/howto/api.md", "sh")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FOREBAY_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    done = subprocess.run(
        ["bash", "-ec", block.replace("8080", str(port))],
        cwd=tmp_path,
        env={**kept, "PATH": path, "FOREBAY_DATABASE_URL": dsn, "FOREBAY_PIPELINES": "forebay.example"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert '{"jobId":"1","created":true,"items":1}{"jobId":"2","created":true,"items":2}' in done.stdout
    assert done.stdout.rpartition('"state":"')[2].startswith("DONE")


def test_tracing(dsn: str, tmp_path: Path) -> None:
    asyncio.run(_register(dsn))
    (block,) = blocks("docs/howto/tracing.md", "sh")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FOREBAY_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    with collecting() as collector:
        running = subprocess.Popen(
            ["bash", "-ec", block.replace("http://localhost:4318", collector.url)],
            cwd=tmp_path,
            env={**kept, "PATH": path, "FOREBAY_DATABASE_URL": dsn, "FOREBAY_PIPELINES": "forebay.example"},
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            ask(dsn, """select forebay.submit('texts', '{"title": "Hello", "body": "A few words."}')""")
            wanted = {"texts.count", "texts.fingerprint", "texts.readability", "claim", "settle"}
            collector.until(lambda spans: wanted <= {span.name for span in spans})
        finally:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait(60)


async def _register(dsn: str) -> None:
    """As a worker does when it starts."""
    conn = await asyncpg.connect(dsn)
    await register(conn, texts.definition())
    await conn.close()
