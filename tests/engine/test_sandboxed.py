"""Limited functions in their sandbox: files, progress, shared children, and what they may return."""

from __future__ import annotations

import asyncio
import importlib
import os
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forebay.engine.declare.context import Context, Progress
from forebay.engine.declare.limited import OutputFile, limited
from forebay.engine.processes.pool import ProcessPool
from forebay.errors import DataError
from forebay.runner import availability, codec
from tests.engine import process_steps as steps
from tests.runner._escape import running

COPY = limited(steps.copy, timeout=30)
SAME = limited(steps.copy, timeout=30)
REPEATED = limited(steps.repeated, timeout=30)
OTHER = limited(steps.copy, timeout=30, memory_mb=300)


@pytest.fixture
async def pool() -> AsyncIterator[ProcessPool]:
    pool = ProcessPool()
    yield pool
    await pool.close()


class _Host(steps.NoHost):
    def __init__(self) -> None:
        self.seen: list[tuple[float | None, str | None]] = []

    def report_progress(self, ctx: Context, progress: Progress) -> None:
        self.seen.append((progress.fraction, progress.note))


def _context(host: Any = None) -> Context:
    return Context(1, 1, 1, "s", 1, 1, host or steps.NoHost())


async def test_files_are_given_and_taken(pool: ProcessPool, tmp_path: Path) -> None:
    source, target, host = tmp_path / "private.csv", tmp_path / "target", _Host()
    source.write_text("one")
    source.chmod(0o600)
    first = await pool.run(COPY, _context(host), ([source], OutputFile(target)))
    assert (target.read_text(), target.stat().st_uid) == ("one", os.geteuid())
    assert host.seen == [(0.5, "half way")]
    assert first["name"].endswith(".csv")
    source.write_text("two, which is longer")  # a new version of the same file
    await pool.run(COPY, _context(), ([source], OutputFile(target)))
    assert target.read_text() == "two, which is longer"
    other = tmp_path / "other.csv"
    other.write_text("three")
    last = await pool.run(COPY, _context(), ([other], OutputFile(target)))
    assert target.read_text() == "three"
    assert last["inputs"] == 1  # files of earlier calls have been removed
    assert source.read_text() == "two, which is longer"


async def test_a_file_that_is_released_has_one_name_after_the_call(pool: ProcessPool, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("one")
    source.chmod(0o644)  # so that it is linked and not copied
    await pool.run(COPY, _context(), ([source], OutputFile(target)))
    assert source.stat().st_nlink == 2
    releasing = replace(COPY, process_limits=replace(COPY.process_limits, releases_files=True))
    moved = tmp_path / "moved"
    for content in ("two", "three"):
        moved.write_text(content)
        moved.chmod(0o644)
        await pool.run(releasing, _context(), ([moved], OutputFile(target)))
        assert (target.read_text(), moved.stat().st_nlink) == (content, 1)


async def test_files_that_come_and_go_are_never_taken_for_each_other(pool: ProcessPool, tmp_path: Path) -> None:
    """A new file often has the inode number of a deleted one; here, one file has several names."""
    first, target = tmp_path / "0.csv", tmp_path / "target"
    first.write_text("same")
    for n in range(1, 5):
        path = tmp_path / f"{n}.csv"
        path.hardlink_to(first)
        seen = await pool.run(COPY, _context(), ([path], OutputFile(target)))
        assert (target.read_text(), seen["inputs"]) == ("same", 1)


async def test_functions_that_are_declared_twice_share_a_child(pool: ProcessPool, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    args = ([tmp_path / "a"], OutputFile(tmp_path / "b"))
    calls = [(await pool.run(each, _context(), args))["calls"] for each in (COPY, SAME, OTHER)]
    assert calls == [1, 2, 1]


async def test_a_cancelled_call_ends_its_child_at_once(pool: ProcessPool) -> None:
    loop, host = asyncio.get_running_loop(), _Started()
    task = asyncio.create_task(pool.run(limited(steps.report_and_hang), _context(host), ()))
    await host.started.wait()
    began = loop.time()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert loop.time() - began < 5  # a second, on a machine that does nothing else
    assert not pool._ending


class _Started(steps.NoHost):
    def __init__(self) -> None:
        self.started = asyncio.Event()

    def report_progress(self, ctx: Context, progress: Progress) -> None:
        self.started.set()


async def test_a_sandboxed_step_writes_no_rows(pool: ProcessPool) -> None:
    with pytest.raises(DataError, match=r"a sandboxed step cannot write rows|does not mention"):
        await pool.run(steps.writes_rows, _context(), (None,))


async def test_large_results_are_decoded_beside_the_event_loop(
    pool: ProcessPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    decode = codec.decode

    def noted(*given: Any) -> Any:
        threads.append(threading.get_ident())
        return decode(*given)

    monkeypatch.setattr(codec, "decode", noted)
    for size in (1 << 17, 10):
        assert len(await pool.run(REPEATED, _context(), ("x", size))) == size
    assert threads[0] != threading.get_ident() == threads[1]


async def test_a_module_of_one_file_is_seen_without_bubblewrap(
    pool: ProcessPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = availability.available(("namespaces",))
    if found.method is None:
        pytest.skip(found.because)
    monkeypatch.setattr(availability, "available", lambda: found)
    (tmp_path / "alone_in_its_file.py").write_text("def double(n: int) -> int:\n    return 2 * n\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("alone_in_its_file")
    assert await pool.run(limited(module.double, timeout=30), _context(), (21,)) == 42


async def test_a_child_that_left_a_process_is_not_used_again(pool: ProcessPool) -> None:
    marker = f"986{os.getpid()}.5"
    await pool.run(limited(steps.leave_process, timeout=30), _context(), (marker,))
    while running(marker):  # noqa: ASYNC110 - processes tell nobody when they end
        await asyncio.sleep(0.01)


async def test_a_child_that_left_a_thread_is_not_used_again(pool: ProcessPool) -> None:
    callee = limited(steps.leave_thread, timeout=30)
    calls = [await pool.run(callee, _context(), (is_left,)) for is_left in (False, True, False)]
    assert calls == [1, 2, 1]  # in the same process
