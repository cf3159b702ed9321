"""The application that chart, compose file and units start in tests: a copy of this file is its package."""

from __future__ import annotations

from typing import Any

from forebay import Context, Pipeline

Input = dict[str, Any]

notes: Pipeline[Input] = Pipeline("notes", dict)
scans: Pipeline[Input] = Pipeline("scans", dict)


@notes.step()
async def size(ctx: Context, note: Input) -> int:
    return len(note["body"])


@scans.step()
async def text(ctx: Context, scan: Input) -> str:
    return str(scan["body"]).upper()


@scans.step(after=text)
async def embed(ctx: Context, scan: Input, words: str) -> int:
    return len(words)
