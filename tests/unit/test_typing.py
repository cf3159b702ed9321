"""A step whose types do not fit is an error of the type checker."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
from pydantic import BaseModel
from forebay import Context, Done, NotFound, Pipeline
from forebay.engine.pipeline import Step

class Page(BaseModel):
    url: str

pages = Pipeline("pages", Page)

@pages.step()
async def size(ctx: Context, page: Page) -> int | NotFound:
    return 1

@pages.step(optional=True)
async def image(ctx: Context, page: Page) -> Done[bytes]:
    return Done(b"")
"""
GOOD = """
@pages.step(after=(size, image))
async def good(ctx: Context, page: Page, n: int, picture: bytes | None) -> str:
    return ""

@pages.step(after=size)
def also(ctx: Context, page: Page, n: int) -> Done[float]:
    return Done(1.0)

typed: Step[Page, str] = good
sync: Step[Page, float] = also
"""
BAD = {
    "result of another type": "@pages.step(after=size)\nasync def bad(ctx: Context, page: Page, n: str) -> int: ...",
    "optional without None": "@pages.step(after=image)\nasync def bad(ctx: Context, page: Page, b: bytes) -> int: ...",
    "input of another type": "@pages.step()\nasync def bad(ctx: Context, page: str) -> int: ...",
    "result missing": "@pages.step(after=size)\nasync def bad(ctx: Context, page: Page) -> int: ...",
}


def _mypy(text: str, folder: Path) -> str:
    file = folder / "steps.py"
    file.write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--disable-error-code=empty-body", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder).stdout


def test_types_that_fit(tmp_path: Path) -> None:
    assert "Success" in _mypy(HEAD + GOOD, tmp_path)


@pytest.mark.parametrize("name", list(BAD))
def test_types_that_do_not_fit(name: str, tmp_path: Path) -> None:
    assert "[arg-type]" in _mypy(HEAD + BAD[name], tmp_path)


def test_a_submit_of_the_wrong_type(tmp_path: Path) -> None:
    text = """
import asyncpg

async def bad(conn: asyncpg.Connection[asyncpg.Record]) -> None:
    await pages.submit(conn, 3)
"""
    assert "[arg-type]" in _mypy(HEAD + text, tmp_path)
