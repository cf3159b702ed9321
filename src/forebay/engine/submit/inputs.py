"""Validates and encodes inputs before the database is used."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from forebay.engine.submit.nesting import MAX_DEPTH, is_too_deep
from forebay.errors import InputTooLarge, InvalidField

if TYPE_CHECKING:
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.types import Json

I = TypeVar("I")  # noqa: E741 - the input


# An escaped U+0000: its backslash is not itself escaped.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_NUL_TEXT = b"\\u0000"


class Encoder(Generic[I]):
    """Encodes the inputs of one pipeline as the JSON that its items store."""

    def __init__(self, pipeline: Pipeline[I]) -> None:
        self._adapter = pipeline.input
        self._validate: Callable[[object], Any] = pipeline.input.validator.validate_python
        self._serialize = partial(pipeline.input.serializer.to_json, by_alias=True, round_trip=True, warnings="error")
        self.limit = pipeline.max_input_bytes
        self._is_plain = next((test for kind, test in _PLAIN if kind == pipeline.input_type), None)

    def encode(self, value: I, field: str = "input") -> bytes:
        """The input as JSON.

        Raises:
            InvalidField: it does not match the pipeline's input type, or PostgreSQL cannot store it as JSON.
            InputTooLarge: it is larger than the pipeline allows.
        """
        try:
            data = self._dumped(value)
        except ValidationError as error:
            _reject_invalid(error, field)
        except (PydanticSerializationError, ValueError, RecursionError) as error:
            _reject_unwritable(value, error, field)
        if _has_escaped_nul(data):
            _reject_unwritable(value, None, field)
        if len(data) > self.limit:
            raise InputTooLarge(field, f"has {len(data)} bytes; the pipeline takes at most {self.limit}")
        _reject_depth(data, field)
        return data

    def encode_all(self, values: Sequence[I], first: int) -> list[bytes]:
        """Encode many inputs, the first of which is `inputs[first]`; they are checked one by one only if necessary."""
        try:
            encoded = [self._dump_any(value) for value in values]
        except (ValidationError, PydanticSerializationError, ValueError, RecursionError):
            encoded = []
        if len(encoded) < len(values) or self._are_suspect(encoded):
            return [self.encode(value, f"inputs[{place}]") for place, value in enumerate(values, first)]
        return encoded

    def _are_suspect(self, encoded: list[bytes]) -> bool:
        together = b"".join(encoded)
        return (
            any(word in together for word in _SUSPECT)
            or max(map(len, encoded), default=0) > self.limit
            or any(map(is_too_deep, encoded))
        )

    def _dump_any(self, value: I) -> bytes:
        # A plain dict needs no validation, which would only copy it.
        if self._is_plain is not None and self._is_plain(value):
            return to_json(value, inf_nan_mode="constants")
        return self._serialize(self._validate(value))

    def _dumped(self, value: I) -> bytes:
        data = _without_constants(self._dump_any(value))
        # Pydantic writes NaN as null by default: a lost number would look like a missing one.
        if b"null" in data and _first(_is_not_finite, value) is not None:
            raise ValueError("must be a finite number")
        return data


_encoders: WeakKeyDictionary[Pipeline[Any], Encoder[Any]] = WeakKeyDictionary()


def encoder_of(pipeline: Pipeline[I]) -> Encoder[I]:
    """The encoder of a pipeline, made once."""
    encoder = _encoders.get(pipeline)
    if encoder is None or encoder.limit != pipeline.max_input_bytes:
        encoder = _encoders[pipeline] = Encoder(pipeline)
    return encoder


_TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"

# Words in JSON that may indicate a value that the database cannot store.
_SUSPECT = (_NUL_TEXT, b"NaN", b"Infinity", b"null")


def _has_text_keys(value: object) -> bool:
    return type(value) is dict and {str}.issuperset(map(type, cast("dict[object, object]", value)))


# The input types whose values are already JSON if the test succeeds.
_PLAIN: tuple[tuple[object, Callable[[object], bool]], ...] = (
    (Any, lambda _: True),
    (dict, lambda value: type(value) is dict),
    (dict[str, Any], _has_text_keys),
    (dict[str, object], _has_text_keys),
)


def encode_json(value: Json, field: str) -> str:
    """Encode a JSON value that is not an input, e.g. a job's `meta`."""
    try:
        data = _without_constants(to_json(value, inf_nan_mode="constants"))
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        _reject_unwritable(value, error, field)
    if _has_escaped_nul(data):
        _reject_unwritable(value, None, field)
    _reject_depth(data, field)
    return data.decode()


