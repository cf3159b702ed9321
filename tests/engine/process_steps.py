"""Process steps for the tests, well behaved and misbehaving."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from forebay.engine.declare.context import Context, Progress
from forebay.engine.declare.pipeline import Pipeline
from forebay.errors import DataError, PermanentError, ThrottledError
from forebay.runner.progress import report
from forebay.types import Done, Mapped, NotFound, Statement

pipeline = Pipeline("process_tests", dict[str, Any])


class NoHost:
    """The services of contexts whose reports are ignored."""

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


class Page(BaseModel):
    url: str


@dataclass
class Answer:
    pid: int
    page: Page


class OddError(PermanentError):
    """Loses an argument, so it cannot be recreated from its attributes."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what} because {why}")


class Stubborn:
    """Cannot be pickled, or cannot be unpickled."""

    def __init__(self, *, at: str) -> None:
        self.at = at

    def __reduce__(self) -> Any:
        if self.at == "sending":
            raise pickle.PicklingError("I stay here")
        return _read_only_in, (os.getpid(),)


def _read_only_in(pid: int) -> None:
    if os.getpid() != pid:
        raise RuntimeError("I cannot live elsewhere")


@pipeline.step(kind="process")
def describe(ctx: Context, given: Any) -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "ppid": os.getppid(),
        "key": ctx.key,
        "token": ctx.token,
        "attempt": ctx.attempt,
        "cancelled": ctx.cancelled,
        "given": given,
    }


@pipeline.step(kind="process")
def answer(ctx: Context, given: Any) -> Answer:
    return Answer(os.getpid(), Page.model_validate(given["page"]))


@pipeline.step(kind="process")
def outcome(ctx: Context, given: Any) -> Any:
    return Done({"ok": 1}) if given["done"] else NotFound("nothing there")


@pipeline.step(kind="process")
def fail(ctx: Context, given: Any) -> None:
    raise {
        "key": KeyError("the key"),
        "data": DataError("fix your file"),
        "throttled": ThrottledError("slow down", retry_after=77.0),
        "odd": OddError("it broke", "of age"),
        "memory": MemoryError(),
        "unsendable": _holding_a_lock(),
        "interrupt": KeyboardInterrupt("enough"),
    }[given["how"]]


def _holding_a_lock() -> ValueError:
    error = ValueError("has a lock")
    error.args = ("has a lock", threading.Lock())
    return error


@pipeline.step(kind="process")
def unsendable(ctx: Context, given: Any) -> Any:
    if given["what"] == "lock":
        return threading.Lock()
    return (n for n in "abc") if given["what"] == "generator" else Stubborn(at="sending")


@pipeline.step(kind="process")
def unannounced(ctx: Context, given: Any) -> Any:
    return Page(url="here")


@pipeline.step(kind="process")
def large(ctx: Context, given: Any) -> bytes:
    return bytes(given["bytes"])


@pipeline.step(kind="process")
def length(ctx: Context, given: Any) -> int:
    return len(given)


@pipeline.step(kind="process")
def die(ctx: Context, given: Any) -> None:
    if "print" in given:
        sys.stderr.write(given["print"])
    if "signal" in given:
        os.kill(os.getpid(), given["signal"])
    if "exit" in given:
        sys.exit(given["exit"])
    os._exit(given["status"])


@pipeline.step(kind="process")
def noise(ctx: Context, given: Any) -> str:
    print("printed with print")  # noqa: T201 - what this step is about
    sys.stderr.write("e" * 300_000)
    os.write(1, b"\0\xff" * 50_000)
    subprocess.run(["/bin/echo", "from a program"], check=True)
    return "still well"


@pipeline.step(kind="process")
def steps_forward(ctx: Context, given: Any) -> None:
    for fraction, note in given:
        ctx.progress(fraction, note)


@pipeline.step(kind="process")
def flood(ctx: Context, given: Any) -> None:
    for n in range(given):
        ctx.progress(n / given)


