"""Events of Lark about approvals. They name an instance; what is in it has to be read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from forebay.pipelines.attachments.db import Announced

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST = 255


def read_event(body: bytes) -> tuple[str | None, Announced | None]:
    """The type of an event, and the approval that it is about; None if it is about none."""
    try:
        parsed: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None, None
    whole = _mapping(parsed)
    event = _mapping(whole.get("event"))
    kind = _text(_mapping(whole.get("header")).get("event_type")) or _text(event.get("type"))
    key = _text(event.get("instance_code"))
    if key is None:
        return kind, None
    return kind, Announced(key, state=_text(event.get("status")))


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= _LONGEST and "\0" not in value else None
