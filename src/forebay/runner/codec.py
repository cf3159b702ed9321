"""Encodes values that a child sends to its worker: only data, of classes that the worker has chosen in advance.

A child that reads untrusted files may be under their control, so nothing that it sends can name code to run: a value
is JSON with tagged objects, followed by bytes. The allowed classes are those that the return type of the function
mentions, and those that its declaration adds; pydantic validates their fields.

    size of the JSON (4 bytes) · JSON · bytes
    {"o": {…}} dict with text keys     {"d": [[k, v], …]} other dict     {"t": […]} tuple     {"s": […]} set
    {"b": size} bytes, in order        {"B": [size, …]} list of bytes    {"v": [name, text]} date, decimal …
    {"c": [class, {field: value}]} dataclass, named tuple or model       {"e": [class, value]} enumeration
"""

from __future__ import annotations

import dataclasses
import json
import re
import struct
from collections import Counter
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from pathlib import Path, PurePath
from types import GenericAlias, UnionType
from typing import TYPE_CHECKING, Any, TypeAlias, cast, get_args, get_type_hints
from uuid import UUID

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.errors import PydanticUserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Classes: TypeAlias = "Mapping[str, type[Any]]"

_SIZE = struct.Struct("!I")
_MOST_JSON = 64 << 20
# Small values need many times their size in the worker. Each character of JSON stands for at most so many bytes of
# memory while it is decoded (measured: 52 per number, 86 per short text, 150 per entry, 560 per dict with one entry).
_MEMORY = {b"{": 200, b"[": 180, b",": 50, b'":': 70, b'"': 15}
_MOST_MEMORY = 1 << 30
_DEEPEST = 100
_MOST_ALIKE = 64  # keys or numbers with the same hash: beyond that, a set or dict takes quadratic time
_LONG_NUMBER = re.compile(rb"[0-9]{19}")
_LARGEST_OWN_HASH = (1 << 61) - 2  # larger numbers share their hashes with others
_PLAIN = (type(None), bool, int, float, str)
_VALUES: dict[str, tuple[type[Any], Callable[[Any], str], Callable[[str], Any]]] = {
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "time": (time, time.isoformat, time.fromisoformat),
    "timedelta": (
        timedelta,
        lambda value: f"{value.days} {value.seconds} {value.microseconds}",
        lambda text: timedelta(*map(int, text.split())),
    ),
    "decimal": (Decimal, str, Decimal),
    "uuid": (UUID, str, UUID),
    "path": (PurePath, str, Path),
}


class CodecError(ValueError):
    """A value that cannot be encoded, or bytes that cannot be decoded."""


def name_of(kind: type[Any]) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


# -- in the child ---------------------------------------------------------------------------------------------


def encode(value: object) -> bytes:
    """Encode a value.

    Raises: CodecError, which names the class that cannot be encoded.
    """
    attached: list[bytes] = []
    try:
        text = json.dumps(_plain(value, attached, 0), separators=(",", ":")).encode()
    except (RecursionError, ValueError) as error:
        if isinstance(error, CodecError):
            raise
        raise CodecError(f"{type(error).__name__}: {error}") from error
    if len(text) > _MOST_JSON:
        raise CodecError(f"it has {len(text)} bytes besides its bytes objects; {_MOST_JSON} are allowed")
    return b"".join((_SIZE.pack(len(text)), text, *attached))


def _plain(value: Any, attached: list[bytes], depth: int) -> Any:
    if value.__class__ in _PLAIN:
        return value
    if depth > _DEEPEST:
        raise CodecError(f"it is nested deeper than {_DEEPEST} levels")
    return _tagged(value, attached, depth + 1)


def _tagged(value: Any, attached: list[bytes], depth: int) -> Any:
    kind = value.__class__
    make = _CONTAINERS.get(kind)
    if make is not None:
        return make(value, attached, depth)
    if isinstance(value, Enum):
        return {"e": [name_of(kind), _plain(value.value, attached, depth)]}
    fields = _fields(value)
    if fields is not None:
        return {"c": [name_of(kind), {name: _plain(each, attached, depth) for name, each in fields.items()}]}
    return _plain_value(value)


def _plain_value(value: Any) -> Any:
    for name, (base, written, _) in _VALUES.items():
        if isinstance(value, base):
            return {"v": [name, written(value)]}
    for plain in (str, int, float):  # subclasses of plain types
        if isinstance(value, plain):
            return plain(value)
    raise CodecError(f"objects of class {type(value).__qualname__} cannot be sent")


def _plain_bytes(value: Any, attached: list[bytes], _depth: int) -> Any:
    attached.append(bytes(value))
    return {"b": len(attached[-1])}


