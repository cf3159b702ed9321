"""The code blocks of a document."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent

_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(document: str, language: str) -> list[str]:
    return [text for kind, _, text in _BLOCK.findall((ROOT / document).read_text("utf-8")) if kind == language]


def files(document: str) -> dict[str, str]:
    """The blocks that are files, by name: those that have one beside their language."""
    return {name: text for _, name, text in _BLOCK.findall((ROOT / document).read_text("utf-8")) if name}


def execute(document: str, *examples: str) -> dict[str, Any]:
    """The names that examples define, run one after the other as a module called `example`; by default all Python."""
    space: dict[str, Any] = {"__name__": "example"}
    for example in examples or blocks(document, "python"):
        exec(compile(example, document, "exec", dont_inherit=True), space)
    return space
