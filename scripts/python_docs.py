"""Writes docs/reference/python.md from the docstrings of the public names, or with --check compares it.

Run `make reference` after changing a public name, its signature or its docstring.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, is_typeddict

from scripts.generated_files import write_or_check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

TARGET = Path(__file__).parent.parent / "docs" / "reference" / "python.md"
HEAD = """\
<!-- Written by scripts/python_docs.py. -->

# Python API

Every name that applications and pipelines use. Names that are not on this page are internal and can change without
notice.
"""
MODULES = (
    "forebay",
    "forebay.types",
    "forebay.errors",
    "forebay.jobs",
    "forebay.schedules",
    "forebay.testing",
    "forebay.storage",
    "forebay.packages",
    "forebay.hooks",
    "forebay.intake.target",
    "forebay.services.egress",
    "forebay.services.browser",
    "forebay.services.sources",
    "forebay.runner.program",
    "forebay.runner.progress",
)


# What the options of `step` and `submit` are called and mean.
OPTIONS = {
    "forebay.engine.declare.step": ("StepOptions",),
    "forebay.engine.submit.options": ("JobOptions", "SubmitOptions"),
}


def page() -> str:
    seen: set[int] = set()
    modules = "".join(_module(import_module(name), seen) for name in MODULES)
    options = [_name(name, getattr(import_module(module), name)) for module, names in OPTIONS.items() for name in names]
    return "".join([HEAD, modules, "\n## Options\n", *options])


def _module(module: ModuleType, seen: set[int]) -> str:
    parts = [f"\n## {module.__name__}\n\n{_text(module)}"]
    for name in _public(module):
        found = getattr(module, name)
        owner = getattr(found, "__module__", None)
        if inspect.ismodule(found) or (owner == "forebay.errors" and module.__name__ == "forebay"):
            continue  # these have a section of their own
        if id(found) not in seen:
            seen.add(id(found))
            parts.append(_name(name, found))
    return "".join(parts)


def _public(module: ModuleType) -> list[str]:
    """What `__all__` names, or else the classes and functions that are defined there."""
    if (named := getattr(module, "__all__", None)) is not None:
        return sorted(named, key=str.lower)
    return [
        name
        for name, found in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(found) or inspect.isfunction(found))
        and found.__module__ == module.__name__
    ]


def _name(name: str, found: Any) -> str:
    if is_typeddict(found):
        return f"\n### {name}\n\n{_text(found)}{''.join(_members(found))}"
    if inspect.isclass(found):
        head = f"class {name}{_bases(found)}{_constructor(found)}"
        return f"\n### {name}\n\n```python\n{head}\n```\n\n{_text(found)}{''.join(_members(found))}"
    if inspect.isroutine(found):
        return f"\n### {name}\n\n```python\n{_signature(name, found)}\n```\n\n{_text(found)}"
    return f"\n### {name}\n\n```python\n{name} = {_shown(found)}\n```\n"


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str) else re.sub(r"[\w.]+\.(\w+)", r"\1", str(value))
    return text.replace("'", '"')  # as the formatter has it, which formats Python in Markdown, too


def _bases(found: type) -> str:
    bases = [base.__name__ for base in found.__bases__ if base.__name__ not in {"object", "Generic", "Protocol"}]
    return f" of {', '.join(bases)}" if bases else ""


def _constructor(found: type) -> str:
    if issubclass(found, Enum):
        return f": {', '.join(each.name for each in found)}"
    if not (is_dataclass(found) or "__init__" in vars(found)):
        return ""
    return f"({_parameters(inspect.signature(found))})"


def _members(found: type) -> Iterator[str]:
    """Public methods and properties with a docstring of their own; of options, the fields with their comments."""
    if is_typeddict(found):
        yield from _fields(found)
        return
    for name, member in vars(found).items():
        target = member.__func__ if isinstance(member, staticmethod | classmethod) else member
        doc = inspect.getdoc(target)
        if name.startswith("_") or not doc or doc.startswith("Engine only"):
            continue
        if isinstance(target, property):
            yield f"\n- `{name}`\n\n  {_indented(doc)}\n"
        elif inspect.isfunction(target):
            yield f"\n- `{_signature(name, target)}`\n\n  {_indented(doc)}\n"


def _fields(options: Any) -> Iterator[str]:
    for line in inspect.getsource(options).splitlines():
        if field := re.fullmatch(r" {4}(\w+): (.+?)(?: {2}# (.*))?", line):
            yield f"\n- `{field[1]}: {field[2]}`{f': {field[3]}' if field[3] else ''}"
    yield "\n"


def _signature(name: str, found: Any) -> str:
    told = inspect.signature(found)
    begin = "async " if inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found) else ""
    answer = "" if told.return_annotation is inspect.Signature.empty else f" -> {_annotation(told.return_annotation)}"
    return f"{begin}{name}({_parameters(told)}){answer}"


def _parameters(told: inspect.Signature) -> str:
    """As `str(told)` has them, but for the quotes of annotations, and for defaults that only a machine can read."""
    parts: list[str] = []
    for each in told.parameters.values():
        if each.name in {"self", "cls"}:
            continue
        if each.kind is each.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        stars = "*" if each.kind is each.VAR_POSITIONAL else "**" if each.kind is each.VAR_KEYWORD else ""
        kind = "" if each.annotation is each.empty else f": {_annotation(each.annotation)}"
        parts.append(f"{stars}{each.name}{kind}{_default(each.default)}")
    return ", ".join(parts)


def _annotation(told: object) -> str:
    text = told if isinstance(told, str) else getattr(told, "__name__", None) or str(told)
    return re.sub(r"\b(?:typing|collections\.abc|datetime|pathlib)\.", "", text)


def _default(value: object) -> str:
    if value is inspect.Parameter.empty:
        return ""
    text = "os.environ" if value is os.environ else repr(value)  # else it would be this machine's
    return f" = {'...' if text.startswith('<') else text}"


def _text(found: Any) -> str:
    doc = inspect.getdoc(found) or ""
    if inspect.isclass(found) and not vars(found).get("__doc__"):
        return ""
    if is_dataclass(found) and doc.startswith(f"{getattr(found, '__name__', '')}("):
        return ""  # written by the decorator
    return f"{_formatted(doc)}\n" if doc else ""


def _formatted(doc: str) -> str:
    """A docstring as Markdown: indented blocks and examples are code, the lines of `Raises:` a list."""
    return "\n\n".join(_block(block) for block in re.split(r"\n\s*\n", doc) if block.strip())


def _block(block: str) -> str:
    lines = block.splitlines()
    if all(line.startswith("    ") for line in lines) or lines[0].startswith((">>>", "async with ")):
        return "```text\n" + "\n".join(line.removeprefix("    ") for line in lines) + "\n```"
    if lines[0] == "Raises:":
        return "Raises:\n\n" + "\n".join(f"- {line.strip()}" for line in lines[1:])
    return "\n".join(line.strip() for line in lines)


def _indented(doc: str) -> str:
    return _formatted(doc).replace("\n", "\n  ")


def main() -> int:
    return write_or_check({TARGET: re.sub(r"[ \t]+\n", "\n", page())})


if __name__ == "__main__":
    sys.exit(main())
