"""The statements of a submit, in order: written once, run by asynchronous and synchronous connections."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from forebay.engine.db.loads import ItemLoad

if TYPE_CHECKING:
    from forebay.engine.db.adapters import AsyncAdapter, Row, SyncAdapter

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Fetch:
    """One statement that returns one row."""

    sql: str
    args: Sequence[object]


# The steps of a submit, independent of async or sync: a generator that yields requests and receives their results.
Plan: TypeAlias = Generator[Fetch | ItemLoad, Any, R]


async def perform(adapter: AsyncAdapter, plan: Plan[R]) -> R:
    """Run the statements of a submit."""
    answer: Row | None = None
    try:
        while True:
            request = plan.send(answer)
            if isinstance(request, Fetch):
                answer = await adapter.fetch_row(request.sql, request.args)
            else:
                await adapter.copy_items(request)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def perform_sync(adapter: SyncAdapter, plan: Plan[R]) -> R:
    """Same as `perform`, on a synchronous connection."""
    answer: Row | None = None
    try:
        while True:
            request = plan.send(answer)
            if isinstance(request, Fetch):
                answer = adapter.fetch_row(request.sql, request.args)
            else:
                adapter.copy_items(request)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
