"""The messages between a pool and its children: calls, results and errors."""

from __future__ import annotations

import io
import pickle
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.engine.declare.limited import OutputFile
from forebay.engine.processes import child as steps
from forebay.engine.submit.checked_submit import CheckedSubmit
from forebay.errors import ConfigError, DataError, TransientError, classify_error
from forebay.runner import codec, failures, frames
from forebay.runner.child import Call
from forebay.types import Cancel, Done, ErrorClass, NotFound, Rows, Skip, Snooze, Statement

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.engine.declare.context import Context
    from forebay.engine.declare.limited import Callee
    from forebay.runner.codec import Classes

_OUTCOMES = (Done, NotFound, Skip, Snooze, Cancel)
_WRITES = (Rows, Statement, CheckedSubmit)


class Overrun(TransientError):
    """A call exceeded a limit: memory, time or disk."""


class BrokenProtocol(DataError):
    """A child sent an invalid message: its input controls it, or has damaged it."""


class EncodedCall:
    """One call to a child: its serialized arguments, and the files among them."""

    def __init__(
        self, callee: Callee, ctx: Context, args: tuple[Any, ...], kwargs: dict[str, Any], max_bytes: int
    ) -> None:
        """Raises: DataError if the call cannot be sent."""
        buffer = io.BytesIO()
        writer = _CallPickler(buffer, with_files=callee.process_limits.sandbox)
        try:
            writer.dump(Call(steps.context_fields(ctx) if callee.takes_context else None, args, kwargs))
        except Exception as error:  # pickling can run arbitrary code
            raise DataError(f"{callee.title}: its input cannot be sent to its process: {error}") from error
        self.body = buffer.getvalue()
        self.inputs, self.outputs = writer.inputs, writer.outputs
        if len(self.body) > max_bytes:
            raise DataError(
                f"{callee.title}: its input has {len(self.body)} bytes; at most {max_bytes} can be sent to its process"
            )


class _CallPickler(pickle.Pickler):
    """Serializes a call; files are replaced by numbers, because the child sees them under other paths."""

    def __init__(self, buffer: io.BytesIO, *, with_files: bool) -> None:
        super().__init__(buffer, pickle.HIGHEST_PROTOCOL)
        self._with_files = with_files
        self.inputs: list[Path] = []
        self.outputs: list[Path] = []

    def persistent_id(self, obj: Any) -> Any:
        if not self._with_files or not isinstance(obj, Path):
            return None
        if isinstance(obj, OutputFile):
            self.outputs.append(Path(obj))
            return "output", len(self.outputs) - 1
        if not obj.is_file():
            return None
        if obj not in self.inputs:
            self.inputs.append(obj)
        return "input", self.inputs.index(obj)


def decode_answer(callee: Callee, kind: bytes, answer: bytes) -> Any:
    """Return the result of a call.

    Raises: what the function raised; DataError if its process violated the protocol.
    """
    if kind == frames.OUT_OF_MEMORY:
        raise out_of_memory(callee)
    if kind == frames.OVERRUN:
        raise Overrun(answer.decode(errors="replace"))
    if kind == frames.UNSENDABLE:
        raise DataError(f"{callee.title}: {answer.decode(errors='replace')}")
    try:
        if kind == frames.ERROR:
            error = failures.load(answer, classes_of(callee), with_writes=not callee.process_limits.sandbox)
        else:
            # It may take as much here as in its process, where it was made within that limit.
            return _checked(callee, codec.decode(answer, classes_of(callee), callee.memory_mb << 20))
    except codec.CodecError as bad:
        raise BrokenProtocol(f"{callee.title}: its result cannot be read: {bad}") from bad
    raise _allowed(callee, error) if callee.process_limits.sandbox else error


def _allowed(callee: Callee, error: Exception) -> Exception:
    """Restrict the errors of a sandboxed process. Its input may control it, so it can fail its task, but it can neither
    pause this worker nor stop a queue for all workers.
    """
    kind, text = classify_error(error), f"{type(error).__name__}: {error}"
    if kind in (ErrorClass.DATA, ErrorClass.PERMANENT, ErrorClass.TRANSIENT):
        return error
    if kind is ErrorClass.RESOURCE:
        return _replace_error(error, Overrun(f"exceeded its limits ({text})"))
    if kind is ErrorClass.CONFIG and callee.process_limits.lacks_needs:
        return error  # this process misses it, too
    return _replace_error(error, TransientError(text))


def _replace_error(error: Exception, instead: Exception) -> Exception:
    instead.__cause__ = error.__cause__
    return instead


def _checked(callee: Callee, value: Any) -> Any:
    """Only steps that are trusted with the database may return rows."""
    writing = any(
        (isinstance(each, Done | NotFound | Skip) and each.writes) or (isinstance(each, Done) and each.submits)
        for each in _outcomes(value)
    )
    if callee.process_limits.sandbox and writing:
        raise codec.CodecError("a sandboxed step cannot write rows or submit jobs: return them from a later step")
    return value


def _outcomes(value: Any) -> list[Any]:
    """The outcome, or the outcomes of a batch."""
    return value if value.__class__ is list else [value]


def classes_of(callee: Callee) -> Classes:
    """The classes that its results may contain."""
    outcomes: tuple[Any, ...] = ()
    if callee.takes_context:
        outcomes = _OUTCOMES if callee.process_limits.sandbox else (*_OUTCOMES, *_WRITES)
    return _classes(callee.fn, callee.process_limits.returns, outcomes)


@lru_cache(maxsize=512)
def _classes(fn: Callable[..., Any], returns: tuple[Any, ...], outcomes: tuple[Any, ...]) -> Classes:
    found = codec.classes_of(codec.returned_by(fn), *returns)
    found |= {codec.name_of(kind): kind for kind in outcomes}
    own = {name: kind for name, kind in found.items() if kind.__module__ == "__main__"}
    return found | {name.replace("__main__", frames.MAIN_ALIAS, 1): kind for name, kind in own.items()}


def load_error(callee: Callee, body: bytes) -> Exception:
    """The error for a process that could not import its function."""
    text, trace = failures.text_of(body)
    return failures.with_trace(ConfigError(f"{callee.title} cannot be loaded in its process: {text}"), trace)


def out_of_memory(callee: Callee) -> Overrun:
    return Overrun(f"needed more than {callee.memory_mb} MB of memory")
