"""The code blocks of a document."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(document: str, language: str) -> list[str]:
    return [text for kind, _, text in _BLOCK.findall((ROOT / document).read_text("utf-8")) if kind == language]


def files(document: str) -> dict[str, str]:
    """The blocks that are files, by name: those that have one beside their language."""
    return {name: text for _, name, text in _BLOCK.findall((ROOT / document).read_text("utf-8")) if name}
