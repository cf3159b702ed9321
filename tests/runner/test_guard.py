"""The guard: what it receives, what it counts, and which descriptors it passes on."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from forebay.runner import scheduling
from forebay.runner.availability import available, sandbox_for
from forebay.runner.process import GuardedCommand, GuardedProcess
from forebay.runner.spec import ResourceLimits

pytestmark = pytest.mark.skipif(available().method is None, reason=available().because)
_LIMITS = ResourceLimits(256, open_files=256)


@pytest.fixture
def many_open_files() -> Iterator[None]:
    """More descriptors than `select` supports, as in a busy worker."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else 1 << 16, hard))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    yield
    for fd in opened:
        os.close(fd)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def _run(
    *argv: str, sockets: int = 0, order: bytes = b"r", limits: ResourceLimits = _LIMITS
) -> tuple[str, list[str]]:
    """Run a sandboxed program; return how it ended, and its output lines."""
    lines: list[str] = []
    sandbox = sandbox_for("required", argv[0], scratch_mb=16, python=False)
    command = GuardedCommand("it", limits, argv=argv, sockets=sockets, doubled=True, sandbox=sandbox)
    process = GuardedProcess(command, lines.append)
    try:
        process.start()
        process.send_order(order)
        await process.ended.wait()
    finally:
        await process.kill()
        for each in process.sockets:
            each.close()
    return process.end_reason, lines


@pytest.mark.usefixtures("many_open_files")
async def test_a_worker_may_have_many_open_files() -> None:
    how, lines = await _run("/bin/sh", "-c", "ls /proc/$$/fd", sockets=1)
    assert how == "exit 0"
    assert sorted(map(int, lines)) == [0, 1, 2, 3, 4]  # its socket twice, and none that we have besides


@pytest.mark.parametrize(
    ("script", "limits", "how"),
    [
        ("x = bytearray(b'x' * (100 << 20)); import signal; signal.pause()", ResourceLimits(64), "memory"),
        ("while True: pass", ResourceLimits(256, cpu_s=0.2), "cpu"),
    ],
)
async def test_limits_hold_while_it_rests(script: str, limits: ResourceLimits, how: str) -> None:
    ended, _ = await _run("/usr/bin/env", "python3", "-ISc", script, order=b"i", limits=limits)
    assert ended == how


async def test_long_calls_leave_the_processor_to_others() -> None:
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    how, lines = await _run("/bin/sh", "-c", f"nice; while [ $(nice) -lt {min(19, ours + 15)} ]; do :; done; nice")
    assert how == "exit 0"
    assert list(map(int, lines)) == [min(19, ours + 5), min(19, ours + 15)]


async def test_the_guard_leaves_the_processor_to_the_worker() -> None:
    ours, runs = os.getpriority(os.PRIO_PROCESS, 0), asyncio.Event()
    sandbox = sandbox_for("required", "sh", scratch_mb=16, python=False)
    command = GuardedCommand("it", _LIMITS, argv=("/bin/sh", "-c", "echo it runs; sleep 60"), sandbox=sandbox)
    process = GuardedProcess(command, lambda _: runs.set())
    try:
        process.start()
        await runs.wait()
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == min(19, ours + scheduling.NICE)
    finally:
        await process.kill()


_SPIN = """
import os, threading
def spin():
    me = threading.get_native_id()
    while os.getpriority(os.PRIO_PROCESS, me) < {nice}:
        pass
spinning = threading.Thread(target=spin)
spinning.start()
spinning.join()
"""


async def test_all_threads_of_a_long_call_leave_the_processor_to_others() -> None:
    nice = min(19, os.getpriority(os.PRIO_PROCESS, 0) + scheduling.NICE_LONG)
    how, _ = await _run("/usr/bin/env", "python3", "-ISc", _SPIN.format(nice=nice))
    assert how == "exit 0"


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="the kernel does not group sessions")
async def test_a_long_call_leaves_the_processor_to_other_sessions() -> None:
    """Where the kernel groups processes by session, the niceness of a process counts only within its session."""
    base = scheduling._session_niceness(os.getpid())
    script = "cat /proc/self/autogroup; until grep -q 'nice {0}$' /proc/self/autogroup; do :; done"
    how, lines = await _run("/bin/sh", "-c", script.format(min(19, base + scheduling.NICE_LONG)))
    assert how == "exit 0"
    assert lines[0].endswith(f"nice {min(19, base + scheduling.NICE)}")


def test_the_session_of_a_process_is_lowered_and_raised_again() -> None:
    child = subprocess.Popen(["/bin/sleep", "60"], start_new_session=True)
    try:
        base, has_groups = scheduling._session_niceness(os.getpid()), scheduling._set_session(child.pid, 0)
        niceness = scheduling.Niceness(os.getpid())
        niceness.lower([child.pid])
        lowered = base + scheduling.NICE_LONG if has_groups else 0
        assert (scheduling._session_niceness(child.pid), niceness.is_lowered) == (lowered, True)
        niceness.raise_again([child.pid])
        raised = base + scheduling.NICE if has_groups else 0
        assert (scheduling._session_niceness(child.pid), niceness.is_lowered) == (raised, False)
    finally:
        child.kill()
        child.wait()
