"""`forebay export`: all items, in both formats, whole or not at all, and in little memory."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from forebay.cli import _formats as formats
from forebay.engine.db.lists import FullItem
from tests.cli._run import PATIENCE, Cli, Process, ask

# Items beside those that were submitted: made where they are kept, since only their export is of interest here.
ADD = """
insert into forebay.item (job_id, n, owner_id, pipeline_id, status, input, result)
select j.id, n, j.owner_id, j.pipeline_id, 'DONE', %s::jsonb, '{"size": 1}'
from forebay.job j, generate_series(%s::int, %s::int) n
"""
COUNT = "update forebay.job set total = (select count(*) from forebay.item where n > 0)"


@pytest.fixture
def worked(cli: Cli, fork: Callable[..., Process]) -> Cli:
    """A job with one item that is done, one whose text is a formula, and one that failed."""
    fork("worker").says("worker_started")
    lines = '{"body": "fine"}\n{"body": "=1+1"}\n{"body": "broken"}\n'
    assert cli.run("submit", "notes", "--wait", given=lines).code == 0
    return cli


def test_json_lines_are_whole_items(worked: Cli) -> None:
    done = worked.run("export", "1")
    assert done.code == 0
    first, _, last = [json.loads(line) for line in done.out.splitlines()]
    assert first == {
        "id": "1",
        "status": "DONE",
        "key": None,
        "input": {"body": "fine"},
        "result": {"size": 4},
        "error": None,
    }
    assert (last["status"], last["error"]["reason"]) == ("ERROR", "broken on purpose")
    assert done.err.startswith("job 1: 3 items, ")


def test_csv_has_columns_and_no_formulas(worked: Cli) -> None:
    assert worked.run("export", "1", "--format", "csv").out == (
        "id,status,key,input.body,result.size,error\n"
        "1,DONE,,fine,4,\n"
        "2,DONE,,'=1+1,4,\n"
        "3,ERROR,,broken,,broken on purpose\n"
    )
    raw = worked.run("export", "1", "--format", "csv", "--raw", "--status", "done").out
    assert list(csv.reader(io.StringIO(raw)))[2] == ["2", "DONE", "", "=1+1", "4", ""]


def test_statuses_can_be_chosen(worked: Cli) -> None:
    def ids(*options: str) -> list[str]:
        return [json.loads(line)["id"] for line in worked.run("export", "1", *options).out.splitlines()]

    assert ids("--status", "ERROR") == ["3"]
    assert ids("--status", "done", "--status", "error") == ["1", "2", "3"]
    assert ids("--status", "PENDING") == []


def test_a_file_gets_its_name_when_it_is_whole(worked: Cli) -> None:
    done = worked.run("export", "1", "--output", "items.jsonl", "--json")
    written = (worked.folder / "items.jsonl").read_bytes()
    summary = done.json
    assert summary.pop("seconds") >= 0
    assert summary == {"job_id": "1", "items": 3, "bytes": len(written), "output": "items.jsonl", "incomplete": 0}
    assert worked.run("export", "9", "--output", "items.jsonl").code == 2
    assert (worked.folder / "items.jsonl").read_bytes() == written
    assert not list(worked.folder.glob("*.part"))


def test_a_file_that_cannot_be_written_is_not_a_lost_database(worked: Cli) -> None:
    failed = worked.run("export", "1", "--output", "absent/items.jsonl")
    assert (failed.code, failed.err) == (1, "forebay: cannot write absent/items.jsonl: No such file or directory\n")
    full = worked.run("export", "1", "--output", "/dev/full")
    assert (full.code, full.err) == (1, "forebay: cannot write /dev/full: No space left on device\n")


def test_a_reader_may_leave(known: Cli, dsn: str) -> None:
    known.run("submit", "notes", '{"body": "x"}')
    ask(dsn, ADD, json.dumps({"body": "x" * 1000}), 2, 2000)
    ask(dsn, COUNT)
    with subprocess.Popen(
        [sys.executable, "-m", "forebay", "export", "1"],
        cwd=known.folder,
        env=known.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as exporting:
        assert exporting.stdout is not None
        assert exporting.stderr is not None
        assert exporting.stdout.readline()
        exporting.stdout.close()
        assert exporting.wait(PATIENCE) == 141
        assert not exporting.stderr.read()


MEASURED = """
import atexit, resource, sys
atexit.register(lambda: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr))
sys.argv = ["forebay", "export", sys.argv[1], "--format", sys.argv[2], "--output", "items"]
from forebay.cli import main
main()
"""


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_memory_does_not_grow_with_the_job(known: Cli, dsn: str, kind: str) -> None:
    known.run("submit", "notes", '{"body": "x"}')

    def peak_mb() -> float:
        measured = [sys.executable, "-c", MEASURED, "1", kind]
        done = subprocess.run(measured, cwd=known.folder, env=known.env, capture_output=True, text=True, check=True)
        return int(done.stderr.split()[-1]) / 1000

    before = peak_mb()
    ask(dsn, ADD, json.dumps({"body": "x" * 20_000}), 2, 6000)
    ask(dsn, COUNT)
    after = peak_mb()
    assert (known.folder / "items").stat().st_size > 115_000_000
    assert after - before < 40


def test_csv_tells_of_fields_that_have_no_column(known: Cli, dsn: str) -> None:
    known.run("submit", "notes", '{"body": "x"}')
    ask(dsn, ADD, '{"body": "y"}', 2, 100)
    ask(dsn, ADD, '{"body": "z", "late": 1}', 101, 103)
    ask(dsn, COUNT)
    told = known.run("export", "1", "--format", "csv")
    assert told.code == 0
    assert told.out.splitlines()[0] == "id,status,key,input.body,result.size,error"
    assert len(told.out.splitlines()) == 104
    assert told.err.endswith(
        "3 items have fields that the first 100 items lack, which have no column: --format jsonl has all\n"
    )


def test_a_job_that_does_not_exist(cli: Cli) -> None:
    missing = cli.run("export", "12")
    assert (missing.code, missing.out, missing.err) == (2, "", "forebay: there is no job 12\n")


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=cmd()", "'=cmd()"),
        ("+1 555", "'+1 555"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t'=1"),
        ("\uff1d1", "'\uff1d1"),
        ("-5.5", "-5.5"),
        (-5, "-5"),
        ("a=b", "a=b"),
        (None, ""),
        (True, "true"),
        ([1, "ä"], '[1, "ä"]'),
    ],
)
def test_cells(value: Any, cell: str) -> None:
    assert formats.text(value, raw=False) == cell


def test_csv_keeps_every_digit_and_takes_any_input() -> None:
    out = io.StringIO()
    made = formats.Csv(out)
    long = "9" * 5000
    made.add(FullItem(1, "DONE", "k", f'{{"a": 0.1234567890123456789, "b": {long}, "c": {{"d": 1.5}}}}', None, None))
    made.add(FullItem(2, "DONE", None, '"only text"', None, None))
    made.end()
    rows = list(csv.reader(io.StringIO(out.getvalue())))
    assert rows == [
        ["id", "status", "key", "input.a", "input.b", "input.c", "input", "error"],
        ["1", "DONE", "k", "0.1234567890123456789", long, '{"d": 1.5}', "", ""],
        ["2", "DONE", "", "", "", "", "only text", ""],
    ]
    assert made.incomplete == 0


def test_a_workbook_is_not_written_onto_a_terminal(cli: Cli) -> None:
    refused = cli.on_terminal("export", "1", "--format", "xlsx")
    assert refused.code == 2
    assert "a workbook cannot be printed to a terminal: add --output FILE, or redirect with > FILE" in refused.out
