"""The supervisor replaces what is lost, stops what it started, and never leaves a process behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from structlog.testing import capture_logs

from forebay.engine.supervise.supervisor import Supervisor, pause_after
from forebay.waits import Backoff

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

# Writes what happens to it into a file of its own: its number, its pid, its program's pid, then its signals.
_WORKER = textwrap.dedent(
    """
    import os, signal, subprocess, sys, time
    from pathlib import Path
    from forebay.engine.supervise.supervisor import report_worker_id, watch_parent

    folder, stubborn = Path(sys.argv[1]), "stubborn" in sys.argv
    number = os.environ["FOREBAY_WORKER_NUMBER"]
    log = folder / f"{number}-{os.getpid()}"

    def note(signum, frame):
        with log.open("a") as file:
            file.write(f"{signal.Signals(signum).name} ")
        if not stubborn:
            sys.exit(0)

    signal.signal(signal.SIGTERM, note)
    signal.signal(signal.SIGINT, note)
    watch_parent(grace=0.05)
    report_worker_id(7 * os.getpid())
    program = subprocess.Popen(["/bin/sleep", "600"])
    partial = folder / f"partial-{number}"
    partial.write_text(f"{number} {os.getpid()} {program.pid} ")
    partial.rename(log)
    while True:
        if (order := folder / f"exit-{number}").exists():
            order.unlink()
            os._exit(3)
        time.sleep(0.005)
    """
)

_SUPERVISOR = textwrap.dedent(
    """
    import asyncio, sys
    from forebay.engine.supervise.supervisor import Supervisor

    sys.exit(asyncio.run(Supervisor([sys.executable, *sys.argv[2:]], 2, grace=float(sys.argv[1])).run()))
    """
)


class Workers:
    """The workers of one test, as their files tell."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.script = folder / "worker.py"
        self.script.write_text(_WORKER)

    def lines(self) -> list[list[str]]:
        return sorted(file.read_text().split() for file in self.folder.glob("[0-9]*-[0-9]*"))

    def pids(self) -> dict[str, int]:
        """The live worker of each number."""
        return {line[0]: int(line[1]) for line in self.lines() if _lives(int(line[1]))}

    def all_pids(self) -> list[int]:
        return [int(pid) for line in self.lines() for pid in line[1:3]]

    def signals(self) -> list[list[str]]:
        return [line[3:] for line in self.lines()]

    def argv(self, *options: str) -> list[str]:
        return [str(self.script), str(self.folder), *options]


@pytest.fixture
def workers(tmp_path: Path) -> Workers:
    return Workers(tmp_path)


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def _eventually(what: Callable[[], Any]) -> Any:
    """Poll until it is so; the test's own time limit ends a wait in vain."""
    while not (value := what()):  # noqa: ASYNC110 - other processes set no events
        await asyncio.sleep(0.005)
    return value


@asynccontextmanager
async def _supervised(workers: Workers, *options: str, **settings: Any) -> AsyncIterator[asyncio.Task[int]]:
    """Two workers under a supervisor in this process; ends when the supervisor does."""
    settings = dict[str, Any]({"pauses": (0.01, 0.01), "grace": 600.0}) | settings
    supervisor = Supervisor([sys.executable, *workers.argv(*options)], 2, **settings)
    task = asyncio.create_task(supervisor.run())
    await _eventually(lambda: len(workers.pids()) == 2 or task.done())
    assert not task.done()
    yield task
    if not task.done():
        supervisor.stop()
        await task
    await _eventually(lambda: not [pid for pid in workers.all_pids() if _lives(pid)])


async def _ends(task: asyncio.Task[int], *signals: signal.Signals) -> int:
    for number in signals:
        os.kill(os.getpid(), number)
        await asyncio.sleep(0)
    return await task


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_is_passed_on_once_and_a_clean_stop_is_zero(workers: Workers, number: signal.Signals) -> None:
    async with _supervised(workers) as task:
        assert sorted(workers.pids()) == ["1", "2"]
        assert await _ends(task, number) == 0
    assert workers.signals() == [[number.name], [number.name]]


