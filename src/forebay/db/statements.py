"""SQL statements, each in a separate file in the package that uses it: `sql/queries/NAME.sql`."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def statements(package: str) -> Callable[[str], str]:
    """A function that loads a statement of a package by its name."""
    folder = resources.files(package).joinpath("sql", "queries")

    @cache
    def load(name: str) -> str:
        return folder.joinpath(f"{name}.sql").read_text(encoding="utf-8")

    return load
