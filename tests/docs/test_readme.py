"""What the README shows, works."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import asyncpg

from forebay.testing import testbed
from tests.docs._blocks import ROOT, blocks

FOREBAY = Path(sys.executable).with_name("forebay")


async def test_the_example_runs(dsn: str) -> None:
    (example,) = blocks("README.md", "python")
    space: dict[str, Any] = {}
    exec(compile(example, "README.md", "exec"), space)
    conn = await asyncpg.connect(dsn)
    try:
        await conn.execute("create table link (url text)")
        async with testbed(dsn, [space["pages"]], migrated=True) as bed:
            job_id = await space["save"](conn, "https://example.com")
            await bed.run()
            item = await bed.item(job_id)
        assert item.result["title"] == "https://example.com"
        assert await conn.fetchval("select count(*) from link") == 1
    finally:
        await conn.close()


def test_the_example_is_short() -> None:
    (example,) = blocks("README.md", "python")
    assert len([line for line in example.splitlines() if line.strip()]) <= 15


def test_the_first_screen_has_the_sentence_the_example_and_the_two_commands() -> None:
    first = (ROOT / "README.md").read_text("utf-8").split("## ")[0].splitlines()
    assert len(first) <= 36
    text = "\n".join(first)
    assert "make up" in text
    assert "make test" in text


def test_the_make_targets_exist() -> None:
    for target in ("up", "test", "bench", "check"):
        subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True)


async def test_the_shell_commands_work(bare_dsn: str, tmp_path: Path) -> None:
    (example,) = blocks("README.md", "python")
    (tmp_path / "app.py").write_text(example)
    env = {**os.environ, "FOREBAY_DATABASE_URL": bare_dsn, "PYTHONPATH": str(tmp_path)}
    shell = next(block for block in blocks("README.md", "sh") if "forebay migrate" in block)
    commands = [line.split("#")[0].split()[1:] for line in shell.splitlines() if line.startswith("forebay")]
    assert [command[0] for command in commands] == ["migrate", "worker", "top", "doctor"]
    migrate, worker, top, doctor = commands

    async def run(args: list[str]) -> str:
        process = await asyncio.create_subprocess_exec(
            str(FOREBAY), *args, env=env, cwd=tmp_path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        return out.decode()

    await run(migrate)
    running = await asyncio.create_subprocess_exec(
        str(FOREBAY), *worker, env=env, cwd=tmp_path, stderr=asyncio.subprocess.PIPE
    )
    try:
        assert running.stderr is not None
        while b"worker_started" not in (line := await running.stderr.readline()):
            assert line, "the worker ended"
        assert "pages" in await run([*top, "--once"])
        await run(doctor)
        conn = await asyncpg.connect(bare_dsn)
        for statement in _statements(blocks("README.md", "sql")[0]):
            await conn.fetch(statement)
        await conn.close()
    finally:
        running.terminate()
        await running.communicate()
    assert running.returncode == 0


def _statements(block: str) -> list[str]:
    without_comments = re.sub(r"--.*", "", block)
    return [statement for statement in without_comments.split(";") if statement.strip()]


def test_every_link_leads_somewhere() -> None:
    for document in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text("utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
