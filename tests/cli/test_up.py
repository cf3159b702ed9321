"""`forebay up`: everything from an empty folder, a clean end, and a second start after everything was killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from forebay.embedded import EmbeddedPostgres
from tests._servers import discard
from tests.cli._forks import Forked
from tests.cli._run import PATIENCE, Cli, Process, ask, until

Start = Callable[..., Process]


@pytest.fixture
def data_dir(run_folder: Path, worker: str, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder for the embedded database, which is cleared whatever happens."""
    folder = run_folder / f"{request.node.name} of {worker}"
    yield folder
    discard(EmbeddedPostgres(folder))


@pytest.fixture
def cli(tmp_path: Path, data_dir: Path) -> Cli:
    """Without FOREBAY_DATABASE_URL: the database is forebay's own."""
    return Cli(tmp_path, FOREBAY_DATA_DIR=str(data_dir), FOREBAY_PIPELINES="forebay.example")


@pytest.fixture
def made(data_dir: Path, copy_cluster: Callable[[Path], None]) -> Path:
    """The same with a database in it, as an earlier start leaves it."""
    copy_cluster(data_dir)
    return data_dir


def demo(dsn: str) -> tuple[int, ...]:
    """How many jobs there are, and of the first: items, done ones, failed ones."""
    with suppress(Exception):
        return tuple(ask(dsn, "select array[count(*), max(total), max(done), max(error)] from forebay.job"))
    return ()


def until_done(dsn: str, up: Process) -> None:
    """Wait for the end of the demo, which takes seconds: each look is a connection of its own."""
    until(lambda: demo(dsn) == (1, 301, 300, 1), lambda: up.said, pause=0.25)


def kill_everything(up: Process, server: EmbeddedPostgres) -> None:
    """As a power cut would: supervisor, workers and PostgreSQL, none of which can say good-bye."""
    doomed = [psutil.Process(up.pid), *psutil.Process(up.pid).children(recursive=True)]
    assert server.pid is not None
    doomed += [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
    for process in doomed:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    up.ends()


def test_the_demo_runs_and_everything_ends_with_ctrl_c(cli: Cli, data_dir: Path, start: Start) -> None:
    up = start("up")
    up.says("Demo: job 1 with 301 texts")
    server = EmbeddedPostgres(data_dir)
    assert server.dsn.split(":")[2].split("@")[0] not in up.said  # the password
    second = cli.run("up")
    hint = "watch it with `forebay top`, add workers with `forebay worker`"
    assert (second.code, second.err) == (1, f"forebay: forebay is already running in {data_dir}: {hint}\n")
    up.says("users link admin` prints a link")
    assert "fbl_" not in up.said  # no credential where no person looks
    address = up.said.partition("Open ")[2].split()[0]
    assert cli.run("users", "link", "admin").out.startswith(f"{address}/sign-in#fbl_")  # wherever it serves
    misspelt = cli.run("up", FOREBAY_API_PROT="1")
    assert "FOREBAY_API_PROT is not a setting and has no effect: did you mean FOREBAY_API_PORT?" in misspelt.out
    until_done(server.dsn, up)
    assert cli.run("jobs", "--json").json[0]["state"] == "DONE"  # other commands find the database by themselves
    assert cli.run("job", "1", "--json").json["result"]["summary"]["texts"] == 300
    up.says("of 301 items")
    up.signal(signal.SIGINT)
    assert up.ends() == 0, up.said
    assert server.pid is None
    for stage in ("✓ Stopping 1 worker", "✓ Stopping PostgreSQL", "Stopped. `forebay up` continues"):
        assert stage in up.said
    stopped = cli.run("jobs")
    assert stopped.code == 3
    assert stopped.err == f"forebay: the database in {data_dir} is not running: start it with `forebay up`\n"


def test_a_second_start_finishes_what_a_kill_interrupted(made: Path, start: Start) -> None:
    up = start("up", "--processes", "2")
    up.says("Demo: job 1 with 301 texts")
    server = EmbeddedPostgres(made)
    until(lambda: (found := demo(server.dsn)) and found[2] > 20, lambda: up.said)
    kill_everything(up, server)
    again = start("up", "--processes", "2")
    again.says("✓ Recovery: ")
    assert "2 dead workers of an earlier run" in again.said
    until_done(server.dsn, again)
    assert (
        ask(
            server.dsn,
            "select count(*) from (select from forebay.attempt where outcome = 'DONE' and step_id = 1"
            " group by job_id, n having count(*) > 1) twice",
        )
        == 0
    )
    again.signal(signal.SIGTERM)
    assert again.ends() == 0, again.said
    assert server.pid is None


def test_everything_ends_with_its_terminal(cli: Cli, made: Path) -> None:
    ours, theirs = os.openpty()
    up = Forked(("up", "--no-demo"), cli.folder, cli.env, (theirs, theirs, theirs))
    os.close(theirs)
    said = b""
    while b"1 worker running" not in said:
        said += os.read(ours, 65536)
    os.close(ours)  # from now on writing fails
    for _ in range(2):  # that of the terminal, and that which make passes on
        up.send_signal(signal.SIGHUP)
    assert up.wait(PATIENCE) == 0
    assert EmbeddedPostgres(made).pid is None
    assert "worker_killed" not in (made / "worker.log").read_text()


def test_postgresql_is_started_again_when_it_dies(made: Path, start: Start) -> None:
    up = start("up", "--no-demo")
    up.says("worker_started", 2)
    server = EmbeddedPostgres(made)
    lost = server.pid
    server.kill()
    until(lambda: server.pid not in (None, lost), lambda: up.said)
    up.signal(signal.SIGINT)
    assert up.ends() == 0, up.said


def test_a_database_of_ones_own_is_used_instead(dsn: str, cli: Cli, data_dir: Path, start: Start) -> None:
    up = start("up", FOREBAY_DATABASE_URL=dsn)
    until_done(dsn, up)
    up.signal(signal.SIGINT)
    assert up.ends() == 0, up.said
    assert not (data_dir / "cluster").exists()
    assert ask(dsn, "select 1") == 1


def test_a_failed_stage_says_what_to_do(cli: Cli, data_dir: Path) -> None:
    data_dir.write_text("not a folder")
    try:
        failed = cli.run("up")
    finally:
        data_dir.unlink()
    assert failed.code == 1
    assert failed.err == f"forebay: cannot use {data_dir}: Not a directory; set FOREBAY_DATA_DIR to another folder\n"
    unreachable = cli.run("up", FOREBAY_DATABASE_URL="postgresql://127.0.0.1:1/app")
    assert unreachable.code == 3
