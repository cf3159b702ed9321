"""Progress that a runner reports: the fields that are known, with values that the API can show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, Field, TypeAdapter, ValidationError

from forebay.engine.work.attempt import clean

_LARGEST = 2**53  # a number that JavaScript holds exactly
_TEXT: TypeAdapter[Any] = TypeAdapter(Annotated[str, AfterValidator(lambda text: clean(text[:200]))])
_BYTES: TypeAdapter[Any] = TypeAdapter(Annotated[int, Field(ge=0, le=_LARGEST)])
_FIELDS: dict[str, TypeAdapter[Any]] = {
    "step": _TEXT,
    "note": _TEXT,
    "fraction": TypeAdapter(Annotated[float, Field(ge=0, le=1)]),
    "bytesDone": _BYTES,
    "bytesTotal": _BYTES,
    "bytesPerSecond": TypeAdapter(Annotated[float, Field(ge=0, le=_LARGEST)]),
    "endsAt": TypeAdapter(AwareDatetime),
}


def checked_progress(reported: Mapping[str, Any]) -> dict[str, Any]:
    """What can be stored; a field with an invalid value is left out."""
    checked: dict[str, Any] = {}
    for name, field in _FIELDS.items():
        if reported.get(name) is None:
            continue
        try:
            checked[name] = field.dump_python(field.validate_python(reported[name]), mode="json")
        except ValidationError:
            continue
    return checked
