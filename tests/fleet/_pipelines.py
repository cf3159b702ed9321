"""Pipelines for the tests of conformance."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from forebay import Context, DataError, Done, NotFound, PermanentError, Pipeline, Retry, Skip, ThrottledError
from forebay.types import Cancel, JobSummary, Rows, Signal, Snooze, Statement, Wait

Input = dict[str, Any]


def kinds() -> Pipeline[Input]:
    """Its step does what its input says."""
    pipeline: Pipeline[Input] = Pipeline("kinds", dict, tables=["notes"])
    _throttled.clear()

    @pipeline.step(retry=Retry(attempts=2, base=0.01, cap=0.02, not_found=1))
    async def do(ctx: Context, value: Input) -> Any:
        return await _ACTIONS[value["do"]](ctx)

    return pipeline


async def _throttled_once(ctx: Context) -> int:
    if ctx.key not in _throttled:
        _throttled.add(ctx.key)
        raise ThrottledError("slow down", retry_after=0.01)
    return ctx.attempt


async def _snoozes_once(ctx: Context) -> Any:
    if ctx.key not in _throttled:
        _throttled.add(ctx.key)
        return Snooze(0.01)
    return ctx.attempt


_throttled: set[str] = set()
_ROW = {"id": 1, "at": datetime(2026, 1, 1, tzinfo=UTC), "amount": Decimal("1.50"), "data": {"a": [1]}, "raw": b"x"}


async def _returns(value: Any) -> Any:
    return value


async def _raises(error: Exception) -> Any:
    raise error


_ACTIONS: dict[str, Any] = {
    "done": lambda ctx: _returns({"text": "ä\u2028\U0001f600", "number": 12345678901234567890, "float": 1.5}),
    "none": lambda ctx: _returns(None),
    "not_found": lambda ctx: _returns(NotFound("nothing there")),
    "skip": lambda ctx: _returns(Skip("not today")),
    "skip_item": lambda ctx: _returns(Skip("never", item=True)),
    "cancel": lambda ctx: _returns(Cancel("not wanted")),
    "snooze": _snoozes_once,
    "throttled": _throttled_once,
    "transient": lambda ctx: _raises(TimeoutError()),
    "permanent": lambda ctx: _raises(PermanentError("no such thing")),
    "data": lambda ctx: _raises(DataError("malformed")),
    "broken": lambda ctx: _returns(object()),
    "rows": lambda ctx: _returns(Done("written", writes=[Rows("notes", [_ROW])])),
    "statement": lambda ctx: _returns(Done(1, writes=[Statement("delete from notes")])),
    "foreign": lambda ctx: _returns(Done(1, writes=[Rows("forebay.job", [{"id": 7}])])),
}


def graph() -> Pipeline[Input]:
    """Branches, a batch step, an optional step that fails, a thread, and a fan-in."""
    pipeline: Pipeline[Input] = Pipeline("graph", dict)

    @pipeline.step(kind="thread")
    def first(ctx: Context, value: Input) -> int:
        return int(value["n"])

    @pipeline.batch_step(after=first, size=10)
    async def batched(ctx: Context, values: Sequence[tuple[Input, int]]) -> list[Any]:
        return [Skip("odd") if n % 2 else n * 10 for _, n in values]

    @pipeline.step(after=first, optional=True, retry=Retry(attempts=1))
    async def fails(ctx: Context, value: Input, n: int) -> int:
        raise PermanentError("never works")

    @pipeline.step(after=(first, fails))
    async def joined(ctx: Context, value: Input, n: int, failed: int | None) -> list[Any]:
        return [n, failed]

    @pipeline.after_all()
    async def total(ctx: Context, job: JobSummary) -> int:
        return sum([item.result["first"] async for item in ctx.items()])

    return pipeline


def waits(pipeline: Pipeline[Input]) -> Pipeline[Input]:
    """A step that waits for a signal."""

    @pipeline.step()
    async def ask(ctx: Context, value: Input) -> Signal | Wait | str:
        if ctx.signal is None:
            return Wait("answer", str(value["n"]), timeout=600)
        return str(ctx.signal.payload)

    return pipeline


def passing() -> Pipeline[Input]:
    """Its tasks pass at once."""
    pipeline: Pipeline[Input] = Pipeline("passing", dict)

    @pipeline.step()
    async def step(ctx: Context, value: Input) -> None: ...

    return pipeline


def counting() -> Pipeline[Input]:
    """Each task writes a row of its own: a second settle would violate the key."""
    pipeline: Pipeline[Input] = Pipeline("counting", dict, tables=["effects"])

    @pipeline.step(concurrency=(4, 4))
    async def count(ctx: Context, value: Input) -> Any:
        await asyncio.sleep(0.01)
        return Done(value["n"], writes=[Rows("effects", [{"n": ctx.n}])])

    return pipeline


class Gate:
    """A pipeline whose tasks say that they run, and wait to be let go."""

    def __init__(self, **options: Any) -> None:
        self.pipeline: Pipeline[Input] = Pipeline("gate", dict)
        self.began: asyncio.Queue[Any] = asyncio.Queue()
        self.go = asyncio.Event()
        self.runs: list[Any] = []
        self.cancelled: list[Any] = []
        self.contexts: dict[Any, Context] = {}

        @self.pipeline.step(**options)  # type: ignore[untyped-decorator]
        async def hold(ctx: Context, value: Input) -> Any:
            self.runs.append(value["n"])
            self.contexts[value["n"]] = ctx
            self.began.put_nowait(value["n"])
            try:
                await self.go.wait()
            except asyncio.CancelledError:
                self.cancelled.append(value["n"])
                raise
            return value["n"]

    def let_go(self) -> None:
        """Let the tasks that run now go on; those that begin after this wait again."""
        self.go.set()
        self.go = asyncio.Event()

    async def begun(self) -> Any:
        """The next task that runs."""
        async with asyncio.timeout(30):
            return await self.began.get()
