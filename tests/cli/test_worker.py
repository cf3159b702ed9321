"""`forebay worker`: starts without a database, stops in order, and loses nothing with one of its processes."""

# demands: S1-25, S1-41, S1-70, S1-72, S1-73, S1-75, S3-27, S3-81, S4-34, S4-35

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from tests.cli._run import Cli, Process, ask, until

if TYPE_CHECKING:
    from tests.conftest import CrashServer

Start = Callable[..., Process]


def events(process: Process, name: str) -> list[dict[str, Any]]:
    """The log lines of one kind."""
    found = (json.loads(line) for line in process.said.splitlines() if line.startswith("{"))
    return [event for event in found if event["event"] == name]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_works_until_a_signal(cli: Cli, dsn: str, start: Start, number: int) -> None:
    worker = start("worker")
    worker.says("worker_started")
    done = cli.run("submit", "notes", '{"body": "four"}', "--wait", "--json")
    assert (done.code, done.json["state"], done.json["done"]) == (0, "DONE", 1)
    worker.signal(number)
    assert worker.ends() == 0
    assert events(worker, "worker_stopped")
    assert ask(dsn, "select count(*) from forebay.worker where stopped_at is null") == 0


def test_a_second_signal_ends_it_at_once(cli: Cli, dsn: str, start: Start) -> None:
    worker = start("worker")
    worker.says("worker_started")
    cli.run("submit", "notes", '{"body": "slow"}')
    until(lambda: ask(dsn, "select count(*) from forebay.lease"))
    worker.signal(signal.SIGTERM)
    worker.says("worker_stopping")
    worker.signal(signal.SIGTERM)
    assert worker.ends() == 128 + signal.SIGTERM


def test_it_waits_for_a_database_that_is_not_there_yet(tmp_path: Path, crash_server: CrashServer) -> None:
    server = crash_server()
    cli = Cli(tmp_path, FOREBAY_DATABASE_URL=server.dsn)
    server.stop()
    worker = cli.start("worker")
    try:
        worker.says("database_awaited")
        server.start()
        worker.says("worker_started")
        worker.signal(signal.SIGTERM)
        assert worker.ends() == 0
    finally:
        worker.kill()


def test_it_can_be_stopped_while_it_waits(tmp_path: Path) -> None:
    worker = Cli(tmp_path, FOREBAY_DATABASE_URL="postgresql://ann:hunter2@127.0.0.1:1/app").start("worker")
    try:
        worker.says("database_awaited")
        worker.signal(signal.SIGINT)
        assert worker.ends() == 0
        assert "hunter2" not in worker.said
    finally:
        worker.kill()


DECLARED_TWICE = "pipeline 'notes' is declared twice: in 'notes' and in 'twice'"


@pytest.mark.parametrize(
    ("module", "text", "complaint"),
    [
        (
            "absent",
            None,
            "there is no module 'absent': check FOREBAY_PIPELINES, and that the module is installed or in this folder",
        ),
        ("empty", "", "module 'empty' has no Pipeline at its top level"),
        ("needy", "import surely_absent", "'needy' cannot be imported: it needs 'surely_absent', which is missing"),
        ("faulty", "1 / 0", "'faulty' cannot be imported: ZeroDivisionError"),
        ("twice", "from forebay import Pipeline\na = Pipeline('notes', dict)\n", DECLARED_TWICE),
        ("badname", "from forebay import Pipeline\na = Pipeline('Not a name', dict)\n", "module 'badname': pipeline"),
    ],
)
def test_a_module_that_does_not_work_is_named(cli: Cli, module: str, text: str | None, complaint: str) -> None:
    if text is not None:
        (cli.folder / f"{module}.py").write_text(text)
    refused = cli.run("worker", "--pipelines", f"notes,{module}")
    assert refused.code == 1
    assert complaint in refused.err
    assert "Traceback" not in refused.err


def test_without_any_pipeline_it_says_where_to_name_them(cli: Cli) -> None:
    refused = cli.run("worker", "--pipelines", ",")
    assert refused.code == 1
    assert refused.err == (
        "forebay: there are no pipelines to run: name their modules in FOREBAY_PIPELINES or --pipelines\n"
    )


def test_a_queue_that_no_step_is_in_is_refused(cli: Cli) -> None:
    refused = cli.run("worker", "--queues", "notes.size,nots.size")
    assert refused.code == 2
    assert "no step uses nots.size; the queues are " in refused.err


def test_one_lost_process_is_replaced_and_its_work_goes_on(cli: Cli, dsn: str, start: Start) -> None:
    supervisor = start("worker", "--processes", "2")
    until(lambda: len(workers(dsn)) == 2, lambda: supervisor.said)
    cli.run("submit", "notes", '{"body": "slow"}')
    holder = until(lambda: ask(dsn, "select w.name from forebay.lease l join forebay.worker w on w.id = l.worker_id"))
    other = next(name for name in workers(dsn) if name != holder)
    os.kill(pid_of(holder), signal.SIGKILL)
    supervisor.says("leases_taken_back")
    (taken,) = events(supervisor, "leases_taken_back")
    assert (taken["pid"], taken["tasks"]) == (pid_of(holder), 1)
    assert ask(dsn, "select outcome::text from forebay.attempt") == "EXPIRED"
    until(lambda: len(workers(dsn)) == 2, lambda: supervisor.said)
    assert other in workers(dsn)
    until(lambda: ask(dsn, "select count(*) from forebay.lease"), lambda: supervisor.said)
    supervisor.signal(signal.SIGTERM)
    supervisor.says("supervisor_stopping")  # two signals at once may arrive as one
    supervisor.signal(signal.SIGTERM)  # the step sleeps for minutes: nobody waits for it
    supervisor.ends()


def test_the_processes_end_with_their_supervisor(cli: Cli, dsn: str, start: Start) -> None:
    supervisor = start("worker", "--processes", "2")
    until(lambda: len(workers(dsn)) == 2, lambda: supervisor.said)
    children = [pid_of(name) for name in workers(dsn)]
    supervisor.signal(signal.SIGKILL)
    supervisor.ends()
    until(lambda: not any(map(psutil.pid_exists, children)))
    assert workers(dsn) == []


def test_an_idle_worker_is_small(cli: Cli, start: Start) -> None:
    worker = start("worker")
    worker.says("worker_started")
    assert psutil.Process(worker.pid).memory_info().rss < 80_000_000


def workers(dsn: str) -> list[str]:
    return list(ask(dsn, "select array(select name from forebay.worker where stopped_at is null order by id)"))


def pid_of(worker: str) -> int:
    return int(worker.rpartition(":")[2])
