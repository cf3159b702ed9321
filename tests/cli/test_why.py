"""`forebay why`: reasons as sentences, and as JSON."""

from __future__ import annotations

from tests.cli._run import Cli, ask


def test_a_job_an_item_and_a_queue(known: Cli, dsn: str) -> None:
    known.run("submit", "notes", given='{"body": "a"}\n{"body": "b"}\n')
    start = "Start one: `forebay worker --queues notes.size`."
    assert known.run("why", "1").out.splitlines() == [
        f"size: no running worker serves queue notes.size (2 tasks). {start}",
        "size: is in line behind 1 task of the same owner (2 tasks).",
    ]
    assert known.run("why", "1", "1").out == f"size: no running worker serves queue notes.size. {start}\n"
    found = known.run("why", "1", "2", "--json").json
    assert [reason["code"] for reason in found["reasons"]] == ["no_worker", "behind"]
    assert found["reasons"][1]["facts"]["ahead_exact"] is True

    known.run("pause", "--queue", "notes.size")
    told = known.run("why", "--queue", "notes.size").out.splitlines()
    assert told[0].startswith("size: the queue notes.size was paused by cli:")
    assert told[0].endswith("`forebay resume --queue notes.size` resumes it.")
    ask(dsn, "update forebay.item set status = 'DONE'")
    assert known.run("why", "1", "1").out == "it has ended: DONE.\n"


def test_what_cannot_be_answered(known: Cli) -> None:
    assert "name a job by its number, or a queue with --queue" in known.run("why").err
    assert "there is no job 4711" in known.run("why", "4711").err
