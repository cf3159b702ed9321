"""What travels between a pool and its children: calls there, results and errors back."""

from __future__ import annotations

import contextlib
import pickle
from io import BytesIO
from typing import TYPE_CHECKING, Any, cast

from forebay.engine import child as wire
from forebay.errors import (
    ConfigError,
    DataError,
    PermanentError,
    ResourceError,
    StepError,
    ThrottledError,
    TransientError,
)
from forebay.types import ErrorClass

if TYPE_CHECKING:
    from forebay.engine.context import Context
    from forebay.engine.limited import Callee


def pack(callee: Callee, ctx: Context, args: tuple[Any, ...], kwargs: dict[str, Any], max_bytes: int) -> bytes:
    call = wire.Call(wire.knowledge(ctx) if callee.takes_context else None, args, kwargs)
    try:
        body = pickle.dumps(call, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise DataError(f"{callee.title}: its input cannot be sent to its process: {error}") from error
    if len(body) > max_bytes:
        raise DataError(
            f"{callee.title}: its input has {len(body)} bytes; at most {max_bytes} can be sent to its process"
        )
    return body


def unpack(callee: Callee, kind: bytes, answer: bytes) -> Any:
    if kind == wire.OUT_OF_MEMORY:
        raise out_of_memory(callee)
    if kind == wire.UNSENDABLE:
        raise DataError(f"{callee.title}: {answer.decode(errors='replace')}")
    if kind == wire.ERROR:
        raise _raised(loads(answer))
    try:
        return loads(answer)
    except Exception as error:
        raise DataError(f"{callee.title}: its result cannot be read: {type(error).__name__}: {error}") from error


def _raised(failure: wire.Failure) -> Exception:
    error = _travelled(failure) or _substitute(failure)
    error.__cause__ = _TracebackInProcess(failure.trace)
    return error


def _travelled(failure: wire.Failure) -> Exception | None:
    if failure.pickled is None:
        return None
    with contextlib.suppress(Exception):  # its class is not here, or takes other arguments than it keeps
        error = loads(failure.pickled)
        return error if isinstance(error, Exception) else None
    return None


_SUBSTITUTES: dict[ErrorClass, type[StepError]] = {
    kind.error_class: kind for kind in (TransientError, PermanentError, DataError, ConfigError, ResourceError)
}


def _substitute(failure: wire.Failure) -> StepError:
    """An error of the same class for one that cannot leave its process."""
    if failure.retry_after is not None:
        return ThrottledError(failure.text, retry_after=failure.retry_after)
    return _SUBSTITUTES.get(ErrorClass(failure.error_class), TransientError)(failure.text)


def load_error(callee: Callee, body: bytes) -> Exception:
    failure = cast("wire.Failure", loads(body))
    error = ConfigError(f"{callee.title} cannot be loaded in its process: {failure.text}")
    error.__cause__ = _TracebackInProcess(failure.trace)
    return error


def out_of_memory(callee: Callee) -> TransientError:
    return TransientError(f"needed more than {callee.memory_mb} MB of memory")


class _TracebackInProcess(Exception):
    """Where in the step's process an error came from."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class _Unpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        return super().find_class("__main__" if module_name == wire.MAIN_ALIAS else module_name, global_name)


def loads(data: bytes) -> Any:
    return _Unpickler(BytesIO(data)).load()
