"""The part of a child process that is specific to process steps: finding the function, and its context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from forebay.engine.declare.context import Context, Progress
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.step import Step
from forebay.runner.progress import Reporter

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Iterator

    from forebay.runner.frames import Channel, Hello
    from forebay.types import Mapped


def context_fields(ctx: Context) -> dict[str, Any]:
    """The fields of a context that are sent to another process."""
    return {name: getattr(ctx, name) for name in Context.__slots__ if not name.startswith("_")}


class ChildContext(Context):
    """The context of a task in a child process: progress is sent to the worker, cancellation is read from it."""

    __slots__ = ("_cancelled", "_link", "_reporter")

    def __init__(self, known: dict[str, Any], link: Channel) -> None:
        self._link = link
        self._cancelled = False
        self._reporter = Reporter(link)
        self._services = _ChildServices()
        self._items = None
        for name, value in known.items():
            setattr(self, name, value)

    @property
    def cancelled(self) -> bool:
        self._cancelled = self._cancelled or self._link.has_input()
        return self._cancelled

    @cancelled.setter
    def cancelled(self, value: bool) -> None:
        self._cancelled = value

    def forward(self, progress: Progress) -> None:
        self._reporter.report(*progress)


class _ChildServices:
    """The services in a child process: only progress."""

    def report_progress(self, ctx: Context, progress: Progress) -> None:
        cast("ChildContext", ctx).forward(progress)

    async def get(self, resource: Any) -> Any:
        raise RuntimeError(f"{resource!r} belongs to the worker: a process step cannot use it")

    async def call(self, ctx: Context, limited: Any, args: Any, kwargs: Any) -> Any:
        raise RuntimeError(f"{limited!r}: already runs in a separate process: call the function directly")

    def transaction(self, ctx: Context) -> Any:
        raise RuntimeError("a process step has no database connection: return Done(value, writes=[…])")

    def children(self, ctx: Context, mapped: Mapped) -> Any:
        raise RuntimeError("a process step has no database connection: read the children in an async step")


def context(known: dict[str, Any], link: Channel) -> ChildContext:
    return ChildContext(known, link)


def find_function(hello: Hello, module: types.ModuleType) -> Callable[..., Any]:
    """The function of a step, from the module that declares it."""
    for step in _steps(module):
        if (step.label, step.fn.__qualname__) == (hello.label, hello.qualname):
            return step.fn
    found: Any = module
    for part in hello.qualname.split("."):
        found = getattr(found, part)
    return cast("Callable[..., Any]", found.fn if isinstance(found, Step) else found)


def _steps(module: types.ModuleType) -> Iterator[Step[Any, Any]]:
    values: list[Any] = list(vars(module).values())
    for value in values:
        if isinstance(value, Step):
            yield value
        elif isinstance(value, Pipeline):
            yield from cast("Any", value).steps.values()
