"""Dispatchers and runners as processes that are killed: nothing is lost, and nothing is settled twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from forebay.engine.submit.results import wait
from tests.fleet import slow_steps
from tests.fleet._polling import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    import asyncpg

    Conn = asyncpg.Connection[Any]

_REPOSITORY = Path(__file__).parents[2]


@contextmanager
def _process(command: str, folder: Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    known = {name: value for name, value in os.environ.items() if not name.startswith("FOREBAY_")}
    ours = {
        "FOREBAY_PIPELINES": "tests.fleet.slow_steps",
        "FOREBAY_LEASE_FLOOR_S": "2",
        "FOREBAY_SWEEP_S": "0.2",
        "FOREBAY_DATA_DIR": str(folder),
        "PYTHONPATH": str(_REPOSITORY),
    }
    with (folder / f"{command}.log").open("ab") as log:
        argv = [sys.executable, "-m", "forebay", command]
        process = subprocess.Popen(argv, env=known | ours | variables, stdout=log, stderr=log, cwd=_REPOSITORY)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture
def address(request: pytest.FixtureRequest) -> str:
    """Of the broker whose fixture is the parameter."""
    found: str = request.getfixturevalue(request.param)
    return found


@pytest.mark.parametrize("address", ["nats_url", pytest.param("redis_url", marks=pytest.mark.soak)], indirect=True)
async def test_killed_dispatchers_and_runners(dsn: str, conn: Conn, address: str, tmp_path: Path) -> None:
    """Runners have no address of a database. One of two dispatchers and one of two runners are killed in the middle."""
    broker = {"FOREBAY_BROKER_URL": address}
    database = broker | {"FOREBAY_DATABASE_URL": dsn}
    with (
        _process("dispatch", tmp_path, **database) as first,
        _process("dispatch", tmp_path, **database),
        _process("runner", tmp_path, **broker) as runner,
        _process("runner", tmp_path, **broker),
    ):
        job = await slow_steps.pipeline.submit_many(conn, [{"n": n} for n in range(400)])
        await until(conn, "(select count(*) from forebay.attempt where outcome = 'DONE') > 40")
        runner.kill()
        await until(conn, "(select count(*) from forebay.attempt where outcome = 'DONE') > 80")
        first.kill()
        done = await wait(dsn, job.job_id, timeout=90)
    assert done.done == 400, (tmp_path / "dispatch.log").read_text()
    assert await conn.fetchval("select count(*) from forebay.attempt where outcome = 'DONE'") == 400
    assert await conn.fetchval("select count(distinct n) from forebay.attempt where outcome = 'DONE'") == 400
    assert await conn.fetchval("select count(*) from forebay.lease") == 0


@pytest.mark.parametrize("address", ["nats_url", pytest.param("redis_url", marks=pytest.mark.soak)], indirect=True)
async def test_a_runner_that_was_stopped_beyond_its_leases_comes_back(
    dsn: str, conn: Conn, address: str, tmp_path: Path
) -> None:
    """What it had has run elsewhere; what it reports then changes nothing, and it works again."""
    broker = {"FOREBAY_BROKER_URL": address, "FOREBAY_LEASE_FLOOR_S": "1"}
    done = "from forebay.attempt where outcome = 'DONE'"
    with (
        _process("dispatch", tmp_path, **broker, FOREBAY_DATABASE_URL=dsn),
        _process("runner", tmp_path, **broker) as stopped,
    ):
        first = await slow_steps.pipeline.submit_many(conn, [{"n": n} for n in range(60)])
        await until(conn, f"count(*) > 10 {done}")
        stopped.send_signal(signal.SIGSTOP)
        await until(conn, "count(*) > 0 from forebay.attempt where outcome = 'EXPIRED'")
        with _process("runner", tmp_path, **broker):
            assert (await wait(dsn, first.job_id, timeout=60)).done == 60, (tmp_path / "dispatch.log").read_text()
            stopped.send_signal(signal.SIGCONT)
        second = await slow_steps.pipeline.submit_many(conn, [{"n": n} for n in range(20)])
        assert (await wait(dsn, second.job_id, timeout=60)).done == 20
    assert await conn.fetchval(f"select array[count(*), count(distinct (job_id, n))] {done}") == [80, 80]
    assert await conn.fetchval("select count(*) from forebay.lease") == 0
