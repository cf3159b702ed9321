"""`forebay ingest`: files of rows from a shell, and out of declared sources."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli._run import Cli, Process, ask

SOURCE = """
name = "drop"
url = "file://{folder}"
owner = "bob"
patterns = ["*.csv"]
settle_s = 0
"""


@pytest.fixture
def cli(tmp_path: Path, dsn: str) -> Cli:
    drop, sources = tmp_path / "drop", tmp_path / "sources"
    drop.mkdir()
    sources.mkdir()
    (sources / "drop.toml").write_text(SOURCE.format(folder=drop))
    (drop / "b.csv").write_text("Name\nGlue\n")
    (tmp_path / "a.csv").write_text("Name,SKU\nPen,1\nInk,1\nNail,2\n")
    (tmp_path / "wide.csv").write_bytes(b"x" * (5 << 20) + b"\n1\n")
    (tmp_path / "header.csv").write_text("Name,SKU\n")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7")
    return Cli(
        tmp_path,
        FOREBAY_DATABASE_URL=dsn,
        FOREBAY_PIPELINES="forebay.pipelines",
        FOREBAY_SHEETS_SOURCES=str(sources),
        FOREBAY_SHEETS_ROOTS=str(tmp_path),
    )


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        ([], "name files, or sources with --scan"),
        (["a.pdf"], "a.pdf: is a PDF: only tables and images are supported"),
        (["a.csv", "--options", "{"], "--options: is not JSON: "),
        (["a.csv", "--options", '{"colour": 1}'], "--options colour: is not known"),
        (["a.csv", "--options", "[]"], '--options: must be an object, such as {"header": false}'),
        (
            ["a.csv", "--column", "titel=Name"],
            "--column: there is no field 'titel': did you mean title? The fields are",
        ),
        (["a.csv", "--column", "title"], "--column: must be FIELD=COLUMN, such as title=Name; it is 'title'"),
        (["a.csv", "--catalogue", "My Stock"], "--catalogue: must begin with a-z"),
        (["a.csv", "--options", '{"header": 7}'], "--options header: must be true or false"),
        (["absent.csv"], "'absent.csv' does not exist"),
        (["a.csv", "--provider", "nope"], "--provider: there is no provider 'nope'; the providers are catalogue"),
        (["a.csv", "--options", '{"providers": ["nope"]}'], "--options providers: there is no provider 'nope'"),
    ],
    ids=[
        "nothing",
        "kind",
        "JSON",
        "options",
        "list",
        "field",
        "pair",
        "catalogue",
        "header",
        "absent",
        "provider",
        "providers",
    ],
)
def test_what_cannot_be_taken(cli: Cli, dsn: str, args: list[str], complaint: str) -> None:
    refused = cli.run("ingest", *args)
    assert refused.code == 2
    assert complaint in refused.err
    assert ask(dsn, "select count(*) from forebay.job") == 0


def test_a_source_that_is_not_declared(cli: Cli, dsn: str) -> None:
    refused = cli.run("ingest", "a.csv", "--scan", "nowhere")
    assert refused.code == 1
    assert "there is no source 'nowhere': declare it in the folder FOREBAY_SHEETS_SOURCES, or enable it" in refused.err
    assert ask(dsn, "select count(*) from forebay.job") == 0


def test_files_and_sources_become_jobs(cli: Cli, dsn: str, fork: Callable[..., Process]) -> None:
    fork("worker").says("worker_started")
    taken = cli.run("ingest", "a.csv", "--owner", "ann", "--key", "SKU", "--column", "title=Name", "--wait", "--json")
    assert taken.code == 0, taken.err
    job = taken.json["job_id"]
    assert taken.json == {
        "file": "a.csv", "job_id": job, "sheet_id": taken.json["sheet_id"], "state": "DONE", "total": 2, "done": 0,
        "skipped": 0, "not_found": 2, "error": 0, "reasons": [],
        "problem": None,
    }  # fmt: skip
    mapping = ask(dsn, "select mapping ->> 'fields' from forebay.sheet where job_id = %s", int(job))
    assert mapping == '{"sku": "SKU", "title": "Name"}'
    broken = cli.run("ingest", "wide.csv", "--wait")
    assert broken.code == 1
    assert "1 row, 0 done, 0 not found, 1 failed" in broken.out
    assert "line 1 is longer than 4 MiB" in broken.err
    shown = cli.run("job", broken.out.partition(": job ")[2].split()[0])
    assert "line 1 is longer than 4 MiB" in shown.out
    empty = cli.run("ingest", "header.csv", "--wait")
    assert empty.code == 1
    shown = cli.run("job", empty.out.partition(": job ")[2].split()[0])
    (problem,) = [line.split(maxsplit=1)[1] for line in shown.out.splitlines() if line.startswith("problem ")]
    assert "rows" in problem
    scanned = cli.run("ingest", "--scan", "drop", "--wait")
    assert (scanned.code, scanned.out.splitlines()[0].split(": job ")[0]) == (0, "source drop")
    owner = "select o.name from forebay.intake_file f join forebay.owner o on o.id = f.owner_id where f.source = 'drop'"
    assert ask(dsn, owner) == "bob"
