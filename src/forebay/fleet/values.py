"""Values of rows as JSON: what JSON has no form for is an object with one key, the type."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from forebay.errors import DataError

_MARK = "$type:"

# A datetime is a date, too, and comes first.
_ENCODERS: list[tuple[type[Any], str, Callable[[Any], Any]]] = [
    (datetime, "datetime", datetime.isoformat),
    (date, "date", date.isoformat),
    (time, "time", time.isoformat),
    (timedelta, "seconds", timedelta.total_seconds),
    (Decimal, "decimal", str),
    (UUID, "uuid", str),
    (bytes, "bytes", lambda value: b64encode(value).decode()),
]
_DECODERS: dict[str, Callable[[Any], Any]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "seconds": lambda value: timedelta(seconds=value),
    "decimal": Decimal,
    "uuid": UUID,
    "bytes": b64decode,
}


def encode_value(value: object) -> Any:
    """Raises: DataError."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(name): encode_value(each) for name, each in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [encode_value(each) for each in cast("Sequence[object]", value)]
    for kind, name, encode in _ENCODERS:
        if isinstance(value, kind):
            return {_MARK + name: encode(value)}
    raise DataError(f"a runner cannot report a value of the type {type(value).__name__} in a row")


def decode_value(value: Any) -> object:
    """Raises: ValueError, TypeError or KeyError."""
    if isinstance(value, list):
        return [decode_value(each) for each in cast("list[object]", value)]
    if not isinstance(value, dict):
        return value
    known = cast("dict[str, Any]", value)
    if len(known) == 1 and (name := next(iter(known))).startswith(_MARK):
        return _DECODERS[name.removeprefix(_MARK)](known[name])
    return {name: decode_value(each) for name, each in known.items()}
