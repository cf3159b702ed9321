"""Sends an exception of a function from its process to the worker: the name of its class, and its message."""

from __future__ import annotations

import builtins
import traceback
from typing import TYPE_CHECKING, Any

from forebay.errors import (
    ConfigError,
    DataError,
    PermanentError,
    ResourceError,
    StepError,
    ThrottledError,
    TransientError,
    classify_error,
)
from forebay.runner import codec
from forebay.types import ErrorClass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forebay.runner.codec import Classes

_LONGEST_TEXT = 20_000
_BUILTIN: dict[str, type[Exception]] = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, UnicodeError | ExceptionGroup)
}
_PLAIN = (str, int, float, bool, type(None))


def dump(error: BaseException, *, with_writes: bool = False) -> bytes:
    """In the child: serialize an error."""
    fields: dict[str, Any] = {
        "class": codec.name_of(type(error)),
        "errorClass": classify_error(error).value,
        "text": described(error)[:_LONGEST_TEXT],
        "arguments": _arguments(error),
        "trace": "".join(traceback.format_exception(error))[-_LONGEST_TEXT:],
    }
    if isinstance(error, ThrottledError):
        fields |= {"retryAfter": float(error.retry_after), "ours": bool(error.ours)}
    if with_writes and isinstance(error, StepError) and error.writes:
        fields["writes"] = list(error.writes)
    return codec.encode(fields)


def _arguments(error: BaseException) -> list[Any] | None:
    """The arguments of the exception, if they are plain and short."""
    plain = all(isinstance(each, _PLAIN) for each in error.args)
    return list(error.args) if plain and len(str(error.args)) <= _LONGEST_TEXT else None


def described(error: BaseException) -> str:
    name = type(error).__qualname__
    try:
        return f"{name}: {error}" if str(error) else name
    except Exception:  # its __str__ failed
        return name


def load(body: bytes, classes: Classes, *, with_writes: bool) -> Exception:
    """In the worker: an equivalent error of forebay's or Python's classes.

    Raises: CodecError if the bytes are not an error.
    """
    fields = codec.decode(body, classes)
    try:
        error = _same_class(fields) or _substitute(fields)
        error.__cause__ = _TracebackInProcess(str(fields["trace"]))
        if with_writes and isinstance(error, StepError):
            error.writes = tuple(fields.get("writes", ()))
    except (KeyError, TypeError, ValueError, AttributeError) as bad:
        raise codec.CodecError(f"it is not an error: {bad}") from bad
    return error


def text_of(body: bytes) -> tuple[str, str]:
    """The message of an error, and its traceback."""
    fields = codec.decode(body, {})
    return str(fields["text"]), str(fields["trace"])


def _same_class(fields: dict[str, Any]) -> Exception | None:
    """An error of the same class, if its message is the only argument of that class."""
    arguments = _plain_list(fields["arguments"])
    if arguments is None:
        return None
    module, _, name = str(fields["class"]).partition(":")
    if fields["class"] == codec.name_of(ThrottledError):
        return ThrottledError(str(arguments[0]), retry_after=float(fields["retryAfter"]), ours=fields["ours"] is True)
    if module == "builtins":
        return _BUILTIN[name](*arguments) if name in _BUILTIN else None
    for kind in _known(StepError):
        if codec.name_of(kind) == fields["class"] and kind.__init__ is StepError.__init__:
            return kind(*arguments)
    return None


def _plain_list(value: Any) -> list[Any] | None:
    """A list of plain values; None for anything else."""
    return value if value.__class__ is list and all(isinstance(each, _PLAIN) for each in value) else None


def _known(kind: type[StepError]) -> Iterator[type[StepError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _known(each)


_SUBSTITUTES: dict[ErrorClass, type[StepError]] = {
    kind.error_class: kind for kind in (TransientError, PermanentError, DataError, ConfigError, ResourceError)
}


def _substitute(fields: dict[str, Any]) -> StepError:
    """A StepError of the same kind, for an error that cannot be sent."""
    text = str(fields["text"])[:_LONGEST_TEXT]
    if "retryAfter" in fields:
        return ThrottledError(text, retry_after=float(fields["retryAfter"]))
    return _SUBSTITUTES.get(ErrorClass(fields["errorClass"]), TransientError)(text)


class _TracebackInProcess(Exception):
    """The traceback of an error in the step's process."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def with_trace(error: Exception, trace: str) -> Exception:
    error.__cause__ = _TracebackInProcess(trace)
    return error
