"""`forebay migrate --remove`: what a package has in the database goes, nothing of others does, and it can come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from click.testing import CliRunner, Result

from forebay.cli import cli
from forebay.errors import ForebayError, InvalidField, SchemaError
from tests._packages import Installed, installed
from tests.cli._run import ask

MANIFEST = """
from forebay.packages import Chore, PipelinePackage
package = PipelinePackage(
    "jots", __name__, pipelines=("steps",), chores=(Chore("shred", "0 4 * * *", "chores:shred"),))
"""
STEPS = """
from forebay import Context, Pipeline
jots = Pipeline("jots", dict)
@jots.step()
def count(ctx: Context, given: dict) -> int:
    return len(given)
"""
# Two tables that refer to each other, a type, and a function that a table needs.
TABLES = """
create function forebay.jot_size(text text) returns int language sql immutable as 'select length(text)';
create type forebay.jot_kind as enum ('note', 'list');
create table forebay.jot (
    id int primary key, kind forebay.jot_kind, text text check (forebay.jot_size(text) < 100), last_line int
);
create table forebay.jot_line (id int primary key, jot_id int references forebay.jot);
alter table forebay.jot add foreign key (last_line) references forebay.jot_line;
"""
ROUTINES = """
create or replace function forebay.jot_size(text text) returns int language sql immutable as 'select length(text)';
create or replace function forebay.list_jots() returns setof forebay.jot language sql as 'select * from forebay.jot';
create or replace view forebay.jots as select * from forebay.list_jots();
create or replace function forebay.jot_seen() returns trigger language plpgsql as 'begin return new; end';
create or replace trigger jot_seen after insert on forebay.jot for each row execute function forebay.jot_seen();
"""
DROPS = [
    "table forebay.jot",
    "table forebay.jot_line",
    "type forebay.jot_kind",
    "trigger jot_seen on forebay.jot",
    "view forebay.jots",
    "function forebay.jot_seen()",
    "function forebay.list_jots()",
    "function forebay.jot_size(pg_catalog.text)",
]
# A stored file of its target, with a part that was left, and one of another target.
FILES = """
insert into forebay.blob (sha256, size, media_type) values (sha256('x'), 1, 'text/plain');
insert into forebay.file (owner_id, sha256, name, media_type)
select forebay.owner_id('ann'), sha256('x'), name, 'text/plain' from unnest(array['a.txt', 'b.txt']) name;
insert into forebay.intake_file (target, reference, owner_id, job_id, name, file_id)
select case name when 'a.txt' then 'papers' else 'others' end, 7, owner_id, id, name, id from forebay.file;
insert into forebay.intake_part (target, reference, owner_id, start, size)
select target, reference, owner_id, 0, 1 from forebay.intake_file where target = 'papers';
insert into forebay.intake_taken (target, source, path, version)
select target, 'drop', sha256('p'), sha256('v') from forebay.intake_file
"""
LEFT = """
select (select count(*) from forebay.migration where part = 'jots')
     + (select count(*) from forebay.part where name = 'jots')
     + (select count(*) from forebay.part_routine where part = 'jots')
     + (select count(*) from pg_class where relname like 'jot%') + (select count(*) from forebay.schedule)
     + (select count(*) from pg_proc where proname like '%jot%')
     + (select count(*) from pg_type where typname like '%jot%')
