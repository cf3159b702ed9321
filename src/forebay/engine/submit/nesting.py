"""The nesting depth of JSON: few programs can read deeply nested values, and the API cannot show them."""

from __future__ import annotations

import re

MAX_DEPTH = 100  # the same as in forebay.check_nesting()

_SHORTEST = 2 * (MAX_DEPTH + 1)  # minimum bytes of JSON that is nested deeper
_TEXTS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))


def is_too_deep(data: bytes) -> bool:
    """Whether arrays and objects are nested more than MAX_DEPTH levels deep in this JSON."""
    if len(data) < _SHORTEST or data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return False
    brackets = _TEXTS.sub(b"", data).translate(_BRACKETS, _OTHERS)
    for _ in range(MAX_DEPTH):  # each iteration removes the innermost level
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)
