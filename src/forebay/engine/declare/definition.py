"""The definition of a pipeline for the database, and the checks that every declaration must pass."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, TypeVar

from forebay.engine.declare.attempt_hook import AttemptHook
from forebay.engine.declare.step import Step, StepKind
from forebay.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from forebay.engine.declare.pipeline import Pipeline

I = TypeVar("I")  # noqa: E741 - the input

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_NAME_RULE = "a name is a-z, 0-9 and _, begins with a letter, and has at most 63 characters"
_MAX_STEPS = 62  # limited by the bit masks in the database


def definition_of(pipeline: Pipeline[Any]) -> dict[str, Any]:
    """What the database needs to move items from step to step.

    Raises: DefinitionError.
    """
    steps = pipeline.steps.values()
    if not any(not step.after_all for step in steps):
        raise DefinitionError(f"pipeline {pipeline.name!r} has no step that an item goes through")
    _check_renames(pipeline)
    return {
        "name": pipeline.name,
        "max_input_bytes": pipeline.max_input_bytes,
        "steps": [_step(step) for step in steps],
    }


def _step(step: Step[Any, Any]) -> dict[str, Any]:
    return (
        {
            "name": step.name,
            "after": [parent.name for parent in step.after],
            "optional": step.optional,
            "after_all": step.after_all,
            "queue": step.queue,
            "max_attempts": step.retry.attempts,
            "max_expiries": step.max_expiries,
        }
        | ({} if step.renamed_from is None else {"renamed_from": step.renamed_from})
        | ({} if step.order is None else {"ordered": True})
    )


def _check_renames(pipeline: Pipeline[Any]) -> None:
    former: set[str] = set()
    for step in pipeline.steps.values():
        if step.renamed_from is None:
            continue
        if step.renamed_from in pipeline.steps or step.renamed_from in former:
            raise DefinitionError(
                f"step {step.label!r}: renamed_from={step.renamed_from!r} is the name, or the former name, of "
                "another step"
            )
        former.add(step.renamed_from)


def check_pipeline(name: str, hooks: Iterable[object]) -> None:
    """Raises: DefinitionError for a name or a hook that is not allowed."""
    _check_name("pipeline", name, name)
    for hook in hooks:
        _check_hook(name, hook)


def _check_name(what: str, full_name: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise DefinitionError(f"{what} {full_name!r}: {_NAME_RULE}")


def _check_hook(pipeline: str, hook: object) -> None:
    kind = type(hook).__name__
    if not isinstance(hook, AttemptHook):
        raise DefinitionError(
            f"pipeline {pipeline!r}: a hook must be an object of a subclass of AttemptHook, not {kind}"
        )
    for method in ("before_attempt", "after_attempt"):
        if inspect.iscoroutinefunction(getattr(hook, method)):
            raise DefinitionError(f"pipeline {pipeline!r}: {kind}.{method} must be `def`, not `async def`")


def check_new_step(
    pipeline: Pipeline[I],
    name: str,
    fn: Callable[..., Any],
    kind: StepKind,
    parents: tuple[Step[I, Any], ...],
    *,
    after_all: bool,
) -> None:
    """Raises: DefinitionError if the step cannot be added to the pipeline."""
    where, steps = f"{pipeline.name}.{name}", pipeline.steps
    _check_name("step", where, name)
    if name in steps:
        raise DefinitionError(f"step {where!r} is declared twice")
    if len(steps) >= _MAX_STEPS:
        raise DefinitionError(f"pipeline {pipeline.name!r} has more than {_MAX_STEPS} steps")
    if (kind is StepKind.ASYNC) != inspect.iscoroutinefunction(fn):
        raise DefinitionError(f"step {where!r}: an async step is `async def`, thread and process steps are `def`")
    for parent in parents:
        # A step can only follow an existing step, so a cycle cannot be declared.
        if steps.get(parent.name) is not parent:
            raise DefinitionError(f"step {where!r}: {parent!r} is not a step of pipeline {pipeline.name!r}")
        if parent.after_all and not after_all:
            raise DefinitionError(f"step {where!r}: cannot come after {parent!r}, which runs after all items")
        if after_all and not parent.after_all:
            raise DefinitionError(f"step {where!r}: runs after all items, so `after` may name after_all steps only")
