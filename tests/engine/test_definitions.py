"""Invalid declarations of pipelines are rejected when they are declared."""

# demands: S1-48, S3-51, S3-52, S3-54, S3-55, S3-62, S4-109, S4-110

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest

import forebay
from forebay import Context, Limit, Pipeline, Resources, Retry, Signal, limited, resource
from forebay.engine.declare.step import StepKind
from forebay.errors import DefinitionError
from forebay.settings import Settings
from forebay.testing import context
from forebay.types import ErrorClass, JobSummary


@pytest.fixture
def pipe() -> Pipeline[dict[str, int]]:
    return Pipeline("pipe", dict)


async def step(ctx: Context, value: dict[str, int]) -> int:
    return 1


def blocking(ctx: Context, value: dict[str, int]) -> int:
    return 1


def refused(match: str) -> Any:
    return pytest.raises(DefinitionError, match=match)


@pytest.mark.parametrize("name", ["", "Upper", "1st", "a b", "x" * 64, "a-b"])
def test_names(name: str) -> None:
    rule = "a name is a-z, 0-9 and _, begins with a letter, and has at most 63 characters"
    with refused(f"^pipeline {name!r}: {rule}$"):
        Pipeline(name, dict)
    with refused(f"^step {f'fine.{name}'!r}: {rule}$"):
        Pipeline("fine", dict).step(name=name)(step)


def test_a_step_twice(pipe: Pipeline[dict[str, int]]) -> None:
    pipe.step()(step)
    with refused("step 'pipe.step' is declared twice"):
        pipe.step()(step)


def test_a_step_of_another_pipeline(pipe: Pipeline[dict[str, int]]) -> None:
    other = Pipeline("other", dict).step()(step)
    with refused("<step other.step> is not a step of pipeline 'pipe'"):
        pipe.step(after=other)(blocking)  # type: ignore[arg-type]


def test_no_step(pipe: Pipeline[dict[str, int]]) -> None:
    with refused("pipeline 'pipe' has no step that an item goes through"):
        pipe.definition()


def test_too_many_steps(pipe: Pipeline[dict[str, int]]) -> None:
    for n in range(62):
        pipe.step(name=f"s{n}")(step)
    with refused("pipeline 'pipe' has more than 62 steps"):
        pipe.step(name="one_more")(step)


def test_the_kind_has_to_fit_the_function(pipe: Pipeline[dict[str, int]]) -> None:
    rule = "an async step is `async def`, thread and process steps are `def`"
    with refused(f"^step 'pipe.step': {rule}$"):
        pipe.step(kind="thread")(step)
    with refused(f"^step 'pipe.blocking': {rule}$"):
        pipe.step(kind=StepKind.ASYNC)(blocking)
    assert pipe.step()(blocking).kind is StepKind.THREAD


def test_one_step_normalizes(pipe: Pipeline[dict[str, int]]) -> None:
    async def report(ctx: Context, job: JobSummary) -> int:
        return job.done

    rule = "only one step of a pipeline can have normalizes=True, and no after_all step can"
    with refused(f"^step pipe.report: {rule}$"):
        pipe.after_all(normalizes=True)(report)
    pipe.step(normalizes=True)(step)
    with refused(f"^step pipe.blocking: {rule}$"):
        pipe.step(normalizes=True)(blocking)


def test_a_process_step_has_to_be_importable(pipe: Pipeline[dict[str, int]]) -> None:
    def local(ctx: Context, value: dict[str, int]) -> int:
        return 1

    with refused("^step pipe.local: a process step must be a module-level function that its process can import$"):
        pipe.step(kind="process")(local)


def test_steps_after_all_and_steps_of_items_do_not_mix(pipe: Pipeline[dict[str, int]]) -> None:
    one = pipe.step()(step)

    @pipe.after_all()
    async def total(ctx: Context, job: JobSummary) -> int:
        return 1

    with refused("^step 'pipe.later': cannot come after <step pipe.total>, which runs after all items$"):
        pipe.step(name="later", after=total)(step)  # type: ignore[arg-type]
    with refused("^step 'pipe.wrong': runs after all items, so `after` may name after_all steps only$"):
        pipe.after_all(name="wrong", after=one)(total.fn)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"concurrency": (0, 5)}, r"concurrency is \(least, most\) with 1 ≤ least ≤ most ≤ 10000"),
        ({"concurrency": (6, 5)}, r"concurrency is \(least, most\) with 1 ≤ least ≤ most ≤ 10000"),
        ({"timeout": 0}, "timeout must be positive"),
        ({"max_expiries": 0}, "max_expiries must be between 1 and 1000"),
        (
            {"limits": [Limit("forebay:host", rate=1)]},
            "the limit name 'forebay:host' is reserved: choose one that does not begin with 'forebay:'",
        ),
        ({"kind": "process", "memory_mb": 31}, "memory_mb must be at least 32"),
    ],
)
def test_options(pipe: Pipeline[dict[str, int]], options: dict[str, Any], match: str) -> None:
    with refused(f"^step pipe.it: {match}$"):
        pipe.step(name="it", **options)(blocking if "kind" in options else step)


def test_batches_have_a_size(pipe: Pipeline[dict[str, int]]) -> None:
    for size in (0, 10_001):
        with refused("^pipe: the size of a batch step must be between 1 and 10000$"):
            pipe.batch_step(size=size)


