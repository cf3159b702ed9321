"""What the README and the quickstart show, works."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import asyncpg

from forebay.testing import testbed
from tests.docs._blocks import ROOT, blocks, execute
from tests.docs._shell import run_shell

INSTALLED = Path(sys.executable).parent  # with the command `forebay`
AT_THE_END = "trap 'kill %1; wait' EXIT\n"


async def test_the_example_runs(dsn: str) -> None:
    space = execute("README.md")
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
    assert first[2] == "A durable job queue and pipeline engine on PostgreSQL."
    text = "\n".join(first)
    assert "make up" in text
    assert "make test" in text


def test_the_make_targets_exist() -> None:
    for target in ("up", "test", "bench", "check", "docs"):
        subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True)


def test_the_quickstart_has_the_same_example() -> None:
    assert blocks("docs/quickstart.md", "python") == blocks("README.md", "python")


async def test_the_shell_commands_of_an_app_work(bare_dsn: str, tmp_path: Path) -> None:
    (example,) = blocks("docs/quickstart.md", "python")
    (tmp_path / "app.py").write_text(example)
    shell = next(block for block in blocks("docs/quickstart.md", "sh") if "forebay migrate" in block)
    script = shell.replace("pip install forebay\n", "").replace("postgresql://localhost/app", bare_dsn)
    said = run_shell(f"{AT_THE_END}{script}", tmp_path, {"FOREBAY_DATA_DIR": str(tmp_path / "data")}, INSTALLED)
    assert '"title": "https://example.com"' in said  # the result is seen
    assert "idle: pages" in said
    conn = await asyncpg.connect(bare_dsn)
    for statement in _statements(blocks("docs/quickstart.md", "sql")[0]):
        await conn.fetch(statement)
    await conn.close()


def test_the_first_minutes_work(dsn: str, tmp_path: Path) -> None:
    shell = next(block for block in blocks("docs/quickstart.md", "sh") if "bookmarks add" in block)
    own = {"FOREBAY_DATABASE_URL": dsn, "FOREBAY_DATA_DIR": str(tmp_path / "data")}
    own["FOREBAY_SHEETS_NOT_FOUND_WAIT_S"] = "0"  # else a row is looked up again half a minute later
    said = run_shell(f"{AT_THE_END}forebay worker &\n{shell}", tmp_path, own)
    assert "bookmark 1: https://example.com/ saved" in said
    assert "DONE: 1 row, 0 done, 1 not found, 0 failed" in said


def _statements(block: str) -> list[str]:
    without_comments = re.sub(r"--.*", "", block)
    return [statement for statement in without_comments.split(";") if statement.strip()]
