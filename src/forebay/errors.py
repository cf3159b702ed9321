"""Every error that forebay raises, and every error that a step may raise.

    ForebayError
    ├── RequestError            the caller asked for something that cannot be: names the field and the reason
    │   ├── UnknownPipeline
    │   ├── InvalidField
    │   ├── InputTooLarge
    │   ├── NotFoundError            no such job, item, queue …
    │   └── ConflictError          e.g. pausing a job that has ended
    ├── DefinitionError         a pipeline is declared wrongly: found when it is imported
    ├── SchemaError             the database has no forebay schema, or one that does not fit
    ├── DatabaseUnavailable     the database cannot be reached
    │   ├── DatabaseBusy        all connections to it are in use
    │   └── WrongRole           connections come with other rights than they should have
    ├── Busy                    this process has too much of something to do; the same works a moment later
    ├── EmbeddedError           forebay's own PostgreSQL cannot be set up or started
    └── StepError               raised by steps; the class decides what happens to the task
        ├── TransientError      retried: base·2^(n-1), capped, jittered
        ├── ThrottledError      waits as told, spends no attempt
        ├── PermanentError      ends in ERROR at once
        │   └── ContentMissing  what a file refers to is not in the store
        ├── DataError           ends in ERROR at once, with a reason the user can act on
        ├── ConfigError         parks the step's queue until it is fixed, spends no attempt
        └── ResourceError       slows this worker down, spends no attempt

Anything else that a step raises is transient, but for what `error_class` says below.
"""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING, ClassVar

from pydantic import ValidationError

from forebay.types import ErrorClass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from forebay.types import Write


class ForebayError(Exception):
    """The root of all errors of forebay."""


class RequestError(ForebayError):
    """An invalid request. It was rejected, and nothing of it was written."""

    sqlstate: ClassVar[str] = "FB002"

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class UnknownPipeline(RequestError):
    """No worker has registered a pipeline of that name."""

    sqlstate = "FB001"


class InvalidField(RequestError):
    """A field has a value that is not allowed."""


class InputTooLarge(RequestError):
    """An input has more bytes than its pipeline takes."""

    sqlstate = "FB003"


class NotFoundError(RequestError):
    """The thing that was named does not exist."""

    sqlstate = "FB004"


class ConflictError(RequestError):
    """The thing that was named is in a state that forbids this."""

    sqlstate = "FB005"


class DefinitionError(ForebayError):
    """A pipeline or step is declared wrongly."""


class SchemaError(ForebayError):
    """The database's schema is missing, older or newer than this forebay."""


class DatabaseUnavailable(ForebayError):
    """The database cannot be reached."""


class DatabaseBusy(DatabaseUnavailable, TimeoutError):
    """All connections that may be used for this are in use, and have been for a while."""


class WrongRole(DatabaseUnavailable):
    """Connections have other rights than they should have: nothing may be done with them."""


class Busy(ForebayError):
    """This process has too much of something to do at the moment."""


class StepError(ForebayError):
    """The root of what steps raise on purpose."""

    error_class: ClassVar[ErrorClass] = ErrorClass.TRANSIENT
    writes: Sequence[Write] = ()

    def writing(self, *writes: Write) -> Self:
        """The same error, with rows that commit together with it: `raise PermanentError(...).writing(Rows(...))`."""
        self.writes = writes
        return self


class TransientError(StepError):
    """It may work next time."""


class ThrottledError(StepError):
    """The other side asked for patience: try again after `retry_after` seconds.

    `ours`: it is we who hold back, for as long as it takes; the other side was not even asked.
    """

    error_class = ErrorClass.THROTTLED

    def __init__(self, reason: str = "throttled", *, retry_after: float = 30.0, ours: bool = False) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        self.ours = ours


class PermanentError(StepError):
    """It will never work."""

    error_class = ErrorClass.PERMANENT


class ContentMissing(PermanentError):
    """The store does not have what the database says it has."""


class DataError(StepError):
    """The input is at fault; the message tells its owner what to fix."""

    error_class = ErrorClass.DATA


class ConfigError(StepError):
    """The installation is at fault: a missing key, program or model."""

    error_class = ErrorClass.CONFIG


class ResourceError(StepError):
    """This machine is at its limit: disk full, out of memory."""

    error_class = ErrorClass.RESOURCE


# What drivers add to a message: the values of the row that was refused, the statement and its parameters.
_VALUES = re.compile(r"\n(?:DETAIL|CONTEXT|LINE \d+|HINT|\[SQL|\[parameters).*", re.DOTALL)


def message_without_values(error: BaseException) -> str:
    """What an error says, without the values that a database driver adds: those may be secret."""
    return strip_values(str(error))


def strip_values(text: str) -> str:
    """The same for a message."""
    return _VALUES.sub("", text).strip()


def one_line(error: BaseException) -> str:
    """An error in one line, for logs."""
    return message_without_values(error).partition("\n")[0] or type(error).__name__


_EXHAUSTED = {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM}


def classify_error(error: BaseException) -> ErrorClass:
    """The class of anything that a step has raised."""
    if isinstance(error, StepError):
        return error.error_class
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _EXHAUSTED):
        return ErrorClass.RESOURCE
    if isinstance(error, ValidationError | UnicodeError):
        return ErrorClass.DATA
    return ErrorClass.TRANSIENT


_BY_SQLSTATE: dict[str, type[RequestError]] = {
    kind.sqlstate: kind for kind in (UnknownPipeline, InvalidField, InputTooLarge, NotFoundError, ConflictError)
}


def from_sqlstate(sqlstate: str | None, field: str | None, message: str) -> RequestError | None:
    """The error behind an SQLSTATE of forebay's own, raised by its SQL functions; None for all others."""
    kind = _BY_SQLSTATE.get(sqlstate or "")
    if kind is None:
        return None
    field = field or "request"
    return kind(field, message.removeprefix(f"{field}: "))
