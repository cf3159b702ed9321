"""Writes web/src/api/schema.d.ts from the routes of the API, or with --check compares it.

Run `make reference` after changing a route or a model. The types have the form that openapi-fetch reads:
`paths`, `components`. The client is typed by them, so that a page that reads a missing field does not compile.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.api.app import create_app
from forebay.settings import Settings
from scripts.generated_files import write_or_check

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = Path(__file__).parent.parent / "web" / "src" / "api" / "schema.d.ts"
HEAD = "// Written by scripts/web_client.py from the routes of the API: do not edit.\n"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
PROBLEM = "application/problem+json"
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_PRIMITIVES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def text(document: dict[str, Any]) -> str:
    schemas = dict(_definitions(document["paths"])) | document.get("components", {}).get("schemas", {})
    problem = _first_problem(document)
    lines = [HEAD, "export interface paths {"]
    lines += [line for path, item in document["paths"].items() for line in _path(path, item)]
    lines += ["}", "export interface components {", "  schemas: {"]
    lines += [f"    {_key(name)}: {_type(schema, 2)};" for name, schema in sorted(schemas.items())]
    lines += ["  };", "}", f"export type Problem = {_type(problem, 0)};", ""]
    return "\n".join(lines)


def _definitions(part: Any) -> Iterator[tuple[str, Any]]:
    """Schemas that a body defines for itself, beside those of the components."""
    if isinstance(part, dict):
        yield from part.get("$defs", {}).items()
    for inside in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _definitions(inside)


def _first_problem(document: dict[str, Any]) -> dict[str, Any]:
    """All errors have the same schema."""
    for item in document["paths"].values():
        for route in item.values():
            for answer in route["responses"].values():
                if PROBLEM in answer.get("content", {}):
                    found: dict[str, Any] = answer["content"][PROBLEM]["schema"]
                    return found
    return {}


def _path(path: str, item: dict[str, Any]) -> Iterator[str]:
    yield f"  {json.dumps(path)}: {{"
    yield "    parameters: { query?: never; header?: never; path?: never; cookie?: never };"
    for method in METHODS:
        if method in item:
            yield from _route(method, item[method])
        else:
            yield f"    {method}?: never;"
    yield "  };"


def _route(method: str, route: dict[str, Any]) -> Iterator[str]:
    yield f"    {method}: {{"
    yield f"      parameters: {{ {_parameters(route.get('parameters', []))} }};"
    body = route.get("requestBody")
    if body is None:
        yield "      requestBody?: never;"
    else:
        mark = "" if body.get("required") else "?"
        yield f"      requestBody{mark}: {{ content: {_content(body['content'])} }};"
    yield "      responses: {"
    for status, answer in route["responses"].items():
        if status.startswith("2"):
            yield f"        {status}: {{ headers: {{ [name: string]: unknown }}; {_answer(answer)} }};"
    yield (
        "        default: { headers: { [name: string]: unknown }; "
        f'content: {{ "{PROBLEM}": Problem; "application/json": Problem }} }};'
    )
    yield "      };"
    yield "    };"


def _answer(answer: dict[str, Any]) -> str:
    content = answer.get("content")
    return f"content: {_content(content)}" if content else "content?: never"


def _content(content: dict[str, Any]) -> str:
    inside = "; ".join(f"{json.dumps(kind)}: {_type(found.get('schema', {}), 3)}" for kind, found in content.items())
    return f"{{ {inside} }}"


def _parameters(parameters: list[dict[str, Any]]) -> str:
    parts = []
    for place in ("query", "header", "path", "cookie"):
        found = [each for each in parameters if each["in"] == place]
        if not found:
            parts.append(f"{place}?: never")
            continue
        inside = "; ".join(
            f"{_key(each['name'])}{'' if each.get('required') else '?'}: {_type(each['schema'], 4)}" for each in found
        )
        mark = "" if any(each.get("required") for each in found) else "?"
        parts.append(f"{place}{mark}: {{ {inside} }}")
    return "; ".join(parts)


def _type(schema: dict[str, Any], depth: int) -> str:
    match schema:
        case {"$ref": place}:
            made = f"components['schemas'][{json.dumps(place.rpartition('/')[2])}]"
        case {"anyOf": parts} | {"oneOf": parts}:
            made = _union([_type(each, depth) for each in parts])
        case {"allOf": parts}:
            made = " & ".join(_type(each, depth) for each in parts)
        case {"const": value}:
            made = json.dumps(value)
        case {"enum": values}:
            made = _union([json.dumps(value) for value in values])
        case _:
            made = _plain(schema, depth)
    return made


def _plain(schema: dict[str, Any], depth: int) -> str:
    match schema:
        case {"type": "array"}:
            return _array(schema, depth)
        case {"type": "object"} | {"properties": _}:
            return _object(schema, depth)
        case {"type": [*kinds]}:
            return _union([_PRIMITIVES.get(each, "unknown") for each in kinds])
        case {"format": "binary"}:
            return "Blob"
        case _:
            return _PRIMITIVES.get(str(schema.get("type")), "unknown")


def _array(schema: dict[str, Any], depth: int) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(_type(each, depth) for each in schema['prefixItems'])}]"
    inside = _type(schema.get("items", {}), depth)
    return f"({inside})[]" if " " in inside and not inside.startswith("{") else f"{inside}[]"


def _object(schema: dict[str, Any], depth: int) -> str:
    required = schema.get("required", ())
    fields = [
        f"{_key(name)}{'' if name in required else '?'}: {_type(found, depth + 1)};"
        for name, found in schema.get("properties", {}).items()
    ]
    others = schema.get("additionalProperties")
    if others and not fields:
        return f"Record<string, {'unknown' if others is True else _type(others, depth)}>"
    if not fields:
        return "Record<string, never>" if others is False else "Record<string, unknown>"
    gap = "  " * depth
    return "{\n" + "".join(f"{gap}  {field}\n" for field in fields) + gap + "}"


def _union(parts: list[str]) -> str:
    return " | ".join(dict.fromkeys(parts))


def _key(name: str) -> str:
    return name if _NAME.fullmatch(name) else json.dumps(name)


def main() -> int:
    return write_or_check({TARGET: text(create_app("postgresql://", Settings(), []).openapi())})


if __name__ == "__main__":
    sys.exit(main())
