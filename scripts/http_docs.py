"""Writes docs/reference/http.md from the routes of the API, or with --check compares it.

Run `make reference` after changing a route, its parameters or its docstring.
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.api.app import create_app
from forebay.settings import Settings
from scripts.generated_files import write_or_check

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = Path(__file__).parent.parent / "docs" / "reference" / "http.md"
HEAD = """\
<!-- Written by scripts/http_docs.py. -->

# HTTP API

`GET /api/openapi.json` of a running API has the schemas of all bodies and answers, and `/api/docs` has a form for each
route. [Use the HTTP API](../howto/api.md) explains tokens, paging, errors and idempotency. In the tables, parameters in
*italics* are required.
"""
TABLE = "| method | path | what it does | query parameters and headers |\n|---|---|---|---|\n"


def page() -> str:
    paths: dict[str, dict[str, Any]] = create_app("postgresql://", Settings(), []).openapi()["paths"]
    routes = [(method, path, route) for path, methods in paths.items() for method, route in methods.items()]
    routes.sort(key=lambda each: (_tag(each[2]), each[1]))
    return HEAD + "".join(_section(tag, list(found)) for tag, found in groupby(routes, lambda each: _tag(each[2])))


def _tag(route: dict[str, Any]) -> str:
    return str(route.get("tags", ["other"])[0])


def _section(tag: str, routes: list[tuple[str, str, dict[str, Any]]]) -> str:
    rows = "".join(
        f"| {method.upper()} | `{path}` | {_text(route)} | {_taken(route)} |\n" for method, path, route in routes
    )
    return f"\n## {tag.capitalize()}\n\n{TABLE}{rows}"


def _text(route: dict[str, Any]) -> str:
    return " ".join(str(route.get("description") or route.get("summary", "")).split()).replace("|", "\\|")


def _taken(route: dict[str, Any]) -> str:
    return ", ".join(_names(route))


def _names(route: dict[str, Any]) -> Iterator[str]:
    for each in route.get("parameters", ()):
        if each["in"] in {"query", "header"}:
            yield f"*`{each['name']}`*" if each.get("required") else f"`{each['name']}`"


def main() -> int:
    return write_or_check({TARGET: page()})


if __name__ == "__main__":
    sys.exit(main())
