"""Writes files that are generated from the code, or compares them with the stored ones."""

from __future__ import annotations

import difflib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_or_check(files: dict[Path, str]) -> int:
    """Write these files; with --check on the command line, print the differences instead. Returns the exit code."""
    if "--check" in sys.argv:
        return max([_check(file, text) for file, text in files.items()])
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return 0


def _check(file: Path, text: str) -> int:
    stored = file.read_text("utf-8") if file.exists() else ""
    if stored == text:
        return 0
    sys.stdout.writelines(difflib.unified_diff(stored.splitlines(True), text.splitlines(True), file.name, "the code"))
    print(f"\n{file.name} is out of date: run `make reference`")
    return 1