def _plain_tuple(value: tuple[Any, ...], attached: list[bytes], depth: int) -> Any:
    return {"t": [_plain(each, attached, depth) for each in value]}


def _plain_set(value: set[Any] | frozenset[Any], attached: list[bytes], depth: int) -> Any:
    return {"s": [_plain(each, attached, depth) for each in value]}


def _plain_list(value: list[Any], attached: list[bytes], depth: int) -> Any:
    if value and all(each.__class__ is bytes for each in value):
        attached.extend(value)
        return {"B": [len(each) for each in value]}
    return [_plain(each, attached, depth) for each in value]


def _plain_dict(value: dict[Any, Any], attached: list[bytes], depth: int) -> Any:
    if all(key.__class__ is str for key in value):
        return {"o": {key: _plain(each, attached, depth) for key, each in value.items()}}
    return {"d": [[_plain(key, attached, depth), _plain(each, attached, depth)] for key, each in value.items()]}


_CONTAINERS: dict[type[Any], Callable[[Any, list[bytes], int], Any]] = {
    list: _plain_list,
    dict: _plain_dict,
    tuple: _plain_tuple,
    set: _plain_set,
    frozenset: _plain_set,
    bytes: _plain_bytes,
    bytearray: _plain_bytes,
    memoryview: _plain_bytes,
}


def _fields(value: Any) -> dict[str, Any] | None:
    kind = value.__class__
    if isinstance(value, BaseModel):
        return {name: getattr(value, name) for name in type(value).model_fields} | (value.model_extra or {})
    if dataclasses.is_dataclass(kind):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(kind)}
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return cast("dict[str, Any]", cast("Any", value)._asdict())
    return None


# -- in the worker --------------------------------------------------------------------------------------------


def decode(data: bytes, classes: Classes, max_memory: int = _MOST_MEMORY) -> Any:
    """Decode a value, which consists only of these classes and plain data.

    Raises: CodecError, also if its values, bytes objects excluded, would need more than `max_memory` bytes.
    """
    if len(data) < _SIZE.size:
        raise CodecError("it is truncated")
    (size,) = _SIZE.unpack_from(data)
    start = _SIZE.size + size
    if size > _MOST_JSON or start > len(data):
        raise CodecError("it is truncated, or has too much JSON")
    text = data[_SIZE.size : start]
    if _memory_for(text) > max_memory:
        raise CodecError(f"it would take more than {max_memory >> 20} MB of memory: write it to a file")
    try:
        return _Decoder(memoryview(data)[start:], classes).whole(_parsed(text))
    except (ValueError, TypeError, LookupError, RecursionError, AttributeError, ArithmeticError) as error:
        if isinstance(error, CodecError):
            raise
        raise CodecError(f"{type(error).__name__}: {str(error)[:500]}") from error


def _memory_for(text: bytes) -> int:
    """An upper estimate of the memory that decoding needs."""
    return 2 * len(text) + sum(text.count(sign) * taken for sign, taken in _MEMORY.items())


def _parsed(text: bytes) -> Any:
    """The JSON. Long numbers are checked for chosen hash collisions, because classes may put them into sets."""
    return json.loads(text, parse_int=_NumberParser().made if _LONG_NUMBER.search(text) else None)


class _NumberParser:
    def __init__(self) -> None:
        self._by_hash: dict[int, set[int]] = {}

    def made(self, digits: str) -> int:
        number = int(digits)
        if abs(number) > _LARGEST_OWN_HASH:
            alike = self._by_hash.setdefault(hash(number), set())
            alike.add(number)
            if len(alike) > _MOST_ALIKE:
                raise CodecError(f"more than {_MOST_ALIKE} of its numbers have the same hash")
        return number


def _check_hashes(keys: list[Any]) -> list[Any]:
    """The keys of a set or dict, unless too many have the same hash."""
    if any(count > _MOST_ALIKE for count in Counter(map(hash, keys)).values()):
        raise CodecError(f"more than {_MOST_ALIKE} of its keys have the same hash")
    return keys


