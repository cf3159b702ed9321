"""Blocking calls of object stores, in threads of our own.

The asynchronous functions of obstore answer from threads of Rust, which touch Python objects once more after the
caller has its answer. A process that ends at that moment is aborted (Python before 3.14). The blocking functions
touch Python in the calling thread only, and Python waits for its own threads before it ends.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Iterator

P = ParamSpec("P")
R = TypeVar("R")

_THREADS = ThreadPoolExecutor(32, thread_name_prefix="objects")  # they mostly wait for the network


async def call(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a blocking function. A cancelled call continues to its end; its result is dropped."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, partial(function, *args, **kwargs))


async def iterate(items: Iterable[R]) -> AsyncGenerator[R, None]:
    """The items of a blocking iterator."""
    iterator = iter(items)
    while found := await call(_next, iterator):
        yield found[0]


def _next(iterator: Iterator[R]) -> tuple[R] | None:
    """In a tuple: a future cannot raise StopIteration, and an item may be false."""
    for item in iterator:
        return (item,)
    return None
