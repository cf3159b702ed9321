"""Converts driver errors about an invalid request into errors of forebay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forebay.errors import ForebayError, InvalidField, RequestError, from_sqlstate

if TYPE_CHECKING:
    from types import TracebackType

# The SQLSTATEs with which PostgreSQL rejects an input value.
_BAD_INPUT = {
    "22003": "has a number that PostgreSQL cannot hold",
    "22021": "has text that is not valid in the database's encoding",
    "22P02": "is not valid JSON",
    "22P05": "has a character that the database cannot store",
    "54000": "is larger than PostgreSQL can hold",
    "54001": "is nested too deeply",
}


def rejection(error: BaseException) -> RequestError | None:
    """The request error for a driver's error; None if the request is not the cause."""
    if isinstance(error, ForebayError):
        return None  # raised by the caller's items while they were being sent
    origin: Any = getattr(error, "orig", None) or error  # SQLAlchemy wraps the driver's errors …
    if not hasattr(origin, "diag") and not hasattr(origin, "column_name"):
        origin = origin.__cause__ or origin  # … and those of asyncpg twice
    diag: Any = getattr(origin, "diag", None)
    sqlstate: str | None = getattr(origin, "sqlstate", None) or getattr(diag, "sqlstate", None)
    if sqlstate is None:
        return None
    if reason := _BAD_INPUT.get(sqlstate):
        return InvalidField("input", reason)
    if diag is not None:
        return from_sqlstate(sqlstate, diag.column_name, diag.message_primary or "")
    return from_sqlstate(sqlstate, origin.column_name, str(origin))


class _Rejections:
    """Raises forebay's error instead of the driver's if the request is invalid."""

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and (better := rejection(error)):
            raise better from error


rejections = _Rejections()
