"""`forebay retry`, `pause`, `resume` and `cancel`: what they change, what they say, and who the audit says it was."""

from __future__ import annotations

import getpass
from collections.abc import Callable

import pytest

from tests.cli._run import PIPELINE, Cli, Process, ask

STATE = "select state::text from forebay.job"


@pytest.fixture
def failed(cli: Cli, fork: Callable[..., Process]) -> Cli:
    """A job with one item that is done and two that failed; its worker has stopped."""
    worker = fork("worker")
    worker.says("worker_started")
    lines = '{"body": "fine"}\n{"body": "broken"}\n{"body": "broken"}\n'
    assert cli.run("submit", "notes", "--wait", given=lines).code == 0
    worker.signal(15)
    assert worker.ends() == 0
    return cli


def test_what_failed_runs_again(failed: Cli, dsn: str) -> None:
    again = failed.run("retry", "1")
    assert (again.code, again.out) == (0, "job 1: 2 items run again\n")
    assert ask(dsn, STATE) == "RUNNING"
    assert ask(dsn, "select actor from forebay.audit") == f"cli:{getpass.getuser()}"
    nothing = failed.run("retry", "1")
    hint = "--not-found includes items that were not found"
    assert (nothing.code, nothing.out) == (0, f"job 1: nothing to run again, none of its items is failed; {hint}\n")


def test_items_to_run_again_can_be_chosen(failed: Cli, dsn: str) -> None:
    assert failed.run("retry", "1", "--item", "1", "--item", "2", "--keep-attempts").out == "job 1: 1 item runs again\n"
    assert ask(dsn, "select attempt + 1 = max_attempts from forebay.ready, forebay.step") is True
    done = failed.run("retry", "1", "--status", "done", "--status", "ERROR", "--json")
    assert done.json == {"job_id": "1", "items": 2}
    assert ask(dsn, "select count(*) from forebay.item where n > 0 and status = 'PENDING'") == 3


def test_a_job_is_paused_resumed_and_cancelled(known: Cli, dsn: str) -> None:
    known.run("submit", "notes", '{"body": "hi"}')
    said = [known.run(verb, "1").out for verb in ("pause", "pause", "resume", "resume", "cancel", "cancel")]
    assert said == [
        "job 1 is paused now\n",
        "job 1 is paused already\n",
        "job 1 is resumed now\n",
        "job 1 is resumed already\n",
        "job 1 is cancelled now\n",
        "job 1 is cancelled already\n",
    ]
    assert ask(dsn, STATE) == "CANCELLED"
    assert known.run("cancel", "1", "--json").json == {"job_id": "1", "changed": False, "state": "CANCELLED"}
    assert ask(dsn, "select count(*) from forebay.audit where actor like 'cli:%'") == 3


def test_a_queue_is_paused_and_resumed(known: Cli, dsn: str) -> None:
    assert known.run("pause", "--queue", "notes.size").out == "queue notes.size is paused now\n"
    assert ask(dsn, "select paused from forebay.queue where name = 'notes.size'") is True
    assert known.run("resume", "--queue", "notes.size", "--json").json == {"queue": "notes.size", "changed": True}
    assert known.run("resume", "--queue", "notes.size").out == "queue notes.size is resumed already\n"


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["retry", "9"], "forebay: there is no job 9\n"),
        (["retry", "1", "--status", "PENDING"], "--status"),
        (["cancel", "nine"], "JOB"),
        (["pause"], "name a job by its number, or a queue with --queue"),
        (["resume", "1", "--queue", "notes.size"], "name a job by its number, or a queue with --queue"),
        (["pause", "--queue", "absent"], "forebay: there is no queue 'absent'\n"),
        (["pause", "1"], "job 1 is DONE: only a job that has not ended can be paused"),
        (["resume", "1"], "job 1 is DONE: only a paused job can be resumed"),
        (["cancel", "1"], "job 1 is DONE: it has already ended"),
    ],
)
def test_what_cannot_be_is_refused(failed: Cli, args: list[str], complaint: str) -> None:
    refused = failed.run(*args)
    assert refused.code == 2
    assert complaint in refused.err


def test_a_dry_run_counts_and_changes_nothing(failed: Cli, dsn: str) -> None:
    tried = failed.run("retry", "1", "--status", "ERROR", "--status", "DONE", "--dry-run")
    assert tried.out == "job 1: 3 items would run again: 2 failed, 1 done\n"
    counted = failed.run("retry", "1", "--not-found", "--item", "2", "--dry-run", "--json").json
    assert counted == {"job_id": "1", "items": 1, "by_status": {"ERROR": 1, "NOT_FOUND": 0}, "dry_run": True}
    assert ask(dsn, STATE) == "DONE"


def test_it_asks_before_it_repeats_what_did_not_fail(failed: Cli, dsn: str) -> None:
    refused = failed.on_terminal("retry", "1", "--status", "DONE", typed="n\n")
    assert refused.code == 130
    assert "job 1: 1 done. Run all 1 again? [y/N]" in refused.out
    assert ask(dsn, STATE) == "DONE"
    assert "job 1: 1 item runs again" in failed.on_terminal("retry", "1", "--status", "DONE", typed="y\n").out
    assert ask(dsn, STATE) == "RUNNING"


def test_the_jobs_own_step_runs_again_when_it_failed(cli: Cli, dsn: str, fork: Callable[..., Process]) -> None:
    own = '\n@notes.after_all()\ndef report(ctx: Context, job: object) -> None:\n    raise DataError("no report")\n'
    (cli.folder / "notes.py").write_text(PIPELINE + own)
    worker = fork("worker")
    worker.says("worker_started")
    assert cli.run("submit", "notes", '{"body": "fine"}', "--wait").code == 1
    worker.signal(15)
    assert worker.ends() == 0
    assert cli.run("retry", "1", "--item", "1", "--json").json == {"job_id": "1", "items": 0}
    assert cli.run("retry", "1", "--dry-run").out == "job 1: 1 item would run again: 1 failed\n"
    assert cli.run("retry", "1").out == "job 1: 1 item runs again\n"
    assert ask(dsn, "select status::text from forebay.item where n = 0") == "PENDING"