def test_batches_have_no_limit_with_a_key(pipe: Pipeline[dict[str, int]]) -> None:
    async def many(ctx: Context, values: Sequence[dict[str, int]]) -> list[int]:
        return [0 for _ in values]

    with refused(
        "^step pipe.many: a batch step cannot have a limit with a key, because its items may have different keys; "
        "remove the key, or use a step without batches$"
    ):
        pipe.batch_step(size=2, limits=[Limit("site", rate=1, key=lambda value: str(value["n"]))])(many)
    pipe.batch_step(size=2, limits=[Limit("site", rate=1)])(many)


async def test_a_step_is_callable(pipe: Pipeline[dict[str, int]]) -> None:
    @pipe.step(name="double")
    async def double(ctx: Context, value: dict[str, int]) -> int:
        return 2 * value["n"]

    @pipe.step(name="halve", kind="thread", after=double)
    def halve(ctx: Context, value: dict[str, int], doubled: int) -> int:
        return doubled // 2

    assert await double(context(), {"n": 2}) == 4
    assert halve(context(), {"n": 2}, 4) == 2


async def test_a_context_for_unit_tests() -> None:
    @resource
    async def library(resources: Resources) -> AsyncGenerator[str]:
        yield "open"

    ctx = context(attempt=2, signal=Signal("paid", "42", {"receipt": 1}), resources={library: "fake"}, step="pay")
    assert (ctx.attempt, ctx.key, ctx.cancelled) == (2, "1-1-pay", False)
    assert ctx.signal == Signal("paid", "42", {"receipt": 1})
    ctx.progress(0.5, "half")
    assert await ctx.get(library) == "fake"
    assert await ctx.call(limited(len), "four") == 4
    assert context().signal is None
    with pytest.raises(LookupError, match=r"<resource library> is missing: pass it as context\(resources={...}\)"):
        await context().get(library)
    with pytest.raises(RuntimeError, match=r"ctx\.transaction needs a database: run the step in a testbed"):
        ctx.transaction()


def test_steps_without_a_timeout_have_that_of_the_settings(pipe: Pipeline[dict[str, int]]) -> None:
    unset = pipe.step(name="unset")(step)
    none = pipe.step(name="none", timeout=None)(step)
    own = pipe.step(name="own", timeout=5)(step)
    pipe.tune(Settings(step_timeout_s=60))
    assert (unset.timeout, none.timeout, own.timeout) == (60, None, 5)
    pipe.tune(Settings(step_timeout_s=0))
    assert (unset.timeout, none.timeout, own.timeout) == (None, None, 5)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"attempts": 0}, "Retry: attempts and not_found must be between 1 and 1000"),
        ({"not_found": 0}, "Retry: attempts and not_found must be between 1 and 1000"),
        ({"base": -1}, "Retry: base and cap must not be negative"),
        ({"cap": -1}, "Retry: base and cap must not be negative"),
        ({"throttled_for": 0}, "Retry: throttled_for must be positive"),
        ({"throttled_for": float("nan")}, "Retry: throttled_for must be positive"),
    ],
)
def test_retries(wrong: dict[str, Any], match: str) -> None:
    with refused(f"^{match}$"):
        Retry(**wrong)


_KEY = "key must be a function of the input, or of the input and a TaskInfo"


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({}, "give a rate, a concurrency, or both"),
        ({"rate": 0}, "rate and per must be positive"),
        ({"rate": 1, "per": 0}, "rate and per must be positive"),
        ({"concurrency": 0}, "concurrency must be at least 1"),
        ({"rate": 1, "key": lambda: "a"}, _KEY),
        ({"rate": 1, "key": lambda value, task, more: "a"}, _KEY),
        ({"rate": 1, "key": lambda value, *, host: host}, _KEY),
        ({"rate": 1, "key": "host"}, _KEY),
    ],
)
def test_limits(wrong: dict[str, Any], match: str) -> None:
    with refused(f"^Limit 'x': {match}$"):
        Limit("x", **wrong)


def test_by_default_a_step_is_executed_three_times_a_second_or_two_apart() -> None:
    default = Retry()
    assert (default.attempts, default.base, default.jitter) == (3, 1.0, True)
    assert [default.delay(attempt, rng=lambda: 1.0) for attempt in (1, 2, 3)] == [1, 2, 4]


def test_delays_double_up_to_the_cap() -> None:
    retry = Retry(attempts=9, base=2, cap=10, jitter=False)
    assert [retry.delay_after(ErrorClass.TRANSIENT, n) for n in range(1, 10)] == [2, 4, 8, 10, 10, 10, 10, 10, None]
    assert Retry(attempts=1000, base=1, cap=5).delay(999, rng=lambda: 1.0) == 5


def test_jitter_is_the_whole_range() -> None:
    assert Retry(base=8).delay(1, rng=lambda: 0.25) == 2


def test_classes_have_policies_of_their_own() -> None:
    retry = Retry(attempts=2, not_found=3, jitter=False, on={ErrorClass.DATA: Retry(attempts=2, base=7, jitter=False)})
    assert retry.delay_after(ErrorClass.PERMANENT, 1) is None
    assert retry.delay_after(ErrorClass.DATA, 1) == 7
    assert retry.delay_after(ErrorClass.DATA, 2) is None
    assert retry.delay_after(ErrorClass.NOT_FOUND, 2) == 2
    assert retry.delay_after(ErrorClass.NOT_FOUND, 3) is None


def test_the_package_has_the_names_it_lists() -> None:
    for name in forebay.__all__:
        assert getattr(forebay, name) is not None
    with pytest.raises(AttributeError, match="module 'forebay' has no attribute 'Nothing'"):
        _ = forebay.Nothing
