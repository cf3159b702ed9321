"""Forms of approvals: the fields of an instance as facts, and the files in them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from forebay.errors import DataError
from forebay.pipelines.attachments.db import AnnouncedFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_FILES = frozenset(("attachment", "attachmentV2", "image", "imageV2"))
_MOST_WIDGETS = 2000
_MOST_FILES = 1000
_DEPTH = 5
_LONGEST_NAME, _LONGEST_VALUE, _LONGEST_KEY = 200, 2000, 500


@dataclass(frozen=True, slots=True)
class Form:
    """What an instance contains. `addresses`: URLs, or tokens of files, by the keys of files; they are not stored."""

    title: str | None
    state: str | None
    facts: Sequence[dict[str, str]]
    files: Sequence[AnnouncedFile]
    addresses: Mapping[str, str]
    skipped: Sequence[str]


def read_form(data: Mapping[str, Any]) -> Form:
    """The form of an answer about an instance.

    Raises: DataError if it has none.
    """
    try:
        parsed: Any = json.loads(data.get("form") or "[]")
    except (ValueError, TypeError, RecursionError):
        raise DataError("the form of the approval is not JSON") from None
    facts = [
        {"name": name, "value": value}
        for name, value in (
            ("Approval", _text(data.get("approval_name"))),
            ("Number", _text(data.get("serial_number"))),
        )
        if value
    ]
    files: dict[str, tuple[AnnouncedFile, str]] = {}
    skipped: list[str] = []
    for path, widget in islice(_widgets(parsed, "", _DEPTH), _MOST_WIDGETS):
        name = _text(widget.get("name"))[:_LONGEST_NAME]
        if _text(widget.get("type")) not in _FILES:
            if value := _shown(widget.get("value")):
                facts.append({"name": name, "value": value})
            continue
        for file, address in _files(path, name, widget):
            if address:
                files.setdefault(file.key, (file, address))
            else:
                skipped.append(file.name)
    kept = dict(islice(files.items(), _MOST_FILES))
    return Form(
        _text(data.get("approval_name"))[:500] or None,
        _text(data.get("status"))[:100] or None,
        facts,
        [file for file, _ in kept.values()],
        {key: address for key, (_, address) in kept.items()},
        skipped,
    )


def _widgets(value: Any, path: str, depth: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All widgets, also those in the rows of lists, with what identifies them."""
    for at, each in enumerate(_listed(value) or []):
        if isinstance(each, list):
            if depth:
                yield from _widgets(each, f"{path}{at}/", depth - 1)
        elif isinstance(each, dict):
            widget = cast("dict[str, Any]", each)
            own = f"{path}{_text(widget.get('id')) or at}"
            if widget.get("type") == "fieldList" and depth:
                yield from _widgets(widget.get("value"), f"{own}/", depth - 1)
            else:
                yield own, widget


def _files(path: str, label: str, widget: Mapping[str, Any]) -> Iterator[tuple[AnnouncedFile, str | None]]:
    """The files of a widget. Their addresses change with each reading, so that their place identifies them."""
    found: Any = widget.get("value")
    values = _listed(found) or ([found] if found else [])
    names = _names(widget.get("ext"), len(values))
    for at, value in enumerate(values):
        name = (names[at] if names else "") or f"{label or 'file'} {at + 1}"
        address = value if isinstance(value, str) and 0 < len(value) <= 8192 and "\0" not in value else None
        yield AnnouncedFile(f"{path}/{at}/{name}"[-_LONGEST_KEY:], name), address


def _names(ext: Any, count: int) -> list[str]:
    """The names of files, which are separated by commas; none if they do not fit."""
    if (several := _listed(ext)) is not None:
        parts = [_text(each) for each in several]
    else:
        text = _text(ext)
        parts = [text] if count == 1 else text.split(",")
    return [part.strip()[:500] for part in parts] if len(parts) == count else []


def _listed(value: Any) -> list[Any] | None:
    return value if isinstance(value, list) else None  # pyright: ignore[reportUnknownVariableType]


def _shown(value: Any) -> str:
    """A value as a person would read it."""
    if value is None or value == "":
        return ""
    if isinstance(value, str | int | float):
        return _text(value)[:_LONGEST_VALUE]
    return json.dumps(value, ensure_ascii=False)[:_LONGEST_VALUE]


def _text(value: Any) -> str:
    plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value).replace("\0", "").encode("utf-8", "replace").decode() if plain else ""
