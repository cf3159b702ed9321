"""How deep JSON is nested: what lies too deep, few programs can read, and the API cannot show."""

from __future__ import annotations

import re

MOST = 100  # as forebay.check_nesting() says

_SHORTEST = 2 * (MOST + 1)  # bytes of what is nested deeper
_TEXTS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))


def is_too_deep(data: bytes) -> bool:
    """Whether arrays and objects are nested more than MOST deep in this JSON."""
    if len(data) < _SHORTEST or data.count(b"[") + data.count(b"{") <= MOST:
        return False
    brackets = _TEXTS.sub(b"", data).translate(_BRACKETS, _OTHERS)
    for _ in range(MOST):  # each round takes the innermost away
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)
