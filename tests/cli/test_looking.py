"""`forebay jobs`, `forebay job` and `forebay top`: for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.cli._run import Cli, Process, ask, until


@pytest.fixture
def worked(cli: Cli, fork: Callable[..., Process]) -> Cli:
    """A worker that has done one job, of which one item failed."""
    fork("worker").says("worker_started")
    done = cli.run("submit", "notes", "--owner", "ann", "--wait", given='{"body": "fine"}\n{"body": "broken"}\n')
    assert done.code == 0, done.err
    return cli


def test_jobs_can_be_chosen(worked: Cli) -> None:
    assert "ann" in worked.run("jobs").out
    (job,) = worked.run("jobs", "--json").json
    assert (job["id"], job["state"], job["done"], job["error"], job["ended"]) == ("1", "DONE", 1, 1, 2)
    assert worked.run("jobs", "--state", "done", "--owner", "ann", "--pipeline", "notes", "--json").json == [job]
    assert worked.run("jobs", "--state", "FAILED", "--json").json == []
    assert worked.run("jobs", "--owner", "bob").out == "There are no such jobs.\n"


def test_a_job_shows_what_failed(worked: Cli) -> None:
    shown = worked.run("job", "1")
    assert "broken on purpose" in shown.out
    assert "2: 1 done, 1 failed" in shown.out
    assert '{"size": 4}' in shown.out  # what the item that is done has returned
    (letter,) = worked.run("job", "1", "--json").json["dead_letters"]
    assert (letter["n"], letter["step"], letter["class"]) == (2, "size", "data")


def test_a_job_that_failed_shows_its_last_error(worked: Cli) -> None:
    failed = worked.run("submit", "notes", "--owner", "ann", "--wait", given='{"body": "broken"}\n')
    assert failed.code == 1, failed.out
    shown = [line.split() for line in worked.run("job", "2").out.splitlines()]
    assert ["last", "error", "broken", "on", "purpose"] in shown
    assert worked.run("job", "2", "--json").json["last_error"] == "broken on purpose"


def test_a_job_shows_its_items_and_can_be_watched(worked: Cli) -> None:
    items = worked.run("job", "1", "--items", "--watch", "--json").json["items"]
    assert [(item["n"], item["status"], item["result"]) for item in items] == [
        (1, "DONE", {"size": 4}),
        (2, "ERROR", None),
    ]
    assert items[1]["error"]["reason"] == "broken on purpose"
    assert "1 done, 1 failed" in worked.run("job", "1", "--watch").out
    listed = worked.run("jobs").out.splitlines()
    assert listed[0].split() == ["job", "pipeline", "owner", "state", "done", "failed", "open", "submitted", "took"]
    assert listed[2].split()[4:7] == ["1", "1", "0"]


def test_a_job_shows_what_its_items_wait_for(known: Cli, dsn: str) -> None:
    assert known.run("submit", "notes", '{"body": "hi"}').code == 0
    ask(
        dsn,
        "insert into forebay.waiting (job_id, n, bit, owner_id, name, key, expires_at) "
        "select j.id, 1, s.bit, j.owner_id, 'paid', 'order-7', '2035-01-02T12:00Z' from forebay.job j, forebay.step s",
    )
    assert "signal paid/order-7 until 2035-01-02" in known.run("job", "1").out
    (wait,) = known.run("job", "1", "--json").json["waits"]
    assert {**wait, "until": wait["until"][:10]} == {
        "n": 1, "step": "size", "signal": "paid", "key": "order-7", "until": "2035-01-02",
    }  # fmt: skip


def test_a_job_shows_its_children(known: Cli, dsn: str) -> None:
    assert known.run("submit", "notes", '{"body": "hi"}').code == 0
    for _ in range(4):
        ask(dsn, "select forebay.map_inputs(1, 1, (select min(id) from forebay.step), 'notes', '{1,2,3}', null)")
        ask(dsn, "update forebay.job set parent_bit = -id where id > 1")  # as of several steps
    ask(dsn, "update forebay.job set done = 1, error = 1 where id = 2")
    assert "12: 1 done, 1 failed, 10 other (job 2, 3, 4, …)" in " ".join(known.run("job", "1").out.split())
    assert known.run("job", "1", "--json").json["children"] == {
        "total": 12, "done": 1, "failed": 1, "job_ids": ["2", "3", "4", "5"], "is_cut": False,
    }  # fmt: skip
    assert [job["id"] for job in known.run("jobs", "--json").json] == ["1"]
    assert known.run("job", "2", "--json").json["children"] is None


def test_items_that_were_not_found_or_skipped_are_counted_apart(worked: Cli, dsn: str) -> None:
    ask(dsn, "update forebay.job set total = 9, not_found = 3, skipped = 4")
    header, _, line, *_ = worked.run("jobs").out.splitlines()
    assert " ".join(header.split()[4:9]) == "done not found skipped failed"
    assert line.split()[4:9] == ["1", "3", "4", "1", "0"]
    assert "9: 1 done, 3 not found, 4 skipped, 1 failed" in worked.run("job", "1").out


def test_a_job_that_does_not_exist(cli: Cli) -> None:
    missing = cli.run("job", "12")
    assert (missing.code, missing.err) == (2, "forebay: there is no job 12\n")
    assert cli.run("job", "twelve").code == 2


def test_top_shows_depth_workers_and_controllers(worked: Cli, dsn: str) -> None:
    until(lambda: ask(dsn, "select stats ->> 'settled' from forebay.worker") == "2")
    worked.run("submit", "notes", '{"body": "later"}', "--delay", "1h")
    shown = worked.run("top", "--once", "--interval", "0.1")
    assert shown.code == 0
    for word in ("notes.size", "alive", "broken on purpose", "items/s"):
        assert word in shown.out
    seen = worked.run("top", "--once", "--json", "--interval", "0.1").json
    (step,) = seen["steps"]
    assert (step["step"], step["ready"], step["scheduled"], step["leased"]) == ("size", 0, 1, 0)
    assert step["controllers"]["limit"] >= 1
    assert [worker["alive"] for worker in seen["workers"]] == [True]
    assert seen["items_per_s"] == 0
    assert [job["id"] for job in seen["jobs"]] == ["2", "1"]
    assert seen["health"]["execution"] == {"level": "WARN", "text": "1 task failed permanently in the last hour."}
    assert seen["health"]["sentence"] in " ".join(shown.out.split())
    told = worked.run("doctor", "--json", FOREBAY_BROWSER_PATH="/nonexistent").json["findings"]
    (health,) = [finding for finding in told if finding["about"] == "health"]
    assert (health["level"], health["text"]) == ("WARN", seen["health"]["sentence"])


def test_top_names_the_lanes_with_the_most_to_do(known: Cli) -> None:
    known.run("submit", "notes", "--owner", "ann", given='{"body": "x"}\n' * 3)
    known.run("submit", "notes", "--owner", "bob", given='{"body": "x"}\n' * 5)
    seen = known.run("top", "--once", "--json", "--interval", "0.1").json
    assert [(lane["owner"], lane["ready"], lane["job_id"]) for lane in seen["lanes"]] == [
        ("bob", 5, None),
        ("ann", 3, None),
    ]
    assert "no worker is running" in known.run("top", "--once", "--interval", "0.1").out


def test_top_streams_for_programs(known: Cli, start: Callable[..., Process]) -> None:
    stream = start("top", "--json", "--interval", "0.1")
    until(lambda: stream.said.count("\n") >= 3)
    assert all(json.loads(line)["steps"] for line in stream.said.splitlines()[:3])
