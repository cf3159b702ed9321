"""Pipelines that are declared wrongly are refused where they are declared."""

from __future__ import annotations

from typing import Any

import pytest

from forebay import Context, Limit, Pipeline, Retry
from forebay.engine.policy import Kind
from forebay.errors import DefinitionError
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
    with refused("begins with a letter"):
        Pipeline(name, dict)
    with refused("begins with a letter"):
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
    with refused("an async step is `async def`"):
        pipe.step(kind="thread")(step)
    with refused("an async step is `async def`"):
        pipe.step(kind=Kind.ASYNC)(blocking)
    assert pipe.step()(blocking).kind is Kind.THREAD


def test_a_process_step_has_to_be_importable(pipe: Pipeline[dict[str, int]]) -> None:
    def local(ctx: Context, value: dict[str, int]) -> int:
        return 1

    with refused("must be a function of a module"):
        pipe.step(kind="process")(local)


def test_steps_after_all_and_steps_of_items_do_not_mix(pipe: Pipeline[dict[str, int]]) -> None:
    one = pipe.step()(step)

    @pipe.after_all()
    async def total(ctx: Context, job: JobSummary) -> int:
        return 1

    with refused("cannot come after <step pipe.total>"):
        pipe.step(name="later", after=total)(step)  # type: ignore[arg-type]
    with refused("`after` may name after_all steps only"):
        pipe.after_all(name="wrong", after=one)(total.fn)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"concurrency": (0, 5)}, "1 ≤ least ≤ most ≤ 10000"),
        ({"concurrency": (6, 5)}, "1 ≤ least ≤ most ≤ 10000"),
        ({"timeout": 0}, "timeout must be positive"),
        ({"max_expiries": 0}, "max_expiries must be between 1 and 1000"),
    ],
)
def test_options(pipe: Pipeline[dict[str, int]], options: dict[str, Any], match: str) -> None:
    with refused(match):
        pipe.step(**options)(step)


def test_batches_have_a_size(pipe: Pipeline[dict[str, int]]) -> None:
    with refused("between 1 and 10000"):
        pipe.batch_step(size=0)


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"not_found": 0}, {"base": -1}, {"cap": -1}])
def test_retries(wrong: dict[str, int]) -> None:
    with refused("Retry: "):
        Retry(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{}, {"rate": 0}, {"rate": 1, "per": 0}, {"concurrency": 0}])
def test_limits(wrong: dict[str, int]) -> None:
    with refused("Limit 'x': "):
        Limit("x", **wrong)  # type: ignore[arg-type]


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
