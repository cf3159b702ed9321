"""Pipeline declarations: typed decorators from the input model to the result of each step."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, Unpack, overload

from pydantic import TypeAdapter

from forebay.engine.clock import in_seconds
from forebay.engine.declare.attempt_hook import AttemptHook
from forebay.engine.declare.context import Context
from forebay.engine.declare.definition import check_new_step, check_pipeline, definition_of
from forebay.engine.declare.limit import OWNER_LIMIT, Limit
from forebay.engine.declare.order import Order
from forebay.engine.declare.schedule import Schedule
from forebay.engine.declare.step import Declared, OptionalDeclared, Step, StepKind, StepOptions, check_options
from forebay.engine.submit import producer
from forebay.engine.submit.options import check_backfill
from forebay.errors import DefinitionError
from forebay.types import JobSummary, Outcome, Returned, Submit, Submitted

if TYPE_CHECKING:
    from datetime import timedelta

    from forebay.engine.db.adapters import AsyncConn, SyncConn
    from forebay.engine.declare.order import OrderKey
    from forebay.engine.submit.options import SubmitOptions
    from forebay.settings import Settings

I = TypeVar("I")  # noqa: E741 - the input
R = TypeVar("R")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")


class Pipeline(Generic[I]):
    """A named set of steps for one kind of content.

    >>> class Page(BaseModel): url: str
    >>> pages = Pipeline("pages", Page)
    >>> @pages.step()
    ... async def fetch(ctx: Context, page: Page) -> int: ...
    """

    def __init__(  # noqa: PLR0913 - the options of a declaration
        self,
        name: str,
        input: type[I],  # noqa: A002
        *,
        max_input_bytes: int = 1_048_576,
        internal: bool = False,
        reference: str | None = None,
        hooks: Iterable[AttemptHook] = (),
        title: str | None = None,
        noun: str = "item",
        tables: Sequence[str] = (),
        needs_database: bool = False,
    ) -> None:
        """`internal`: the pipeline is not available through the API. `reference`: the input field that identifies a
        failed item in the logs. `hooks` are called around each attempt. `title` and `noun` are what the web app calls
        the pipeline (by default after its name) and one of its items. `tables`: those into which its steps may write
        rows when a fleet runs them; workers do not check this. `needs_database`: no fleet runs its steps."""
        self.hooks = tuple(hooks)
        check_pipeline(name, self.hooks)
        self.name = name
        self.input: TypeAdapter[I] = TypeAdapter(input)
        self.input_type: Any = input
        self.max_input_bytes = max_input_bytes
        self.internal = internal
        self.reference = reference
        self.title = title or name.replace("_", " ").capitalize()
        self.noun = noun
        self.tables = frozenset(tables)
        self.needs_database = needs_database
        self.steps: dict[str, Step[I, Any]] = {}
        self.schedules: list[Schedule[I]] = []
        self.knows_all_schedules = True  # False: what declares others cannot be read now, so that none is removed
        self._tunings: list[Callable[[Settings], None]] = []

    def tuning(self, fn: Callable[[Settings], None]) -> Callable[[Settings], None]:
        """Declare a function that configures the pipeline from the settings (retries, schedules); runs before a worker
        starts."""
        self._tunings.append(fn)
        return fn

    def tune(self, settings: Settings) -> None:
        """Apply the settings."""
        for step in self.steps.values():
            if not step.has_timeout:
                step.timeout = settings.step_timeout_s or None
            step.limits = _with_owner_limit(step, settings.owner_concurrency)
        for fn in self._tunings:
            fn(settings)

    @overload
    def step(
        self, *, after: None = None, optional: Literal[False] = False, **options: Unpack[StepOptions]
    ) -> Declared[I]: ...
    @overload
    def step(
        self, *, after: Step[I, A] | tuple[Step[I, A]], optional: Literal[False] = False, **options: Unpack[StepOptions]
    ) -> Declared[I, A]: ...
    @overload
    def step(
        self,
        *,
        after: tuple[Step[I, A], Step[I, B]],
        optional: Literal[False] = False,
        **options: Unpack[StepOptions],
    ) -> Declared[I, A, B]: ...
    @overload
    def step(
        self,
        *,
        after: tuple[Step[I, A], Step[I, B], Step[I, C]],
        optional: Literal[False] = False,
        **options: Unpack[StepOptions],
    ) -> Declared[I, A, B, C]: ...
    @overload
    def step(
        self,
        *,
        after: tuple[Step[I, A], Step[I, B], Step[I, C], Step[I, D]],
        optional: Literal[False] = False,
        **options: Unpack[StepOptions],
    ) -> Declared[I, A, B, C, D]: ...
    @overload
    def step(
        self, *, after: None = None, optional: Literal[True], **options: Unpack[StepOptions]
    ) -> OptionalDeclared[I]: ...
    @overload
    def step(
        self, *, after: Step[I, A] | tuple[Step[I, A]], optional: Literal[True], **options: Unpack[StepOptions]
    ) -> OptionalDeclared[I, A]: ...
    @overload
    def step(
        self,
        *,
        after: tuple[Step[I, A], Step[I, B]],
        optional: Literal[True],
        **options: Unpack[StepOptions],
    ) -> OptionalDeclared[I, A, B]: ...
    def step(
        self,
        *,
        after: Step[I, Any] | tuple[Step[I, Any], ...] | None = None,
        optional: bool = False,
        **options: Unpack[StepOptions],
    ) -> Any:
        """Declare a step. Its function takes the context, the input, and the results of the steps in `after`, in order.

        The failure of an optional step does not fail the item: the steps after it receive None.
        """

        def add(fn: Callable[..., Any]) -> Step[I, Any]:
            return self._add(fn, after, options, optional=optional)

        return Declared[I, *tuple[Any, ...]](add)

    def after_all(
        self, *, after: Step[I, Any] | tuple[Step[I, Any], ...] | None = None, **options: Unpack[StepOptions]
    ) -> Callable[[Callable[[Context, JobSummary], Awaitable[R | Returned[R] | Outcome]]], Step[I, R]]:
        """Declare a step that runs once per job, after all items have ended."""
        return lambda fn: self._add(fn, after, options, after_all=True)

    @overload
    def batch_step(
        self,
        *,
        size: int,
        linger: float | timedelta = 0.0,
        after: None = None,
        optional: bool = False,
        **options: Unpack[StepOptions],
    ) -> Callable[[Callable[[Context, Sequence[I]], Awaitable[Sequence[R | Outcome]]]], Step[I, R]]: ...
    @overload
    def batch_step(
        self,
        *,
        size: int,
        linger: float | timedelta = 0.0,
        after: Step[I, A],
        optional: bool = False,
        **options: Unpack[StepOptions],
    ) -> Callable[[Callable[[Context, Sequence[tuple[I, A]]], Awaitable[Sequence[R | Outcome]]]], Step[I, R]]: ...
    def batch_step(
        self,
        *,
        size: int,
        linger: float | timedelta = 0.0,
        after: Step[I, Any] | None = None,
        optional: bool = False,
        **options: Unpack[StepOptions],
    ) -> Any:
        """Declare a step that takes up to `size` items per call and returns one value or outcome for each.

        A batch that is not full waits up to `linger` (seconds, or a timedelta) for more items.
        """
        if not 1 <= size <= 10_000:
            raise DefinitionError(f"{self.name}: the size of a batch step must be between 1 and 10000")

        def add(fn: Callable[..., Any]) -> Step[I, Any]:
            return self._add(fn, after, options, optional=optional, batch_size=size, linger=in_seconds(linger))

        return add

    def schedule(  # noqa: PLR0913 - the options of put_schedule
        self,
        name: str,
        cron: str,
        input: I,  # noqa: A002
        *,
        owner: str = "default",
        timezone: str = "UTC",
        overlap: bool = True,
        jitter: float | timedelta = 0.0,
        backfill: bool = False,
        due_field: str | None = None,
    ) -> None:
        """Submit a job at the times of a cron expression. Workers create the schedule when they start, and remove it
        when no running worker declares it any more. A tuning that cannot tell which schedules there are sets
        `knows_all_schedules` to False: then those that exist remain. The options are those of `put_schedule`.

        Raises: InvalidField for `backfill` without `overlap`.
        """
        check_backfill(backfill=backfill, overlap=overlap)
        self.schedules = [each for each in self.schedules if each.name != name]
        self.schedules.append(Schedule(name, cron, input, owner, timezone, overlap, jitter, backfill, due_field))

    def _add(
        self,
        fn: Callable[..., Any],
        after: Step[I, Any] | tuple[Step[I, Any], ...] | None,
        options: StepOptions,
        *,
        optional: bool = False,
        after_all: bool = False,
        batch_size: int | None = None,
        linger: float = 0.0,
    ) -> Step[I, Any]:
        parents = after if isinstance(after, tuple) else (after,) if after is not None else ()
        given = dict(options)
        name = typing.cast("str", given.pop("name", fn.__name__))
        kind = StepKind(typing.cast("str", given.pop("kind", _natural_kind(fn))))
        check_new_step(self, name, fn, kind, parents, after_all=after_all)
        queue = typing.cast("str", given.pop("queue", f"{self.name}.{name}"))
        given["limits"] = tuple(options.get("limits", ()))
        given["has_timeout"] = "timeout" in options
        if (ordered_by := given.pop("ordered_by", None)) is not None:
            given["order"] = Order(typing.cast("OrderKey", ordered_by))
        step = Step[I, Any](
            self,
            name,
            fn,
            parents,
            optional,
            after_all,
            batch_size,
            linger,
            kind,
            queue=queue,
            **given,  # type: ignore[arg-type]
        )
        check_options(step)
        self.steps[name] = step
        return step

    def definition(self) -> dict[str, Any]:
        """The definition that the database needs to move items from step to step.

        Raises: DefinitionError.
        """
        return definition_of(self)

    def new(self, input: I, **options: Unpack[SubmitOptions]) -> Submit:  # noqa: A002
        """A job that a step submits with its result: `return Done(x, submits=[pages.new(page)])`.

        By itself, this submits nothing. The owner of the job is that of the task, unless the options name one.

        Raises: RequestError, which names the field and the reason.
        """
        return producer.new_submit(self, input, **options)

    async def submit(
        self,
        conn: AsyncConn,
        input: I,  # noqa: A002
        *,
        coalesce: bool = False,
        max_wait: float | timedelta | None = None,
        **options: Unpack[SubmitOptions],
    ) -> Submitted:
        """Submit one item as a job, in the caller's transaction.

        `coalesce` replaces the input of a job with the same key that has not started. With a `delay`, each such submit
        postpones the job, but at most until `max_wait` seconds after the first.

        Raises: RequestError, which names the field and the reason. Nothing is written in that case.
        """
        return await producer.submit(conn, self, input, coalesce=coalesce, max_wait=max_wait, **options)

    async def submit_many(
        self,
        conn: AsyncConn,
        inputs: Iterable[I],
        *,
        keys: Iterable[str | None] | None = None,
        **options: Unpack[SubmitOptions],
    ) -> Submitted:
        """Submit many items as one job, in the caller's transaction. Items with a duplicate key are omitted."""
        return await producer.submit_many(conn, self, inputs, keys=keys, **options)

    def submit_sync(
        self,
        conn: SyncConn,
        input: I,  # noqa: A002
        *,
        coalesce: bool = False,
        max_wait: float | timedelta | None = None,
        **options: Unpack[SubmitOptions],
    ) -> Submitted:
        """Same as `submit`, on a synchronous connection."""
        return producer.submit_sync(conn, self, input, coalesce=coalesce, max_wait=max_wait, **options)

    def submit_many_sync(
        self,
        conn: SyncConn,
        inputs: Iterable[I],
        *,
        keys: Iterable[str | None] | None = None,
        **options: Unpack[SubmitOptions],
    ) -> Submitted:
        """Same as `submit_many`, on a synchronous connection."""
        return producer.submit_many_sync(conn, self, inputs, keys=keys, **options)

    def __repr__(self) -> str:
        return f"<pipeline {self.name}: {' → '.join(self.steps)}>"


def _natural_kind(fn: Callable[..., Any]) -> StepKind:
    return StepKind.ASYNC if inspect.iscoroutinefunction(fn) else StepKind.THREAD


def _with_owner_limit(step: Step[Any, Any], concurrency: int | None) -> tuple[Limit, ...]:
    """The limits of a step, with that of the settings. A call of a batch step may have tasks of several owners."""
    declared = tuple(limit for limit in step.limits if limit.name != OWNER_LIMIT)
    if concurrency is None or step.batch_size is not None:
        return declared
    return (*declared, Limit.per_owner(OWNER_LIMIT, concurrency=concurrency))
