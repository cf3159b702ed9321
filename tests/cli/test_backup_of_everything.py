"""One command writes the database and all files to one file, and one command reads them: everything that exists."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from forebay.engine.db import registry
from forebay.pipelines.bookmarks.steps import bookmarks
from tests.api._service import Service, put_file, serving
from tests.api.test_access import OWNED, fill
from tests.cli._run import Cli, ask

# Every table, except partitions, whose rows their parents have.
TABLES = """select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
            where n.nspname = 'forebay' and c.relkind in ('r', 'p') and not c.relispartition order by 1"""


async def _fill(dsn: str, data: Path) -> None:
    async with serving(dsn, bookmarks, data_dir=data) as service:
        await registry.register(service.admin, bookmarks.definition())
        await fill(service)
        await _bookmark(service)
        async with service.client("ann") as ann, service.signed_in("root") as root:
            await ann.post("/api/signals", json={"name": "paid", "key": "1", "payload": {"sum": 3}})
            await root.post("/api/users/invitations", json={"role": "user"})


async def _bookmark(service: Service) -> None:
    async with service.client("ann") as ann:
        category = (await ann.post("/api/bookmarks/categories", json={"name": "read"})).raise_for_status().json()
        body = {"url": "https://example.org/", "tags": ["later"], "categoryId": category["id"]}
        (await ann.post("/api/bookmarks", json=body)).raise_for_status()


async def contents(dsn: str) -> dict[str, list[str]]:
    """All rows of all tables, as text."""
    conn: asyncpg.Connection[Any] = await asyncpg.connect(dsn)
    try:
        tables = [row["relname"] for row in await conn.fetch(TABLES)]
        return {
            table: [row["t"] for row in await conn.fetch(f"select t::text as t from forebay.{table} t order by 1")]
            for table in tables
        }
    finally:
        await conn.close()


def test_everything_comes_back(dsn: str, bare_dsn: str, tmp_path: Path) -> None:
    here, there, file = tmp_path / "here", tmp_path / "there", tmp_path / "everything.tar"
    asyncio.run(_fill(dsn, here))
    (here / "signing.key").write_bytes(b"k" * 32)
    before = asyncio.run(contents(dsn))
    assert [table for table in (*OWNED, "blob", "bookmark", "account", "api_token") if not before[table]] == []
    cli = Cli(tmp_path, FOREBAY_DATABASE_URL=dsn, FOREBAY_DATA_DIR=str(here))
    done = cli.run("backup", str(file))
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("with 3 stored contents (20 B)\n"), done.out
    assert (oct(file.stat().st_mode)[-3:], sorted(path.name for path in tmp_path.glob("*.part"))) == ("600", [])
    shutil.rmtree(here)
    new = Cli(tmp_path, FOREBAY_DATABASE_URL=bare_dsn, FOREBAY_DATA_DIR=str(there))
    done = new.run("restore", str(file))
    assert done.code == 0, done.err
    assert done.out.endswith(f"restored from {file}, with 3 stored contents (20 B)\n"), done.out
    after = asyncio.run(contents(bare_dsn))
    assert after.keys() == before.keys()
    assert [table for table in before if after[table] != before[table]] == []
    checked = new.run("storage", "check", "--deep", "--json")
    assert (checked.code, checked.json["blobs"], checked.json["unknown"]) == (0, 3, 0)
    key = there / "signing.key"
    assert (key.read_bytes().strip(), oct(key.stat().st_mode)[-3:]) == (b"k" * 32, "600")
    assert sorted(path.name for path in there.iterdir()) == ["blobs", "signing.key"]
    again = new.run("restore", str(file), "--replace")  # contents that are there are not written again
    assert again.code == 0, again.err


@pytest.fixture
def small(cli: Cli, tmp_path: Path, dsn: str) -> Path:
    """A backup with one content."""
    asyncio.run(_one_file(dsn, tmp_path / "data"))
    file = tmp_path / "small.tar"
    done = cli.run("backup", str(file), FOREBAY_DATA_DIR=str(tmp_path / "data"))
    assert done.code == 0, done.err
    return file


async def _one_file(dsn: str, data: Path) -> None:
    async with serving(dsn, data_dir=data) as service:
        await put_file(service, "ann", b"content", "a.txt", "text/plain")


def rewritten(file: Path, name: str, changed: dict[str, bytes]) -> Path:
    """A copy of an archive with other contents of some members."""
    copy = file.with_name(name)
    with tarfile.open(file) as old, tarfile.open(copy, "w") as new:
        for member in old.getmembers():
            content = old.extractfile(member)
            assert content is not None
            data = changed.get(member.name.split("/")[0], content.read())
            member.size = len(data)
            new.addfile(member, io.BytesIO(data))
    return copy


def test_a_backup_that_is_cut_off_or_damaged_changes_nothing(small: Path, cli: Cli, dsn: str) -> None:
    cut = small.with_name("cut.tar")
    whole = small.read_bytes()
    about = json.dumps({"format": 2, "forebay": "99.0"}).encode()
    newer = rewritten(small, "newer.tar", {"forebay-backup.json": about})
    damaged = rewritten(small, "damaged.tar", {"blobs": b"CONTENT"})
    for size in (len(whole) // 2, len(whole) - 10_500):
        cut.write_bytes(whole[:size])
        refused = cli.run("restore", str(cut), "--replace")
        assert (refused.code, refused.err) == (
            1,
            f"forebay: {cut} is not a complete backup: it was cut off, or is damaged\n",
        )
    refused = cli.run("restore", str(newer), "--replace")
    assert (refused.code, refused.err) == (
        1,
        f"forebay: {newer} was written by forebay 99.0: upgrade forebay to restore it\n",
    )
    refused = cli.run("restore", str(damaged), "--replace", FOREBAY_DATA_DIR=str(small.with_name("new")))
    assert refused.code == 1
    assert "the backup is damaged: blobs/" in refused.err
    assert "has another content than it had" in refused.err
    assert ask(dsn, "select count(*) from forebay.file") == 1


def test_a_content_that_is_missing_is_told(small: Path, cli: Cli, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "data" / "blobs")
    done = cli.run("backup", str(small), FOREBAY_DATA_DIR=str(tmp_path / "data"))
    assert (done.code, done.err) == (
        0,
        "1 content missing in the store: `forebay storage check` names the files\n",
    )
    assert done.out.endswith("with 0 stored contents (0 B)\n")