def _has_escaped_nul(data: bytes) -> bool:
    return _NUL_TEXT in data and _NUL.search(data) is not None  # the pattern alone takes longer than all other checks


def _without_constants(data: bytes) -> bytes:
    if b"NaN" in data or b"Infinity" in data:
        json.loads(data, parse_constant=_reject_constant)  # a string may contain these words
    return data


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


# Error messages with the location of the invalid value. They are slow, but only used after an error.


def _reject_invalid(error: ValidationError, field: str) -> NoReturn:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    raise InvalidField(_path(field, first["loc"]), first["msg"]) from error


def _reject_depth(data: bytes, field: str) -> None:
    if is_too_deep(data):
        raise InvalidField(field, _TOO_DEEP)


def _reject_unwritable(value: object, error: Exception | None, field: str) -> NoReturn:
    for is_wrong, reason in (
        (has_nul, "must not contain the character U+0000"),
        (is_not_unicode, "is not valid Unicode"),
        (_is_not_finite, "must be a finite number"),
    ):
        if (found := _first(is_wrong, value)) is not None:
            raise InvalidField(_path(field, found), reason) from error
    reason = str(error).removeprefix("Error serializing to JSON: ").removeprefix("ValueError: ")
    if "depth exceeded" in reason:
        raise InvalidField(field, _TOO_DEEP) from error
    raise InvalidField(field, f"cannot be written as JSON: {reason}") from error


def _path(field: str, places: Iterable[int | str]) -> str:
    return field + "".join(f"[{place}]" if isinstance(place, int) else f".{place}" for place in places)


def has_nul(leaf: object) -> bool:
    return isinstance(leaf, str) and "\x00" in leaf


def is_not_unicode(leaf: object) -> bool:
    try:
        if isinstance(leaf, str):
            leaf.encode()
        elif isinstance(leaf, bytes):
            leaf.decode()
    except UnicodeError:
        return True
    return False


def _is_not_finite(leaf: object) -> bool:
    return isinstance(leaf, float) and not math.isfinite(leaf)


def _first(is_wrong: Callable[[object], bool], value: object) -> tuple[int | str, ...] | None:
    return next((place for place, leaf in _leaves(value, ()) if is_wrong(leaf)), None)


def _leaves(value: Any, place: tuple[int | str, ...]) -> Iterator[tuple[tuple[int | str, ...], object]]:
    """Every leaf and every key of a value, with its path."""
    if len(place) > 200:
        return
    if isinstance(value, BaseModel):
        value = dict(value)
    if isinstance(value, Mapping):
        for key, part in cast("Mapping[object, object]", value).items():
            yield place, key
            yield from _leaves(part, (*place, str(key)))
    elif isinstance(value, list | tuple | set | frozenset):
        for number, part in enumerate(cast("Iterable[object]", value)):
            yield from _leaves(part, (*place, number))
    else:
        yield place, value


def readable(value: object) -> str:
    """The closest JSON to an invalid input, so that its owner can see it."""
    try:
        data = to_json(to_jsonable_python(value, fallback=repr), inf_nan_mode="strings")
        if len(data) <= 10_000 and not _has_escaped_nul(data) and not is_too_deep(data):
            return data.decode()
    except (ValueError, RecursionError):
        pass
    return to_json({"unreadable": ascii(value)[:1000]}).decode()
