"""Every error message of forebay is asserted in a test, word for word."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "forebay").rglob("*.py"))
ROUTINES = sorted((ROOT / "src" / "forebay").glob("**/sql/routines/**/*.sql"))
_INTERNAL = {"AssertionError", "CancelledError", "NotImplementedError", "SerializationError", "SystemExit"}


def _fragments(node: ast.AST, named: dict[str, list[ast.expr]]) -> list[str]:
    """The literal parts of a message, including those of named constants."""
    match node:
        case ast.Constant(value=str() as text):
            return [text]
        case ast.JoinedStr(values=parts) | ast.Tuple(elts=parts):
            pass
        case ast.FormattedValue(value=value):
            parts = [value]
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.IfExp(body=body, orelse=orelse):
            parts = [body, orelse]
        case ast.Name(id=name) if name in named:
            parts = named[name]
            named = {other: texts for other, texts in named.items() if other != name}
        case _:
            return []
    return [text for part in parts for text in _fragments(part, named)]


def _named(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """The expressions that a file assigns to names, such as hints."""
    named: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named.setdefault(node.targets[0].id, []).append(node.value)
    return named


def _telling(parts: list[str]) -> list[str]:
    """The meaningful parts, or the longest; the values between them differ from test to test."""
    words = [part.strip(" :;,.()\n") for part in parts]
    return [part for part in words if len(part) > 8] or [max(words, key=len)]


def _raised(file: Path) -> Iterator[tuple[str, list[str]]]:
    tree = ast.parse(file.read_text("utf-8"))
    named = _named(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            name = ast.unparse(node.exc.func)
            parts = [part for arg in node.exc.args for part in _fragments(arg, named)]
            if name not in _INTERNAL and parts:
                yield f"{_short(file)}:{node.lineno}", _telling(parts)


def _refused(file: Path) -> Iterator[tuple[str, list[str]]]:
    text = file.read_text("utf-8")
    for found in re.finditer(r"refuse\(\s*'FB\d+',(?:'(?:[^']|'')*'|[^';])*;", text):
        literals = re.findall(r"'((?:[^']|'')*)'", found[0])[1:]
        parts = [part for literal in literals for part in re.split(r"%[sLI]", literal.replace("''", "'"))]
        yield f"{_short(file)}:{text.count(chr(10), 0, found.start()) + 1}", _telling(parts)


def _short(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"


def _all() -> list[tuple[str, list[str]]]:
    return [*(m for f in SOURCES for m in _raised(f)), *(m for f in ROUTINES for m in _refused(f))]


@pytest.fixture(scope="module")
def asserted() -> str:
    tests = [file for file in (ROOT / "tests").rglob("*.py") if file != Path(__file__)]
    text = "\n".join(file.read_text("utf-8") for file in tests)
    # Long messages are split over lines; regular expressions contain escapes.
    return re.sub(r'"\s*\n\s*[rf]*"', "", text).replace("\\", "")


def test_every_message_is_asserted(asserted: str) -> None:
    """In one test: reading all sources takes seconds, in every process that collects tests."""
    unmet = {where: missing for where, said in _all() if (missing := [part for part in said if part not in asserted])}
    assert not unmet, "no test has met these"


def test_a_new_message_would_be_noticed(asserted: str, tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text(
        'hint = "try it as nobody did before"\n'
        'raise ValueError(f"{hint!r} was said to {them} as never before")\n'
        'raise ForebayError("one that nobody has met yet")\n'
    )
    (tmp_path / "new.sql").write_text(
        "perform refuse('FB002', 'key', format('nobody''s own %s; as yet unheard of', x));"
    )
    found = [*_raised(tmp_path / "new.py"), *_refused(tmp_path / "new.sql")]
    assert [said for _, said in found] == [
        ["try it as nobody did before", "was said to", "as never before"],
        ["one that nobody has met yet"],
        ["nobody's own", "as yet unheard of"],
    ]
    assert not any(part in asserted for _, said in found for part in said)