@pipeline.step(kind="process")
def until_cancelled(ctx: Context, given: Any) -> str:
    ctx.progress(0.0, "waiting")
    while not ctx.cancelled:
        time.sleep(0.005)
    return "saw it"


def _family(given: Any) -> None:
    """Start a program, one in a separate session, and one whose parent has already ended."""
    children = [
        subprocess.Popen(["/bin/sleep", "600"]),
        subprocess.Popen(["/bin/sleep", "600"], start_new_session=True),
    ]
    leave = ["/bin/sh", "-c", "setsid sleep 600 >/dev/null 2>&1 & echo $!"]
    orphan = subprocess.run(leave, stdout=subprocess.PIPE, check=True, text=True)
    pids = [os.getpid(), os.getppid(), *(child.pid for child in children), int(orphan.stdout)]
    for child in children:
        child.returncode = 0  # nobody waits for it
    partial = Path(f"{given['file']}.partial")
    partial.write_text(" ".join(map(str, pids)))
    partial.rename(given["file"])


@pipeline.step(kind="process", timeout=4)
def hang(ctx: Context, given: Any) -> None:
    _family(given)
    time.sleep(600)


@pipeline.step(kind="process")
def hang_forever(ctx: Context, given: Any) -> None:
    _family(given)
    time.sleep(600)


@pipeline.step(kind="process")
def leave_family(ctx: Context, given: Any) -> None:
    _family(given)
    if given.get("die"):
        os.kill(os.getpid(), signal.SIGSEGV)


@pipeline.step(kind="process", memory_mb=128)
def swallow(ctx: Context, given: Any) -> int:
    """Allocate memory in steps, in a separate program, or more than is available at once."""
    if given["how"] == "at_once":
        return len(bytearray(4 << 30))
    if given["how"] == "in_program":
        code = "import time; kept = [b'x' * (8 << 20) for _ in range(40)]; time.sleep(600)"
        return subprocess.run([sys.executable, "-S", "-c", code], check=True).returncode
    kept = [b"x" * (8 << 20) for _ in range(given["pieces"])]
    if given.get("wait"):
        time.sleep(600)
    return len(kept)


# Functions that steps call in processes.


def parse(text: str, *, base: int = 10) -> tuple[int, int]:
    if text == "hang":
        threading.Event().wait()
    if text == "eat":
        held = [bytes(1 << 20) for _ in range(4096)]
        del held
    if text == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        return int(text, base), os.getpid()
    except ValueError as error:
        raise DataError(f"{text!r} is no number") from error


@pipeline.step(kind="process")
def asks_for_more(ctx: Context, given: Any) -> str:
    """Try operations that are only for steps in the worker."""
    said: list[str] = []
    for asked in (ctx.get(given), ctx.call(given)):
        try:
            asked.send(None)
        except RuntimeError as error:
            said.append(str(error))
    for ask in (ctx.transaction, lambda: ctx.children(Mapped())):
        try:
            ask()
        except RuntimeError as error:
            said.append(str(error))
    return "; ".join(said)


_calls = 0


def copy(sources: list[Path], target: Path) -> dict[str, Any]:
    global _calls  # noqa: PLW0603 - of this child
    _calls += 1
    report(0.5, "half way")
    target.write_bytes(b"".join(source.read_bytes() for source in sources))
    return {"name": sources[0].name, "inputs": len(list(sources[0].parent.iterdir())), "calls": _calls}


def leave_process(marker: str) -> None:
    subprocess.Popen(["/bin/sleep", marker], start_new_session=True).returncode = 0


def leave_thread(is_left: bool) -> int:
    """How often it was called in this process."""
    global _calls  # noqa: PLW0603 - of this child
    _calls += 1
    if is_left:
        threading.Thread(target=threading.Event().wait).start()
    return _calls


def repeated(text: str, times: int) -> str:
    return text * times


def report_and_hang() -> None:
    report(note="it runs")
    threading.Event().wait()


@pipeline.step(kind="process", sandbox=True)
def writes_rows(ctx: Context, given: Any) -> Any:
    return Done(1, [Statement("drop table forebay.job")])
