"""Functions that run in a child process with limits: for parts of a step that meet what nobody can trust."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from forebay.errors import DefinitionError

P = ParamSpec("P")
R = TypeVar("R")


class Callee(Protocol):
    """What a pool of processes must know of what it calls: of a process step, or of a limited function."""

    @property
    def fn(self) -> Callable[..., Any]: ...
    @property
    def memory_mb(self) -> int: ...
    @property
    def timeout(self) -> float | None: ...
    @property
    def label(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def takes_context(self) -> bool: ...


@dataclass(frozen=True, eq=False)
class Limited(Generic[P, R]):
    """A function of a module, with the memory and the time that one call may take; steps call it with `ctx.call`."""

    fn: Callable[P, R]
    memory_mb: int
    timeout: float | None

    @property
    def label(self) -> str:
        return f"{self.fn.__module__}.{self.fn.__qualname__}"

    @property
    def title(self) -> str:
        return f"function {self.label}"

    @property
    def takes_context(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<limited {self.label}>"


def limited(fn: Callable[P, R], *, memory_mb: int = 512, timeout: float | None = 60.0) -> Limited[P, R]:
    """Make a function one that runs in a process of its own, which is killed with all that it started when a call needs
    more memory, or takes longer."""
    if "<locals>" in fn.__qualname__:
        raise DefinitionError(f"{fn.__qualname__}: must be a function of a module, for its process to import")
    if memory_mb < 32 or (timeout is not None and timeout <= 0):
        raise DefinitionError(f"{fn.__qualname__}: memory_mb must be at least 32, and the timeout positive")
    return Limited(fn, memory_mb, timeout)
