"""`forebay backup` and `forebay restore`: the database goes into a file and comes back, or nothing is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli._run import Cli, ask


@pytest.fixture
def saved(known: Cli, dsn: str) -> Path:
    """A backup of a database with a user and a job."""
    known.run("users", "add", "ann", given="a long password\n")
    known.run("submit", "notes", '{"body": "hi"}')
    file = known.folder / "all.dump"
    done = known.run("backup", str(file))
    assert done.code == 0, done.err
    assert done.out.startswith(f"{file}: ")
    assert "Blobs are not part of it" in done.err
    assert dsn.split(":")[2].split("@", maxsplit=1)[0] not in done.out + done.err  # the password
    return file


def test_what_was_written_comes_back(saved: Path, known: Cli, bare_dsn: str) -> None:
    assert oct(saved.stat().st_mode)[-3:] == "600"
    done = known.run("restore", str(saved), FOREBAY_DATABASE_URL=bare_dsn)
    assert done.code == 0, done.err
    assert ask(bare_dsn, "select count(*) from forebay.item where n > 0 and status = 'PENDING'") == 1
    assert known.run("users", "list", "--json", FOREBAY_DATABASE_URL=bare_dsn).json[0]["name"] == "ann"
    assert known.run("submit", "notes", '{"body": "more"}', FOREBAY_DATABASE_URL=bare_dsn).out == "job 2: 1 item\n"
    assert ask(bare_dsn, "select count(*) from pg_namespace where nspname = 'forebay_aside'") == 0


def test_nothing_is_lost_by_mistake(saved: Path, known: Cli, dsn: str) -> None:
    refused = known.run("restore", str(saved))
    assert (refused.code, "has jobs or users: --replace deletes them" in refused.err) == (1, True)
    broken = known.folder / "broken.dump"
    broken.write_bytes(saved.read_bytes()[:5000])
    failed = known.run("restore", str(broken), "--replace")
    assert failed.code == 1
    assert failed.err.startswith("forebay: pg_restore failed: ")
    assert ask(dsn, "select count(*) from forebay.job") == 1
    known.run("submit", "notes", '{"body": "later"}')
    assert known.run("restore", str(saved), "--replace").code == 0
    assert ask(dsn, "select count(*) from forebay.job") == 1


def test_where_it_cannot_be_written(known: Cli) -> None:
    refused = known.run("backup", "absent/all.dump")
    assert (refused.code, refused.err) == (
        2,
        "forebay: absent/all.dump: cannot be written: No such file or directory\n",
    )
