"""Functions that run in a child process with limits: for parts of a step that meet what nobody can trust."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from forebay.errors import DefinitionError

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Confines:
    """What a function in a child process gets besides memory and time."""

    sandbox: bool = True
    file_mb: int | None = 1024  # the largest file that it may write
    scratch_mb: int = 256  # what it may keep in temporary files
    returns: tuple[Any, ...] = ()
    needs: tuple[str, ...] = ()  # packages without which it may raise ConfigError


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
    @property
    def confines(self) -> Confines: ...


@dataclass(frozen=True, eq=False)
class Limited(Generic[P, R]):
    """A function of a module, with the memory and the time that one call may take; steps call it with `ctx.call`."""

    fn: Callable[P, R]
    memory_mb: int
    timeout: float | None
    confines: Confines = Confines()

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


class OutputFile(type(Path())):  # type: ignore[misc] # the class of paths on this system
    """An argument of a limited function: a file that it may write, and nothing else; the function gets a path to it."""

    def __reduce__(self) -> Any:
        return Path, (os.fspath(self),)


def limited(
    fn: Callable[P, R],
    *,
    memory_mb: int = 512,
    timeout: float | None = 60.0,
    sandbox: bool = True,
    file_mb: int = 1024,
    scratch_mb: int = 256,
    returns: tuple[Any, ...] = (),
    needs: tuple[str, ...] = (),
) -> Limited[P, R]:
    """Make a function one that runs in a process of its own, which is killed with all that it started when a call needs
    more memory, or takes longer.

    The process is sandboxed as FOREBAY_SANDBOX says: no network, no secrets, and of this machine's files only Python,
    the application's modules and the files that are arguments. A `Path` among the arguments is a file to read, an
    `OutputFile` one to write. What comes back is data, and objects of the classes that the function's return type or
    `returns` mentions. What it raises fails its own task only: a ConfigError, which stops the queue, is believed where
    one of the packages in `needs` is missing, and is a TransientError otherwise.
    """
    if "<locals>" in fn.__qualname__:
        raise DefinitionError(f"{fn.__qualname__}: must be a function of a module, for its process to import")
    if memory_mb < 32 or (timeout is not None and timeout <= 0):
        raise DefinitionError(f"{fn.__qualname__}: memory_mb must be at least 32, and the timeout positive")
    if file_mb < 1 or scratch_mb < 1:
        raise DefinitionError(f"{fn.__qualname__}: file_mb and scratch_mb must be at least 1")
    return Limited(fn, memory_mb, timeout, Confines(sandbox, file_mb, scratch_mb, returns, needs))
