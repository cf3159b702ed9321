"""Keys that a function derives from a task: its parameters, and the text that is stored."""

from __future__ import annotations

import hashlib
import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_LENGTH = 200


def count_arguments(key: Callable[..., Any]) -> int | None:
    """How many arguments a function takes, 1 or 2; 1 if it takes both, or does not say, like `str`. None: neither."""
    try:
        signature = inspect.signature(key)
    except ValueError:
        return 1
    except TypeError:  # not a function
        return None
    return next((count for count in (1, 2) if _takes(signature, count)), None)


def _takes(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True


def key_text(key: object) -> str:
    """A key in a form that fits into an index."""
    text = str(key).replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
    if len(text) <= _MAX_LENGTH:
        return text
    return f"{text[:160]}…{hashlib.sha256(text.encode()).hexdigest()[:32]}"
