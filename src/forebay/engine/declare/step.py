"""Steps: their options, the types that their functions must have, and the check of the options."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, TypedDict, TypeVar, TypeVarTuple, overload

from pydantic import TypeAdapter

from forebay.engine.declare.context import Context
from forebay.engine.declare.limit import RESERVED_PREFIX, Limit
from forebay.engine.declare.limited import ProcessLimits
from forebay.engine.declare.map import Map
from forebay.engine.declare.order import Order, OrderKey, check_field
from forebay.engine.declare.retry import Retry
from forebay.errors import DefinitionError
from forebay.types import Cancel, Done, Mapped, NotFound, Outcome, Returned, Skip, Snooze, Wait

if TYPE_CHECKING:
    from forebay.engine.declare.pipeline import Pipeline

I = TypeVar("I")  # noqa: E741 - the input
R = TypeVar("R")
Rs = TypeVarTuple("Rs")

_LONGEST_LINGER = 60

_SANDBOXED, _TRUSTED = ProcessLimits(), ProcessLimits(sandbox=False, file_mb=None)


class StepKind(StrEnum):
    """Where a step runs: on the event loop, on a thread, or in a process that can be killed."""

    ASYNC = "async"
    THREAD = "thread"
    PROCESS = "process"


class StepOptions(TypedDict, total=False):
    """The options of every step."""

    name: str
    renamed_from: str  # what it was called before: its tasks and results of then are its own
    kind: StepKind | Literal["async", "thread", "process"]
    retry: Retry
    timeout: float | None  # seconds for one attempt; None: no limit; not given: the setting `step_timeout_s`
    queue: str  # steps that share a queue are paused and parked together
    priority: int  # among the steps of a worker; higher goes first
    concurrency: tuple[int, int]  # bounds of the adaptive limit in one worker
    limits: Sequence[Limit]
    ordered_by: OrderKey  # a field or a function of the input: the tasks of one key run one at a time, in order
    memory_mb: int  # process steps only
    sandbox: bool  # process steps only: no network, no files except Python's, no rows to write
    max_expiries: int  # how many workers may be lost while running a task before it becomes a dead letter
    normalizes: bool  # its result is stored in `item.normalized`, not in `item.result`
    needs_database: bool  # it uses ctx.transaction, or a resource that uses the database: only workers run it


@dataclass(eq=False)
class Step(Generic[I, R]):
    """A named function of a pipeline: the unit of checkpoint, retry and limits."""

    pipeline: Pipeline[I]
    name: str
    fn: Callable[..., Any]
    after: tuple[Step[I, Any], ...] = ()
    optional: bool = False
    after_all: bool = False
    batch_size: int | None = None
    linger: float = 0.0  # seconds that a batch waits until it is full
    kind: StepKind = StepKind.ASYNC
    retry: Retry = field(default_factory=Retry)
    timeout: float | None = None
    queue: str = ""
    priority: int = 0
    concurrency: tuple[int, int] = (1, 100)
    limits: tuple[Limit, ...] = ()
    order: Order | None = None
    memory_mb: int = 512
    sandbox: bool = False
    max_expiries: int = 20
    normalizes: bool = False
    renamed_from: str | None = None
    needs_database: bool = False
    has_timeout: bool = True  # False: its timeout is that of the settings

    @cached_property
    def result(self) -> TypeAdapter[Any]:
        """Parses the stored result of this step for the steps after it."""
        returned = typing.get_type_hints(self.fn).get("return", Any)
        if self.batch_size is not None:
            returned = (typing.get_args(returned) or (Any,))[0]
        return TypeAdapter(_value_of(returned))

    @cached_property
    def waits(self) -> bool:
        """Whether it may return Wait: only then does the worker look for its signal."""
        return self.can_wait and Wait in _outcomes_of(self.fn)

    @cached_property
    def maps(self) -> bool:
        """Whether it may return Map: only then does the worker look for its children."""
        return self.can_wait and Map in _outcomes_of(self.fn)

    @property
    def can_wait(self) -> bool:
        return self.batch_size is None and self.kind is not StepKind.PROCESS

    @property
    def label(self) -> str:
        return f"{self.pipeline.name}.{self.name}"

    @property
    def process_limits(self) -> ProcessLimits:
        return _SANDBOXED if self.sandbox else _TRUSTED

    @property
    def result_key(self) -> str:
        """The key of its result among those of its item; the database stores `*` separately, as normalized."""
        return "*" if self.normalizes else self.name

    @property
    def title(self) -> str:
        return f"step {self.label}"

    @property
    def takes_context(self) -> bool:
        return True

    def __call__(self, ctx: Context, *args: Any) -> Any:
        """Call the function of the step, for example in a unit test."""
        return self.fn(ctx, *args)

    def __repr__(self) -> str:
        return f"<step {self.label}>"


_OUTCOMES = (NotFound, Skip, Snooze, Cancel, Wait)


def _value_of(annotation: Any) -> Any:
    """The annotation of the value of a step, without the outcomes that it may return instead."""
    parts = typing.get_args(annotation) if _is_union(annotation) else (annotation,)
    values = [_stored_as(part) for part in parts if part not in _OUTCOMES]
    return typing.Union[tuple(values)] if values else None  # noqa: UP007 - built at run time


def _stored_as(part: Any) -> Any:
    kind = typing.get_origin(part) or part
    if kind is Done:
        return (typing.get_args(part) or (Any,))[0]
    return Mapped if kind is Map else part


def _outcomes_of(fn: Callable[..., Any]) -> list[Any]:
    """The outcomes that the return type of a function contains, at any depth."""
    try:
        parts = [typing.get_origin(part) or part for part in _parts_of(typing.get_type_hints(fn).get("return"))]
        return [each for each in (*_OUTCOMES, Map) if each in parts]
    except Exception:  # names in the annotations may exist later, or for type checkers only
        words = set(re.findall(r"\w+", str(getattr(fn, "__annotations__", {}).get("return"))))
        found = [each for each in _OUTCOMES if not words.isdisjoint((each.__name__, "Outcome"))]
        return [*found, Map] if "Map" in words else found


def _parts_of(annotation: Any) -> list[Any]:
    parts = [annotation]
    for part in parts:  # it grows
        inner = (part.__value__,) if hasattr(part, "__value__") else typing.get_args(part)  # of a `type` statement
        parts.extend(each for each in inner if each not in parts)
    return parts


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


class Declared(Generic[I, *Rs]):
    """The decorator that `step` returns; it knows the types that the function must take."""

    def __init__(self, make: Callable[[Callable[..., Any]], Step[I, Any]]) -> None:
        self._make = make

    @overload
    def __call__(self, fn: Callable[[Context, I, *Rs], Awaitable[Returned[R] | Outcome]], /) -> Step[I, R]: ...
    @overload
    def __call__(self, fn: Callable[[Context, I, *Rs], Awaitable[R | Returned[R] | Outcome]], /) -> Step[I, R]: ...
    @overload
    def __call__(self, fn: Callable[[Context, I, *Rs], Returned[R] | Outcome], /) -> Step[I, R]: ...
    @overload
    def __call__(self, fn: Callable[[Context, I, *Rs], R | Returned[R] | Outcome], /) -> Step[I, R]: ...
    def __call__(self, fn: Callable[..., Any], /) -> Step[I, Any]:
        return self._make(fn)


class OptionalDeclared(Generic[I, *Rs]):
    """The same for an optional step: the steps after it receive None if it failed."""

    def __init__(self, make: Callable[[Callable[..., Any]], Step[I, Any]]) -> None:
        self._make = make

    @overload
    def __call__(self, fn: Callable[[Context, I, *Rs], Awaitable[Returned[R] | Outcome]], /) -> Step[I, R | None]: ...
    @overload
    def __call__(
        self, fn: Callable[[Context, I, *Rs], Awaitable[R | Returned[R] | Outcome]], /
    ) -> Step[I, R | None]: ...
    @overload
    def __call__(self, fn: Callable[[Context, I, *Rs], Returned[R] | Outcome], /) -> Step[I, R | None]: ...
    @overload
    def __call__(self, fn: Callable[[Context, I, *Rs], R | Returned[R] | Outcome], /) -> Step[I, R | None]: ...
    def __call__(self, fn: Callable[..., Any], /) -> Step[I, Any]:
        return self._make(fn)


def check_options(step: Step[Any, Any]) -> None:
    """Raises: DefinitionError."""
    where = f"step {step.pipeline.name}.{step.name}"
    low, high = step.concurrency
    if not 1 <= low <= high <= 10_000:
        raise DefinitionError(f"{where}: concurrency is (least, most) with 1 ≤ least ≤ most ≤ 10000")
    if step.timeout is not None and step.timeout <= 0:
        raise DefinitionError(f"{where}: timeout must be positive")
    _check_limits(step, where)
    _check_order(step, where)
    if not 0 <= step.linger <= _LONGEST_LINGER:
        raise DefinitionError(f"{where}: linger must be between 0 and {_LONGEST_LINGER} seconds")
    if not 1 <= step.max_expiries <= 1000:
        raise DefinitionError(f"{where}: max_expiries must be between 1 and 1000")
    for limit in step.limits:
        if limit.name.startswith(RESERVED_PREFIX):
            raise DefinitionError(
                f"{where}: the limit name {limit.name!r} is reserved: choose one that does not begin with "
                f"{RESERVED_PREFIX!r}"
            )
    if step.normalizes and (step.after_all or any(each.normalizes for each in step.pipeline.steps.values())):
        raise DefinitionError(
            f"{where}: only one step of a pipeline can have normalizes=True, and no after_all step can"
        )
    _check_kind(step, where)


def _check_kind(step: Step[Any, Any], where: str) -> None:
    # With all outcomes the type is `Outcome`, which every step may have: then the values that it returns are checked.
    if not step.can_wait and Wait in (found := _outcomes_of(step.fn)) and len(found) < len(_OUTCOMES):
        raise DefinitionError(f"{where}: batch steps and process steps cannot wait for signals")
    if not step.can_wait and Map in _outcomes_of(step.fn):
        raise DefinitionError(f"{where}: batch steps and process steps cannot return Map")
    if step.kind is StepKind.PROCESS and step.memory_mb < 32:
        raise DefinitionError(f"{where}: memory_mb must be at least 32")
    if step.sandbox and step.kind is not StepKind.PROCESS:
        raise DefinitionError(f'{where}: sandbox is for steps of kind "process"')
    if step.kind is StepKind.PROCESS and "<locals>" in step.fn.__qualname__:
        raise DefinitionError(f"{where}: a process step must be a module-level function that its process can import")


def _check_limits(step: Step[Any, Any], where: str) -> None:
    if step.batch_size is not None and any(limit.key is not None for limit in step.limits):
        raise DefinitionError(
            f"{where}: a batch step cannot have a limit with a key, because its items may have different keys; "
            "remove the key, or use a step without batches"
        )


def _check_order(step: Step[Any, Any], where: str) -> None:
    if step.order is None:
        return
    if step.batch_size is not None or step.after_all:
        raise DefinitionError(
            f"{where}: a batch step or after_all step cannot have ordered_by, because it does not run item by item; "
            "use it with a step of single items"
        )
    check_field(step.order, step.pipeline.input_type, where)
