"""`forebay submit`: one value, lines, files; keys, delays, waiting; and refusals that name the fault."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cli._run import Cli, Process, ask


def test_one_value_becomes_a_job(known: Cli, dsn: str) -> None:
    done = known.run("submit", "notes", '{"body": "hi"}', "--owner", "ann", "--priority", "7")
    assert (done.code, done.out) == (0, "job 1: 1 item\n")
    query = "select o.name || j.priority from forebay.job j join forebay.owner o on o.id = j.owner_id"
    assert ask(dsn, query) == "ann7"


def test_a_job_can_be_submitted_before_any_worker_has_started(cli: Cli, dsn: str) -> None:
    done = cli.run("submit", "notes", '{"body": "hi"}')
    assert (done.code, done.out) == (0, "job 1: 1 item\n"), done.err
    assert ask(dsn, "select ready from forebay.queue_depth where step = 'size'") == 1


@pytest.mark.parametrize("source", ["-", "@lines.jsonl"])
def test_lines_become_one_job(known: Cli, source: str) -> None:
    lines = '{"body": "a"}\n\n{"body": "b"}\n'
    (known.folder / "lines.jsonl").write_text(lines)
    done = known.run("submit", "notes", source, "--json", given=lines)
    assert done.json == {"job_id": "1", "created": True, "items": 2}


def test_a_key_is_taken_once(known: Cli) -> None:
    submit = ("submit", "notes", '{"body": "hi"}', "--key", "k", "--json")
    assert known.run(*submit).json["created"] is True
    assert known.run(*submit).json == {"job_id": "1", "created": False, "items": 1}


def test_a_key_is_free_when_its_job_is_in_another_state(known: Cli, dsn: str) -> None:
    submit = ("submit", "notes", '{"body": "hi"}', "--key", "k", "--unique-states", "queued, running", "--json")
    assert known.run(*submit, "--unique-period", "1h").json["created"] is True
    assert known.run(*submit).json == {"job_id": "1", "created": False, "items": 1}
    assert ask(dsn, "select forebay.cancel(1)") is True
    assert known.run(*submit).json["created"] is True


@pytest.mark.parametrize(("delay", "seconds"), [("90", 90), ("1h30m", 5400), ("2 min", 120), ("1d", 86400)])
def test_a_delay_is_a_time_that_people_write(known: Cli, dsn: str, delay: str, seconds: int) -> None:
    assert known.run("submit", "notes", '{"body": "hi"}', "--delay", delay).code == 0
    waits = "select extract(epoch from s.run_at - j.created_at)::int from forebay.scheduled s, forebay.job j"
    assert abs(ask(dsn, waits) - seconds) <= 1


def test_waiting_tells_how_it_ended(known: Cli, start: Callable[..., Process]) -> None:
    start("worker")
    lines = '{"body": "fine"}\n{"body": "broken"}\n'
    mixed = known.run("submit", "notes", "--wait", given=lines)
    assert mixed.code == 0
    assert "DONE: 1 done, 1 failed\n" in mixed.out
    assert mixed.err == "  broken on purpose\n"
    failed = known.run("submit", "notes", '{"body": "broken"}', "--wait", "--json")
    assert (failed.code, failed.json["state"], failed.json["error"]) == (1, "FAILED", 1)
    assert failed.json["reasons"] == ["broken on purpose"]


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["notes", "{"], "input: is not JSON"),
        (["notes", "{}"], "input.body: is missing"),
        (["notes", '["hi"]'], "input: must be an object"),
        (["notes", '{"body": 7}'], "input.body: must be a text"),
        (["nots", "{}"], "there is no pipeline 'nots'"),
        (["No-Name", "{}"], "'No-Name' is not a valid name: names have a-z, 0-9 and _"),
        (["notes", "@absent.jsonl"], "absent.jsonl: cannot be read: No such file"),
        (
            ["notes", '{"body": "x"}', "--delay", "soon"],
            "'soon' is not a duration: use for example 30s, 5min or 1h30m",
        ),
        (["notes", '{"body": "x"}', "--priority", "101"], "--priority"),
    ],
)
def test_what_cannot_be_is_refused(known: Cli, dsn: str, args: list[str], complaint: str) -> None:
    refused = known.run("submit", *args)
    assert refused.code == 2
    assert complaint in refused.err
    assert ask(dsn, "select count(*) from forebay.job") == 0


def test_a_bad_line_is_named_and_nothing_is_written(known: Cli, dsn: str) -> None:
    refused = known.run("submit", "notes", given='{"body": "a"}\nnonsense\n')
    assert refused.code == 2
    assert "standard input, line 2: is not JSON" in refused.err
    assert known.run("submit", "notes", given="\n").err == "forebay: standard input: has no JSON Lines\n"
    assert ask(dsn, "select count(*) from forebay.job") == 0


def test_what_workers_have_registered_stays(cli: Cli, dsn: str) -> None:
    (cli.folder / "links.csv").write_text("url\nhttps://example.com/a\n")
    (cli.folder / "rows.csv").write_text("Name\nPen\n")
    modules = {"FOREBAY_PIPELINES": "forebay.pipelines,notes"}
    assert cli.run("migrate", "--pipelines", modules["FOREBAY_PIPELINES"]).code == 0
    ask(dsn, "update forebay.pipeline set digest = 'of a worker'")
    for args in (
        ["submit", "notes", '{"body": "hi"}'],
        ["bookmarks", "add", "https://example.com/"],
        ["bookmarks", "import", "links.csv"],
        ["ingest", "rows.csv"],
    ):
        done = cli.run(*args, **modules)
        assert done.code == 0, done.err
    assert ask(dsn, "select count(*) from forebay.pipeline where digest <> 'of a worker'") == 0
