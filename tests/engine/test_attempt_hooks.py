"""Hooks around attempts: they see how each one ends, and never change it."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar, Token
from typing import Any

import pytest

from forebay import AttemptEnd, AttemptHook, Client, Context, DefinitionError, Pipeline, Retry, Skip, Snooze, Step, Wait
from forebay.testing import testbed

request: ContextVar[str] = ContextVar("request", default="none")


class Log(AttemptHook):
    """Records what it is told, and sets a context variable for the time of the attempt."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.ends: list[AttemptEnd] = []
        self._tokens: dict[Context, Token[str]] = {}

    def before_attempt(self, step: Step[Any, Any], ctx: Context) -> None:
        self.seen.append(f"before {step.label} {ctx.n} {ctx.attempt}")
        self._tokens[ctx] = request.set(f"{step.name} {ctx.n}")

    def after_attempt(self, step: Step[Any, Any], ctx: Context, end: AttemptEnd) -> None:
        self.seen.append(f"after {step.label} {ctx.n} {end.outcome}")
        self.ends.append(end)
        request.reset(self._tokens.pop(ctx))


class Broken(AttemptHook):
    def before_attempt(self, step: Step[Any, Any], ctx: Context) -> None:
        raise ValueError("a hook failed")

    def after_attempt(self, step: Step[Any, Any], ctx: Context, end: AttemptEnd) -> None:
        raise ValueError("a hook failed")


async def test_hooks_see_every_outcome_and_every_error(dsn: str) -> None:
    hook, last = Log(), Log()
    texts: Pipeline[str] = Pipeline("texts", str, hooks=[hook, last])
    problem = ValueError("wrong")

    @texts.step(retry=Retry(attempts=2, base=0.0, cap=0.0))
    async def check(ctx: Context, text: str) -> str | Skip:
        if text == "bad":
            raise problem
        return Skip("empty", item=True) if not text else request.get()

    @texts.step(after=check)
    def shout(ctx: Context, text: str, seen: str) -> str:
        return f"{seen}, {request.get()}"

    async with testbed(dsn, [texts], migrated=True) as bed:
        job = await texts.submit_many(bed.pool, ["good"])
        await bed.finish()
        assert (await bed.item(job)).result == {"check": "check 1", "shout": "check 1, shout 1"}
        assert hook.seen == [
            "before texts.check 1 1",
            "after texts.check 1 DONE",
            "before texts.shout 1 1",
            "after texts.shout 1 DONE",
        ]
        assert all((end.error, end.reason, end.seconds >= 0) == (None, None, True) for end in hook.ends)
        hook.ends.clear()
        await texts.submit(bed.pool, "bad")
        await texts.submit(bed.pool, "")
        await bed.finish()
    ends = [(end.outcome, end.error, end.reason, end.retry_in is None) for end in hook.ends]
    assert sorted(ends, key=str) == [
        ("ERROR", problem, "ValueError: wrong", False),
        ("ERROR", problem, "ValueError: wrong", True),
        ("SKIPPED", None, "empty", True),
    ]
    assert request.get() == "none"


async def test_each_item_of_a_batch_is_an_attempt(dsn: str) -> None:
    hook = Log()
    sums: Pipeline[int] = Pipeline("sums", int, hooks=[hook])

    @sums.batch_step(size=10)
    async def double(ctx: Context, values: Sequence[int]) -> list[int]:
        return [2 * value for value in values]

    async with testbed(dsn, [sums], migrated=True) as bed:
        job = await sums.submit_many(bed.pool, [1, 2])
        await bed.pool.execute("update forebay.item set input = '\"x\"' where job_id = $1 and n = 1", job.job_id)
        await bed.finish()
        assert [item.status for item in await bed.items(job)] == ["ERROR", "DONE"]
    assert hook.seen == ["before sums.double 2 1", "after sums.double 2 DONE"]


async def test_a_hook_that_fails_changes_nothing(dsn: str, caplog: pytest.LogCaptureFixture) -> None:
    hook = Log()
    texts: Pipeline[str] = Pipeline("texts", str, hooks=[Broken(), hook, Broken()])

    @texts.step()
    async def echo(ctx: Context, text: str) -> str:
        return text

    async with testbed(dsn, [texts], migrated=True) as bed:
        job = await bed.submit(texts, "a")
        await bed.finish()
        assert (await bed.item(job)).result == {"echo": "a"}
    assert hook.seen == ["before texts.echo 1 1", "after texts.echo 1 DONE"]
    failed = [record.getMessage() for record in caplog.records if "hook_failed" in record.getMessage()]
    assert len(failed) == 4
    assert "Broken.before_attempt" in failed[0]
    assert "a hook failed" in failed[0]


async def test_a_hook_tells_a_wait_from_a_snooze(dsn: str) -> None:
    hook = Log()
    orders: Pipeline[str] = Pipeline("orders", str, hooks=[hook])

    @orders.step()
    async def pay(ctx: Context, order: str) -> str | Wait | Snooze:
        if order == "later":
            return Snooze(60)
        return Wait("paid", key=order, timeout=60) if ctx.signal is None else "paid"

    async with testbed(dsn, [orders], migrated=True) as bed:
        await orders.submit_many(bed.pool, ["a", "later"])
        await bed.run()
        assert sorted(end.outcome for end in hook.ends) == ["SNOOZED", "WAITING"]
        await Client(bed.pool).signal("paid", "a")
        await bed.run()
    assert hook.ends[-1].outcome == "DONE"


async def _late(*given: object) -> None: ...


@pytest.mark.parametrize(
    ("base", "methods", "reason"),
    [
        (object, {"before_attempt": _late}, "a hook must be an object of a subclass of AttemptHook, not Wrong"),
        (AttemptHook, {"before_attempt": _late}, "Wrong.before_attempt must be `def`, not `async def`"),
        (AttemptHook, {"after_attempt": _late}, "Wrong.after_attempt must be `def`, not `async def`"),
    ],
)
def test_a_hook_that_could_not_be_called(base: type, methods: dict[str, Any], reason: str) -> None:
    wrong: Any = type("Wrong", (base,), methods)()
    with pytest.raises(DefinitionError) as caught:
        Pipeline("texts", str, hooks=[wrong])
    assert str(caught.value) == f"pipeline 'texts': {reason}"
