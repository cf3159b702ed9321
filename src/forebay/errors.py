"""Every error that forebay raises, and every error that a step may raise.

    ForebayError
    ├── RequestError            invalid request: names the field and the reason
    │   ├── UnknownPipeline
    │   ├── InvalidField
    │   ├── InputTooLarge
    │   ├── NotFoundError       there is no such job, item, queue …
    │   └── ConflictError       e.g. pausing a job that has ended
    ├── DefinitionError         a pipeline is declared incorrectly: raised at import
    ├── SchemaError             the database has no forebay schema, or another version
    ├── DatabaseUnavailable     the database cannot be reached
    │   ├── DatabaseBusy        all connections to it are in use
    │   └── WrongRole           connections do not have the expected rights
    ├── Busy                    this process is overloaded; retry later
    ├── EmbeddedError           the embedded PostgreSQL cannot be created or started
    └── StepError               raised by steps; the class determines what happens to the task
        ├── TransientError      retried after base·2^(n-1) s, capped, with jitter
        ├── ThrottledError      retried after the given time, uses no attempt
        ├── PermanentError      ends in ERROR without a retry
        │   └── ContentMissing  the content of a file is not in the store
        ├── DataError           ends in ERROR without a retry, with a reason for the user
        ├── ConfigError         parks the step's queue until it is fixed, uses no attempt
        └── ResourceError       slows this worker down, uses no attempt

Any other exception of a step is transient, except those that `classify_error` handles below.
"""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING, ClassVar

from forebay.types import ErrorClass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from forebay.types import Write


class ForebayError(Exception):
    """The base class of all errors of forebay."""


class RequestError(ForebayError):
    """An invalid request. It was rejected, and nothing was written."""

    sqlstate: ClassVar[str] = "FB002"

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class UnknownPipeline(RequestError):
    """No pipeline with this name is registered."""

    sqlstate = "FB001"


class InvalidField(RequestError):
    """A field has a value that is not allowed."""


class InputTooLarge(RequestError):
    """An input is larger than its pipeline allows."""

    sqlstate = "FB003"


class NotFoundError(RequestError):
    """The requested object does not exist."""

    sqlstate = "FB004"


class ConflictError(RequestError):
    """The state of the requested object does not allow the operation."""

    sqlstate = "FB005"


class DefinitionError(ForebayError):
    """A pipeline or step is declared incorrectly."""


class SchemaError(ForebayError):
    """The database's schema is missing, or older or newer than this forebay."""


class DatabaseUnavailable(ForebayError):
    """The database cannot be reached."""


class DatabaseBusy(DatabaseUnavailable, TimeoutError):
    """All connections for this purpose have been in use for a while."""


class WrongRole(DatabaseUnavailable):
    """Connections do not have the expected rights, and must not be used."""


class Busy(ForebayError):
    """This process is overloaded at the moment."""


class StepError(ForebayError):
    """The base class of errors that steps raise deliberately."""

    error_class: ClassVar[ErrorClass] = ErrorClass.TRANSIENT
    writes: Sequence[Write] = ()

    def writing(self, *writes: Write) -> Self:
        """The same error, with rows that are committed with it: `raise PermanentError(...).writing(Rows(...))`."""
        self.writes = writes
        return self


class TransientError(StepError):
    """A retry may succeed."""


class ThrottledError(StepError):
    """A remote service asks to retry after `retry_after` seconds.

    `ours`: our own limit delays the task, for as long as necessary; the remote service was not called.
    `says_when`: the message says when the next try is.
    """

    error_class = ErrorClass.THROTTLED

    def __init__(
        self, reason: str = "throttled", *, retry_after: float = 30.0, ours: bool = False, says_when: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        self.ours = ours
        self._says_when = says_when

    def __str__(self) -> str:
        return f"{self.reason}; retrying in {self.retry_after:.0f} s" if self._says_when else str(self.reason)


class PermanentError(StepError):
    """A retry cannot succeed."""

    error_class = ErrorClass.PERMANENT


class ContentMissing(PermanentError):
    """The store does not have the content that the database refers to."""


class DataError(StepError):
    """The input is invalid; the message tells its owner what to fix."""

    error_class = ErrorClass.DATA


class ConfigError(StepError):
    """The installation is misconfigured: a missing key, program or model."""

    error_class = ErrorClass.CONFIG


class ResourceError(StepError):
    """This machine is at its limit: disk full, out of memory."""

    error_class = ErrorClass.RESOURCE


# What drivers append to a message: the values of the rejected row, the statement and its parameters.
_VALUES = re.compile(r"\n(?:DETAIL|CONTEXT|LINE \d+|HINT|\[SQL|\[parameters).*", re.DOTALL)


def message_without_values(error: BaseException) -> str:
    """The message of an error, without the values that a database driver appends: they may be confidential."""
    return strip_values(str(error))


def strip_values(text: str) -> str:
    """The same for a message text."""
    return _VALUES.sub("", text).strip()


def one_line(error: BaseException) -> str:
    """An error in one line, for logs."""
    return message_without_values(error).partition("\n")[0] or type(error).__name__


_EXHAUSTED = {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM}


def classify_error(error: BaseException) -> ErrorClass:
    """The class of an exception that a step raised."""
    if isinstance(error, StepError):
        return error.error_class
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _EXHAUSTED):
        return ErrorClass.RESOURCE
    if isinstance(error, UnicodeError):
        return ErrorClass.DATA
    return ErrorClass.TRANSIENT


_BY_SQLSTATE: dict[str, type[RequestError]] = {
    kind.sqlstate: kind for kind in (UnknownPipeline, InvalidField, InputTooLarge, NotFoundError, ConflictError)
}


def from_sqlstate(sqlstate: str | None, field: str | None, message: str) -> RequestError | None:
    """The error for one of forebay's SQLSTATEs, which its SQL functions raise; None for all others."""
    kind = _BY_SQLSTATE.get(sqlstate or "")
    if kind is None:
        return None
    field = field or "request"
    return kind(field, message.removeprefix(f"{field}: "))
