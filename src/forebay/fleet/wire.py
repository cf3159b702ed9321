"""The messages of the broker port as JSON: bounded, and checked when they are read."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from forebay.errors import DataError
from forebay.fleet.port import (
    PROTOCOL,
    REPORT_BYTES,
    Beat,
    Drop,
    InputRequest,
    Offer,
    Report,
    TaskInput,
)

M = TypeVar("M")

_TYPES: dict[type[Any], TypeAdapter[Any]] = {
    kind: TypeAdapter(kind) for kind in (Offer, Report, Beat, Drop, InputRequest, TaskInput)
}
LONGEST = 4 * REPORT_BYTES  # a message with several reports


class WireError(Exception):
    """A message that this release does not understand."""


def encode(*messages: Any) -> bytes:
    """Messages of one type as JSON."""
    return to_json(encode_object(*messages), inf_nan_mode="constants")


def encode_object(*messages: Any) -> dict[str, Any]:
    """The same for a broker whose client writes the JSON."""
    return {"v": PROTOCOL, "m": [_TYPES[type(message)].dump_python(message, mode="json") for message in messages]}


def decode(kind: type[M], data: bytes) -> list[M]:
    """Messages of one type from JSON. Unknown fields are ignored: a newer release of the same protocol adds some.

    Raises: WireError.
    """
    if len(data) > LONGEST:
        raise WireError(f"a message of {len(data)} bytes is longer than {LONGEST}")
    try:
        return decode_object(kind, from_json(data))
    except ValueError as error:
        raise WireError(f"not JSON: {error}") from None


def decode_object(kind: type[M], read: object) -> list[M]:
    """The same for a broker whose client reads the JSON.

    Raises: WireError.
    """
    message = cast("dict[str, Any]", read) if isinstance(read, dict) else {}
    if (version := message.get("v")) != PROTOCOL:
        raise WireError(f"protocol {version!r}; this release speaks {PROTOCOL}")
    check = _TYPES[kind]
    try:
        return [check.validate_python(each) for each in message.get("m") or ()]
    except (ValidationError, TypeError) as error:
        first = error.errors(include_url=False, include_input=False)[0] if isinstance(error, ValidationError) else None
        place = "" if first is None else f" at {'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise WireError(f"not a valid {kind.__name__}{place}") from None


def encode_report(report: Report) -> bytes:
    """A report as JSON.

    Raises: DataError if it is too large.
    """
    data = encode(report)
    if len(data) > REPORT_BYTES:
        raise DataError(f"the result of the step has {len(data)} bytes as JSON; a runner can report {REPORT_BYTES}")
    return data