async def test_a_lost_worker_is_told_logged_and_replaced_and_the_other_left_alone(workers: Workers) -> None:
    lost: list[tuple[int, int | None]] = []

    async def on_lost(pid: int, worker_id: int | None) -> None:
        lost.append((pid, worker_id))
        raise RuntimeError("the database is away")

    with capture_logs() as logs:
        async with _supervised(workers, on_lost=on_lost):
            first = workers.pids()
            os.kill(first["1"], signal.SIGKILL)
            await _eventually(lambda: len(workers.lines()) == 3 and len(workers.pids()) == 2)
            second = workers.pids()
            (workers.folder / "exit-1").touch()
            await _eventually(lambda: len(workers.lines()) == 4 and len(workers.pids()) == 2)
            assert second["2"] == first["2"] == workers.pids()["2"]
            assert lost == [(pid, 7 * pid) for pid in (first["1"], second["1"])]
    told = [{key: line.get(key) for key in ("worker", "pid", "signal", "exit_status")} for line in logs
            if line["event"] == "worker_lost"]  # fmt: skip
    assert told == [
        {"worker": 1, "pid": first["1"], "signal": "SIGKILL", "exit_status": None},
        {"worker": 1, "pid": second["1"], "signal": None, "exit_status": 3},
    ]


async def test_what_a_lost_worker_started_in_its_group_dies_too(workers: Workers) -> None:
    async with _supervised(workers):
        ((_, pid, program), _) = (line[:3] for line in workers.lines())
        os.kill(int(pid), signal.SIGKILL)
        await _eventually(lambda: not _lives(int(program)))


async def test_after_the_grace_period_workers_are_killed(workers: Workers) -> None:
    lost: list[int] = []

    async def on_lost(pid: int, worker_id: int | None) -> None:
        lost.append(pid)

    async with _supervised(workers, "stubborn", grace=0.05, on_lost=on_lost) as task:
        pids = sorted(workers.pids().values())
        assert await _ends(task, signal.SIGTERM) == 1
    assert sorted(lost) == pids


async def test_a_second_signal_kills_at_once(workers: Workers) -> None:
    async with _supervised(workers, "stubborn") as task:
        os.kill(os.getpid(), signal.SIGTERM)
        await _eventually(lambda: workers.signals() == [["SIGTERM"], ["SIGTERM"]])
        assert await _ends(task, signal.SIGTERM) == 1


async def test_a_supervisor_that_is_cancelled_kills_its_workers(workers: Workers) -> None:
    async with _supervised(workers, "stubborn") as task:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_worker_that_cannot_be_started_is_tried_again(tmp_path: Path) -> None:
    supervisor = Supervisor([str(tmp_path / "missing")], 1, pauses=(0.01, 0.01))
    with capture_logs() as logs:
        task = asyncio.create_task(supervisor.run())
        await _eventually(lambda: [line["event"] for line in logs].count("worker_not_started") > 1)
        supervisor.stop()
        assert await task == 0


@pytest.mark.parametrize("options", [(), ("stubborn",)])
async def test_workers_end_when_their_supervisor_is_killed(workers: Workers, options: tuple[str, ...]) -> None:
    script = workers.folder / "supervisor.py"
    script.write_text(_SUPERVISOR)
    supervisor = subprocess.Popen(  # noqa: ASYNC220 - returns at once
        [sys.executable, str(script), "600", *workers.argv(*options)], stdout=subprocess.DEVNULL
    )
    try:
        await _eventually(lambda: len(workers.pids()) == 2 or supervisor.poll() is not None)
        pids = workers.pids()
        assert len(pids) == 2
    finally:
        supervisor.kill()
        supervisor.wait()
    await _eventually(lambda: not [pid for pid in pids.values() if _lives(pid)])
    assert workers.signals() == [["SIGTERM"], ["SIGTERM"]]
    for pid in workers.all_pids():  # the programs of a worker that stops in time are its own to end
        if not options and _lives(pid):
            os.kill(pid, signal.SIGKILL)
    await _eventually(lambda: not [pid for pid in workers.all_pids() if _lives(pid)])


def test_pauses_double_up_to_the_longest_and_start_anew_after_a_healthy_life() -> None:
    backoff = Backoff(0.5, 30.0)
    assert [pause_after(1.0, backoff) for _ in range(8)] == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert [pause_after(lived, backoff) for lived in (60.0, 59.9, 61.0)] == [0.5, 1.0, 0.5]
