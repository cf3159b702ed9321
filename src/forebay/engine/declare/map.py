"""Map: the outcome of a step that splits its item into many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from forebay.types import Mapped, Returned

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterable

    from forebay.engine.declare.pipeline import Pipeline

I = TypeVar("I")  # noqa: E741 - the input


@dataclass(frozen=True, slots=True)
class Map(Returned[Mapped], Generic[I]):
    """Process each of `items` by the steps of another pipeline; the step ends when all of them have ended.

    The items start when the whole iterable has been read and stored; a list, a generator or an async generator. Until
    they have ended, the step uses no worker. Its result is a `Mapped`: the steps after it get it, and read the items
    with `ctx.children`. If more than `max_failed` items fail, the step fails; None: it never fails because of them.
    A step that returns Map says so in its return type.
    """

    items: AsyncIterable[I] | Iterable[I]
    pipeline: Pipeline[I]
    max_failed: int | None = None
