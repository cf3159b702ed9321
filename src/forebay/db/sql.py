"""The SQL statements of `sql/queries`, by name."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def load(name: str) -> str:
    """The text of one statement."""
    return resources.files("forebay").joinpath("sql", "queries", f"{name}.sql").read_text(encoding="utf-8")
