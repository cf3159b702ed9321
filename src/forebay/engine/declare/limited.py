"""Functions that run in a child process with limits: for the parts of a step that process untrusted data."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from forebay.errors import DefinitionError

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class ProcessLimits:
    """The limits of a function in a child process, besides memory and time."""

    sandbox: bool = True
    file_mb: int | None = 1024  # maximum size of a file that it writes
    scratch_mb: int = 256  # maximum size of its temporary files
    returns: tuple[Any, ...] = ()
    releases_files: bool = False  # remove the links to its files after each call, and not before the next one
    needs: tuple[str, ...] = ()  # packages, or files of them; if one is missing, the function may raise ConfigError

    @property
    def lacks_needs(self) -> bool:
        """Whether this process misses something in `needs`, too."""
        return any(map(_is_missing, self.needs))


def _is_missing(need: str) -> bool:
    package, _, pattern = need.partition("/")
    spec = find_spec(package)
    if spec is None or not pattern:
        return spec is None
    return not any(True for folder in spec.submodule_search_locations or () for _ in Path(folder).glob(pattern))


class Callee(Protocol):
    """What a process pool must know about a callee: a process step or a limited function."""

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
    def process_limits(self) -> ProcessLimits: ...


@dataclass(frozen=True, eq=False)
class Limited(Generic[P, R]):
    """A module-level function with a memory and a time limit for each call; steps call it with `ctx.call`."""

    fn: Callable[P, R]
    memory_mb: int
    timeout: float | None
    process_limits: ProcessLimits = ProcessLimits()

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
    """An argument of a limited function: a file that the function may write. The function receives a path to it."""

    def __reduce__(self) -> Any:
        return Path, (os.fspath(self),)


def limited(  # noqa: PLR0913 - independent options
    fn: Callable[P, R],
    *,
    memory_mb: int = 512,
    timeout: float | None = 60.0,
    sandbox: bool = True,
    file_mb: int = 1024,
    scratch_mb: int = 256,
    returns: tuple[Any, ...] = (),
    releases_files: bool = False,
    needs: tuple[str, ...] = (),
) -> Limited[P, R]:
    """Declare a function that runs in a separate process. If a call exceeds its memory or time limit, the process and
    all its descendants are killed.

    The process is sandboxed according to FOREBAY_SANDBOX: it has no network and no secrets, and it sees only Python,
    the application's modules and the files among its arguments. A `Path` argument is a file to read, an `OutputFile`
    argument a file to write. The files of a call stay linked for the next one, unless the function `releases_files`, as
    for those that are moved afterwards. The function can return plain data and instances of the classes that its return
    type or `returns` mentions. An exception fails only the calling task: a ConfigError, which would stop the queue, is
    accepted only if something in `needs` is missing, and becomes a TransientError otherwise. A need is a package
    (`PIL`), or files in the folder of a package (`rapidocr/models/*.onnx`).
    """
    if "<locals>" in fn.__qualname__:
        raise DefinitionError(f"{fn.__qualname__}: must be a module-level function, so that its process can import it")
    if memory_mb < 32 or (timeout is not None and timeout <= 0):
        raise DefinitionError(f"{fn.__qualname__}: memory_mb must be at least 32, and the timeout positive")
    if file_mb < 1 or scratch_mb < 1:
        raise DefinitionError(f"{fn.__qualname__}: file_mb and scratch_mb must be at least 1")
    return Limited(fn, memory_mb, timeout, ProcessLimits(sandbox, file_mb, scratch_mb, returns, releases_files, needs))