"""
Forebay: TypeAlias = Callable[..., Result]


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Installed]:
    with installed(tmp_path) as found:
        found.add("jots", {"__init__.py": MANIFEST, "steps.py": STEPS})
        found.change("jots", {"sql/migrations/0001_jots.sql": TABLES, "sql/routines/jots.sql": ROUTINES})
        yield found


@pytest.fixture
def forebay(dsn: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Forebay:
    monkeypatch.setenv("FOREBAY_DATABASE_URL", dsn)
    monkeypatch.chdir(tmp_path)

    def run(*args: str, **given: Any) -> Result:
        return CliRunner().invoke(cli, ["migrate", *args], **given)

    return run


def fails(result: Result, kind: type[ForebayError]) -> str:
    assert isinstance(result.exception, kind), result.output
    return str(result.exception)


def test_it_is_removed_and_comes_again(dsn: str, package: Installed, forebay: Forebay) -> None:
    assert forebay("--pipelines", "jots.steps").exit_code == 0
    ask(dsn, "insert into forebay.jot values (1, 'note', 'one')")
    for name, pipeline in (("forebay: shred", "housekeeping"), ("daily", "jots")):
        definition = f'{{"name": "{pipeline}", "steps": []}}'
        ask(dsn, "select forebay.register_unknown(%s::jsonb)", definition)
        ask(dsn, "select forebay.put_schedule(%s, %s, 'forebay', '0 4 * * *', 'UTC', '{}', 0, now())", name, pipeline)
    drops = [*DROPS, "schedule daily", "schedule forebay: shred"]
    assert sorted(forebay("--remove", "jots", "--dry-run").output.splitlines()) == sorted(["would drop:", *drops])
    said = fails(forebay("--remove", "jots"), InvalidField)
    assert said == "--remove: drops tables with their rows: look with --dry-run, then confirm with --yes"
    assert ask(dsn, "select count(*) from forebay.jot") == 1
    removed = forebay("--remove", "jots", "--yes")
    assert removed.exit_code == 0, removed.output
    assert removed.output.endswith(
        ": removed jots, dropped 10 objects; its package is still installed: uninstall it, or the next migrate makes "
        "it again\n"
    )
    assert ask(dsn, LEFT) == 0
    assert forebay().exit_code == 0
    ask(dsn, "insert into forebay.jot values (2, 'list', 'again')")
    assert ask(dsn, "select array_agg(id) from forebay.jots") == [2]


def test_files_of_its_intake_target_go_with_it(
    dsn: str, package: Installed, forebay: Forebay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FOREBAY_DATA_DIR", str(tmp_path / "data"))
    package.change("jots", {"__init__.py": MANIFEST.replace("chores=", 'intake={"papers": "intake:FILES"}, chores=')})
    forebay()
    ask(dsn, FILES)
    part = tmp_path / "data" / "blobs" / "uploads" / "7" / str(ask(dsn, "select name from forebay.intake_part"))
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x")
    assert "files of the intake target papers" in forebay("--remove", "jots", "--dry-run").output.splitlines()
    assert part.exists()
    removed = forebay("--remove", "jots", "--yes")
    assert removed.exit_code == 0, removed.output
    assert ask(dsn, "select array_agg(target) from forebay.intake_file") == ["others"]
    assert ask(dsn, "select array_agg(target) from forebay.intake_taken") == ["others"]
    assert ask(dsn, "select array_agg(name) from forebay.file") == ["b.txt"]
    assert not part.exists()


def test_open_jobs_and_what_others_have_built_stop_it(dsn: str, package: Installed, forebay: Forebay) -> None:
    forebay("--pipelines", "jots.steps")
    job = ask(dsn, "select job_id from forebay.submit('jots', '{}', 'ann')")
    said = fails(forebay("--remove", "jots", "--yes"), ForebayError)
    assert said == "jots cannot be removed while jobs are open: 1 job of jots. Finish or cancel them first"
    ask(dsn, "select forebay.cancel(%s)", job)
    ask(dsn, "create view public.mine as select id from forebay.jot; create table public.my (j forebay.jot_kind)")
    said = fails(forebay("--remove", "jots", "--yes"), SchemaError)
    assert said.startswith("something depends on what would be dropped: ")
    assert "view mine depends on table jot, " in said
    assert "column j of table my depends on type jot_kind" in said
    assert said.endswith("; drop that first")
    assert ask(dsn, "select count(*) from forebay.jots") == 0  # nothing was dropped
    ask(dsn, "drop view public.mine; drop table public.my")
    assert forebay("--remove", "jots", "--yes").exit_code == 0
    assert ask(dsn, LEFT) == 0


def test_what_cannot_be_removed(dsn: str, package: Installed, forebay: Forebay) -> None:
    for name in ("engine", "identity", "sheets"):
        said = fails(forebay("--remove", name, "--yes"), InvalidField)
        assert said == f"--remove: the schema part {name!r} comes with forebay and cannot be removed"
    said = fails(forebay("--remove", "nothing", "--yes"), InvalidField)
    assert said.startswith("--remove: there is no schema part 'nothing': the database has api, articles, attachments, ")
    forebay()
    for table, owner in (("job", "the schema part engine"), ("migration", "the migrator")):
        said = fails(forebay("--remove", "jots", "--table", table, "--yes"), InvalidField)
        assert said == f"--table: {table!r} belongs to {owner}"
    mixed = forebay("--remove", "jots", "--service")
    assert (mixed.exit_code, "--remove goes with --table, --dry-run, --yes and --json only" in mixed.output) == (
        2,
        True,
    )
    alone = forebay("--yes")
    assert (alone.exit_code, "--table, --dry-run and --yes go with --remove only" in alone.output) == (2, True)


def test_one_that_is_not_installed_needs_the_names_of_its_tables(
    dsn: str, package: Installed, forebay: Forebay
) -> None:
    forebay()
    package.remove("jots")
    said = fails(forebay("--remove", "jots", "--yes"), InvalidField)
    assert said == (
        "--remove: jots is not installed, so that its tables are not known: install it, or name them with --table"
    )
    said = fails(forebay("--remove", "jots", "--table", "jott", "--yes"), InvalidField)
    assert said == "--table: there is no table 'jott' in the schema forebay"
    named = [word for name in ("jot", "jot_line", "jot_kind") for word in ("--table", name)]
    removed = forebay("--remove", "jots", *named, "--yes")
    assert removed.output.endswith(": removed jots, dropped 8 objects\n")
    assert ask(dsn, LEFT) == 0


def test_on_a_terminal_it_asks(dsn: str, package: Installed, forebay: Forebay, monkeypatch: pytest.MonkeyPatch) -> None:
    forebay()
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True)
    asked = forebay("--remove", "jots", input="n\n")
    assert "table forebay.jot\n" in asked.output
    assert "with all rows? [y/N]" in asked.output
    assert asked.exit_code == 1
    assert ask(dsn, "select count(*) from forebay.jot") == 0
    assert forebay("--remove", "jots", input="y\n").exit_code == 0
    assert ask(dsn, LEFT) == 0
