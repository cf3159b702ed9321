"""What a running step knows about itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from forebay.types import ItemRecord

    ProgressReport: TypeAlias = Callable[["Context", float | None, str | None], None]


class Context:
    """One attempt, as its step sees it."""

    __slots__ = ("_items", "_report", "attempt", "cancelled", "job_id", "n", "owner_id", "step", "token")

    def __init__(
        self,
        job_id: int,
        n: int,
        owner_id: int,
        step: str,
        attempt: int,
        token: int,
        report: ProgressReport,
    ) -> None:
        self.job_id = job_id
        self.n = n
        self.owner_id = owner_id
        self.step = step
        self.attempt = attempt
        self.token = token
        self.cancelled = False
        self._report = report
        self._items: Callable[[], AsyncIterator[ItemRecord]] | None = None

    @property
    def key(self) -> str:
        """The same for every attempt of this task: an idempotency key for the services that the step calls."""
        return f"{self.job_id}-{self.n}-{self.step}"

    def progress(self, fraction: float | None = None, note: str | None = None) -> None:
        """Tell how far the step is; cheap, may be called often and from any thread or process."""
        self._report(self, fraction, note)

    def read_items(self, items: Callable[[], AsyncIterator[ItemRecord]]) -> None:
        """Engine only: where `items` come from."""
        self._items = items

    def items(self) -> AsyncIterator[ItemRecord]:
        """The items of the job with their results, in order; for `after_all` steps."""
        if self._items is None:
            raise RuntimeError("only after_all steps can read the items of their job")
        return self._items()
