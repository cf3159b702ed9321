"""What short programs do not import: each module here costs them a noticeable part of their start."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

_SUBMIT = """
import asyncio, asyncpg, sys
from pydantic import BaseModel
import forebay

class Note(BaseModel):
    body: str

notes = forebay.Pipeline("notes", Note)

@notes.step()
def size(ctx, note: Note) -> int:
    return len(note.body)

async def main():
    conn = await asyncpg.connect(sys.argv[1])
    await notes.submit(conn, Note(body="hello"))
    await conn.close()

asyncio.run(main())
"""
_HELP = """
import contextlib, sys
import forebay.cli

sys.argv[1:] = ["--help"]
with contextlib.suppress(SystemExit):
    forebay.cli.main()
"""
_JOBS = "import forebay.cli; forebay.cli.cli.main(['jobs', '--json'], standalone_mode=False)"

_SERVICE = {
    "PIL", "argon2", "fastapi", "forebay.api", "forebay.services", "forebay.storage", "httpx", "obstore",
    "opentelemetry", "prometheus_client", "sentry_sdk", "starlette", "trafilatura", "uvicorn",
}  # fmt: skip
_WORKER = {"forebay.engine.processes", "forebay.engine.supervise", "forebay.engine.work.worker", "forebay.runner"}
_SCREEN = {"forebay.cli._job_report", "forebay.cli._live", "pygments", "rich", "structlog"}


@pytest.mark.parametrize(
    ("program", "unwanted"),
    [
        pytest.param(
            _SUBMIT, _SERVICE | _WORKER | _SCREEN | {"click", "forebay.cli", "forebay.settings"}, id="one submit"
        ),
        pytest.param(
            _HELP,
            _SERVICE | _WORKER | _SCREEN | {"asyncio", "asyncpg", "click", "inspect", "pydantic"},
            id="forebay --help",
        ),
        pytest.param(_JOBS, _SERVICE | _WORKER | _SCREEN, id="forebay jobs --json"),
    ],
)
def test_short_programs_import_only_what_they_need(dsn: str, tmp_path: Path, program: str, unwanted: set[str]) -> None:
    told = "\nimport json, sys; json.dump(sorted(sys.modules), sys.stderr)"
    command = [sys.executable, "-c", program + told, dsn]
    env = {"FOREBAY_DATABASE_URL": dsn}
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert unwanted.isdisjoint(json.loads(done.stderr))
