"""Rewrites statements with $1-style parameters for drivers with other styles."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forebay.engine.db.loads import Args

_PARAMETER = re.compile(r"\$(\d+)")


@cache
def named(sql: str) -> str:
    """The statement with %(p1)s in place of $1."""
    return _PARAMETER.sub(r"%(p\1)s", sql.replace("%", "%%"))


def names(args: Args) -> dict[str, object]:
    return {f"p{place}": value for place, value in enumerate(args, 1)}


@cache
def _positional(sql: str) -> tuple[str, tuple[int, ...]]:
    """The statement with %s in place of $1, and the argument index for each placeholder."""
    places = tuple(int(found[1]) - 1 for found in _PARAMETER.finditer(sql))
    return _PARAMETER.sub("%s", sql.replace("%", "%%")), places


def for_style(style: str, sql: str, args: Args) -> tuple[str, Any]:
    """The statement and its arguments for a driver with this DB-API paramstyle."""
    if style == "numeric_dollar":
        return sql, tuple(args)
    if style == "pyformat":
        return named(sql), names(args)
    text, places = _positional(sql)
    return text, tuple(args[place] for place in places)
