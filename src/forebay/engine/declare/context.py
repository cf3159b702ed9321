"""The context that a running step receives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from forebay.db.pool import Connection
    from forebay.engine.declare.limited import Limited
    from forebay.engine.declare.resources import Resource
    from forebay.types import ItemRecord, Mapped, Signal

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Progress(NamedTuple):
    """The progress that a step reports."""

    fraction: float | None
    note: str | None
    bytes_done: int | None = None
    bytes_total: int | None = None


class StepServices(Protocol):
    """The services that a worker provides to its running steps."""

    def report_progress(self, ctx: Context, progress: Progress) -> None: ...
    async def get(self, resource: Resource[Any]) -> Any: ...
    async def call(self, ctx: Context, limited: Limited[..., Any], args: Any, kwargs: Any) -> Any: ...
    def transaction(self, ctx: Context) -> AbstractAsyncContextManager[Connection]: ...
    def children(self, ctx: Context, mapped: Mapped) -> AsyncIterator[ItemRecord]: ...


class Context:
    """One attempt, as its step sees it: identifiers, progress, shared resources."""

    __slots__ = (
        "__weakref__",
        "_items",
        "_services",
        "attempt",
        "cancelled",
        "job_id",
        "n",
        "owner_id",
        "signal",
        "step",
        "token",
    )

    def __init__(
        self,
        job_id: int,
        n: int,
        owner_id: int,
        step: str,
        attempt: int,
        token: int,
        services: StepServices,
    ) -> None:
        self.job_id = job_id
        self.n = n
        self.owner_id = owner_id
        self.step = step
        self.attempt = attempt
        self.token = token
        self.cancelled = False
        self.signal: Signal | None = None  # what the step has waited for, when it runs again after a Wait
        self._services = services
        self._items: Callable[[], AsyncIterator[ItemRecord]] | None = None

    @property
    def key(self) -> str:
        """Identical for every attempt of this task: an idempotency key for the services that the step calls."""
        return f"{self.job_id}-{self.n}-{self.step}"

    def progress(
        self,
        fraction: float | None = None,
        note: str | None = None,
        *,
        bytes_done: int | None = None,
        bytes_total: int | None = None,
    ) -> None:
        """Report the progress of the step. The call is cheap and can be made often, from any thread or process.

        If `fraction` is omitted, it is computed from the byte counts when both are known.
        """
        if fraction is None and bytes_done is not None and bytes_total:
            fraction = bytes_done / bytes_total
        self._services.report_progress(self, Progress(fraction, note, bytes_done, bytes_total))

    async def get(self, resource: Resource[T]) -> T:
        """Return a resource that the steps of this worker share. For async steps."""
        found: T = await self._services.get(resource)
        return found

    async def call(self, limited: Limited[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function in a separate process, with its limits. For async steps.

        Raises: what the function raises; TransientError if its process dies or exceeds its time or memory limit.
        """
        answer: R = await self._services.call(self, limited, args, kwargs)
        return answer

    def transaction(self) -> AbstractAsyncContextManager[Connection]:
        """A block in the transaction that settles this step, on an asyncpg connection. For async steps without batches.

        What the blocks of an attempt write is committed with the outcome that the step returns; it is rolled back if
        the step raises, also because it is stopped, or has lost its lease. An exception that leaves a block undoes only
        that block. The transaction is open from the first block until the end of the attempt: open it after the slow
        work, and await all blocks in the step.
        """
        return self._services.transaction(self)

    def children(self, mapped: Mapped) -> AsyncIterator[ItemRecord]:
        """The items that a step before this one has mapped to, in order, with their statuses, results and errors. They
        are read page by page. For async steps."""
        return self._services.children(self, mapped)

    def read_items(self, items: Callable[[], AsyncIterator[ItemRecord]]) -> None:
        """Set the source of `items`. For the engine only."""
        self._items = items

    def items(self) -> AsyncIterator[ItemRecord]:
        """The items of the job with their results, in order. For `after_all` steps."""
        if self._items is None:
            raise RuntimeError("only after_all steps can read the items of their job")
        return self._items()
