"""What a running step knows about itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from forebay.engine.declare.limited import Limited
    from forebay.engine.declare.resources import Resource
    from forebay.types import ItemRecord

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Progress(NamedTuple):
    """How far a step is, as it tells."""

    fraction: float | None
    note: str | None
    bytes_done: int | None = None
    bytes_total: int | None = None


class StepServices(Protocol):
    """What a worker does for its running steps."""

    def note(self, ctx: Context, told: Progress) -> None: ...
    async def get(self, resource: Resource[Any]) -> Any: ...
    async def call(self, ctx: Context, limited: Limited[..., Any], args: Any, kwargs: Any) -> Any: ...


class Context:
    """One attempt, as its step sees it."""

    __slots__ = (
        "__weakref__",
        "_items",
        "_services",
        "attempt",
        "cancelled",
        "job_id",
        "n",
        "owner_id",
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
        self._services = services
        self._items: Callable[[], AsyncIterator[ItemRecord]] | None = None

    @property
    def key(self) -> str:
        """The same for every attempt of this task: an idempotency key for the services that the step calls."""
        return f"{self.job_id}-{self.n}-{self.step}"

    def progress(
        self,
        fraction: float | None = None,
        note: str | None = None,
        *,
        bytes_done: int | None = None,
        bytes_total: int | None = None,
    ) -> None:
        """Tell how far the step is; cheap, may be called often and from any thread or process.

        Without a fraction it is taken from the bytes, when both are known.
        """
        if fraction is None and bytes_done is not None and bytes_total:
            fraction = bytes_done / bytes_total
        self._services.note(self, Progress(fraction, note, bytes_done, bytes_total))

    async def get(self, resource: Resource[T]) -> T:
        """What the steps of this worker share; for async steps."""
        found: T = await self._services.get(resource)
        return found

    async def call(self, limited: Limited[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function in a process of its own, with its limits; for async steps.

        Raises: what the function raises; TransientError when its process dies, or needs more time or memory.
        """
        answer: R = await self._services.call(self, limited, args, kwargs)
        return answer

    def read_items(self, items: Callable[[], AsyncIterator[ItemRecord]]) -> None:
        """Engine only: where `items` come from."""
        self._items = items

    def items(self) -> AsyncIterator[ItemRecord]:
        """The items of the job with their results, in order; for `after_all` steps."""
        if self._items is None:
            raise RuntimeError("only after_all steps can read the items of their job")
        return self._items()
