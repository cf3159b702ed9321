"""A worker with secrets that runs hostile functions and programs, and reports the results; see test_escape.py."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from forebay import log
from forebay.engine.declare.context import Context, Progress
from forebay.engine.declare.limited import limited
from forebay.engine.processes.pool import ProcessPool
from forebay.errors import StepError
from forebay.runner import availability
from forebay.runner.program import ProgramLimits, run_program
from tests.runner import _hostile

SECRET = "postgresql://forebay:a-secret-of-the-worker@127.0.0.1/forebay"
# The time limits only end what hangs: on a busy machine, guarded processes get little of it.
LOOK = limited(_hostile.look, timeout=240)
BOMB = limited(_hostile.fork_bomb, timeout=240)
DISK = limited(_hostile.fill_disk, timeout=240, scratch_mb=16)
SCRATCH = limited(_hostile.fill_scratch, timeout=240, scratch_mb=16)
EAT = limited(_hostile.eat, memory_mb=64, timeout=240)
OUTLIVE = limited(_hostile.outlive, timeout=240)
HANG = limited(_hostile.outlive_and_hang, timeout=600)
FORGE = limited(_hostile.forge, timeout=240)
FORGERIES = ("pickle", "huge", "unknown", "class", "values", "error")


class _Host:
    def report_progress(self, ctx: Context, progress: Progress) -> None:
        pass

    async def get(self, resource: Any) -> Any:
        raise AssertionError(resource)

    async def call(self, ctx: Context, limited: Any, args: Any, kwargs: Any) -> Any:
        raise AssertionError(limited)

    def transaction(self, ctx: Context) -> Any:
        raise AssertionError(ctx)

    def children(self, ctx: Context, mapped: Any) -> Any:
        raise AssertionError(mapped)


def context(n: int = 1) -> Context:
    return Context(1, n, 1, "hostile", 1, 1, _Host())


def use(method: str) -> None:
    """Use only this kind of sandbox."""
    found: Callable[..., availability.Available] = availability.available
    availability.available = lambda *_: found((method,))


async def main(method: str, marker: str) -> None:
    use(method)
    os.environ["FOREBAY_DATABASE_URL"] = SECRET
    with tempfile.TemporaryDirectory(prefix=marker) as folder, contextlib.ExitStack() as stack:
        targets = _targets(Path(folder), marker, stack)
        os.chdir(folder)
        told = {
            "method": availability.available().method,
            "function": await _functions(Path(folder), targets, marker),
            "program": await _programs(Path(folder), targets),
            "input": _text(Path(folder, "input.txt")),
            "left": _left(),
        }
    sys.stdout.write(json.dumps(told))


def _text(path: Path) -> str:
    return path.read_text()


def _left() -> list[str]:
    return [path.name for path in Path(tempfile.gettempdir()).glob("forebay-*")]


def _targets(folder: Path, marker: str, stack: contextlib.ExitStack) -> dict[str, Any]:
    (folder / "password").write_text(SECRET)
    (folder / "blobs").mkdir()
    (folder / "blobs/b").write_text("somebody's file")
    (folder / "input.txt").write_text("given")
    (folder / "input.txt").chmod(0o600)
    canary = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    for address in (f"\0{marker}", f"{folder}/socket"):
        sock = stack.enter_context(socket.socket(socket.AF_UNIX))
        sock.bind(address)
        sock.listen()
    Path("/tmp", marker).touch()  # as sandboxes have a folder of this name
    stack.callback(Path("/tmp", marker).unlink)
    port = canary.getsockname()[1]
    hidden = "a-secret-of-the-worker"[::-1]  # a program is told it, and must find it elsewhere
    return {"secret": hidden, "worker": os.getpid(), "folder": str(folder), "marker": marker, "port": port}


async def _functions(folder: Path, targets: dict[str, Any], marker: str) -> dict[str, Any]:
    pool = ProcessPool(sandbox="required")
    ctx = context()
    told: dict[str, Any] = {"look": await pool.run(LOOK, ctx, (targets, folder / "input.txt"))}
    told["forked"] = await pool.run(BOMB, ctx, ())
    told["filled"] = await pool.run(DISK, ctx, ())
    told["scratch"] = await _raised(pool, SCRATCH)
    told["eaten"] = await _raised(pool, EAT)
    await pool.run(OUTLIVE, ctx, (marker,))
    for how in FORGERIES:
        told[how] = await _raised(pool, FORGE, how, str(folder / "made"))
        assert await pool.run(FORGE, ctx, ("none", "")) == "none"  # others are not disturbed
    told["made"] = (folder / "made").exists()
    await pool.close()
    told["outlived"] = running(marker)
    return told


async def _raised(pool: ProcessPool, function: Any, *args: Any) -> str:
    try:
        return repr(await pool.run(function, context(), args))
    except StepError as error:
        return f"{type(error).__name__}: {error}"


async def _programs(folder: Path, targets: dict[str, Any]) -> dict[str, Any]:
    python = shutil.which("python3", path="/usr/bin") or sys.executable
    script = {"hostile.py": Path(_hostile.__file__), "input.txt": folder / "input.txt"}
    base = [python, "-I", "-S", "@INPUTS@/hostile.py"]

    async def run(*args: str, **limits: Any) -> Any:
        try:
            done = await run_program(
                [*base, *args], inputs=script, limits=ProgramLimits(**limits), on_line=lines.append
            )
        except StepError as error:
            return f"{type(error).__name__}: {error}"
        return json.loads(lines[-1]) if done.status == 0 else done.said

    lines: list[str] = []
    return {
        "look": await run("look", json.dumps(targets), "@INPUTS@/input.txt"),
        "forked": await run("fork_bomb"),
        "filled": await run("fill_disk", scratch_mb=16),
        "eaten": await run("eat", memory_mb=64),
    }


def running(marker: str) -> list[str]:
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            text = process.read_bytes()
            if text.startswith(b"/bin/sleep") and marker.encode() in text:
                found.append(process.parent.name)
    return found


async def hang(method: str, marker: str) -> None:
    """A worker to be killed while a function runs that has left a process behind."""
    use(method)
    await ProcessPool(sandbox="required").run(HANG, context(), (marker,))


if __name__ == "__main__":
    log.configure("critical")  # what is printed is for the test
    asyncio.run({"main": main, "hang": hang}[sys.argv[1]](*sys.argv[2:]))
