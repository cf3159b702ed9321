"""Process steps: results, errors, limits, and that no process is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
import uvloop

from forebay.engine.declare.context import Context
from forebay.engine.processes.child_process import ChildProcess
from forebay.engine.processes.pool import ProcessPool
from forebay.errors import (
    ConfigError,
    DataError,
    PermanentError,
    ThrottledError,
    TransientError,
)
from forebay.types import Done, NotFound
from tests.engine import process_steps as steps

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from forebay.engine.declare.step import Step


@pytest.fixture
async def pool() -> AsyncIterator[ProcessPool]:
    async with _pool() as pool:
        yield pool


@asynccontextmanager
async def _pool(**options: Any) -> AsyncIterator[ProcessPool]:
    """A pool that must leave no child process behind."""
    before = set(psutil.Process().children())
    pool = ProcessPool(**options)
    yield pool
    await pool.close()
    assert set(psutil.Process().children()) <= before


class _Host(steps.NoHost):
    def __init__(self, note: Callable[..., None]) -> None:
        self.report_progress = note  # type: ignore[method-assign]


def _context(step: Step[Any, Any], report: Callable[..., None] = lambda *_: None) -> Context:
    return Context(7, 3, 1, step.name, 2, 99, _Host(report))


async def _run(pool: ProcessPool, step: Step[Any, Any], given: Any = None) -> Any:
    return await pool.run(step, _context(step), (given,))


async def _eventually(what: Callable[[], Any]) -> Any:
    """Poll until the condition holds; the time limit of the test ends a wait in vain."""
    while not (value := what()):  # noqa: ASYNC110 - other processes set no events
        await asyncio.sleep(0.005)
    return value


def _pids(file: Path) -> list[int]:
    return list(map(int, file.read_text().split())) if file.exists() else []


def _alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if _lives(pid)]


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


# -- inputs and results -------------------------------------------------------------------------------------------


async def test_a_step_gets_its_context_and_arguments(pool: ProcessPool) -> None:
    seen = await _run(pool, steps.describe, {"a": [1, "ü", None]})
    assert seen["pid"] not in (os.getpid(), None)
    assert (seen["key"], seen["attempt"], seen["token"]) == ("7-3-describe", 2, 99)
    assert seen["cancelled"] is False
    assert seen["given"] == {"a": [1, "ü", None]}


async def test_values_of_any_class_come_back(pool: ProcessPool) -> None:
    got = await _run(pool, steps.answer, {"page": {"url": "https://example.org"}})
    assert got == steps.Answer(got.pid, steps.Page(url="https://example.org"))
    assert await _run(pool, steps.outcome, {"done": True}) == Done({"ok": 1})
    assert await _run(pool, steps.outcome, {"done": False}) == NotFound("nothing there")


async def test_large_values_pass_and_larger_ones_are_refused() -> None:
    async with _pool(max_bytes=40 << 20) as pool:
        assert len(await _run(pool, steps.large, {"bytes": 32 << 20})) == 32 << 20
        assert await _run(pool, steps.length, b"x" * (32 << 20)) == 32 << 20
        with pytest.raises(
            DataError,
            match=r"step process_tests.length: its input has \d+ bytes; at most \d+ can be sent to its process$",
        ):
            await _run(pool, steps.length, b"x" * (41 << 20))
        with pytest.raises(
            DataError, match=r"step process_tests.large: its result has \d+ bytes; at most \d+ can be sent$"
        ):
            await _run(pool, steps.large, {"bytes": 41 << 20})


@pytest.mark.parametrize(("what", "named"), [("lock", "lock"), ("generator", "generator"), ("odd", "Stubborn")])
async def test_a_result_that_cannot_be_sent_is_named(pool: ProcessPool, what: str, named: str) -> None:
    with pytest.raises(DataError, match=rf"its result \(\w+\) cannot be sent: objects of class {named}"):
        await _run(pool, steps.unsendable, {"what": what})


async def test_a_class_that_the_return_type_does_not_mention_is_named(pool: ProcessPool) -> None:
    with pytest.raises(DataError, match=r"its result cannot be read: .*process_steps:Page.*name the class there"):
        await _run(pool, steps.unannounced)


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ("sending", "its input cannot be sent to its process: I stay here"),
        ("reading", "its input cannot be read in its process: RuntimeError: I cannot live elsewhere"),
    ],
)
async def test_an_input_that_cannot_travel_is_named(pool: ProcessPool, at: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        await _run(pool, steps.length, steps.Stubborn(at=at))


# -- errors -------------------------------------------------------------------------------------------------------


async def test_exceptions_keep_their_class_and_their_traceback(pool: ProcessPool) -> None:
    with pytest.raises(KeyError, match="the key") as caught:
        await _run(pool, steps.fail, {"how": "key"})
    assert "process_steps.py" in str(caught.value.__cause__)
    with pytest.raises(DataError, match=r"^fix your file$"):
        await _run(pool, steps.fail, {"how": "data"})
    with pytest.raises(ThrottledError) as throttled:
        await _run(pool, steps.fail, {"how": "throttled"})
    assert throttled.value.retry_after == 77.0


async def test_an_exception_that_cannot_travel_keeps_its_error_class_and_text(pool: ProcessPool) -> None:
    with pytest.raises(PermanentError, match="OddError: it broke because of age"):
        await _run(pool, steps.fail, {"how": "odd"})
    with pytest.raises(TransientError, match=r"ValueError: .*has a lock"):
        await _run(pool, steps.fail, {"how": "unsendable"})
    with pytest.raises(TransientError, match="KeyboardInterrupt: enough"):
        await _run(pool, steps.fail, {"how": "interrupt"})


async def test_a_step_that_cannot_be_imported_is_a_matter_of_configuration(pool: ProcessPool) -> None:
    lost = replace(steps.describe, fn=_elsewhere("no_such_module", "gone"))
    with pytest.raises(ConfigError, match=r"process_tests.describe cannot be loaded .*no_such_module"):
        await _run(pool, lost)


def _elsewhere(module: str, name: str) -> Callable[..., None]:
    def fn() -> None: ...

    fn.__module__, fn.__qualname__ = module, name
    return fn


async def test_app_modules_are_imported_first() -> None:
    async with _pool(app_modules=["no_such_app"]) as pool:
        with pytest.raises(ConfigError, match="no_such_app"):
            await _run(pool, steps.describe)


# -- ends of processes --------------------------------------------------------------------------------------------


_DEATHS: list[tuple[Any, str]] = [
    ({"signal": signal.SIGSEGV}, "the step's process was killed by SIGSEGV"),
    ({"signal": signal.SIGKILL}, "the step's process was killed by SIGKILL"),
    ({"status": 3}, "the step's process ended with exit status 3"),
    ({"status": 0}, "the step's process ended with exit status 0"),
    ({"status": 3, "print": "one\ntwo\n"}, "the step's process ended with exit status 3: two"),
    # A service manager may send this to every process; the worker decides what happens to the step.
    ({"signal": signal.SIGTERM, "status": 5}, "the step's process ended with exit status 5"),
    ({"exit": 4}, "the step's process ended with exit status 4"),
    ({"exit": "no licence"}, "the step's process ended with exit status 1: no licence"),
]


async def test_a_process_that_dies_says_how_and_the_pool_continues(pool: ProcessPool) -> None:
    for given, message in _DEATHS:
        with pytest.raises(TransientError) as caught:
            await _run(pool, steps.die, given)
        assert str(caught.value) == message
        assert type(caught.value) is TransientError
    assert (await _run(pool, steps.describe))["attempt"] == 2


async def test_a_time_limit_kills_the_step_and_all_that_it_started(pool: ProcessPool, tmp_path: Path) -> None:
    with pytest.raises(TransientError, match=r"^timed out after 4 s$"):
        await _run(pool, steps.hang, {"file": str(tmp_path / "pids")})
    pids = _pids(tmp_path / "pids")
    assert len(pids) == 5
    assert _alive(pids) == []


@pytest.mark.parametrize(
    "how", [{"how": "slowly", "pieces": 40, "wait": True}, {"how": "at_once"}, {"how": "in_program"}]
)
async def test_a_memory_limit_holds_for_the_step_and_its_programs(pool: ProcessPool, how: Any) -> None:
    with pytest.raises(TransientError, match=r"^needed more than 128 MB of memory$"):
        await _run(pool, steps.swallow, how)
    assert await _run(pool, steps.swallow, {"how": "slowly", "pieces": 2}) == 2


async def test_a_memory_error_is_the_memory_limit(pool: ProcessPool) -> None:
    with pytest.raises(TransientError, match=r"^needed more than 512 MB of memory$"):
        await _run(pool, steps.fail, {"how": "memory"})


async def test_cancellation_kills_the_step_and_all_that_it_started(pool: ProcessPool, tmp_path: Path) -> None:
    file = tmp_path / "pids"
    task = asyncio.create_task(_run(pool, steps.hang_forever, {"file": str(file)}))
    pids = await _eventually(lambda: _pids(file))
    assert _alive(pids) == pids
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert _alive(pids) == []


async def test_cancellation_while_the_process_starts_leaves_nothing(pool: ProcessPool) -> None:
    before = set(psutil.Process().children())
    task = asyncio.create_task(_run(pool, steps.describe))
    await _eventually(lambda: set(psutil.Process().children()) - before)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert set(psutil.Process().children()) <= before


async def test_what_a_dead_step_started_dies_with_it(pool: ProcessPool, tmp_path: Path) -> None:
    file = tmp_path / "pids"
    with pytest.raises(TransientError, match="SIGSEGV"):
        await _run(pool, steps.leave_family, {"file": str(file), "die": True})
    assert len(_pids(file)) == 5
    assert _alive(_pids(file)) == []


async def test_what_a_step_left_running_ends_with_the_pool(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    async with _pool() as pool:
        await _run(pool, steps.leave_family, {"file": str(file)})
        assert len(_alive(_pids(file))) == 5
    assert _alive(_pids(file)) == []


async def test_close_kills_running_steps(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    async with _pool() as pool:
        task = asyncio.create_task(_run(pool, steps.hang_forever, {"file": str(file)}))
        await _eventually(lambda: _pids(file))
    with pytest.raises(TransientError):
        await task
    assert _alive(_pids(file)) == []
    with pytest.raises(RuntimeError, match=r"^the process pool is closed$"):
        await _run(pool, steps.describe)


async def test_a_killed_guard_takes_its_processes_along(pool: ProcessPool, tmp_path: Path) -> None:
    file = tmp_path / "pids"
    task = asyncio.create_task(_run(pool, steps.hang_forever, {"file": str(file)}))
    runner, guard, in_session, *_ = pids = await _eventually(lambda: _pids(file))
    os.kill(guard, signal.SIGKILL)
    with pytest.raises(TransientError, match="the connection to the step's process was lost"):
        await task
    await _eventually(lambda: not _alive([runner, guard, in_session]))
    for pid in _alive(pids):  # a process in a separate session can escape only if its guard is dead
        os.kill(pid, signal.SIGKILL)


# -- output, progress, cancellation -------------------------------------------------------------------------------


async def test_what_a_step_prints_does_no_harm(pool: ProcessPool) -> None:
    for _ in range(3):
        assert await _run(pool, steps.noise) == "still well"


async def test_progress_reaches_the_context(pool: ProcessPool) -> None:
    seen: list[tuple[float | None, str | None]] = []
    ctx = _context(steps.steps_forward, lambda _ctx, told: seen.append((told.fraction, told.note)))
    told = [(0.25, "a quarter"), (None, "thinking"), (1.0, "done")]
    await pool.run(steps.steps_forward, ctx, (told,))
    assert seen == told


async def test_a_flood_of_progress_is_thinned_out(pool: ProcessPool) -> None:
    seen: list[float] = []
    ctx = _context(steps.flood, lambda _ctx, told: seen.append(told.fraction))
    await pool.run(steps.flood, ctx, (100_000,))
    assert 1 <= len(seen) < 50_000
    assert seen == sorted(seen)


async def test_a_step_sees_that_its_task_was_cancelled(pool: ProcessPool) -> None:
    runs = asyncio.Event()
    ctx = _context(steps.until_cancelled, lambda *_: runs.set())
    task = asyncio.create_task(pool.run(steps.until_cancelled, ctx, (None,)))
    await runs.wait()
    ctx.cancelled = True
    assert await task == "saw it"
    again = _context(steps.until_cancelled)
    again.cancelled = True
    assert await pool.run(steps.until_cancelled, again, (None,)) == "saw it"
    assert (await _run(pool, steps.describe))["cancelled"] is False


# -- reuse --------------------------------------------------------------------------------------------------------


async def test_a_child_is_used_again_for_its_step_only(pool: ProcessPool) -> None:
    first, second = await _run(pool, steps.describe), await _run(pool, steps.describe)
    other = await _run(pool, steps.answer, {"page": {"url": "x"}})
    with pytest.raises(KeyError):
        await _run(pool, steps.fail, {"how": "key"})
    assert first["pid"] == second["pid"] != other.pid


async def test_a_child_is_replaced_after_its_tasks() -> None:
    async with _pool(max_tasks=2) as pool:
        pids = [(await _run(pool, steps.describe))["pid"] for _ in range(5)]
    assert pids[0] == pids[1] != pids[2] == pids[3] != pids[4]


async def test_a_child_is_replaced_before_a_task_would_wait_for_it() -> None:
    async with _pool(max_tasks=8) as pool:
        first = [(await _run(pool, steps.describe))["pid"] for _ in range(6)]
        (starting,) = pool._replacing.values()
        beside = (await _run(pool, steps.describe))["pid"]  # nothing waits for the start
        await starting
        (successor,) = pool._idle
        assert successor.is_ready
        assert successor.tasks == 0
        after = (await _run(pool, steps.describe))["pid"]
    assert {*first, beside} == {first[0]}
    assert after != first[0]


async def test_a_child_that_runs_when_the_next_one_is_ready_ends_after_its_task() -> None:
    async with _pool(max_tasks=8) as pool:
        for _ in range(6):
            await _run(pool, steps.describe)
        (old, starting), *_ = pool._replacing.items()
        assert pool._take(steps.describe, old.owner_id, ()) is old
        await starting
        pool._release(old, reusable=True)
        assert old not in pool._idle
        assert len(pool._idle) == 1


async def test_a_child_whose_next_one_cannot_start_is_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _pool(max_tasks=8) as pool:
        first = [(await _run(pool, steps.describe))["pid"] for _ in range(5)]
        with monkeypatch.context() as broken:
            broken.setattr(ChildProcess, "_command", lambda *_: 1 / 0)
            first.append((await _run(pool, steps.describe))["pid"])
            await asyncio.wait(pool._replacing.values())
        first += [(await _run(pool, steps.describe))["pid"] for _ in range(2)]
        assert len(set(first)) == 1
        assert (await _run(pool, steps.describe))["pid"] != first[0]


async def test_close_ends_a_child_that_is_starting_in_place_of_another() -> None:
    before = set(psutil.Process().children())
    async with _pool(max_tasks=8) as pool:
        for _ in range(6):
            await _run(pool, steps.describe)
        assert pool._replacing
    assert not set(psutil.Process().children()) - before


async def test_idle_children_above_the_number_kept_are_retired() -> None:
    before = set(psutil.Process().children())
    async with _pool(keep_idle=1, idle_seconds=0.05) as pool:
        await asyncio.gather(*(_run(pool, steps.describe) for _ in range(4)))
        await _eventually(lambda: len(set(psutil.Process().children()) - before) == 1)
        (kept,) = (child for guard in set(psutil.Process().children()) - before for child in guard.children())
        assert (await _run(pool, steps.describe))["pid"] == kept.pid


async def test_a_child_that_died_idle_costs_the_next_task_nothing(pool: ProcessPool) -> None:
    first = (await _run(pool, steps.describe))["pid"]
    os.kill(first, signal.SIGKILL)  # the pool does not know yet, and takes it
    second = (await _run(pool, steps.describe))["pid"]
    os.kill(second, signal.SIGKILL)
    await _eventually(lambda: not psutil.pid_exists(second))  # now it knows
    dead = pool._idle[-1]  # the one that was used last
    await _eventually(lambda: dead.has_ended)
    third = (await _run(pool, steps.describe))["pid"]
    assert len({first, second, third}) == 3
    await _eventually(dead._out.is_closing)


async def test_many_run_in_parallel(pool: ProcessPool) -> None:
    seen = await asyncio.gather(*(_run(pool, steps.describe, n) for n in range(12)))
    assert [answer["given"] for answer in seen] == list(range(12))
    assert len({answer["pid"] for answer in seen}) == 12
    again = await asyncio.gather(*(_run(pool, steps.describe, n) for n in range(12)))
    assert {answer["pid"] for answer in again} == {answer["pid"] for answer in seen}


async def test_the_last_child_of_another_owner_is_left_to_that_owner(pool: ProcessPool) -> None:
    def take(owner_id: int) -> ChildProcess:
        return pool._take(steps.describe, owner_id, ())

    first, theirs = take(1), take(2)
    pool._release(theirs, reusable=True)
    second = take(1)
    assert second not in (first, theirs)
    assert take(2) is theirs
    pool._release(second, reusable=True)
    pool._release(theirs, reusable=True)
    assert take(1) is second  # an owner's own children are not kept back
    pool._release(first, reusable=True)
    pool._release(second, reusable=True)
    assert take(3) is second  # one that runs nothing takes what there is


async def test_a_child_that_an_owner_has_just_used_is_left_to_that_owner(pool: ProcessPool) -> None:
    """Even by an owner who runs nothing, as when a hostile file has ended all of its processes."""
    theirs = pool._take(steps.describe, 1, ())
    pool._release(theirs, reusable=True)
    ours = pool._take(steps.describe, 2, ())
    assert ours is not theirs
    pool._release(ours, reusable=False)
    theirs.idle_since -= 60
    assert pool._take(steps.describe, 2, ()) is theirs  # it is not kept for ever


async def test_a_child_that_has_the_file_of_a_call_is_preferred(pool: ProcessPool, tmp_path: Path) -> None:
    file = tmp_path / "file"
    children = [pool._take(steps.describe, 1, [file]) for _ in range(3)]
    children[1]._placed[file] = ((), "0")
    for child in children:
        pool._release(child, reusable=True)
    assert pool._take(steps.describe, 1, [file]) is children[1]
    assert pool._take(steps.describe, 1, []) is children[2]


# -- other --------------------------------------------------------------------------------------------------------


def test_it_works_on_uvloop(tmp_path: Path) -> None:
    async def all_of_it() -> None:
        async with _pool(max_tasks=3) as pool:
            for _ in range(5):
                await _run(pool, steps.noise)
            with pytest.raises(TransientError, match="SIGSEGV"):
                await _run(pool, steps.die, {"signal": signal.SIGSEGV})
            await test_cancellation_kills_the_step_and_all_that_it_started(pool, tmp_path)
            await test_a_child_that_died_idle_costs_the_next_task_nothing(pool)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(all_of_it())


async def test_a_step_that_was_declared_at_a_prompt_says_what_to_do() -> None:
    typed = textwrap.dedent(
        """
        import asyncio
        from forebay.engine.declare.context import Context
        from forebay.engine.declare.pipeline import Pipeline
        from forebay.engine.processes.pool import ProcessPool
        from tests.engine.process_steps import NoHost

        typed = Pipeline("typed", dict)

        @typed.step(kind="process")
        def size(ctx: Context, value: dict) -> int:
            return len(value)

        asyncio.run(ProcessPool().run(size, Context(1, 1, 1, "size", 1, 1, NoHost()), ({},)))
        """
    )
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", typed, stderr=subprocess.PIPE)
    _, said = await child.communicate()
    assert b"ConfigError: step typed.size cannot be loaded in its process: " in said
    assert b"typed.size must be declared in a file, not at a prompt" in said


_SCRIPT = textwrap.dedent(
    """
    import asyncio, os, sys
    from typing import Any
    from pydantic import BaseModel
    from forebay.engine.declare.context import Context
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.processes.pool import ProcessPool
    from tests.engine.process_steps import NoHost, hang_forever

    class Page(BaseModel):
        url: str

    script = Pipeline("script", Page)

    @script.step(kind="process", name="copy")
    def copied(ctx: Context, page: Page) -> Page:
        assert __name__ != "__main__"
        return Page(url=page.url + "!")

    async def main() -> None:
        pool = ProcessPool()
        ctx = Context(1, 1, 1, "s", 1, 1, NoHost())
        page = await pool.run(copied, ctx, (Page(url="here"),))
        assert type(page) is Page, type(page)
        print(page.url, flush=True)
        await pool.run(hang_forever, ctx, ({"file": sys.argv[1]},))

    if __name__ == "__main__":
        asyncio.run(main())
    """
)


async def test_a_script_runs_its_own_steps_and_leaves_nothing_when_it_is_killed(tmp_path: Path) -> None:
    script, file = tmp_path / "script.py", tmp_path / "pids"
    script.write_text(_SCRIPT)
    root = str(Path(__file__).parents[2])
    parent = subprocess.Popen(  # noqa: ASYNC220 - returns at once
        [sys.executable, str(script), str(file)],
        env=os.environ | {"PYTHONPATH": root},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        pids = await _eventually(lambda: _pids(file) or parent.poll())
        assert isinstance(pids, list)
        assert len(_alive(pids)) == 5
    finally:
        parent.kill()
        printed, _ = parent.communicate()
    assert printed == "here!\n"
    await _eventually(lambda: not _alive(pids))