class _Decoder:
    def __init__(self, attached: memoryview, classes: Classes) -> None:
        self._attached, self._classes, self._at = attached, classes, 0

    def whole(self, value: Any) -> Any:
        made = self._made(value, 0)
        if self._at != len(self._attached):
            raise CodecError("bytes are left over")
        return made

    def _made(self, value: Any, depth: int) -> Any:
        if value.__class__ in _PLAIN:
            return value
        if depth > _DEEPEST + 1:
            raise CodecError("it is nested too deeply")
        if value.__class__ is list:
            return [self._made(each, depth + 1) for each in value]
        ((tag, content),) = value.items()
        return self._of(tag, content, depth + 1)

    def _of(self, tag: str, content: Any, depth: int) -> Any:  # noqa: PLR0911 - a table of tags
        match tag:
            case "o":
                return {key: self._made(each, depth) for key, each in content.items()}
            case "d":
                pairs = [(self._made(key, depth), self._made(each, depth)) for key, each in content]
                return dict(zip(_check_hashes([key for key, _ in pairs]), (each for _, each in pairs), strict=True))
            case "t":
                return tuple(self._made(each, depth) for each in content)
            case "s":
                return set(_check_hashes([self._made(each, depth) for each in content]))
            case "b":
                return self._bytes(content)
            case "B":
                return [self._bytes(size) for size in content]
            case "v":
                return _VALUES[content[0]][2](content[1])
            case "e":
                return self._class(content[0])(self._made(content[1], depth))
            case "c":
                fields = {str(name): self._made(each, depth) for name, each in content[1].items()}
                return _validated(self._class(content[0]), fields)
            case _:
                raise CodecError(f"it has the unknown tag {tag[:20]!r}")

    def _bytes(self, size: Any) -> bytes:
        if size.__class__ is not int or not 0 <= size <= len(self._attached) - self._at:
            raise CodecError("bytes are missing")
        self._at += size
        return bytes(self._attached[self._at - size : self._at])

    def _class(self, name: Any) -> type[Any]:
        found = self._classes.get(name) if isinstance(name, str) else None
        if found is None:
            raise CodecError(
                f"it has an object of {str(name)[:200]!r}, which the function's return type does not mention: "
                "name the class there, or in returns="
            )
        return found


def _validated(kind: type[Any], fields: dict[str, Any]) -> Any:
    if issubclass(kind, BaseModel):
        return kind.model_validate(_by_alias(kind, fields))
    adapter = _adapter(cast("Any", kind))
    return kind(**fields) if adapter is None else adapter.validate_python(fields)


def _by_alias(kind: type[BaseModel], fields: dict[str, Any]) -> dict[str, Any]:
    """Rename fields for models that accept a field only by its alias."""
    aliases = {name: field.validation_alias for name, field in kind.model_fields.items()}
    return {alias if isinstance(alias := aliases.get(name), str) else name: value for name, value in fields.items()}


@lru_cache(maxsize=256)
def _adapter(kind: type[Any]) -> TypeAdapter[Any] | None:
    config = None if dataclasses.is_dataclass(kind) else ConfigDict(arbitrary_types_allowed=True)
    try:
        return TypeAdapter(kind, config=config)
    except (PydanticUserError, NameError, TypeError):  # unresolvable annotations
        return None


# -- allowed classes ------------------------------------------------------------------------------------------


def classes_of(*annotations: Any) -> dict[str, type[Any]]:
    """The data classes, named tuples, models and enumerations that annotations mention, recursively."""
    found: dict[str, type[Any]] = {}
    for annotation in annotations:
        _collect(annotation, found)
    return found


def _collect(annotation: Any, found: dict[str, type[Any]]) -> None:
    for part in get_args(annotation):
        _collect(part, found)
    origin = getattr(annotation, "__origin__", None)
    kind = origin if isinstance(origin, type) else annotation
    if isinstance(annotation, UnionType | GenericAlias) or not isinstance(kind, type) or not _is_data(kind):
        return
    if name_of(kind) in found:
        return
    found[name_of(kind)] = kind
    for part in _mentioned(kind):
        _collect(part, found)


def _is_data(kind: type[Any]) -> bool:
    if issubclass(kind, BaseModel):
        return kind is not BaseModel
    return dataclasses.is_dataclass(kind) or issubclass(kind, Enum) or hasattr(kind, "_fields")


def _mentioned(kind: type[Any]) -> Iterator[Any]:
    if issubclass(kind, BaseModel):
        yield from (field.annotation for field in kind.model_fields.values())
        return
    try:
        yield from get_type_hints(kind).values()
    except (NameError, TypeError):  # names that exist only for type checkers: `returns=` adds those classes
        return


def returned_by(fn: Callable[..., Any]) -> Any:
    """The return type of a function; None if it contains names that exist only for type checkers."""

    def alone() -> None: ...

    alone.__annotations__ = {"return": getattr(fn, "__annotations__", {}).get("return")}
    try:
        return get_type_hints(alone, getattr(fn, "__globals__", None)).get("return")
    except (NameError, TypeError, AttributeError):
        return None
